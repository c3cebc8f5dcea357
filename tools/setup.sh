#!/usr/bin/env bash
# Makes this machine ready to build Pressmark. May be run any number of times.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"

packages=(cmake g++ git liblz4-dev libzstd-dev ninja-build python3)
# bindgen reads RocksDB's header with libclang and needs the compiler's own headers beside it.
packages+=(libclang-14-dev libclang-common-14-dev)
tools/install-system-packages.sh "${packages[@]}"

if ! command -v cargo >/dev/null; then
  echo "cargo is missing: install the Rust toolchain that Cargo.toml names (rust-version), then run this again" >&2
  exit 1
fi

crate=$(cargo metadata --locked --format-version 1 | python3 tools/crate_folder.py librocksdb-sys)
library=$(tools/build-rocksdb.sh "$crate" "$PRESSMARK_CACHE")

# Compiled dependencies are kept outside the clone too: a fresh clone compiles only our own crates.
settings="[env]
ROCKSDB_LIB_DIR = \"$library\"
ROCKSDB_STATIC = \"1\"

[build]
target-dir = \"$PRESSMARK_CACHE/target\""
if [ "$(cat .cargo/local.toml 2>/dev/null)" != "$settings" ]; then
  echo "$settings" >.cargo/local.toml
fi

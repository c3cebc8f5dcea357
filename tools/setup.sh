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

# A file that names the library stays as it is: a developer may have changed the rest of it.
if ! grep -qsF "ROCKSDB_LIB_DIR = \"$library\"" .cargo/local.toml; then
  # Compiled dependencies are kept outside the clone too: a fresh clone compiles only our own crates.
  cat >.cargo/local.toml <<END
[env]
ROCKSDB_LIB_DIR = "$library"
ROCKSDB_STATIC = "1"

[build]
target-dir = "$PRESSMARK_CACHE/target"
END
fi

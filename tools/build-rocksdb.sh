#!/usr/bin/env bash
# Builds RocksDB's static library once a machine and prints the folder that holds it.
#
# Why not let cargo do it: the crate compiles 400 C++ files one by one, once per profile and per
# clone (25-30 minutes on two cores). The same source through CMake's unity build takes about 11,
# and the result is shared by every profile and every clone.
#
# The source is the one bundled in the locked `librocksdb-sys` crate, so bindings and library agree.
# usage: tools/build-rocksdb.sh PATH-OF-THE-CRATE CACHE-FOLDER
set -euo pipefail

crate=$1
cache=$2
name=$(basename "$crate")
target=$cache/rocksdb/$name-x86-64-v2-1
if [ -f "$target/librocksdb.a" ]; then
  echo "$target"
  exit 0
fi

# The crate ships no tests, tools or Java sources that the CMake file might ask for: all are off.
# `PORTABLE` is the floor of the machines that the binary must run on; it includes SSE4.2 for CRC32C.
work=$target.building.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
portable=1
[ "$(uname -m)" = x86_64 ] && portable=x86-64-v2
{
  cmake -S "$crate/rocksdb" -B "$work" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=14 \
    -DPORTABLE=$portable -DROCKSDB_BUILD_SHARED=OFF -DFAIL_ON_WARNINGS=OFF \
    -DWITH_TESTS=OFF -DWITH_ALL_TESTS=OFF -DWITH_TOOLS=OFF -DWITH_CORE_TOOLS=OFF \
    -DWITH_BENCHMARK_TOOLS=OFF -DWITH_TRACE_TOOLS=OFF -DWITH_GFLAGS=OFF -DWITH_LIBURING=OFF \
    -DWITH_LZ4=ON -DWITH_ZSTD=ON
  cmake --build "$work" --target rocksdb
} >&2
mkdir -p "$target"
# Moved into place last: an interrupted build never looks like a finished one.
cp "$work/librocksdb.a" "$target/librocksdb.a.part"
mv "$target/librocksdb.a.part" "$target/librocksdb.a"
echo "$target"

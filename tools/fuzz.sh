#!/usr/bin/env bash
# usage: tools/fuzz.sh [RUNS] [READER ...]
# Runs each reader of formats under libFuzzer for RUNS executions (20,000 unless given), but for no longer than
# FUZZ_SECONDS (60 unless set). With FUZZ_SEED it begins with the seeds alone and draws the same inputs each time; without, it
# goes on from the corpus of earlier runs. An input that ends, delays or inflates a reader is left in the folder that is
# shown, and the script fails.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"

runs=${1:-20000}
shift || true
readers=("$@")
if [ ${#readers[@]} -eq 0 ]; then
  readers=(html markdown json notebook drawing xml encoded word slides sheets open-document book zip headline)
fi
target=x86_64-unknown-linux-gnu
built=$PRESSMARK_CACHE/fuzz

# libFuzzer is told of each edge and comparison; no sanitizer, which stable Rust lacks.
flags="-Ctarget-cpu=x86-64-v2 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags="$flags -Cllvm-args=-sanitizer-coverage-trace-compares"
# The wrapper of tools/test.sh lints what it compiles; these flags are not for it.
env -u RUSTC_WORKSPACE_WRAPPER -u CLIPPY_ARGS RUSTFLAGS="$flags" \
  cargo build --quiet --locked --release --manifest-path server/fuzz/Cargo.toml --target "$target" --target-dir "$built"

failed=()
for reader in "${readers[@]}"; do
  corpus=$built/corpus/$reader
  found=$built/found/$reader/
  if [ -n "${FUZZ_SEED:-}" ]; then corpus=$(mktemp -d); fi
  mkdir -p "$corpus" "$found"
  # The child has 8 MiB of stack; titles are read in a thread of the server.
  stack_kib=8192
  if [ "$reader" = headline ]; then stack_kib=2048; fi
  # -timeout: seconds for one input.
  if ! (ulimit -S -s "$stack_kib" && PRESSMARK_READER=$reader "$built/$target/release/read" -runs="$runs" -max_total_time="${FUZZ_SECONDS:-60}" \
    -timeout=10 -rss_limit_mb=1024 -max_len=65536 -len_control=20 -artifact_prefix="$found" -print_final_stats=1 \
    ${FUZZ_SEED:+-seed="$FUZZ_SEED"} "$corpus" "server/fuzz/seeds/$reader" >"$built/$reader.log" 2>&1); then
    failed+=("$reader")
    tail -n 25 "$built/$reader.log"
  fi
  if [ -n "${FUZZ_SEED:-}" ]; then rm -rf "$corpus"; fi
  echo "$reader: $(sed -n 's/^stat::number_of_executed_units: *//p' "$built/$reader.log") executions"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}; the inputs are in $built/found" >&2
  exit 1
fi

#!/usr/bin/env bash
# Runs all checks and tests, each as a stage with its name and its time, and sums up at the end.
# A failing stage does not keep the later ones from running, unless they need what it makes.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root" || exit 1

failed=()
# usage: stage NAME COMMAND ...
stage() {
  local name=$1 began=$SECONDS
  shift
  echo
  echo "=== $name"
  if "$@"; then
    echo "=== $name: ok, $((SECONDS - began)) s"
  else
    failed+=("$name")
    echo "=== $name: FAILED, $((SECONDS - began)) s"
    return 1
  fi
}

# Lints while it compiles what the tests run, so that our crates and their dependencies are compiled once: `cargo clippy`
# would compile everything a second time, as metadata only. Cargo calls the driver for our own crates, as `cargo clippy` does.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver
export CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ # how `cargo clippy -- -D warnings` passes it on

# The arguments stay the same for every call of cargo: other packages have other features, and other features compile
# dependencies again.
lints_and_build() {
  cargo build --locked --workspace --all-targets
}

# A driver that ignored its arguments would let everything pass.
lints_are_on() {
  local code='pub fn has_none(bytes: &[u8]) -> bool { bytes.len() == 0 }'
  local folder output
  folder=$(mktemp -d)
  output=$(clippy-driver rustc --crate-name probe --crate-type lib --emit metadata --out-dir "$folder" - <<<"$code" 2>&1)
  rm -rf "$folder"
  grep -q '^error: length comparison to zero' <<<"$output"
}

unit_tests() {
  # nextest runs each test in a process of its own and says which one hangs; it has no doc tests.
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --locked --workspace --no-fail-fast && cargo test --locked --workspace --doc
  else
    cargo test --locked --workspace --no-fail-fast
  fi
}

dependencies() {
  local deny
  deny=$(tools/setup-cargo-deny.sh) && "$deny" --locked --log-level error check licenses bans sources
}

stage "setup" tools/setup.sh || exit 1
stage "setup of the clients" tools/setup-clients.sh
stage "setup of the frameworks" tests/frameworks/setup.sh
stage "setup of the proxies" tools/setup-proxies.sh
stage "format" cargo fmt --all --check
stage "tidy" python3 tools/tidy.py
stage "dependencies" dependencies
stage "lints are on" lints_are_on
if stage "lints and build" lints_and_build; then
  stage "tests" unit_tests
  stage "fuzzing" env FUZZ_SECONDS=4 FUZZ_SEED=1 tools/fuzz.sh 20000
  built=$(cargo metadata --locked --no-deps --format-version 1 |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/debug
  stage "conformance" env PRESSMARK_BIN="$built/examples/conformance_server" tests/conformance/run.sh
  stage "clients" env PRESSMARK_BIN="$built/pressmark" tests/clients/run.sh
  stage "proxies" env PRESSMARK_BIN="$built/pressmark" tests/proxies/run.sh
  stage "frameworks" env PRESSMARK_BIN="$built/pressmark" tests/frameworks/run.sh
fi

echo
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: $(IFS=,; echo "${failed[*]}")"
  exit 1
fi
echo "all stages passed in $SECONDS s"

#!/usr/bin/env bash
# Runs the official conformance suite on the wire of both eras, against the example server that has the
# suite's fixtures (server/examples/conformance_server): it is built as any program is that embeds Pressmark.
#
# A failing check that the era's baseline does not name fails the run, and so does a baselined check
# that passes.
# usage: PRESSMARK_BIN=path/of/conformance_server tests/conformance/run.sh [RESULTS-FOLDER]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../server.sh"

results=${1:-$scratch/results}
PATH=$(node_folder):$PATH
export PATH
suite=$CLIENTS_DIR/node_modules/@modelcontextprotocol/conformance/dist/index.js

start "$PRESSMARK_BIN" --data "$scratch/data"

failed=0
for wire in 2025-11-25 2026-07-28; do
  echo "== wire of $wire"
  # All the suite's scenarios for the revision: more than what the revision requires to be passed.
  if node "$suite" server --url "$server_url" --suite all --spec-version "$wire" \
    --expected-failures "$here/baseline-$wire.yml" --output-dir "$results/$wire" \
    >"$scratch/suite.log" 2>&1; then
    python3 "$here/report.py" "$results/$wire" counts
  else
    failed=1
    sed -n '/^=== SUMMARY ===$/,$p' "$scratch/suite.log"
    python3 "$here/report.py" "$results/$wire" reasons
  fi
done
exit "$failed"

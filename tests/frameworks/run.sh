#!/usr/bin/env bash
# Has agents of several frameworks, and SDKs of earlier years, use PRESSMARK_BIN with a scripted local model: each lists,
# reads, searches, fetches, fills in a prompt and sees an update, as far as it can.
# usage: PRESSMARK_BIN=path tests/frameworks/run.sh [NAME ...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../server.sh"
source "$here/names.sh"

[ $# -gt 0 ] || set -- "${quick_frameworks[@]}"
PATH=$(node_folder):$PATH
export PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
mkdir "$scratch/home" # clients leave settings there
# Node.js looks for packages beside a script: the client runs from the folder that has them.
cp "$here/old_typescript_sdk_client.mjs" "$(packages_of old_typescript_sdk)/"

folder=$scratch/shelf
mkdir "$folder"
printf '# Lending\n\nBooks are lent for four weeks.\n' >"$folder/lending.md"
cp "$here/pressmark.toml" "$scratch/pressmark.toml"

python3 "$here/model.py" "$scratch/model.port" 2>"$scratch/model.log" &
model_pid=$!
trap 'kill "$model_pid" 2>/dev/null || true; stop_server; rm -rf "$scratch"' EXIT
start_server "$folder" --config "$scratch/pressmark.toml" --data "$scratch/data"

passed=0
failed=0
for name in "$@"; do
  began=$SECONDS
  python3 "$here/make_facts.py" "$server_url" "$scratch/model.port" "$folder" >"$scratch/facts.json"
  if run_client "$name" "$scratch/facts.json" "$server_url" >"$scratch/client.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name ($((SECONDS - began)) s): $(tail -n 1 "$scratch/client.log")"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    tail -n 40 "$scratch/client.log" | sed 's/^/        /'
    sed 's/^/        model: /' "$scratch/model.log"
  fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

#!/usr/bin/env bash
# Runs every client in both eras over both transports against PRESSMARK_BIN: each reads the folder, and those with an SDK
# of their own also hear of a file that changes in it. Two clients of the admin plane call every method of it.
# usage: PRESSMARK_BIN=path tests/clients/run.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../server.sh"

PATH=$(node_folder):$PATH
export PATH PYTHONDONTWRITEBYTECODE=1
export INSPECTOR=$CLIENTS_DIR/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js
# Node.js looks for packages beside a script: the clients run from the folder that has them.
cp "$here/ts_client.mjs" "$here/ts_updates.mjs" "$CLIENTS_DIR/"

folder=$scratch/shelf
mkdir "$folder"
python3 "$here/make_folder.py" "$folder"

# A file that the clients change, and how: one write, which is one change.
updated_uri=docs://shelf/module.ts
update="echo '// changed' >> '$folder/module.ts'"

passed=0
failed=0
# usage: run NAME ARGUMENT ... , e.g. ERA TRANSPORT TARGET ; the client's output is shown only when it fails
run() {
  local name=$1 began=$SECONDS
  shift
  local client
  case $name in
    python) client=("$CLIENTS_PYTHON" "$here/python_client.py" "$folder") ;;
    typescript) client=(node "$CLIENTS_DIR/ts_client.mjs" "$folder") ;;
    inspector) client=("$CLIENTS_PYTHON" "$here/inspector_client.py" "$folder") ;;
    grpc-stubs) client=("$CLIENTS_PYTHON" "$here/grpc_stubs.py") ;;
    grpc-reflection) client=("$CLIENTS_PYTHON" "$here/grpc_reflection_client.py") ;;
    python-updates) client=("$CLIENTS_PYTHON" "$here/python_updates.py" "$updated_uri" "$update") ;;
    typescript-updates) client=(node "$CLIENTS_DIR/ts_updates.mjs" "$updated_uri" "$update") ;;
  esac
  if "${client[@]}" "$@" >"$scratch/client.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name, $1, $2 ($((SECONDS - began)) s)"
  else
    failed=$((failed + 1))
    echo "FAILED  $name, $1, $2"
    sed 's/^/        /' "$scratch/client.log" | tail -n 40
  fi
}

admin_address=127.0.0.1:$(free_port)
start_server "$folder" --data "$scratch/data" --admin-listen "$admin_address"
python3 "$here/wait_until_listed.py" "$folder" "$server_url"
for client in python typescript inspector python-updates typescript-updates; do
  for era in legacy modern; do
    run "$client" "$era" http "$server_url"
  done
done
for client in grpc-stubs grpc-reflection; do
  mkdir "$scratch/$client"
  run "$client" "$admin_address" "$scratch/$client"
done
# The store is served again over stdio: it is free once that server has ended.
stop_server
for client in python typescript inspector python-updates typescript-updates; do
  for era in legacy modern; do
    run "$client" "$era" stdio "$PRESSMARK_BIN" stdio "$folder" --data "$scratch/data"
  done
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

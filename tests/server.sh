# Starts and stops the server under test. Sourced by the test scripts.
# shellcheck shell=bash

source "$(dirname "${BASH_SOURCE[0]}")/../tools/env.sh"

: "${PRESSMARK_BIN:?set PRESSMARK_BIN to the binary under test}"

READY_SECONDS_MAX=60
STOP_SECONDS_MAX=20
scratch=$(mktemp -d)
server_pid=
trap 'stop_server; rm -rf "$scratch"' EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# usage: start_server ARGUMENT ... (those of `pressmark serve`); sets server_url
start_server() {
  start "$PRESSMARK_BIN" serve "$@"
}

# usage: start COMMAND ... (to which --listen is added); sets server_url
start() {
  local port deadline
  port=$(free_port)
  server_url=http://127.0.0.1:$port/mcp
  "$@" --listen "127.0.0.1:$port" >"$scratch/server.log" 2>&1 &
  server_pid=$!
  deadline=$((SECONDS + READY_SECONDS_MAX))
  until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/readyz"; do
    if ! kill -0 "$server_pid" 2>/dev/null || [ $SECONDS -ge $deadline ]; then
      echo "the server did not become ready; its last lines:" >&2
      tail -n 30 "$scratch/server.log" >&2
      return 1
    fi
    sleep 0.1 # between two looks at a condition, not instead of one
  done
}

# Asks the server to end, as an operator does, and demands that it does so by itself.
stop_server() {
  [ -n "$server_pid" ] || return 0
  local pid=$server_pid deadline=$((SECONDS + STOP_SECONDS_MAX))
  server_pid=
  kill -TERM "$pid" 2>/dev/null || return 0
  while kill -0 "$pid" 2>/dev/null; do
    if [ $SECONDS -ge $deadline ]; then
      echo "the server ignored SIGTERM for $STOP_SECONDS_MAX seconds" >&2
      kill -KILL "$pid"
      return 1
    fi
    sleep 0.1
  done
}

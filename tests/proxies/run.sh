#!/usr/bin/env bash
# Runs the configurations of docs/proxies with the real programs in front of PRESSMARK_BIN: TLS, HTTP/1.1 and HTTP/2, a path
# prefix, a stream of events that is not held back, and metrics by a name of their own.
# usage: PRESSMARK_BIN=path tests/proxies/run.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../server.sh"
PATH=$PATH:/usr/sbin

HOST=docs.example.com
WAIT_SECONDS_MAX=20
DOCUMENTS=$scratch/docs
proxy_pid=
trap 'stop_proxy; stop_server; rm -rf "$scratch"' EXIT

stop_proxy() {
  [ -n "$proxy_pid" ] || return 0
  kill -TERM "$proxy_pid" 2>/dev/null || true
  wait "$proxy_pid" 2>/dev/null || true
  proxy_pid=
}

# usage: wait_for COMMAND ... ; until it succeeds
wait_for() {
  local deadline=$((SECONDS + WAIT_SECONDS_MAX))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.1 # between two looks at a condition, not instead of one
  done
}

certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$HOST" \
    -addext "subjectAltName=DNS:$HOST" -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2>/dev/null
  cat "$scratch/cert.pem" "$scratch/key.pem" >"$scratch/both.pem"
}

# The documented file with addresses and certificate of this run, and nothing else changed.
# usage: configured FILE
configured() {
  sed -e "s|127\.0\.0\.1:7411|127.0.0.1:$server_port|" \
    -e "s|listen 443 |listen 127.0.0.1:$port |; s|bind :443 |bind 127.0.0.1:$port |; s|$HOST:443|$HOST:$port|" \
    -e "s|/etc/ssl/$HOST.crt|$scratch/cert.pem|; s|/etc/ssl/$HOST.key|$scratch/key.pem|" \
    -e "s|/etc/ssl/$HOST.pem|$scratch/both.pem|" "$root/docs/proxies/$1"
}

# usage: start_proxy NAME ; what surrounds the documented file keeps a run apart from the machine
start_proxy() {
  local folder=$scratch/$1
  mkdir "$folder"
  case $1 in
    nginx)
      configured nginx.conf >"$folder/site.conf"
      {
        echo "daemon off; pid $folder/pid; error_log stderr;"
        [ "$(id -u)" != 0 ] || echo "user root;"
        echo "events {} http { access_log off;"
        for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $folder/$kind;"; done
        echo "include $folder/site.conf; }"
      } >"$folder/nginx.conf"
      nginx -p "$folder" -c "$folder/nginx.conf" >"$folder/log" 2>&1 &
      ;;
    haproxy)
      configured haproxy.cfg >"$folder/haproxy.cfg"
      haproxy -db -f "$folder/haproxy.cfg" >"$folder/log" 2>&1 &
      ;;
    caddy)
      { printf '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'; configured Caddyfile; } >"$folder/Caddyfile"
      env HOME="$folder" XDG_DATA_HOME="$folder" XDG_CONFIG_HOME="$folder" \
        "$PROXIES_DIR/python/bin/caddy" run --adapter caddyfile --config "$folder/Caddyfile" >"$folder/log" 2>&1 &
      ;;
  esac
  proxy_pid=$!
}

# usage: ask VERSION PATH CURL_ARGUMENT ...
ask() {
  local version=$1 path=$2
  shift 2
  curl --silent --show-error --max-time 30 "--http$version" --cacert "$scratch/cert.pem" \
    --resolve "$HOST:$port:127.0.0.1" "$@" "https://$HOST:$port$path"
}

post() {
  ask "$1" "${3:-/library/mcp}" --header 'Content-Type: application/json' \
    --header 'Accept: application/json, text/event-stream' "${session[@]}" --data "$2"
}

expect() { # usage: expect WHAT TEXT FILE
  grep -q -- "$2" "$3" || { echo "$1: \"$2\" is not in:" >&2; cat "$3" >&2; return 1; }
}

status_is() { # usage: status_is STATUS VERSION PATH
  local status
  status=$(ask "$2" "$3" --output /dev/null --write-out '%{http_code}')
  [ "$status" = "$1" ] || { echo "$3: $status, expected $1" >&2; return 1; }
}

# usage: check VERSION ; everything that a client does, over one version of HTTP
check() {
  local version=$1 id stream_pid out=$scratch/out
  local session=()
  post "$version" '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}' >"$out"
  expect initialize '"protocolVersion":"2025-11-25"' "$out"
  id=$(ask "$version" /library/mcp --dump-header - --output /dev/null --header 'Content-Type: application/json' \
    --write-out 'version: %{http_version}\n' \
    --data '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}' | tr -d '\r')
  [ "$(sed -n 's/^version: //p' <<<"$id")" = "${version%.0}" ] || { echo "not HTTP/$version" >&2; return 1; }
  session=(--header "Mcp-Session-Id: $(sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p' <<<"$id")")
  post "$version" '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"docs://docs/a.md"}}' >"$out"
  expect read 'Hello' "$out"
  post "$version" '{"jsonrpc":"2.0","id":1,"method":"ping"}' /library/mcp/ >"$out"
  expect 'the slash' '"result":{}' "$out"
  post "$version" '{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"docs://docs/a.md"}}' >"$out"
  expect subscribe '"result":{}' "$out"
  : >"$scratch/events"
  ask "$version" /library/mcp --no-buffer --compressed --header 'Accept: text/event-stream' "${session[@]}" \
    >"$scratch/events" 2>/dev/null &
  stream_pid=$!
  # The first event, one of a change and a comment each come while the stream is open.
  wait_for grep -q '^id: ' "$scratch/events" || { echo "no event came through" >&2; return 1; }
  echo "changed over HTTP/$version" >>"$DOCUMENTS/a.md"
  wait_for grep -q 'notifications/resources/updated' "$scratch/events" || { echo "no notification came through" >&2; return 1; }
  wait_for grep -q '^:' "$scratch/events" || { echo "no comment came through" >&2; return 1; }
  kill -0 "$stream_pid" || { echo "the stream was cut" >&2; return 1; }
  kill "$stream_pid"
  wait "$stream_pid" 2>/dev/null || true
  for path in /metrics /library/metrics /readyz; do status_is 404 "$version" "$path"; done
}

certificate
mkdir "$DOCUMENTS"
echo "# Hello" >"$DOCUMENTS/a.md"
cat >"$scratch/pressmark.toml" <<CONFIG
[server]
allowed_hosts = ["$HOST"]
trusted_proxies = ["127.0.0.1"]
metrics_hosts = ["pressmark.internal"]
stream_keep_alive = "2s"
[storage]
path = "$scratch/data"
[[source]]
space = "docs"
path = "$DOCUMENTS"
CONFIG
start_server --config "$scratch/pressmark.toml" --admin-listen off
server_port=${server_url#http://127.0.0.1:}
server_port=${server_port%/mcp}
listed() { curl --silent --header 'Content-Type: application/json' --data '{"jsonrpc":"2.0","id":1,"method":"resources/list"}' "$server_url" | grep -q 'a\.md'; }
wait_for listed

passed=0
failed=0
for proxy in nginx haproxy caddy; do
  port=$(free_port)
  start_proxy "$proxy"
  wait_for ask 2 /library/mcp --output /dev/null || true
  for version in 1.1 2; do
    began=$SECONDS
    # `set -e` does not act within a condition: the check runs in a shell of its own.
    set +e
    (set -e; check "$version") >"$scratch/check.log" 2>&1
    outcome=$?
    set -e
    if [ $outcome = 0 ]; then
      passed=$((passed + 1))
      echo "ok      $proxy, HTTP/$version ($((SECONDS - began)) s)"
    else
      failed=$((failed + 1))
      echo "FAILED  $proxy, HTTP/$version"
      sed 's/^/        /' "$scratch/check.log" "$scratch/$proxy/log" | tail -n 40
    fi
  done
  stop_proxy
done

if "$PROXIES_DIR/python/bin/python" "$here/metrics_formats.py" "http://127.0.0.1:$server_port/metrics" pressmark.internal; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

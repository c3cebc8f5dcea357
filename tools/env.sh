# Where everything that is built once a machine is kept. Sourced by the other scripts.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PRESSMARK_CACHE=${PRESSMARK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pressmark}

# The client packages are installed in a folder named after what they were installed from, so a
# changed lock file never meets old packages.
clients_key=$(cat "$root"/tests/clients/{package.json,package-lock.json,requirements.txt} | sha256sum | cut -c1-16)
export CLIENTS_DIR=$PRESSMARK_CACHE/clients/$clients_key
export CLIENTS_PYTHON=$CLIENTS_DIR/python/bin/python

# The proxies likewise.
proxies_key=$(sha256sum "$root/tests/proxies/requirements.txt" | cut -c1-16)
export PROXIES_DIR=$PRESSMARK_CACHE/proxies/$proxies_key

# The folder of the Node.js binary that the client packages bring along.
node_folder() {
  local folder
  for folder in "$CLIENTS_DIR"/node_modules/node-linux-*/bin; do
    if [ -x "$folder/node" ]; then
      echo "$folder"
      return
    fi
  done
  echo "no Node.js in $CLIENTS_DIR: run make setup" >&2
  return 1
}

# Runs a command as root where that is needed and possible.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

#!/usr/bin/env bash
# Installs the MCP clients and the conformance suite that the tests use, pinned by the files in
# tests/clients, in the cache folder. May be run any number of times.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"

[ -f "$CLIENTS_DIR/complete" ] && exit 0

packages=(curl python3 python3-venv)
# npm only unpacks the packages: they bring the newer Node.js that they need.
command -v npm >/dev/null || packages+=(nodejs npm)
tools/install-system-packages.sh "${packages[@]}"

rm -rf "$CLIENTS_DIR"
mkdir -p "$CLIENTS_DIR"
cp tests/clients/{package.json,package-lock.json,.npmrc} "$CLIENTS_DIR"
# The system's Node.js may be older than what a package asks for; npm only warns of that.
(cd "$CLIENTS_DIR" && npm ci --loglevel=error)
python3 -m venv "$CLIENTS_DIR/python"
"$CLIENTS_PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps -r tests/clients/requirements.txt
touch "$CLIENTS_DIR/complete"

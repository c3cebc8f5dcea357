#!/usr/bin/env bash
# Installs the proxies that the tests run: nginx and HAProxy from the system's packages, Caddy and a parser of metrics in the
# cache folder, pinned by tests/proxies/requirements.txt. May be run any number of times.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
cd "$root"

tools/install-system-packages.sh curl haproxy nginx openssl python3 python3-venv

[ -f "$PROXIES_DIR/complete" ] && exit 0
rm -rf "$PROXIES_DIR"
mkdir -p "$PROXIES_DIR"
python3 -m venv "$PROXIES_DIR/python"
"$PROXIES_DIR/python/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
  --only-binary :all: -r tests/proxies/requirements.txt
touch "$PROXIES_DIR/complete"

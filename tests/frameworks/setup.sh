#!/usr/bin/env bash
# Installs the pinned packages of agent frameworks in the cache folder, each set in a folder of its own, since they exclude
# one another. May be run any number of times. usage: tests/frameworks/setup.sh [NAME ...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/env.sh"
source "$root/tests/frameworks/names.sh"
cd "$root"

[ $# -gt 0 ] || set -- "${quick_frameworks[@]}"
for name in "$@"; do
  packages=$(packages_of "$name")
  [ -f "$packages/complete" ] && continue
  rm -rf "$packages"
  mkdir -p "$packages"
  case $name in
    old_typescript_sdk | mcp_remote)
      cp tests/frameworks/{package.json,package-lock.json,.npmrc} "$packages"
      (cd "$packages" && npm ci --loglevel=error)
      ;;
    *)
      tools/install-system-packages.sh python3-venv
      python3 -m venv "$packages"
      "$packages/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        -r "tests/frameworks/requirements/$name.txt"
      ;;
  esac
  touch "$packages/complete"
done

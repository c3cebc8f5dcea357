# The clients of frameworks: where their packages are, and how each is started. Sourced by the other scripts.
# shellcheck shell=bash

frameworks_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
quick_frameworks=(langchain openai_agents pydantic_ai autogen old_python_sdk old_typescript_sdk mcp_remote)
slow_frameworks=(crewai) # a gigabyte of packages

# The folder of a client's packages, named after what was installed, so that a changed pin never meets old packages.
# usage: packages_of NAME
packages_of() {
  local pins
  case $1 in
    old_typescript_sdk | mcp_remote) pins=$frameworks_folder/package-lock.json ;;
    *) pins=$frameworks_folder/requirements/$1.txt ;;
  esac
  echo "$PRESSMARK_CACHE/frameworks/$(basename "$pins" | cut -d. -f1)-$(sha256sum "$pins" | cut -c1-16)"
}

# usage: run_client NAME FACTS_FILE SERVER_URL
run_client() {
  local packages
  packages=$(packages_of "$1")
  case $1 in
    old_typescript_sdk) node "$packages/old_typescript_sdk_client.mjs" "$2" ;;
    mcp_remote)
      node "$packages/old_typescript_sdk_client.mjs" "$2" \
        node "$packages/node_modules/mcp-remote/dist/proxy.js" "$3" --allow-http --transport http-only
      ;;
    *) HOME=$scratch/home "$packages/bin/python" "$frameworks_folder/$1_client.py" "$2" ;;
  esac
}

"""Writes the document that the clients ask for, waits until the server has it and finds it, and prints what clients are told.

usage: make_facts.py SERVER_URL MODEL_PORT_FILE FOLDER
"""

import json
import pathlib
import sys
import time
import urllib.request

DEADLINE_SECONDS = 60
LOOK_EVERY_SECONDS = 0.1
VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
DOCUMENT = "export const answer: number = 42;\n"
URI = "docs://shelf/module.ts"


def ask(url: str, method: str, name: str, params: dict) -> dict:
    params["_meta"] = {PREFIX + "protocolVersion": VERSION, PREFIX + "clientCapabilities": {}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
        "Mcp-Name": name,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
        return json.load(reply).get("result", {})


def is_served(url: str) -> bool:
    try:
        contents = ask(url, "resources/read", URI, {"uri": URI})["contents"]
    except (OSError, KeyError):
        return False
    found = ask(url, "tools/call", "search", {"name": "search", "arguments": {"query": "answer"}})
    uris = [hit["uri"] for hit in found["structuredContent"]["results"]]
    return contents[0]["text"] == DOCUMENT and URI in uris


def wait_for(condition) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"not ready after {DEADLINE_SECONDS} seconds")
        time.sleep(LOOK_EVERY_SECONDS)


def main() -> None:
    url, port_file, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    path = folder / "module.ts"
    path.write_text(DOCUMENT, encoding="utf-8")
    wait_for(port_file.exists)
    wait_for(lambda: is_served(url))
    facts = {
        "server_url": url,
        "model_url": f"http://127.0.0.1:{port_file.read_text(encoding='utf-8')}/v1",
        "uri": URI,
        "path": str(path),
        "prompt": "explain",
        "prompt_arguments": {"word": "pressmark"},
        "resource_count": 2,
    }
    json.dump(facts, sys.stdout)


if __name__ == "__main__":
    main()

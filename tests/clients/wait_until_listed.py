"""Waits until a server that indexes in the background lists every file of a folder.

Ends with an error when that has not happened after the deadline.
usage: wait_until_listed.py FOLDER URL
"""

import json
import pathlib
import sys
import time
import urllib.request

DEADLINE_SECONDS = 60
LOOK_EVERY_SECONDS = 0.2
VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"


def list_page(url: str, cursor: str | None) -> dict:
    meta = {PREFIX + "protocolVersion": VERSION, PREFIX + "clientCapabilities": {}}
    params = {"_meta": meta} | ({"cursor": cursor} if cursor else {})
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": "resources/list",
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
        return json.load(reply)["result"]


def listed_count(url: str) -> int:
    count, cursor = 0, None
    while True:
        page = list_page(url, cursor)
        count += sum(entry.get("mimeType") != "inode/directory" for entry in page["resources"])
        cursor = page.get("nextCursor")
        if cursor is None:
            return count


def main() -> None:
    folder, url = sys.argv[1:]
    wanted = sum(path.is_file() for path in pathlib.Path(folder).rglob("*"))
    deadline = time.monotonic() + DEADLINE_SECONDS
    while (count := listed_count(url)) < wanted:
        if time.monotonic() > deadline:
            sys.exit(f"{count} of {wanted} files are listed after {DEADLINE_SECONDS} seconds")
        time.sleep(LOOK_EVERY_SECONDS)


if __name__ == "__main__":
    main()

"""Reads a folder through Pressmark with the Inspector's command line and compares it with the disk.

Each call is a process of its own, so a few files stand for all: those with the odd names.
usage: inspector_client.py FOLDER legacy|modern http URL
       inspector_client.py FOLDER legacy|modern stdio COMMAND [ARGUMENT ...]
The environment variable INSPECTOR holds the path of the package's program.
"""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from python_client import path_of

DEADLINE_SECONDS = 60


class Inspector:
    def __init__(self, era: str, target: dict, scratch: str):
        config = pathlib.Path(scratch) / "inspector.json"
        config.write_text(json.dumps({"mcpServers": {"pressmark": target}}), encoding="utf-8")
        self.command = ["node", os.environ["INSPECTOR"], "--cli"]
        self.command += ["--config", str(config), "--server", "pressmark"]
        self.command += ["--format", "json", "--quiet", "--protocol-era", era, "--method"]

    def call(self, method: str, *arguments: str) -> dict:
        command = [*self.command, method, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return json.loads(done.stdout)["result"]

    def read(self, uri: str) -> list[dict]:
        return self.call("resources/read", "--uri", uri)["contents"]


def check(inspector: Inspector, folder: pathlib.Path) -> None:
    listed = [entry["uri"] for entry in inspector.call("resources/list")["resources"]]
    uris = [uri for uri in listed if path_of(folder, uri).is_file()]
    files = {path for path in folder.rglob("*") if path.is_file()}
    assert {path_of(folder, uri) for uri in uris} == files, "every file is listed"

    root = next(uri for uri in uris if uri.endswith("/lines.txt")).removesuffix("lines.txt")
    for uri in uris:
        path = path_of(folder, uri)
        if path.parent.name != "odd names" and path.parent != folder:
            continue
        part = inspector.read(uri)[0]
        data = part["text"].encode() if "text" in part else base64.b64decode(part["blob"])
        assert (part["uri"], data) == (uri, path.read_bytes()), uri

    text = (folder / "lines.txt").read_text(encoding="utf-8")
    part = inspector.read(root + "lines.txt#line=1,3")[0]
    assert part["text"] == "".join(text.splitlines(keepends=True)[1:3]), part
    children = {path_of(folder, part["uri"].rstrip("/")).name for part in inspector.read(root + "nested")}
    assert "one" in children, children

    templates = inspector.call("resources/templates/list")["resourceTemplates"]
    assert root + "{+path}" in [template["uriTemplate"] for template in templates], templates
    assert {"search", "fetch"} <= {tool["name"] for tool in inspector.call("tools/list")["tools"]}
    found = inspector.call("tools/call", "--tool-name", "search", "--tool-arg", "query=module")
    assert found["structuredContent"]["results"] is not None, found
    uri = root + "module.ts"
    fetched = inspector.call("tools/call", "--tool-name", "fetch", "--tool-arg", f"id={uri}")
    assert fetched["structuredContent"]["text"] == (folder / "module.ts").read_text(), fetched


def main() -> None:
    folder, era, transport, *target = sys.argv[1:]
    server = {"type": "stdio", "command": target[0], "args": target[1:]}
    if transport == "http":
        server = {"type": "streamable-http", "url": target[0]}
    with tempfile.TemporaryDirectory() as scratch:
        check(Inspector(era, server, scratch), pathlib.Path(folder))


if __name__ == "__main__":
    main()

"""Reads a folder through Pressmark with the official Python SDK and compares it with the disk.

usage: python_client.py FOLDER legacy|modern http URL
       python_client.py FOLDER legacy|modern stdio COMMAND [ARGUMENT ...]
"""

import base64
import json
import pathlib
import sys
import urllib.parse

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import ResourceTemplateReference

MODES = {"legacy": "legacy", "modern": "auto"}
DEADLINE_SECONDS = 120
FETCH_LIMIT = 500  # small enough that `fetch` needs several calls for lines.txt


def path_of(folder: pathlib.Path, uri: str) -> pathlib.Path:
    """The file behind `docs://slug/path`, decoded once."""
    _, _, path = uri.removeprefix("docs://").partition("/")
    return folder / urllib.parse.unquote(path, errors="strict")


async def list_all(client: Client) -> list:
    resources, cursors = [], []
    page = await client.list_resources()
    while True:
        resources += page.resources
        if page.next_cursor is None:
            break
        assert page.next_cursor not in cursors, "a cursor came back twice"
        cursors.append(page.next_cursor)
        page = await client.list_resources(cursor=page.next_cursor)
    assert cursors, "the folder is larger than a page, yet there was no second page"
    return resources


async def check_files(client: Client, folder: pathlib.Path, uris: list[str]) -> None:
    for uri in uris:
        data = path_of(folder, uri).read_bytes()
        result = await client.read_resource(uri)
        part = result.contents[0]
        assert part.uri == uri, (part.uri, uri)
        try:
            expected_text = data.decode()
        except UnicodeDecodeError:
            assert base64.b64decode(part.blob, validate=True) == data, uri
            assert part.mime_type, f"{uri}: a blob has a MIME type"
        else:
            assert part.text == expected_text, uri


async def check_slices(client: Client, folder: pathlib.Path, uri: str) -> None:
    text = path_of(folder, uri).read_text(encoding="utf-8")
    lines = (await client.read_resource(f"{uri}#line=99,200")).contents[0].text
    assert lines == "".join(text.splitlines(keepends=True)[99:200]), "#line="
    chars = (await client.read_resource(f"{uri}#char=3,4096")).contents[0].text
    assert chars == text[3:4096], "#char="


async def check_folder(client: Client, folder: pathlib.Path, uri: str) -> None:
    children = {child.name for child in path_of(folder, uri).iterdir()}
    parts = (await client.read_resource(uri)).contents
    listed = {path_of(folder, part.uri.rstrip("/")).name for part in parts}
    assert children <= listed, (uri, children - listed)


async def check_fetch(client: Client, folder: pathlib.Path, uri: str) -> None:
    tools = (await client.list_tools()).tools
    assert "fetch" in [tool.name for tool in tools], tools
    expected = path_of(folder, uri).read_text(encoding="utf-8")
    text, offset = "", 0
    while offset is not None:
        arguments = {"id": uri, "offset": offset, "limit": FETCH_LIMIT}
        result = await client.call_tool("fetch", arguments)
        assert not result.is_error, result
        piece = result.structured_content
        [item] = result.content
        read = json.loads(item.text)
        assert read == {name: piece[name] for name in read}, "both forms say the same"
        text, offset = text + piece["text"], piece.get("nextOffset")
    assert text == expected, "fetch, put together"
    wrong = await client.call_tool("fetch", {"id": "docs://no-such-space/x"})
    assert wrong.is_error, "an unknown id is a tool error that the model can read"


async def check_search(client: Client, uri: str) -> None:
    """What was indexed a moment ago is found within some seconds, and what is found can be fetched."""
    name = uri.rsplit("/", 1)[-1]
    for _ in range(100):
        result = await client.call_tool("search", {"query": f"uri:{name}", "limit": 50})
        assert not result.is_error, result
        [item] = result.content
        read = [hit["id"] for hit in json.loads(item.text)["results"]]
        assert read == [hit["id"] for hit in result.structured_content["results"]], "both forms say the same"
        found = [hit["id"] for hit in result.structured_content["results"]]
        if uri in found:
            return
        await anyio.sleep(0.1)
    raise AssertionError(f"{uri} is not found: {result}")


async def check_completion(client: Client, root: str, uris: list[str]) -> None:
    """Every file is reached by completing its path, one folder after the other."""
    template = ResourceTemplateReference(type="ref/resource", uri=root + "{+path}")
    found, folders = [], [""]
    while folders:
        argument = {"name": "path", "value": folders.pop()}
        completion = (await client.complete(template, argument)).completion
        values = [value for value in completion.values if value.startswith(argument["value"])]
        assert len(values) == completion.total and not completion.has_more, completion
        folders += [value for value in values if value.endswith("/")]
        found += [root + value for value in values if not value.endswith("/")]
    assert sorted(found) == sorted(uris), set(found) ^ set(uris)

    argument = {"name": "path", "value": "LINSE"}
    values = (await client.complete(template, argument, {"unknown": "x"})).completion.values
    assert "lines.txt" in values, ("upper case and a swap", values)
    try:
        await client.complete(template, {"name": "title", "value": ""})
    except Exception as error:
        assert getattr(error, "code", None) == -32602 and "path" in str(error), repr(error)
    else:
        raise AssertionError("the template has no `title`, yet it was completed")


async def check_missing(client: Client, uri: str) -> None:
    try:
        await client.read_resource(uri)
    except Exception as error:  # the SDK's error type; what counts is its code
        assert getattr(error, "code", None) in (-32002, -32602), repr(error)
    else:
        raise AssertionError(f"{uri} does not exist, yet it was read")


async def check(client: Client, folder: pathlib.Path, era: str) -> None:
    assert (client.protocol_version >= "2026-07-28") == (era == "modern"), client.protocol_version
    listed = [resource.uri for resource in await list_all(client)]
    assert len(listed) == len(set(listed)), "a resource was listed twice"
    uris = [uri for uri in listed if path_of(folder, uri).is_file()]
    files = {path for path in folder.rglob("*") if path.is_file()}
    assert {path_of(folder, uri) for uri in uris} == files, "every file is listed once"

    lines = next(uri for uri in uris if uri.endswith("/lines.txt"))
    root = lines.removesuffix("lines.txt")
    await check_files(client, folder, uris)
    await check_slices(client, folder, lines)
    for spelling in ("nested", "nested/", "odd%20names"):
        await check_folder(client, folder, root + spelling)
    templates = (await client.list_resource_templates()).resource_templates
    assert root + "{+path}" in [template.uri_template for template in templates], templates
    await check_completion(client, root, uris)
    await check_fetch(client, folder, lines)
    await check_search(client, lines)
    await check_missing(client, root + "no-such-file.txt")


async def main() -> None:
    folder, era, transport, target, *arguments = sys.argv[1:]
    server = target
    if transport == "stdio":
        server = StdioServerParameters(command=target, args=arguments)
    with anyio.fail_after(DEADLINE_SECONDS):
        async with Client(server, mode=MODES[era]) as client:
            await check(client, pathlib.Path(folder), era)


if __name__ == "__main__":
    anyio.run(main)

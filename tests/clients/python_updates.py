"""Hears of a change through Pressmark with the official Python SDK.

usage: python_updates.py URI CHANGE legacy|modern http URL
       python_updates.py URI CHANGE legacy|modern stdio COMMAND [ARGUMENT ...]

CHANGE is a shell command that changes the resource at URI.
"""

import subprocess
import sys
import warnings

import anyio
from mcp import Client, StdioServerParameters

MODES = {"legacy": "legacy", "modern": "auto"}
DEADLINE_SECONDS = 120


async def read_text(client: Client, uri: str) -> str:
    return (await client.read_resource(uri)).contents[0].text


async def check_legacy(client: Client, uri: str, change: str, heard) -> None:
    before = await read_text(client, uri)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK says that the legacy methods have gone
        await client.subscribe_resource(uri)
        for _ in range(2):
            subprocess.run(change, shell=True, check=True)
            assert await heard.receive() == uri
        assert await read_text(client, uri) != before, "the read that follows sees the change"
        await client.unsubscribe_resource(uri)


async def check_modern(client: Client, uri: str, change: str) -> None:
    before = await read_text(client, uri)
    async with client.listen(resource_subscriptions=[uri], tools_list_changed=True) as listening:
        assert not listening.honored.tools_list_changed, listening.honored
        events = aiter(listening)
        for _ in range(2):
            subprocess.run(change, shell=True, check=True)
            assert (await anext(events)).uri == uri
        assert await read_text(client, uri) != before, "the read that follows sees the change"


async def main() -> None:
    uri, change, era, transport, target, *arguments = sys.argv[1:]
    server = target
    if transport == "stdio":
        server = StdioServerParameters(command=target, args=arguments)
    tell, heard = anyio.create_memory_object_stream(16)

    async def on_message(message) -> None:
        if getattr(message, "method", None) == "notifications/resources/updated":
            await tell.send(str(message.params.uri))

    with anyio.fail_after(DEADLINE_SECONDS):
        async with Client(server, mode=MODES[era], message_handler=on_message) as client:
            assert (client.protocol_version >= "2026-07-28") == (era == "modern")
            if era == "legacy":
                await check_legacy(client, uri, change, heard)
            else:
                await check_modern(client, uri, change)


if __name__ == "__main__":
    anyio.run(main)

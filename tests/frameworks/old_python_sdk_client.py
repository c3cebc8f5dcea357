"""The official Python SDK of June 2025 (protocol 2025-03-26). usage: old_python_sdk_client.py FACTS_FILE"""

import asyncio

import facts
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ResourceUpdatedNotification, ServerNotification
from pydantic import AnyUrl


async def main() -> None:
    known = facts.read()
    notified = asyncio.Event()

    async def handle(message: object) -> None:
        if isinstance(message, ServerNotification) and isinstance(message.root, ResourceUpdatedNotification):
            notified.set()

    async with streamablehttp_client(known.server_url) as (incoming, outgoing, _):
        async with ClientSession(incoming, outgoing, message_handler=handle) as session:
            await session.initialize()
            known.check_listed([str(resource.uri) for resource in (await session.list_resources()).resources])
            contents = (await session.read_resource(AnyUrl(known.uri))).contents
            known.check_read([part.text for part in contents])
            prompt = await session.get_prompt(known.prompt, known.prompt_arguments)
            known.check_prompt([message.content.text for message in prompt.messages])
            await check_tools(known, session)

            await session.subscribe_resource(AnyUrl(known.uri))
            known.change_document()
            await known.until_notified(notified)
    known.finish()


async def check_tools(known: facts.Facts, session: ClientSession) -> None:
    """What the scripted model does elsewhere: search, then fetch what the text of the result names."""
    found = await session.call_tool("search", {"query": "answer", "space": None, "limit": None})
    assert [part.type for part in found.content] == ["text"], found
    assert known.uri in found.content[0].text, found
    fetched = await session.call_tool("fetch", {"id": known.uri, "offset": None, "limit": None})
    assert [part.type for part in fetched.content] == ["text"] and not fetched.isError, fetched
    assert "answer: number = 42" in fetched.content[0].text, fetched
    known.checked |= {"search", "fetch"}


if __name__ == "__main__":
    asyncio.run(main())

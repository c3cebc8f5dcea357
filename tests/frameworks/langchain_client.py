"""An agent of LangChain: tools, resources and a prompt by its MCP adapters. usage: langchain_client.py FACTS_FILE"""

import asyncio

import facts
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI
from mcp.types import ResourceUpdatedNotification, ServerNotification


async def main() -> None:
    known = facts.read()
    notified = asyncio.Event()

    async def handle(message: object) -> None:
        if isinstance(message, ServerNotification) and isinstance(message.root, ResourceUpdatedNotification):
            notified.set()

    connection = {
        "transport": "streamable_http",
        "url": known.server_url,
        "session_kwargs": {"message_handler": handle},
    }
    async with MultiServerMCPClient({"docs": connection}).session("docs") as session:
        known.check_listed([str(resource.uri) for resource in (await session.list_resources()).resources])
        known.check_read([blob.as_string() for blob in await load_mcp_resources(session, uris=[known.uri])])
        messages = await load_mcp_prompt(session, known.prompt, arguments=known.prompt_arguments)
        known.check_prompt([str(message.content) for message in messages])

        model = ChatOpenAI(model="scripted", base_url=known.model_url, api_key="unused", use_responses_api=False)
        agent = create_agent(model, await load_mcp_tools(session))
        state = await agent.ainvoke({"messages": [("user", facts.QUESTION)]})
        known.check_answer(state["messages"][-1].text)

        await session.subscribe_resource(known.uri)
        known.change_document()
        await known.until_notified(notified)
    known.finish()


if __name__ == "__main__":
    asyncio.run(main())

"""An agent of the OpenAI Agents SDK. usage: openai_agents_client.py FACTS_FILE"""

import asyncio

import facts
from agents import Agent, AsyncOpenAI, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp


async def main() -> None:
    known = facts.read()
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=known.model_url, api_key="unused"))
    async with MCPServerStreamableHttp({"url": known.server_url}, name="docs") as server:
        known.check_listed([str(resource.uri) for resource in (await server.list_resources()).resources])
        known.check_read([await read(server, known.uri)])
        prompt = await server.get_prompt(known.prompt, known.prompt_arguments)
        known.check_prompt([str(message.content) for message in prompt.messages])
        agent = Agent(name="reader", model=model, mcp_servers=[server])
        known.check_answer((await Runner.run(agent, facts.QUESTION)).final_output)

        # The SDK has no subscriptions: a change is seen by the next read.
        known.change_document()
        await known.until_changed(lambda: read(server, known.uri))
    known.finish()


async def read(server: MCPServerStreamableHttp, uri: str) -> str:
    return (await server.read_resource(uri)).contents[0].text


if __name__ == "__main__":
    asyncio.run(main())

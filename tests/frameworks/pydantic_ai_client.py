"""An agent of Pydantic AI. usage: pydantic_ai_client.py FACTS_FILE"""

import asyncio

import facts
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def main() -> None:
    known = facts.read()
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=known.model_url, api_key="unused"))
    toolset = MCPToolset(known.server_url)
    async with toolset:
        known.check_listed([resource.uri for resource in await toolset.list_resources()])
        known.check_read([await toolset.read_resource(known.uri)])
        prompt = await toolset.get_prompt(known.prompt, known.prompt_arguments)
        known.check_prompt([str(prompt)])
        agent = Agent(model, toolsets=[toolset])
        known.check_answer((await agent.run(facts.QUESTION)).output)

        # The toolset has no subscriptions: a change is seen by the next read.
        known.change_document()
        await known.until_changed(lambda: toolset.read_resource(known.uri))
    known.finish()


if __name__ == "__main__":
    asyncio.run(main())

"""An agent of AutoGen. usage: autogen_client.py FACTS_FILE"""

import asyncio

import facts
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StreamableHttpServerParams


async def main() -> None:
    known = facts.read()
    model = OpenAIChatCompletionClient(
        model="scripted",
        base_url=known.model_url,
        api_key="unused",
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "structured_output": False,
            "family": ModelFamily.UNKNOWN,
        },
    )
    async with McpWorkbench(StreamableHttpServerParams(url=known.server_url)) as workbench:
        known.check_listed([str(resource.uri) for resource in (await workbench.list_resources()).resources])
        known.check_read([await read(workbench, known.uri)])
        prompt = await workbench.get_prompt(known.prompt, known.prompt_arguments)
        known.check_prompt([str(message.content) for message in prompt.messages])
        agent = AssistantAgent("reader", model_client=model, workbench=workbench, max_tool_iterations=5)
        result = await agent.run(task=facts.QUESTION)
        known.check_answer(result.messages[-1].content)

        # The workbench has no subscriptions: a change is seen by the next read.
        known.change_document()
        await known.until_changed(lambda: read(workbench, known.uri))
    known.finish()


async def read(workbench: McpWorkbench, uri: str) -> str:
    return (await workbench.read_resource(uri)).contents[0].text


if __name__ == "__main__":
    asyncio.run(main())

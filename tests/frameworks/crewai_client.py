"""An agent of CrewAI, whose adapter knows tools only. usage: crewai_client.py FACTS_FILE"""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

import facts
from crewai import Agent, Crew, LLM, Task
from crewai_tools import MCPServerAdapter


def main() -> None:
    known = facts.read()
    model = LLM(model="scripted", base_url=known.model_url, api_key="unused", custom_openai=True)
    with MCPServerAdapter({"url": known.server_url, "transport": "streamable-http"}) as tools:
        agent = Agent(role="Reader", goal="Answer from documents", backstory="Reads.", llm=model, tools=tools)
        task = Task(description=facts.QUESTION, expected_output="One sentence.", agent=agent)
        known.check_answer(Crew(agents=[agent], tasks=[task]).kickoff().raw)
    known.finish("list", "read", "prompt", "update")


if __name__ == "__main__":
    main()

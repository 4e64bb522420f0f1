"""openai-agents against a server, over chat completions and over responses."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from features import KEY, MODEL, URL, feature, run
from openai import AsyncOpenAI

set_tracing_disabled(True)
called: list[str] = []


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    called.append(city)
    return "sunny"


def client() -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)


def agent(model: Any, **more: Any) -> Any:
    return Agent(name="Helper", instructions="Be brief.", model=model, **more)


def settings(**more: Any) -> ModelSettings:
    return ModelSettings(max_tokens=200, temperature=0, **more)


for name, kind in (("chat completions", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)):

    @feature(f"{name}: a reply")
    def _(kind: Any = kind) -> None:
        async def ask() -> Any:
            model = kind(model=MODEL, openai_client=client())
            return await Runner.run(agent(model, model_settings=settings()), "Hello, who are you?")

        assert asyncio.run(ask()).final_output

    @feature(f"{name}: streamed")
    def _(kind: Any = kind) -> None:
        async def ask() -> list[str]:
            model = kind(model=MODEL, openai_client=client())
            result = Runner.run_streamed(agent(model, model_settings=settings()), "Hello, who are you?")
            return [event.type async for event in result.stream_events()]

        assert "raw_response_event" in asyncio.run(ask())

    @feature(f"{name}: a tool is run")
    def _(kind: Any = kind) -> None:
        called.clear()

        async def ask() -> Any:
            model = kind(model=MODEL, openai_client=client())
            helper = agent(
                model,
                tools=[weather],
                model_settings=settings(tool_choice="weather"),
                tool_use_behavior="stop_on_first_tool",
            )
            return await Runner.run(helper, "The weather in Oslo?")

        assert asyncio.run(ask()).final_output == "sunny"
        assert called


if __name__ == "__main__":
    run("openai-agents", version("openai-agents"))

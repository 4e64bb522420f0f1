"""pydantic-ai against a server: text, streams, typed output, and an agent with a tool, by three of its models."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any, Literal

from anthropic import AsyncAnthropic
from features import KEY, MODEL, URL, feature, run
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=f"{URL}/v1", api_key=KEY)
chat = OpenAIChatModel(MODEL, provider=provider)
SHORT: Any = {"max_tokens": 200, "temperature": 0}


class Answer(BaseModel):
    colour: Literal["red", "blue"]


@feature("a text")
def _() -> None:
    assert Agent(chat).run_sync("Hello, who are you?", model_settings=SHORT).output


@feature("a text, streamed")
def _() -> None:
    async def ask() -> str:
        async with Agent(chat).run_stream("Hello, who are you?", model_settings=SHORT) as reply:
            return "".join([text async for text in reply.stream_text(delta=True)])

    assert asyncio.run(ask())


@feature("typed output by a schema")
def _() -> None:
    agent = Agent(chat, output_type=NativeOutput(Answer))
    assert agent.run_sync("A colour?", model_settings=SHORT).output.colour in ("red", "blue")


@feature("typed output by a tool")
def _() -> None:
    agent = Agent(chat, output_type=ToolOutput(Answer))
    assert agent.run_sync("A colour?", model_settings=SHORT).output.colour in ("red", "blue")


@feature("an agent with a tool")
def _() -> None:
    called: list[str] = []
    agent = Agent(chat, output_type=ToolOutput(Answer))

    @agent.tool_plain
    def clock() -> str:
        """The time now."""
        called.append("clock")
        return "12:00"

    assert agent.run_sync("What time is it? Then name a colour.", model_settings=SHORT).output


@feature("the Responses model")
def _() -> None:
    agent = Agent(OpenAIResponsesModel(MODEL, provider=provider))
    assert agent.run_sync("Hello, who are you?", model_settings=SHORT).output


@feature("the Anthropic model")
def _() -> None:
    model = AnthropicModel(
        MODEL, provider=AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=URL, api_key=KEY))
    )
    assert Agent(model).run_sync("Hello, who are you?", model_settings=SHORT).output


if __name__ == "__main__":
    run("pydantic-ai", version("pydantic-ai-slim"))

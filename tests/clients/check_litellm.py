"""litellm against a server, by its OpenAI, Anthropic and Ollama providers."""

from __future__ import annotations

import asyncio
import os
from importlib.metadata import version
from typing import Any

import litellm
from features import KEY, MODEL, URL, feature, run

HELLO: Any = [{"role": "user", "content": "Hello, who are you?"}]
OPENAI: Any = {"model": f"openai/{MODEL}", "api_base": f"{URL}/v1", "api_key": KEY}
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
        },
    },
}


@feature("completion")
def _() -> None:
    reply = litellm.completion(**OPENAI, messages=HELLO, max_tokens=20)
    assert reply.usage.completion_tokens > 0


@feature("completion, streamed")
def _() -> None:
    chunks = list(litellm.completion(**OPENAI, messages=HELLO, max_tokens=20, stream=True))
    assert chunks[-1].choices[0].finish_reason in ("stop", "length")


@feature("acompletion")
def _() -> None:
    assert asyncio.run(litellm.acompletion(**OPENAI, messages=HELLO, max_tokens=5)).choices


@feature("a forced tool call")
def _() -> None:
    reply = litellm.completion(
        **OPENAI, messages=HELLO, tools=[WEATHER], tool_choice="required", max_tokens=100
    )
    assert reply.choices[0].message.tool_calls[0].function.name == "weather"


@feature("text_completion")
def _() -> None:
    reply = litellm.text_completion(
        model=f"text-completion-openai/{MODEL}",
        api_base=f"{URL}/v1",
        api_key=KEY,
        prompt="One,",
        max_tokens=5,
    )
    assert reply.choices[0].finish_reason in ("stop", "length")


@feature("responses")
def _() -> None:
    assert litellm.responses(**OPENAI, input="Hello", max_output_tokens=50).output


@feature("the Anthropic provider")
def _() -> None:
    reply = litellm.completion(
        model=f"anthropic/{MODEL}", api_base=URL, api_key=KEY, messages=HELLO, max_tokens=20
    )
    assert reply.usage.completion_tokens > 0


if address := os.environ.get("OLLAMA_URL"):

    @feature("the Ollama provider")
    def _() -> None:
        reply = litellm.completion(
            model=f"ollama_chat/{MODEL}", api_base=address, messages=HELLO, max_tokens=20
        )
        assert reply.choices[0].finish_reason in ("stop", "length")


if __name__ == "__main__":
    run("litellm", version("litellm"))

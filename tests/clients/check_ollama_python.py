"""The Python client of Ollama's API against a server's port for it."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from typing import Any

import ollama
from features import MODEL, feature, run

client = ollama.Client(host=os.environ.get("OLLAMA_URL", "http://127.0.0.1:11434"), timeout=120)
HELLO: Any = [{"role": "user", "content": "Hello, who are you?"}]
FEW: Any = {"num_predict": 40}


@feature("chat")
def _() -> None:
    reply = client.chat(MODEL, HELLO, options=FEW)
    assert reply.message.role == "assistant"
    assert reply.done
    assert reply.eval_count


@feature("chat, streamed")
def _() -> None:
    parts = list(client.chat(MODEL, HELLO, options=FEW, stream=True))
    assert parts[-1].done
    assert parts[-1].done_reason in ("stop", "length")
    assert "".join(part.message.content or "" for part in parts)


@feature("format: a schema")
def _() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "blue"]}},
        "required": ["colour"],
    }
    reply = client.chat(MODEL, [{"role": "user", "content": "A colour?"}], format=schema, options=FEW)
    assert json.loads(reply.message.content or "")["colour"] in ("red", "blue")


@feature("tools are taken, and results")
def _() -> None:
    def weather(city: str) -> str:
        """The weather of a city.

        Args:
            city: its name
        """
        return city

    reply = client.chat(MODEL, [{"role": "user", "content": "Hello"}], tools=[weather], options=FEW)
    assert reply.message.content is not None or reply.message.tool_calls
    call: Any = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    answer = client.chat(
        MODEL,
        [
            {"role": "user", "content": "The weather in Oslo?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_name": "weather", "content": "sunny"},
        ],
        tools=[weather],
        options=FEW,
    )
    assert answer.done


@feature("think")
def _() -> None:
    reply = client.chat(MODEL, [{"role": "user", "content": "What is 17 + 25?"}], think=True)
    assert reply.message.content


@feature("generate")
def _() -> None:
    reply = client.generate(MODEL, "Hello", options=FEW)
    assert reply.response
    assert client.generate(MODEL, "One, two,", raw=True, options=FEW).done


@feature("list, show, ps, version")
def _() -> None:
    names = [model.model or "" for model in client.list().models]
    assert any(name.startswith(MODEL) for name in names), names
    assert "completion" in (client.show(MODEL).capabilities or [])
    assert client.ps().models


@feature("an unknown model is a ResponseError")
def _() -> None:
    try:
        client.chat("no-such-model", HELLO)
    except ollama.ResponseError as error:
        assert error.status_code == 404  # noqa: PT017
    else:
        raise AssertionError("an unknown model was answered")


if __name__ == "__main__":
    run("ollama-python", version("ollama"))

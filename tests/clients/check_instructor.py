"""instructor against a server: typed answers by tools, JSON and schemas."""

from __future__ import annotations

from enum import Enum
from importlib.metadata import version
from typing import Any

import instructor
from features import KEY, MODEL, URL, feature, run
from openai import OpenAI
from pydantic import BaseModel, Field


class Colour(Enum):
    red = "red"
    blue = "blue"


class Answer(BaseModel):
    colour: Colour
    number: int = Field(ge=0, le=9)


class Number(BaseModel):
    """Its partial answers cannot have an enumeration: they are checked before they are converted."""

    number: int = Field(ge=0, le=9)


ASKED: Any = [{"role": "user", "content": "A colour and a number, please."}]


def answer(mode: Any, **more: Any) -> Any:
    client = instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0), mode=mode)
    return client.chat.completions.create(
        model=MODEL, messages=ASKED, response_model=Answer, max_tokens=100, max_retries=0, **more
    )


@feature("by a tool")
def _() -> None:
    assert isinstance(answer(instructor.Mode.TOOLS), Answer)


@feature("by a schema")
def _() -> None:
    assert isinstance(answer(instructor.Mode.JSON_SCHEMA), Answer)


@feature("by a strict tool")
def _() -> None:
    assert isinstance(answer(instructor.Mode.TOOLS_STRICT), Answer)


@feature("partial answers, streamed")
def _() -> None:
    client = instructor.from_openai(
        OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0), mode=instructor.Mode.JSON_SCHEMA
    )
    parts = list(
        client.chat.completions.create_partial(
            model=MODEL, messages=ASKED, response_model=Number, max_tokens=100
        )
    )
    assert isinstance(parts[-1].number, int)


if __name__ == "__main__":
    run("instructor", version("instructor"))

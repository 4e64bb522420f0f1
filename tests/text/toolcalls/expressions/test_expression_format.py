"""The grammar of calls as expressions. What a family itself writes is in its own test."""

from __future__ import annotations

import pytest
from tests.support.gbnf import admits

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply
from duologue.values.messages import Tool

SAVE = Tool(
    "save",
    "",
    {
        "type": "object",
        "properties": {
            "mode": {"enum": ["new", "it's"]},
            "count": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["count"],
    },
)
ANY = Tool("any", "", {"type": "object"})
NONE = Tool("none", "", {"type": "object", "additionalProperties": False})


def may_be_written(format: str, text: str) -> bool:
    forced = constrained_reply(AllowedToolCalls(format, (SAVE, ANY, NONE)), None, None)
    assert forced is not None
    return admits(forced.text, text)


@pytest.mark.parametrize(
    "text",
    [
        "[save(count=1)]",
        "[save(mode='new', count=1)]",
        '[save(mode="it\'s",count=1, tags=["a"])]',
        r"[save(mode='it\'s', count=1)]",
        "[any(a=1, b=[true])]",
        "[any()]",
        "[none()]",
    ],
)
def test_what_a_tool_takes_is_admitted(text: str) -> None:
    assert may_be_written("pythonic", text)


@pytest.mark.parametrize(
    "text",
    ["[save()]", "[save(mode='old', count=1)]", "[save(count='x')]", "[none(a=1)]", "[other()]", "save(count=1)"],
)  # fmt: skip
def test_what_it_does_not_take_is_refused(text: str) -> None:
    assert not may_be_written("pythonic", text)


def test_braces() -> None:
    begin, end = "<|tool_call>call:", "<tool_call|>"
    assert may_be_written("gemma4", f'{begin}save{{mode:<|"|>new<|"|>,count:1}}{end}')
    assert may_be_written("gemma4", f"{begin}none{{}}{end}")
    assert not may_be_written("gemma4", f'{begin}save{{mode:<|"|>old<|"|>,count:1}}{end}')

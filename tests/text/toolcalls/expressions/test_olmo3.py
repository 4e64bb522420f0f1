"""Olmo's calls, one on each line."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.support.call_expressions import python_call
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls


def write(calls: Sequence[Call]) -> str:
    return "<function_calls>\n" + "\n".join(map(python_call, calls)) + "\n</function_calls>"


FAMILY = Family("olmo3", write, source="vLLM's tool_chat_template_olmo3.jinja")

OSLO = [("find_city", '{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "raw",
    [
        '<function_calls>find_city(city="Oslo")</function_calls>',
        "<function_calls>\n[find_city(city='Oslo')]\n</function_calls>",
        "<function_calls>\nfind_city(city='Oslo')\n",
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    reply = read_reply("olmo3", raw)
    assert (calls_of(reply), reply.content, reply.truncated) == (OSLO, "", False)


def test_words_of_json_and_of_python() -> None:
    raw = "<function_calls>find_city(city='a', exact=true, note=null)\nfind_city(city='b', exact=False, note=None)</function_calls>"
    assert calls_of(read_reply("olmo3", raw)) == [
        ("find_city", '{"city": "a", "exact": true, "note": null}'),
        ("find_city", '{"city": "b", "exact": false, "note": null}'),
    ]


def test_a_second_call_that_is_none_leaves_the_first_alone() -> None:
    reply = read_reply("olmo3", "<function_calls>\nfind_city(city='Oslo')\nfly(to=where)\n</function_calls>")
    assert calls_of(reply) == OSLO
    assert reply.content.strip() == "fly(to=where)"


def test_the_grammar_admits_what_is_written_and_no_other_tool() -> None:
    calls = AllowedToolCalls("olmo3", (CITY,))
    optional, forced = optional_tool_calls(calls), constrained_reply(calls, None, None)
    assert optional is not None
    assert forced is not None
    for grammar in (optional.text, forced.text):
        assert admits(grammar, write([Call("find_city", {"city": "Oslo's <x>", "days": 3, "exact": True})]))
        assert not admits(grammar, write([Call("find_city", {"days": 3})]))
        assert not admits(grammar, write([Call("fly", {})]))

"""Functionary 3.2's replies: a line for each part says whom it is for."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import CITY, Call, Family, calls_of, read_reply

from duologue.text.output.reply_grammar import AllowedToolCalls, constrained_reply, optional_tool_calls
from duologue.text.toolcalls.catalogue import tool_format

START = ">>>"


def write(calls: Sequence[Call]) -> str:
    return START.join(f"{call.name}\n{json.dumps(call.arguments, ensure_ascii=False)}" for call in calls)


FAMILY = Family(
    "functionary_v32",
    write,
    source="chat template of functionary-small-v3.2",
    opened=START,
    lead="all\n",
    before=False,
    needs_tools=True,
)


def said(raw: str, **options: object) -> tuple[str, str, list[tuple[str, str]]]:
    reply = read_reply("functionary_v32", raw, **{"opened": START, **options})  # type: ignore[arg-type]
    return reply.reasoning, reply.content, calls_of(reply)


OSLO = [("find_city", '{"city": "Oslo"}')]
CALL = 'find_city\n{"city": "Oslo"}'


def test_text_for_the_user_and_then_a_call() -> None:
    assert said(f"all\nI will look.>>>{CALL}") == ("", "I will look.", OSLO)
    assert said(f"all\nI will look.\n>>>{CALL}>>>clock\n{{}}") == (
        "",
        "I will look.",
        [*OSLO, ("clock", "{}")],
    )


def test_text_for_the_user_after_a_call() -> None:
    assert said(f"{CALL}>>>all\nThat is all.") == ("", "That is all.", OSLO)


def test_the_prompt_may_leave_the_mark_to_the_model() -> None:
    assert said(f">>>all\nHello.>>>{CALL}", opened="") == ("", "Hello.", OSLO)
    assert (
        tool_format("functionary_v32").opened("<|start_header_id|>assistant<|end_header_id|>\n\n>>>") == START
    )
    assert tool_format("functionary_v32").opened("<|start_header_id|>assistant<|end_header_id|>\n\n") == ""


@pytest.mark.parametrize(
    "text",
    [
        "At the prompt >>> x = 1\nyou see nothing.",
        "a >>> b",
        ">>> print(1)\n1",
        "See >>>find_city\nfor cities.",
        ">>>",
    ],
)
def test_what_looks_like_the_mark_is_text(text: str) -> None:
    assert said(f"all\n{text}") == ("", text, [])


def test_a_reply_without_a_line_of_its_own_is_an_answer() -> None:
    assert said("Hello there.") == ("", "Hello there.", [])
    assert said("find") == ("", "find", [])


def test_without_tools_only_the_line_is_dropped() -> None:
    assert said("all\nHello.", tools=()) == ("", "Hello.", [])
    assert said(CALL, tools=()) == ("", CALL, [])


def test_a_forced_call_begins_where_the_prompt_ends() -> None:
    calls = AllowedToolCalls("functionary_v32", (CITY,))
    assert optional_tool_calls(calls) is None
    grammar = constrained_reply(calls, None, None)
    assert grammar is not None
    assert admits(grammar.text, write([Call("find_city", {"city": "Oslo"})]))
    assert admits(grammar.text, START + write([Call("find_city", {"city": "Oslo"})]))
    one = Call("find_city", {"city": "Oslo"})
    assert admits(grammar.text, write([one, one]))
    assert not admits(grammar.text, write([Call("fly", {})]))

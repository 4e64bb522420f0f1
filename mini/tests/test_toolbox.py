"""The toolbox: every everyday tool can be asked for in full, its patterns hold, results agree with requests."""

import re
from random import Random

import pytest

from duologue_mini.text.phrases import say
from duologue_mini.toolbox import (
    catalogue,
    chains,
    exchanges,
    invented_tools,
    outcomes,
    server_styles,
    tool_sets,
    value_kinds,
)
from duologue_mini.toolbox.actions import SLOT, Action, request, third_person, tool

KINDS = [
    *value_kinds.TEXTS,
    *value_kinds.COMPOUND,
    "int:1:60",
    "num:0:90",
    "places",
    "tokens",
    "ints",
    "nums",
]


@pytest.mark.parametrize("action", catalogue.ACTIONS, ids=lambda action: action.names.split("|")[0])
def test_an_everyday_tool_asks_for_what_it_needs(action: Action) -> None:
    random = Random(3)
    for _ in range(25):
        drawn = tool_sets.alone(random, action)
        made = request(random, drawn)
        needed = {one.key for one in drawn.inputs if one.required}
        assert needed <= set(made.arguments)
        for slot in SLOT.findall(say(random, f"{{{action.asks}}}")):
            assert slot in action.needs or slot in action.takes, slot
        got = exchanges.result_of(random, drawn, made)
        answer = exchanges.report(random, drawn, made, got)
        assert "$" not in answer or "$" in got.text + made.text, answer


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_said_as_it_goes_into_the_call(kind: str) -> None:
    random = Random(4)
    for _ in range(200):
        drawn = value_kinds.shape(random, kind).draw(random)
        assert drawn.text
        if isinstance(drawn.argument, str):
            assert drawn.argument == drawn.text
        if isinstance(drawn.argument, list):
            assert all(str(one) in drawn.text or isinstance(one, int) for one in drawn.argument)


def test_no_two_tools_on_a_bench_are_for_the_same_thing() -> None:
    random = Random(5)
    for _ in range(300):
        table, asked = tool_sets.draw_tool_set(random, [tool_sets.action(random)], 12)
        assert len({one.name for one in table.tools}) == len(table.tools)
        assert len({id(one.action) for one in table.tools}) == len(table.tools)
        assert asked[0] in table.tools


def test_what_is_missing_is_not_on_the_bench() -> None:
    random = Random(6)
    for _ in range(300):
        missing = tool_sets.action(random)
        table, _ = tool_sets.draw_tool_set(random, [], 8, missing=missing)
        assert all(one.action is not missing for one in table.tools)
        assert not any("anything" in one.action.also.split() for one in table.tools)


def test_invented_tools_do_not_repeat() -> None:
    random = Random(7)
    names = {invented_tools.action(random).names for _ in range(1000)}
    assert len(names) > 700


def test_chains_link_what_was_found() -> None:
    random = Random(8)
    for _ in range(300):
        wanted = chains.chain(random)
        server = server_styles.draw_style(random, "x", False)
        first, second = (tool(random, one, server, False) for one in (wanted.first, wanted.second))
        turn = chains.chain_turn(random, wanted, first, second)
        if len(turn.rounds) < 2:
            continue
        found = turn.rounds[0][0].result
        for slot, name in wanted.links.items():
            if name.endswith(chains.NEXT_DAY):
                continue
            value = turn.rounds[1][0].arguments[second.input(slot).key]
            parts = value.values() if isinstance(value, dict) else [value]
            assert all(str(part) in found for part in parts)


def test_a_calculator_is_right() -> None:
    random = Random(9)
    drawn = tool_sets.alone(random, catalogue.action_named("calculate"))
    for _ in range(200):
        made = request(random, drawn)
        text = made.values["sum"].argument
        if text.replace(" ", "").replace("+", "").replace("-", "").isdigit():
            assert exchanges.result_of(random, drawn, made).plain["result"] == eval(text)


def test_an_error_is_told_in_its_own_words() -> None:
    random = Random(10)
    for _ in range(200):
        written, told = outcomes.failure(random, "do_it")
        common = {part for part in re.findall(r"\w{2,}", told) if part in written}
        assert common - {"it", "the", "is"}, (written, told)


def test_a_text_that_came_back_is_told_as_it_came() -> None:
    random = Random(11)
    for name in ("check spelling", "define word", "read file", "read image"):
        drawn = tool_sets.alone(random, catalogue.action_named(name))
        for _ in range(20):
            told = exchanges.call_exchange(random, drawn)
            assert told.result
            assert told.result.text in told.turn.assistant


def test_third_person() -> None:
    assert third_person("send a mail") == "sends a mail"
    assert third_person("fetch it") == "fetches it"
    assert third_person("copy it") == "copies it"
    assert third_person("play") == "plays"

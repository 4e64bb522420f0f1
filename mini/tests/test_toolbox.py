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
        value = tool_sets.alone(random, action)
        task = request(random, value)
        required = {one.key for one in value.inputs if one.required}
        assert required <= set(task.arguments)
        for slot in SLOT.findall(say(random, f"{{{action.asks}}}")):
            assert slot in action.needs or slot in action.takes, slot
        values = exchanges.result_of(random, value, task)
        answer = exchanges.report(random, value, task, values)
        assert "$" not in answer or "$" in values.text + task.text, answer


@pytest.mark.parametrize("kind", KINDS)
def test_the_user_writes_a_value_as_the_call_has_it(kind: str) -> None:
    random = Random(4)
    for _ in range(200):
        value = value_kinds.shape(random, kind).draw(random)
        assert value.text
        if isinstance(value.argument, str):
            assert value.argument == value.text
        if isinstance(value.argument, list):
            assert all(str(one) in value.text or isinstance(one, int) for one in value.argument)


def test_no_two_tools_of_a_set_are_for_the_same_thing() -> None:
    random = Random(5)
    for _ in range(300):
        table, tools = tool_sets.draw_tool_set(random, [tool_sets.action(random)], 12)
        assert len({one.name for one in table.tools}) == len(table.tools)
        assert len({id(one.action) for one in table.tools}) == len(table.tools)
        assert tools[0] in table.tools


def test_a_missing_tool_is_not_in_the_set() -> None:
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


def test_chains_pass_the_first_result_on() -> None:
    random = Random(8)
    for _ in range(300):
        chain = chains.chain(random)
        server = server_styles.draw_style(random, "x", False)
        first, second = (tool(random, one, server, False) for one in (chain.first, chain.second))
        turn = chains.chain_turn(random, chain, first, second)
        if len(turn.rounds) < 2:
            continue
        result = turn.rounds[0][0].result
        for slot, name in chain.links.items():
            if name.endswith(chains.NEXT_DAY):
                continue
            value = turn.rounds[1][0].arguments[second.input(slot).key]
            parts = value.values() if isinstance(value, dict) else [value]
            assert all(str(part) in result for part in parts)


def test_a_calculator_is_right() -> None:
    random = Random(9)
    value = tool_sets.alone(random, catalogue.action_named("calculate"))
    for _ in range(200):
        task = request(random, value)
        text = task.values["sum"].argument
        if text.replace(" ", "").replace("+", "").replace("-", "").isdigit():
            assert exchanges.result_of(random, value, task).plain["result"] == eval(text)


def test_an_error_is_reported_in_its_own_words() -> None:
    random = Random(10)
    for _ in range(200):
        error, answer = outcomes.failure(random, "do_it")
        common = {part for part in re.findall(r"\w{2,}", answer) if part in error}
        assert common - {"it", "the", "is"}, (error, answer)


def test_a_returned_text_is_quoted_unchanged() -> None:
    random = Random(11)
    for name in ("check spelling", "define word", "read file", "read image"):
        value = tool_sets.alone(random, catalogue.action_named(name))
        for _ in range(20):
            answer = exchanges.call_exchange(random, value)
            assert answer.result
            assert answer.result.text in answer.turn.assistant


def test_third_person() -> None:
    assert third_person("send a mail") == "sends a mail"
    assert third_person("fetch it") == "fetches it"
    assert third_person("copy it") == "copies it"
    assert third_person("play") == "plays"

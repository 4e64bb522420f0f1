"""K2 Horizon: keys and values in turn, perhaps with types."""

from __future__ import annotations

import pytest
from tests.support.tagged_families import read, shown, values, writer
from tests.support.tool_call_families import Call, Family, calls_of, read_reply

from duologue.text.output.reasoning_tags import template_tags

write = writer(
    "<ifm|tool_call>{}\n",
    lambda key, value: f"<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_value>{shown(value)}</ifm|arg_value>\n",
    "</ifm|tool_call>\n",
    before="<ifm|tool_calls>\n",
    after="</ifm|tool_calls>",
)
FAMILY = Family(
    "k2_horizon",
    write,
    source="chat template of K2-Horizon, as tests of its renderers quote it",
    tags=template_tags("<ifm|think>"),
)


@pytest.mark.parametrize(
    ("key", "type", "value", "arguments"),
    [
        ("days", "string", "5", '{"days": "5"}'),
        ("city", "integer", "5", '{"city": 5}'),
        ("other", "array", "[1]", '{"other": [1]}'),
        ("other", "number", "many", '{"other": "many"}'),
    ],
)
def test_a_type_between_key_and_value_decides(key: str, type: str, value: str, arguments: str) -> None:
    raw = (
        f"<ifm|tool_calls><ifm|tool_call>find_city<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_type>{type}</ifm|arg_type>"
        f"<ifm|arg_value>{value}</ifm|arg_value></ifm|tool_call></ifm|tool_calls>"
    )
    assert calls_of(read("k2_horizon", raw)) == [("find_city", arguments)]


def test_calls_without_line_ends() -> None:
    raw = write([Call("find_city", {"city": "Oslo"}), Call("clock", {})]).replace("\n", "")
    assert values("k2_horizon", raw) == [("find_city", {"city": "Oslo"}), ("clock", {})]


@pytest.mark.parametrize("word", ["think", "think_fast", "think_faster"])
def test_a_thought_of_any_speed_comes_before_the_call(word: str) -> None:
    raw = f"<ifm|{word}>So.</ifm|{word}>{write([Call('clock', {})])}"
    reply = read_reply("k2_horizon", raw, tags=FAMILY.tags)
    assert (reply.reasoning, calls_of(reply)) == ("So.", [("clock", "{}")])

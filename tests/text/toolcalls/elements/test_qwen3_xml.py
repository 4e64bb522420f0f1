"""Parameters between tags: what is a call, what its values become, and what is given back."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence

import pytest
from tests.support.gbnf import admits
from tests.support.tool_call_families import Call, Family

from duologue.text.output.parsed import ParsedReply, parse_reply
from duologue.text.output.reply_grammar import AllowedToolCalls, optional_tool_calls
from duologue.values.messages import Tool

WRITE = Tool(
    "write",
    "Writes a file.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "text": {"type": "string"},
            "lines": {"type": "integer"},
            "force": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "about": {"type": ["string", "null"]},
            "mode": {"enum": ["new", "append"]},
            "any": {},
        },
        "required": ["path", "text"],
    },
)
CLOCK = Tool("clock", "The time.", {"type": "object", "properties": {}, "additionalProperties": False})
TOOLS = (WRITE, CLOCK)


def shown(value: object) -> str:
    """A value as the template prints it: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write(calls: Sequence[Call]) -> str:
    return "\n".join(
        f"<tool_call>\n<function={call.name}>\n"
        + "".join(
            f"<parameter={key}>\n{shown(value)}\n</parameter>\n" for key, value in call.arguments.items()
        )
        + "</function>\n</tool_call>"
        for call in calls
    )


FAMILY = Family("qwen3_xml", write, source="chat template of Qwen3-Coder-30B-A3B-Instruct")


def read(raw: str, tools: tuple[Tool, ...] = TOOLS) -> ParsedReply:
    whole = parse_reply(raw, format="qwen3_xml", tools=tools)
    for chunk in (1, 2, 3, 5, 11):
        assert parse_reply(raw, format="qwen3_xml", chunk=chunk, tools=tools) == whole
    return whole


def calls(raw: str, tools: tuple[Tool, ...] = TOOLS) -> list[tuple[str, object]]:
    reply = read(raw, tools)
    assert reply.content == ""
    return [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]


def function(name: str, **parameters: str) -> str:
    """As the chat template writes it."""
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters.items())
    return f"<function={name}>\n{inner}</function>"


def wrapped(name: str, **parameters: str) -> str:
    return f"<tool_call>\n{function(name, **parameters)}\n</tool_call>"


def test_a_call_as_the_template_teaches_it() -> None:
    raw = wrapped("write", path="a.txt", text="This is a value\nthat spans\n\nseveral lines")
    assert calls(raw) == [
        ("write", {"path": "a.txt", "text": "This is a value\nthat spans\n\nseveral lines"})
    ]


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        *(("text", "5", "5"), ("text", "null", "null"), ("text", "", ""), ("text", " \n a \n", " \n a \n")),
        *(
            ("text", 'say "hi"\\n\t', 'say "hi"\\n\t'),
            ("text", "é漢😀", "é漢😀"),
            ("text", "a < b << c", "a < b << c"),
        ),
        *(("lines", "5", 5), ("lines", " -3 ", -3), ("lines", "many", "many")),
        *(("force", "true", True), ("force", "False", False), ("tags", '["a", "b"]', ["a", "b"])),
        *(("about", "null", None), ("about", "None", None), ("about", "words", "words"), ("about", "5", "5")),
        *(("mode", "append", "append"), ("any", '{"a": [1]}', {"a": [1]}), ("any", "words", "words")),
        *(("unheard_of", "5", "5"), ("unheard_of", "null", "null")),
    ],
)
def test_a_value_becomes_what_its_schema_says(key: str, written: str, value: object) -> None:
    assert calls(wrapped("write", **{key: written})) == [("write", {key: value})]


@pytest.mark.parametrize(
    "text",
    [
        "<b>bold</b> &amp; <",
        "</parameter> in the middle",
        "a file\n</parameter>\nthat goes on",
        "<function=f>\n</function>\nmore",
        "<parameter=x>",
        "</",
        "</tool_call> in a value",
        "<parameter=unheard of>\n",
        "```xml\n<tool_call>\n```",
    ],
)
def test_a_value_may_contain_the_tags_of_the_format(text: str) -> None:
    assert calls(wrapped("write", path="a", text=text)) == [("write", {"path": "a", "text": text})]


@pytest.mark.parametrize(
    "raw",
    [
        "<tool_call><function=write><parameter=path>a</parameter><parameter=text>b</parameter></function></tool_call>",
        "<tool_call>\n\n <function=write>\n\n<parameter=path>\na\n</parameter> \n <parameter=text>\nb\n</parameter>\n\n</function>\n\n</tool_call>",
        function("write", path="a", text="b"),
        function("write", path="a", text="b") + "\n</tool_call>",
        "<tool_call>\n" + function("write", path="a", text="b"),
        "<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=text>\nb\n</parameter>\n</tool_call>",
        "<tool_call>\n<function=write>\n<parameter=path>\na\n<parameter=text>\nb\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=text>\nb\n</function>\n</tool_call>",
        "<tool_call>\n<function=write>\n<parameter=path>\na\n</parameter>\n<parameter=text>\nb\n</function>",
        '<tool_call>\n{"name": "write", "arguments": {"path": "a", "text": "b"}}\n</tool_call>',
    ],
)
def test_ways_models_write_the_same_call(raw: str) -> None:
    assert calls(raw) == [("write", {"path": "a", "text": "b"})]


def test_several_calls_in_wrappers_of_their_own_or_in_one() -> None:
    one, two = function("write", path="a"), function("clock")
    expected = [("write", {"path": "a"}), ("clock", {})]
    assert calls(f"<tool_call>\n{one}\n</tool_call>\n<tool_call>\n{two}\n</tool_call>") == expected
    assert calls(f"<tool_call>\n{one}\n{two}\n</tool_call>") == expected
    assert calls(f"{one}\n{two}") == expected


def test_a_call_ends_a_thought_and_text_around_it_is_kept() -> None:
    reply = read(f"<think>I should look.{wrapped('clock')}")
    assert reply.reasoning == "I should look."
    assert [call.name for call in reply.tool_calls] == ["clock"]
    reply = read(f"Let me see.\n\n{wrapped('clock')}\n\nThere.")
    assert reply.content.split() == ["Let", "me", "see.", "There."]


@pytest.mark.parametrize(
    "raw",
    [
        "The tag <tool_call> opens a call.",
        "Write <tool_call> and </tool_call> around it.",
        "Use <function=unheard_of> for that.",
        "Use <function=write> for that.",
        "<function=\nwrite>",
        "<tool_call>\n<function=write is how it begins",
        "`<tool_call><function=write></function></tool_call>`",
        "a < b and <functional> things",
    ],
)
def test_text_about_calls_stays_text(raw: str) -> None:
    reply = read(raw)
    assert reply.tool_calls == ()
    assert reply.content == raw


@pytest.mark.parametrize(
    "cut",
    range(
        len("<tool_call>\n<function=write>\n<parameter="), len(wrapped("write", path="ab", text="cd")) - 25
    ),
)
def test_a_call_that_is_cut_off_is_reported_and_never_completed(cut: int) -> None:
    reply = read(wrapped("write", path="ab", text="cd")[:cut])
    assert reply.truncated or reply.tool_calls == ()
    for call in reply.tool_calls:
        with pytest.raises(json.JSONDecodeError):
            json.loads(call.arguments)


def test_a_long_value_is_passed_on_as_it_is_written() -> None:
    half = wrapped("write", text="line\n" * 1000)[:2500]
    [call] = read(half).tool_calls
    assert len(call.arguments) > 2000


def test_cut_at_random_places_it_reads_the_same() -> None:
    chance = random.Random(7)
    parts = [
        "<tool_call>",
        "</tool_call>",
        "<function=write>",
        "</function>",
        "<parameter=path>",
        "</parameter>",
        "\n",
        " ",
        "x",
        "<",
        "{",
        '"a"',
        "`",
    ]
    for _ in range(300):
        read("".join(chance.choices(parts, k=chance.randint(1, 14))))


@pytest.mark.parametrize(
    "part",
    ["<", "\n", " ", "</parameter>", "</parameter>\n", "<parameter=", "</function> ", "<function=write>"],
)
def test_the_cost_is_linear_in_the_text(part: str) -> None:
    def seconds(times: int) -> float:
        raw = f"<tool_call>\n<function=write>\n<parameter=text>\n{part * times}"
        begin = time.perf_counter()
        parse_reply(raw, format="qwen3_xml", chunk=7, tools=TOOLS)
        return time.perf_counter() - begin

    small = min(seconds(1000) for _ in range(3))
    assert seconds(16_000) < small * 16 * 8 + 0.5


def may_be_offered(text: str) -> bool:
    return admits(optional_tool_calls(AllowedToolCalls("qwen3_xml", TOOLS)).text, text)


def test_the_grammar_admits_what_is_read() -> None:
    assert may_be_offered(wrapped("write", path="a", text="b\n\nc << d </b>", lines="5", force="true"))
    assert may_be_offered(wrapped("write", path="a", text="b", tags='["x"]', about="anything", mode="new"))
    assert may_be_offered(wrapped("clock"))
    assert may_be_offered(wrapped("clock") + "\n" + wrapped("clock"))


@pytest.mark.parametrize(
    "raw",
    [
        wrapped("unheard_of"),
        wrapped("write", path="a"),
        wrapped("write", path="a", text="b", lines="many"),
        wrapped("write", path="a", text="b", mode="other"),
        wrapped("clock", zone="UTC"),
    ],
)
def test_the_grammar_refuses_what_the_tool_does_not_take(raw: str) -> None:
    assert not may_be_offered(raw)

"""Raw replies of every model family, played by the scripted engine and read at every API: chat completions, the chat socket, and a
conversation with a real tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.test_speech import Talker, chat_socket
from tests.support.conversation_client import ConversationClient, text_of
from tests.support.tool_call_families import TOOLS, Call, Family
from tests.text.toolcalls.family_list import FAMILIES

from duologue.client.http import Client
from duologue.text.output.parse_trace import pieces, trace_reply
from duologue.text.output.parsed import ParsedReply
from duologue.text.output.reply_format import named_format
from duologue.text.toolcalls.catalogue import TOOL_FORMATS, tool_format

CALLS = (Call("find_city", {"city": 'Oslo "<b>" {x}', "days": 3}), Call("clock", {}))
SHOWN = [
    family
    for family in FAMILIES
    if family.format
    in ("hermes", "qwen3_xml", "harmony", "deepseek_v31", "mistral", "kimi_k2", "gemma4", "glm47")
]
"""Families for what takes more than a request."""
OFFERED = [
    {"type": "function", "function": {"name": tool.name, "parameters": tool.parameters}} for tool in TOOLS
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.format)
some_families = pytest.mark.parametrize("family", SHOWN, ids=lambda family: family.format)


def script(format: str, raw: str, *steps: str, size: int = 4) -> str:
    """The message that has the scripted engine play this text, in pieces of `size` characters."""
    opening = tool_format(format).opening
    first = f"/open {written(opening)}\n" if opening else ""
    played = written(list(pieces(raw.removeprefix(opening), size)))
    return "\n".join((f"/format {format}\n{first}/raw {played}", *steps))


def written(value: str | Sequence[str]) -> str:
    """As JSON that no chat template takes for its own control tokens."""
    return json.dumps(value).replace("<", "\\u003c")


def whole_reply(family: Family) -> str:
    """Text, where the family lets it come first, and calls."""
    before = f"{family.lead}Let me see.\n\n" if family.before else ""
    return before + family.write(CALLS if family.several else CALLS[:1])


def as_read(family: Family, raw: str) -> ParsedReply:
    return trace_reply((raw,), named_format(family.format), tools=TOOLS).reply


def body(message: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": message}], "tools": OFFERED, **more}


def post(server: Any, message: str, **more: Any) -> httpx.Response:
    return httpx.post(f"{server.url}/v1/chat/completions", json=body(message, **more), timeout=30)


def streamed(server: Any, message: str) -> tuple[dict[str, Any], str]:
    """The message that the pieces of a stream add up to, and its finish reason."""
    found: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    reason = ""
    for line in post(server, message, stream=True).text.splitlines():
        if not line.startswith("data: {"):
            continue
        [choice] = json.loads(line.removeprefix("data: "))["choices"] or [
            {"delta": {}, "finish_reason": None}
        ]
        reason = choice["finish_reason"] or reason
        for name in ("content", "reasoning_content"):
            found[name] += choice["delta"].get(name) or ""
        for call in choice["delta"].get("tool_calls") or ():
            if call["index"] == len(found["tool_calls"]):
                found["tool_calls"].append(["", ""])
            for at, name in enumerate(("name", "arguments")):
                found["tool_calls"][call["index"]][at] += call["function"].get(name) or ""
    return found, reason


def summary(message: dict[str, Any]) -> tuple[str, str, list[tuple[str, str]]]:
    """Thought, content, and calls with their arguments as the exact text."""
    calls = [
        (call["function"]["name"], call["function"]["arguments"]) if isinstance(call, dict) else tuple(call)
        for call in message.get("tool_calls") or ()
    ]
    return message.get("reasoning_content") or "", message.get("content") or "", calls


@every_family
def test_a_completion_has_what_the_family_wrote_streamed_or_not(server: Any, family: Family) -> None:
    raw = whole_reply(family)
    expected = as_read(family, raw)
    message = script(family.format, raw)
    [choice] = post(server, message).json()["choices"]
    found, reason = streamed(server, message)
    calls = [(call.name, call.arguments) for call in expected.tool_calls]
    assert len(calls) == (2 if family.several else 1)
    assert summary(choice["message"]) == summary(found) == (expected.reasoning, expected.content, calls)
    assert (choice["finish_reason"], reason) == ("tool_calls", "tool_calls")


@every_family
def test_a_call_that_is_cut_off_says_length_and_is_not_completed(server: Any, family: Family) -> None:
    raw = family.write([Call("find_city", {"city": "Oslo " * 30, "days": 3})])
    cut = raw[: len(raw) // 2]
    [choice] = post(server, script(family.format, cut, "/length")).json()["choices"]
    assert choice["finish_reason"] == "length"
    for call in choice["message"].get("tool_calls") or ():
        assert call["function"]["name"] == "find_city"
        with pytest.raises(json.JSONDecodeError):
            json.loads(call["function"]["arguments"])


FRAGMENTS = st.sampled_from(
    [
        *dict.fromkeys(
            word
            for name in TOOL_FORMATS
            for word in (*tool_format(name).starts, *tool_format(name).ends, *tool_format(name).line_starts)
        ),
        *(
            "<think>",
            "</think>",
            '{"name": "clock", "arguments": {}}',
            "clock",
            "{",
            "}",
            "]",
            '"',
            "\n",
            " and ",
        ),
    ]
)


@some_families
def test_no_text_of_a_model_is_an_error_of_the_server(server: Any, family: Family) -> None:
    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(parts=st.lists(FRAGMENTS, min_size=1, max_size=9), size=st.integers(1, 20))
    def holds(parts: list[str], size: int) -> None:
        answer = post(server, script(family.format, "".join(parts), size=size))
        assert answer.status_code == 200, answer.text

    holds()


@pytest.mark.anyio
@some_families
async def test_the_chat_socket_reads_the_same(server: Any, family: Family) -> None:
    raw = whole_reply(family)
    expected = as_read(family, raw)
    async with chat_socket(server) as socket:
        said = await Talker(socket).asks(**body(script(family.format, raw)))
    done = said[-1]
    assert done["text"] == expected.content
    assert [call["function"]["arguments"] for call in done["tool_calls"]] == [
        call.arguments for call in expected.tool_calls
    ]


@pytest.fixture
async def client(server: Any) -> AsyncIterator[Client]:
    async with Client(server.url) as made:
        yield made


@pytest.mark.anyio
@some_families
async def test_a_conversation_carries_the_call_out_and_goes_on(client: Client, family: Family) -> None:
    talk = await ConversationClient.begin(client)
    call = family.write([Call("calculator", {"expression": "6*7"})])
    assert await talk.ask(script(family.format, call, "/then", "/say There you are.")) == "There you are."
    _, asking, result, _ = await talk.branch()
    assert [made["name"] for made in asking["tool_calls"]] == ["calculator"]
    assert "42" in text_of(result)

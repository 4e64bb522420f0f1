"""Reading a raw reply as a decoder job: how the format is chosen."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from duologue.decoder.service import decode
from duologue.errors import BadRequest
from duologue.reply_parsing import RawReply, read_raw_reply

CALL = '<tool_call>{"name": "f", "arguments": {"n": 1.10}}</tool_call>'


def read(raw: RawReply, *, trace: bool = False) -> Any:
    return json.loads(read_raw_reply(msgspec.msgpack.encode(raw), trace))


def test_a_named_format_has_its_familys_markers() -> None:
    found = read(RawReply(("<think>hm</think>", CALL), "qwen"))
    assert (found["reasoning"], found["format"]) == ("hm", "hermes")
    assert found["tool_calls"] == [{"id": "call_0", "name": "f", "arguments": '{"n": 1.10}'}]
    assert "trace" not in found


def test_a_template_tells_format_and_markers() -> None:
    template = "[THINK][/THINK]<tool_call> arguments"
    found = read(RawReply(("[THINK]hm[/THINK]" + CALL,), "auto", template))
    assert (found["reasoning"], found["format"], found["finish_reason"]) == ("hm", "hermes", "tool_calls")


def test_a_named_format_goes_before_that_of_the_template() -> None:
    found = read(RawReply(("[THINK]hm[/THINK]" + CALL,), "hermes", "[THINK][/THINK]"))
    assert (found["reasoning"], len(found["tool_calls"])) == ("hm", 1)


def test_the_markers_of_a_model_go_with_its_format() -> None:
    assert read(RawReply(("<think>hm</think>",), "hermes", thoughts=""))["content"] == "<think>hm</think>"
    assert read(RawReply(("[THINK]hm[/THINK]",), "hermes", thoughts="[THINK]"))["reasoning"] == "hm"


def test_without_a_format_calls_are_content() -> None:
    assert read(RawReply((CALL,), ""))["content"] == CALL


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(BadRequest) as refused:
        read(RawReply(("x",), "klingon"))
    assert refused.value.code == "unknown_tool_format"


@pytest.mark.anyio
async def test_it_runs_in_the_process_of_files() -> None:
    raw = RawReply(("<tool_",), "qwen3_xml")
    found = json.loads(await decode(read_raw_reply, msgspec.msgpack.encode(raw), True))
    assert found["trace"][0]["held"] == [{"text": "<tool_", "reason": "may become `<tool_call>`"}]

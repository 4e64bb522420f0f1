"""Formats of replies: recognised in a template, or named."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest
from duologue.text.output.reply_format import ReplyFormat, named_format, recognised, tags_that_begin


def test_a_format_is_recognised_with_the_markers_of_thoughts() -> None:
    how = recognised("<tool_call> arguments [THINK] [/THINK]")
    assert (how.format, how.reasoning) == ("hermes", tags_that_begin("[THINK]"))
    assert recognised("nothing") == ReplyFormat("", None)


def test_a_named_format_brings_its_familys_markers() -> None:
    assert named_format("openai").format == "harmony"
    assert named_format("openai").reasoning == tags_that_begin("<|channel|>analysis<|message|>")
    assert named_format("hermes").reasoning == tags_that_begin("<think>")
    with pytest.raises(BadRequest) as refused:
        named_format("klingon")
    assert refused.value.code == "unknown_tool_format"


def test_answers_are_marked_only_in_families_that_mark_them() -> None:
    def answers(name: str, thoughts: str | None = None) -> list[str]:
        tags = named_format(name, thoughts).reasoning
        return [start for start, _ in tags.answers] if tags else []

    assert answers("hermes") == []
    assert answers("hermes", "<think>") == []
    assert answers("hunyuan_a13b") == ["<answer>"]
    assert answers("ernie45", "<think>") == ["<response>"]


def test_thoughts_can_be_marked_otherwise_or_not_at_all() -> None:
    assert named_format("mistral", "[THINK]").reasoning == tags_that_begin("[THINK]")
    assert named_format("mistral", "").reasoning is None

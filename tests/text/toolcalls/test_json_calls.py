"""One call object: when the sink hears of it, and how it ends."""

from __future__ import annotations

import pytest

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls.json_calls import ToolCallObject, wants_object
from duologue.values.messages import Tool


class Heard:
    """A sink that writes down what it hears."""

    def __init__(self) -> None:
        self.log: list[tuple[object, ...]] = []

    def open(self, name: str, id: str | None = None) -> None:
        self.log.append(("open", name))

    def arguments(self, text: str) -> None:
        self.log.append(("arguments", text))

    def close(self, valid: bool) -> None:
        self.log.append(("close", valid))

    def reject(self, text: str, at: int) -> None:
        raise AssertionError("an object gives nothing back itself")

    def enter(self, channel: str) -> None:
        raise AssertionError("an object changes no channel")


def made() -> tuple[Heard, ToolCallObject]:
    heard = Heard()
    return heard, ToolCallObject(heard, Markers(("</x>",)), ())


def test_nothing_is_said_before_name_and_arguments_are_certain() -> None:
    heard, call = made()
    call.feed('{"name": "f", "arguments": {', 0)
    assert (heard.log, call.committed) == ([], False)
    call.feed('"', 0)
    assert heard.log == [("open", "f"), ("arguments", "{"), ("arguments", '"')]
    assert call.committed


def test_arguments_before_the_name_wait_for_it() -> None:
    heard, call = made()
    call.feed('{"arguments": {"a": 1}, "name": "f', 0)
    assert heard.log == []
    call.feed('"', 0)
    assert heard.log == [("open", "f"), ("arguments", '{"a": 1}')]
    stop = call.feed("} rest", 0)
    assert (stop, call.state, heard.log[-1]) == (1, "ended", ("close", True))


def test_invalid_arguments_close_the_call_as_invalid() -> None:
    heard, call = made()
    call.feed('{"name": "f", "arguments": {"a": nope}}', 0)
    assert heard.log[-1] == ("close", False)


def test_a_marker_outside_strings_breaks_open_arguments() -> None:
    heard, call = made()
    text = '{"name": "f", "arguments": {"a": </x>'
    assert call.feed(text, 0) == text.index("</x>")
    assert (call.state, heard.log[-1]) == ("broken", ("close", False))


def test_half_a_marker_waits() -> None:
    _, call = made()
    text = '{"name": "f", "arguments": {"a": 1 </'
    assert call.feed(text, 0) == text.index("</")
    assert call.state == "open"


def test_the_end_of_the_text_cuts_open_arguments_only() -> None:
    heard, call = made()
    call.feed('{"name": "f", "arguments": {"a": 1', 0)
    assert call.finish("")
    assert ("close", True) not in heard.log
    heard, call = made()
    call.feed('{"name": "f", "arguments": {"a": 1}', 0)
    assert not call.finish("")
    assert heard.log[-1] == ("close", True)


@pytest.mark.parametrize(
    ("parameters", "wanted"), [({}, True), ({"type": "object"}, True), ({"type": "string"}, False)]
)
def test_a_tool_wants_an_object_unless_its_schema_says_otherwise(
    parameters: dict[str, object], wanted: bool
) -> None:
    assert wants_object("f", (Tool("f", parameters=parameters),)) is wanted

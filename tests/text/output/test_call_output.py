"""Calls on their way out."""

from __future__ import annotations

from itertools import count

from duologue.text.output.call_output import CallOutput
from duologue.values.events import Delta, ToolCallDelta


def test_calls_are_numbered_and_given_ids_where_they_have_none() -> None:
    deltas: list[Delta] = []
    numbers = count()
    calls = CallOutput(
        lambda delta, at: deltas.append(delta), lambda text, at: None, lambda: f"id_{next(numbers)}"
    )
    calls.open("f")
    calls.arguments('{"a"')
    calls.arguments("")
    calls.arguments(": 1}")
    calls.close(True)
    calls.open("g", "its own")
    calls.close(False)
    assert deltas == [
        ToolCallDelta(0, "", "id_0", "f"),
        ToolCallDelta(0, '{"a"'),
        ToolCallDelta(0, ": 1}"),
        ToolCallDelta(1, "", "its own", "g"),
    ]
    assert (calls.complete, calls.broken) == (1, 1)


def test_what_is_no_call_is_handed_back_with_its_place() -> None:
    back: list[tuple[str, int]] = []
    calls = CallOutput(lambda delta, at: None, lambda text, at: back.append((text, at)), lambda: "id")
    calls.begin("```json")
    calls.reject("```json\nno", 0)
    assert back == [("```json\nno", 0)]
    assert calls.fence == "```"
    assert not calls.opened

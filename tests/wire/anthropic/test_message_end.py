"""Why a message ended, and what it cost."""

import pytest

from duologue.errors import EngineFailed
from duologue.values.events import Done, Finish, Fitted, FittingNote, Prefilled, Usage
from duologue.wire.anthropic.message_end import MessageHead, end_fields, usage_fields

HEAD = MessageHead("msg_1", "mini", max_tokens=100, stops=("END",))


@pytest.mark.parametrize(
    ("finish", "stop", "reason"),
    [
        ("stop", None, "end_turn"),
        ("stop", "END", "stop_sequence"),
        ("stop", "<|of the template|>", "end_turn"),
        ("tool_calls", None, "tool_use"),
        ("length", None, "max_tokens"),
    ],
)
def test_reasons(finish: Finish, stop: str | None, reason: str) -> None:
    ends = end_fields(HEAD, Done(finish, Usage(5, 100), stop=stop), 4096)
    assert ends == {"stop_reason": reason, "stop_sequence": stop if reason == "stop_sequence" else None}


def test_a_full_context_is_told_from_the_limit() -> None:
    def reason(usage: Usage, context: int) -> object:
        return end_fields(HEAD, Done("length", usage), context)["stop_reason"]

    assert reason(Usage(4050, 40), 4096) == "model_context_window_exceeded"
    assert reason(Usage(3996, 100), 4096) == "max_tokens"
    assert reason(Usage(10, 40), 4096) == "max_tokens"
    assert reason(Usage(4050, 40), 0) == "max_tokens"


def test_a_prompt_that_was_only_read_reached_its_limit() -> None:
    ends = end_fields(MessageHead("msg_1", "mini"), Done("stop", Usage(5)), 4096)
    assert ends["stop_reason"] == "max_tokens"


def test_a_cancelled_reply_is_an_error() -> None:
    with pytest.raises(EngineFailed, match="cancelled"):
        end_fields(HEAD, Done("cancelled"), 0)


def test_cached_tokens_are_counted_apart() -> None:
    assert usage_fields(Usage(input=30, output=4, cached=20, reasoning=1)) == {
        "input_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 20,
        "output_tokens": 4,
        "output_tokens_details": {"thinking_tokens": 1},
    }
    assert usage_fields(Usage(1, estimated=True))["estimated"] is True


def test_notes_use_the_names_of_this_api() -> None:
    prefilled = Prefilled(5, ignored=("enable_thinking", "reasoning_budget_tokens", "top_k", "max_slices"))
    assert HEAD.notes(prefilled, None) == {"ignored": ["thinking.budget_tokens", "top_k"]}
    asked = MessageHead("msg_1", "mini", asks_for_thoughts=True)
    assert asked.notes(Prefilled(5, ignored=("enable_thinking",)), None) == {"ignored": ["thinking"]}
    fitted = Fitted(notes=(FittingNote("messages[0].content[0]", "image", "resized"),))
    assert HEAD.notes(None, fitted)["fitted"] == [
        {"where": "messages[0].content[0]", "kind": "image", "became": "resized"}
    ]
    assert HEAD.notes(None, None) == {}

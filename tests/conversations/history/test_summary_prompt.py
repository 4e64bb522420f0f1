"""Summaries: what a model is asked for one, and what stands in without a model."""

from duologue.conversations.history import summary_prompt
from duologue.conversations.history.context_window import BYTES_PER_TOKEN
from duologue.values.conversations import ImageContent, StoredMessage, StoredToolCall, TextContent
from duologue.values.requests import ModelCard


def row(role: str, text: str, **fields: object) -> StoredMessage:
    return StoredMessage(role, "c", None, role, (TextContent(text),), **fields)  # type: ignore[arg-type]


def test_a_summary_takes_an_eighth_of_the_context_at_most() -> None:
    assert summary_prompt.budget(1024) == 128
    assert summary_prompt.budget(100_000) == 1024
    assert summary_prompt.budget(0) == 1024


def test_tiny_models_are_not_asked_for_a_summary() -> None:
    assert not summary_prompt.can_write(ModelCard("mini", "llama", 1024, bundled=True))
    assert not summary_prompt.can_write(ModelCard("small", "llama", 1024, parameters=500_000_000))
    assert summary_prompt.can_write(ModelCard("large", "llama", 1024, parameters=4_000_000_000))
    assert summary_prompt.can_write(ModelCard("unknown", "remote", 1024))


def test_a_transcript_names_who_said_what_and_the_files_and_calls() -> None:
    asked = StoredMessage(
        "u", "c", None, "user", (TextContent("look"), ImageContent("b", "image/png", name="cat.png"))
    )
    called = row("assistant", "", tool_calls=(StoredToolCall("1", "clock", '{"zone": "UTC"}'),))
    assert summary_prompt.pieces([asked, called], 4096) == [
        'User: look [cat.png]\n\nAssistant: [called clock with {"zone": "UTC"}]'
    ]


def test_a_long_transcript_comes_in_pieces_that_each_leave_room() -> None:
    rows = [row("user", f"word{number} " * 100) for number in range(50)]
    found = summary_prompt.pieces(rows, 2048)
    assert len(found) > 5
    assert all(len(piece) / BYTES_PER_TOKEN < 2048 - 2 * summary_prompt.budget(2048) for piece in found)
    assert all(f"word{number} " in "".join(found) for number in range(50))


def test_an_endless_row_is_shown_by_its_beginning_and_its_end() -> None:
    (piece,) = summary_prompt.pieces([row("tool", "begin " + "x" * 100_000 + " end")], 1024)
    assert piece.startswith("Tool: begin")
    assert piece.endswith(" end")
    assert len(piece) < 4096


def test_a_question_goes_on_from_what_was_summed_up_before() -> None:
    asked = summary_prompt.summary_request("User: hi", "They met.", context=4096, model="m")
    assert asked.messages[1].text == "Summary so far: They met.\n\nUser: hi"
    assert asked.sampling.max_tokens == 512


def test_an_extract_has_the_first_sentences_that_fit() -> None:
    rows = [
        row(
            "user", "Hello! My name is Ann. " + "I have a long story to tell you about bread and cheese. " * 9
        ),
        row("assistant", "Thinking."),
        row("tool", "flour"),
        row("assistant", "word " * 100),
    ]
    asked, answered = summary_prompt.extract(rows, 4096).removeprefix(f"{summary_prompt.HEAD}\n").splitlines()
    assert asked.startswith("User: Hello! My name is Ann. I have a long story")
    assert asked.endswith("cheese.")
    assert answered.startswith("Assistant: word word")
    assert answered.endswith("…")
    assert max(len(asked), len(answered)) < summary_prompt.EXCERPT + 15


def test_an_extract_keeps_an_earlier_summary_and_the_newest_turns_that_fit() -> None:
    earlier = row("system", f"{summary_prompt.HEAD}\nUser: My name is Ann.", kind="summary")
    rows = [earlier, *(row("user", f"Question {number}. More.") for number in range(200))]
    text = summary_prompt.extract(rows, 1024)
    assert "My name is Ann." in text
    assert text.count(summary_prompt.HEAD) == 1
    assert "Question 199." in text
    assert "Question 0." not in text
    assert len(text) <= summary_prompt.budget(1024) * BYTES_PER_TOKEN + 10


def test_shortening_never_breaks_a_character() -> None:
    assert summary_prompt.shortened("ä" * 100, 31).startswith("ä")

"""Items become messages: what the assistant said in a row is one, and media are where they were."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, ToolCall, VideoPart
from duologue.wire.media_parts import MediaReference
from duologue.wire.responses import item_messages
from duologue.wire.responses.item_bodies import stored_items
from duologue.wire.responses.item_messages import PlacedItem, placed, sealed

PNG = b"\x89PNG\r\n\x1a\n."
WAV = b"RIFF\x2a\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\2\0\0\0\0\x40"


def text(words: str) -> tuple[TextPart]:
    return (TextPart(words),)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def items(*given: dict[str, Any]) -> list[PlacedItem]:
    return placed(stored_items(given), "input")


def messages(*given: dict[str, Any]) -> tuple[Message, ...]:
    return item_messages.messages(items(*given), {})


def read_whole(item: dict[str, Any]) -> tuple[Message, ...]:
    """As a request is read: first what has to be fetched, then the messages."""
    given = items(item)
    return item_messages.messages(given, {each.where: () for each in item_messages.references(given)})


def said(words: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}


def called(id: str, name: str = "f") -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": "{}"}


def result(id: str, output: Any = "sunny") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": output}


def thought(words: str) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": words}]}


def test_a_thought_an_answer_and_its_calls_are_one_message() -> None:
    user = {"role": "user", "content": "Weather?"}
    assert messages(
        user, thought("Hm"), said("Let me see."), called("a"), called("b", "g"), result("a"), result("b", "dry"),
        thought("So"), said("Sunny."),
    ) == (
        Message("user", text("Weather?")),
        Message(
            "assistant", text("Let me see."), reasoning="Hm", tool_calls=(ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}"))
        ),
        Message("tool", text("sunny"), tool_call_id="a"),
        Message("tool", text("dry"), tool_call_id="b"),
        Message("assistant", text("Sunny."), reasoning="So"),
    )  # fmt: skip


def test_two_answers_in_a_row_stay_two() -> None:
    assert messages(
        said("One."), said("Two."), thought("Hm"), called("a"), thought("So"), said("Three.")
    ) == (
        Message("assistant", text("One.")),
        Message("assistant", text("Two.")),
        Message("assistant", reasoning="Hm", tool_calls=(ToolCall("a", "f", "{}"),)),
        Message("assistant", text("Three."), reasoning="So"),
    )


def test_a_thought_that_nothing_followed_is_left_out() -> None:
    user = {"role": "user", "content": "Hello?"}
    assert messages(thought("Hm"), user, thought("So")) == (Message("user", text("Hello?")),)


def test_a_thought_comes_back_as_its_text_its_summary_or_its_seal() -> None:
    summary = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Short"}]}
    seal = {"type": "reasoning", "summary": [], "encrypted_content": sealed("Schön")}
    foreign = {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}
    broken = {"type": "reasoning", "summary": [], "encrypted_content": "drt1.#"}
    reasons = [messages(item, said("Hi"))[0].reasoning for item in (summary, seal, foreign, broken)]
    assert reasons == ["Short", "Schön", None, None]


def test_a_custom_tool_is_called_with_one_text_and_a_namespace_is_in_the_name() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": 'a"b'}
    spaced = {**called("d", "close"), "namespace": "agents"}
    output = {"type": "custom_tool_call_output", "call_id": "c", "output": "done"}
    message, tool = messages(custom, spaced, output)
    assert message.tool_calls == (
        ToolCall("c", "patch", '{"input":"a\\"b"}'),
        ToolCall("d", "agents__close", "{}"),
    )
    assert (tool.text, tool.tool_call_id) == ("done", "c")


def test_a_developer_is_the_system() -> None:
    assert messages({"role": "developer", "content": "Be brief."}) == (Message("system", text("Be brief.")),)


def test_an_answer_to_a_call_that_was_not_made_is_refused() -> None:
    with pytest.raises(BadRequest) as refused:
        messages(called("a"), result("b"))
    assert refused.value.param == "input[1].call_id"


def test_media_in_messages_and_results() -> None:
    content = [
        {"type": "input_text", "text": "See"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{encoded(PNG)}", "detail": "low"},
        {"type": "input_audio", "input_audio": {"data": encoded(WAV), "format": "wav"}},
        {"type": "input_video", "video_url": f"data:video/webm;base64,{encoded(b'film')}"},
        {"type": "refusal", "refusal": "No."},
    ]
    (message,) = messages({"role": "user", "content": content})
    assert message.parts[:2] == (TextPart("See"), ImagePart(PNG, "image/png", "low"))
    assert isinstance(message.parts[2], AudioPart)
    assert message.parts[3:] == (VideoPart(b"film", "video/webm"), TextPart("No."))
    picture = [{"type": "input_image", "image_url": f"data:image/png;base64,{encoded(PNG)}"}]
    assert messages(called("a"), result("a", picture))[1].parts == (ImagePart(PNG, "image/png"),)


def test_what_has_to_be_read_first_is_named_with_its_place() -> None:
    content = [
        {"type": "input_image", "image_url": "https://host/a.png", "detail": "high"},
        {"type": "input_file", "file_data": f"data:application/pdf;base64,{encoded(b'%PDF')}", "filename": "a.pdf"},
        {"type": "input_file", "file_url": "https://host/b.pdf"},
        {"type": "input_audio", "input_audio": {"data": encoded(b"mp3"), "format": "mp3"}},
        {"type": "input_audio", "input_audio": {"data": "https://host/c.wav"}},
        {"type": "input_video", "video_url": "https://host/d.mp4"},
        {"type": "input_image", "file_id": "file-1"},
        {"type": "input_file", "file_id": "file-2"},
    ]  # fmt: skip
    given = items({"role": "user", "content": content})
    where = [f"input[0].content[{index}]" for index in range(8)]
    assert list(item_messages.references(given)) == [
        MediaReference(where[0], "image", url="https://host/a.png", detail="high"),
        MediaReference(where[1], "file", b"%PDF", name="a.pdf"),
        MediaReference(where[2], "file", url="https://host/b.pdf"),
        MediaReference(where[3], "audio", b"mp3"),
        MediaReference(where[4], "audio", url="https://host/c.wav"),
        MediaReference(where[5], "video", url="https://host/d.mp4"),
        MediaReference(where[6], "image", stored="file-1"),
        MediaReference(where[7], "file", stored="file-2"),
    ]
    read = {place: [TextPart(place)] for place in where}
    (message,) = item_messages.messages(given, read)
    assert [part.text for part in message.parts if isinstance(part, TextPart)] == where


@pytest.mark.parametrize(
    ("part", "param"),
    [
        ({"type": "input_image"}, "input[0].content[0].image_url"),
        ({"type": "input_file"}, "input[0].content[0].file_data"),
        ({"type": "input_image", "image_url": "duologue-blob:00:"}, "input[0].content[0].image_url"),
    ],
)
def test_media_that_are_not_there_are_refused(part: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read_whole({"role": "user", "content": [part]})
    assert refused.value.param == param


def test_a_file_that_was_not_read_and_a_reference_that_was_not_found_are_refused() -> None:
    with pytest.raises(Unsupported):
        messages({"role": "user", "content": [{"type": "input_file", "file_data": "eA=="}]})
    with pytest.raises(BadRequest):
        messages({"id": "msg_1"})

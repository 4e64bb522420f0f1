"""Messages as values: what they hold, and what can be asked of them."""

from __future__ import annotations

from duologue.values.messages import (
    AudioPart,
    ImagePart,
    Message,
    TextPart,
    VideoPart,
    assistant,
    system,
    user,
)


def test_the_text_of_a_message_is_its_text_parts_joined() -> None:
    message = Message("user", (TextPart("What is "), ImagePart(b"png"), TextPart("this?")))
    assert message.text == "What is this?"


def test_a_message_without_text_has_an_empty_one() -> None:
    assert Message("assistant").text == ""


def test_a_message_names_the_kinds_of_its_parts_once() -> None:
    parts = (TextPart("a"), ImagePart(b"1"), ImagePart(b"2"), AudioPart(b""), VideoPart(b""))
    assert Message("user", parts).modalities == {"text", "image", "audio", "video"}
    assert user("a").modalities == {"text"}
    assert Message("assistant").modalities == set()


def test_equal_content_is_equal() -> None:
    assert user("hello") == Message("user", (TextPart("hello"),))
    assert hash(user("hello")) == hash(user("hello"))
    assert user("hello") != assistant("hello")


def test_the_short_forms_say_who_speaks() -> None:
    said = [(message.role, message.text) for message in (system("s"), user("u"), assistant("a"))]
    assert said == [("system", "s"), ("user", "u"), ("assistant", "a")]

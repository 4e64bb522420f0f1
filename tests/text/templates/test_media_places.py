"""The places of pictures and sounds in a rendered prompt."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest
from duologue.text.templates.media_places import cut_at_places, with_places
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, system, user

ONE, TWO = ImagePart(b"one"), ImagePart(b"two")
SOUND = AudioPart(b"\0" * 8)
MARK = "medium1f"


def test_each_part_keeps_its_place_in_the_text() -> None:
    messages, media = with_places(
        [Message("user", (TextPart("a"), ONE, TextPart("b"), SOUND)), user("c"), Message("user", (TWO,))],
        MARK,
    )
    assert media == (ONE, SOUND, TWO)
    assert all(message.modalities == {"text"} for message in messages)
    rendered = "".join(f"[{message.text}]" for message in messages)
    assert cut_at_places(rendered, MARK, media) == ("[a", ONE, "b", SOUND, "][c][", TWO, "]")


def test_a_template_may_change_the_order_of_messages() -> None:
    messages, media = with_places([Message("tool", (ONE,)), Message("tool", (TWO,))], MARK)
    assert cut_at_places(f"{messages[1].text}-{messages[0].text}.", MARK, media) == (TWO, "-", ONE, ".")


def test_a_voice_to_speak_with_is_no_part_of_the_prompt() -> None:
    messages, media = with_places([Message("system", (TextPart("Speak like this"), SOUND)), user("x")], MARK)
    assert media == ()
    assert messages == (system("Speak like this"), user("x"))


def test_text_stays_as_it_is() -> None:
    assert with_places([user("a"), Message("assistant")], MARK) == ((user("a"), Message("assistant")), ())


@pytest.mark.parametrize("leave", ["nothing", "{one}{one}{two}", "{one}"])
def test_a_template_that_leaves_a_picture_out_or_repeats_it_is_refused(leave: str) -> None:
    messages, media = with_places([Message("user", (ONE,)), Message("user", (TWO,))], MARK)
    rendered = leave.format(one=messages[0].text, two=messages[1].text)
    with pytest.raises(BadRequest, match="leaves out a picture or sound") as error:
        cut_at_places(rendered, MARK, media)
    assert error.value.code == "template_error"


def test_a_text_cannot_make_a_place() -> None:
    messages, media = with_places([Message("user", (TextPart("medium00n0n <image> "), ONE))], MARK)
    assert cut_at_places(messages[0].text, MARK, media) == ("medium00n0n <image> ", ONE)

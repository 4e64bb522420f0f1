"""Requests' messages as lists of texts, pictures and sounds."""

import io

import numpy
import pytest
from PIL import Image

from duologue.engines.minicpmo.model_messages import (
    PICTURE_TOKENS,
    estimated_tokens,
    is_interleaved,
    model_messages,
    picture,
    sound,
)
from duologue.engines.minicpmo.reference_voice import ReferenceVoice
from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, VideoPart, system, user

VOICE = ReferenceVoice(b"\0\x20" * 16_000)
SOUND = AudioPart(numpy.linspace(-1, 1, 16_000, dtype="<f4").tobytes())


def image(mode: str = "RGB", kind: str = "PNG") -> ImagePart:
    file = io.BytesIO()
    Image.new(mode, (8, 4)).save(file, kind)
    return ImagePart(file.getvalue())


def test_parts_keep_their_order_and_kind():
    [made] = model_messages(
        [Message("user", (TextPart("look"), image(), TextPart(""), SOUND, TextPart("and hear")))]
    )
    assert made.role == "user"
    text, seen, heard, rest = made.content
    assert (text, rest) == ("look", "and hear")
    assert (seen.mode, seen.size) == ("RGB", (8, 4))
    assert heard.dtype == numpy.float32
    assert heard.flags.writeable
    assert made.plain == {"role": "user", "content": [text, seen, heard, rest]}


def test_a_tools_result_is_read_as_what_the_user_says():
    made = model_messages([user("time?"), Message("assistant"), Message("tool", (TextPart("noon"),))])
    assert [message.role for message in made] == ["user", "user"]


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK"])
def test_every_picture_becomes_rgb(mode):
    assert picture(image(mode, "TIFF" if mode == "CMYK" else "PNG")).mode == "RGB"


def test_what_cannot_be_read_is_refused_with_its_place():
    with pytest.raises(BadRequest, match=r"messages\[1\]\.content\[0\] is no picture"):
        model_messages([user("x"), Message("user", (ImagePart(b"x"),))])
    with pytest.raises(BadRequest, match="24000 samples"):
        sound(AudioPart(bytes(8), 24_000))
    with pytest.raises(Unsupported, match="frames and sound"):
        model_messages([Message("user", (VideoPart(b"x"),))])


def test_the_voice_stands_before_the_systems_own_words():
    plain = model_messages([user("Hi")], VOICE)
    assert [message.role for message in plain] == ["system", "user"]
    told = model_messages([system("Be brief."), user("Hi")], VOICE)[0]
    assert told.content[0].startswith("Clone the voice")
    assert len(told.content[1]) == 16_000
    assert told.content[2].endswith("voice style. Be brief.")
    own = Message("system", (TextPart("a"), SOUND, TextPart("b")))
    assert model_messages([own, user("Hi")], VOICE)[0].content[::2] == ("a", "b")


def test_frames_with_the_sound_of_their_time_are_told_from_pictures():
    assert is_interleaved([Message("user", (image(), SOUND, image(), SOUND))])
    assert not is_interleaved([Message("user", (image(), TextPart("x"), SOUND))])
    assert not is_interleaved([Message("user", (image(),)), Message("user", (SOUND,))])


def test_tokens_are_estimated_by_kind():
    assert estimated_tokens(model_messages([Message("user", (image(),))])) == PICTURE_TOKENS + 4
    assert estimated_tokens(model_messages([Message("user", (SOUND,))])) == 10 + 4
    assert estimated_tokens(model_messages([user("a" * 36)])) == 10 + 4

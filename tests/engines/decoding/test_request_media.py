"""The pictures and sounds of requests, decoded and told apart."""

import io

import pytest
from PIL import Image

from duologue.engines.decoding.request_media import heard_sound, medium_key, open_picture, samples_of
from duologue.errors import BadRequest
from duologue.values.messages import AudioPart, ImagePart

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")


def test_a_picture_is_opened_and_a_damaged_one_refused() -> None:
    Image.new("RGB", (9, 6), "red").save(file := io.BytesIO(), "PNG")
    assert open_picture(ImagePart(file.getvalue())).size == (9, 6)
    for data in (b"", b"GIF89a", file.getvalue()[:40]):
        with pytest.raises(BadRequest) as caught:
            open_picture(ImagePart(data))
        assert caught.value.code == "image_unreadable"


def test_a_sound_is_heard_at_one_rate() -> None:
    same = AudioPart(bytes(64_000), 16_000)
    assert heard_sound(same) is same
    for part in (AudioPart(b"abc"), AudioPart(bytes(400), 999), AudioPart(bytes(400), 10**6)):
        with pytest.raises(BadRequest) as caught:
            heard_sound(part)
        assert caught.value.code == "sound_unreadable"


def test_what_is_no_number_is_silence() -> None:
    data = numpy.array([0.5, numpy.nan, numpy.inf, 3.0], "<f4").tobytes()
    assert samples_of(AudioPart(data + b"x")).tolist() == [0.5, 0.0, 0.0, 1.0]


def test_media_are_told_apart_by_all_of_them_and_their_order() -> None:
    one, other = ImagePart(b"one"), ImagePart(b"other")
    keys = {medium_key(one), medium_key(other), medium_key(one, other), medium_key(other, one)}
    assert len(keys) == 4
    assert max(keys) < 0
    assert medium_key(AudioPart(b"1234", 16_000)) != medium_key(AudioPart(b"1234", 8_000))

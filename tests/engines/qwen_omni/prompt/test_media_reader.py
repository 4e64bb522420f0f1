"""Pictures and sounds as the encoders take them; the library's processors are stand-ins that tell what they were given."""

import io
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from duologue.engines.decoding.request_media import medium_key
from duologue.engines.qwen_omni.prompt.media_reader import MediaReader, as_sound
from duologue.errors import BadRequest
from duologue.values.messages import AudioPart, ImagePart

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")


class Pictures:
    size = {"shortest_edge": 100, "longest_edge": 10**9}  # noqa: RUF012
    patch_size, merge_size = 14, 2

    def __call__(self, **arguments: Any):
        self.arguments = arguments
        return {"pixel_values": "pixels", "image_grid_thw": "grid"}


class Sounds:
    def __call__(self, values, **arguments: Any):
        self.values, self.arguments = values, arguments
        return {"input_features": "mel", "attention_mask": "mask"}


def fit(height: int, width: int, *, factor: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    assert (factor, min_pixels, max_pixels) == (28, 100, 5000)
    return height // 28 * 28, width // 28 * 28


def reader() -> Any:
    pictures: Any = Pictures()
    return SimpleNamespace(
        media=MediaReader(pictures, sounds := Sounds(), fit, lambda samples: samples // 100, 5000),
        pictures=pictures,
        sounds=sounds,
    )


def png(width: int, height: int) -> ImagePart:
    Image.new("RGBA", (width, height), "red").save(file := io.BytesIO(), "PNG")
    return ImagePart(file.getvalue())


def test_a_picture_is_measured_as_the_library_will_cut_it() -> None:
    assert reader().media.picture_grid(png(90, 60)) == (2, 3)


def test_a_picture_is_bounded_by_the_pixels_of_the_settings() -> None:
    made = reader()
    assert made.media.picture_features(png(90, 60)) == ("pixels", "grid")
    assert made.pictures.arguments["size"] == {"shortest_edge": 100, "longest_edge": 5000}
    assert made.pictures.arguments["images"][0].mode == "RGB"


@pytest.mark.parametrize("part", [ImagePart(b""), ImagePart(b"GIF89a"), png(800, 2)])
def test_a_picture_that_cannot_be_read_is_refused(part: ImagePart) -> None:
    with pytest.raises(BadRequest) as caught:
        reader().media.picture_grid(part)
    assert caught.value.code == "image_unreadable"


def test_a_sound_is_read_as_long_as_it_is() -> None:
    made = reader()
    sound = as_sound(b"\0\x40" * 1600)
    assert made.media.heard(sound) == sound
    assert made.media.sound_tokens(sound) == 16
    assert made.media.sound_features(sound) == ("mel", "mask")
    assert len(made.sounds.values) == 1600
    assert made.sounds.values[0] == pytest.approx(0.5)
    assert (made.sounds.arguments["padding"], made.sounds.arguments["truncation"]) == ("longest", False)


def test_a_very_short_sound_has_silence_behind_it_and_nothing_that_is_no_number() -> None:
    made = reader()
    made.media.sound_features(AudioPart(numpy.array([0.5, numpy.nan, numpy.inf], "<f4").tobytes()))
    assert made.sounds.values.tolist() == [0.5, *[0.0] * 479]


@pytest.mark.parametrize(
    "part", [AudioPart(b"abc"), AudioPart(bytes(400), 999), AudioPart(bytes(400), 10**6)]
)
def test_a_sound_that_cannot_be_read_is_refused(part: AudioPart) -> None:
    with pytest.raises(BadRequest) as caught:
        reader().media.heard(part)
    assert caught.value.code == "sound_unreadable"


def test_the_number_of_a_medium_comes_from_all_of_it() -> None:
    assert medium_key(AudioPart(b"1234", 16_000)) != medium_key(AudioPart(b"1234", 8_000))
    assert medium_key(ImagePart(b"a")) == medium_key(ImagePart(b"a", "image/png")) < 0

"""Bytes in JSON are what they claim to be, or the sentence says which part is not."""

import base64
import struct
from array import array

import pytest

from duologue.errors import BadRequest
from duologue.values.messages import ImagePart
from duologue.wire import media_parts

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


def wav(
    samples: bytes, *, kind: int = 1, channels: int = 1, rate: int = 8000, bits: int = 16, extra: bytes = b""
) -> bytes:
    frame = channels * bits // 8
    head = struct.pack("<HHIIHH", kind, channels, rate, rate * frame, frame, bits) + extra
    body = b"fmt " + struct.pack("<I", len(head)) + head
    body += b"LIST" + struct.pack("<I", 3) + b"abc\0"  # an odd chunk is padded
    body += b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WAVE" + body


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
    ],
)
def test_an_image_is_known_by_its_first_bytes(head: bytes, mime: str) -> None:
    assert media_parts.image(head + b"...", "here") == ImagePart(head + b"...", mime)


def test_what_is_no_image_is_refused_by_its_place() -> None:
    with pytest.raises(BadRequest, match=r"content\[0\] is not a PNG") as caught:
        media_parts.image(b"<svg/>", "content[0]")
    assert caught.value.param == "content[0]"


def test_a_data_url_gives_its_type_and_bytes() -> None:
    text = base64.b64encode(PNG).decode()
    assert media_parts.from_data_url(f"data:image/png;base64,{text}", "u") == ("image/png", PNG)
    assert media_parts.from_data_url(f"data:text/plain;charset=utf-8;base64,{text}", "u") == (
        "text/plain",
        PNG,
    )
    assert media_parts.from_data_url(f"data:;base64,{text}", "u") == ("", PNG)


def test_a_web_address_is_told_from_other_texts_and_never_fetched_here() -> None:
    assert media_parts.is_address("https://example.org/cat.png")
    assert media_parts.is_address("HTTP://example.org")
    assert not any(map(media_parts.is_address, ("data:image/png;base64,", "httpx", "AAAA", "")))
    with pytest.raises(BadRequest, match="must be a base64 data: URL"):
        media_parts.from_data_url("https://example.org/cat.png", "u")


@pytest.mark.parametrize("url", ["cat.png", "data:image/png,abc", "file:///etc/passwd", ""])
def test_any_other_url_is_refused(url: str) -> None:
    with pytest.raises(BadRequest, match="must be a base64 data: URL"):
        media_parts.from_data_url(url, "u")


@pytest.mark.parametrize("text", ["a", "ab!=", "äöü="])
def test_broken_base64_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="u is not valid base64"):
        media_parts.from_base64(text, "u")


def test_raw_sound_is_whole_samples_at_16_khz() -> None:
    assert media_parts.pcm(bytes(8), 16_000, "p").data == bytes(8)
    with pytest.raises(BadRequest, match="sample_rate must be 16000"):
        media_parts.pcm(bytes(8), 44_100, "p")
    for data in (b"", bytes(7)):
        with pytest.raises(BadRequest, match="float32"):
            media_parts.pcm(data, 16_000, "p")


def test_an_empty_video_is_refused() -> None:
    assert media_parts.video(b"x", "v", stack_frames=3).stack_frames == 3
    with pytest.raises(BadRequest, match="v is empty"):
        media_parts.video(b"", "v")


def test_a_wav_file_of_16_bits_becomes_float32() -> None:
    part = media_parts.wav(wav(array("h", [0, 16384, -32768]).tobytes()), "w")
    assert (array("f", part.data).tolist(), part.rate) == ([0.0, 0.5, -1.0], 8000)


def test_channels_are_mixed_to_one() -> None:
    part = media_parts.wav(wav(array("h", [16384, 0, -16384, -16384]).tobytes(), channels=2), "w")
    assert array("f", part.data).tolist() == [0.25, -0.5]
    part = media_parts.wav(wav(array("f", [1.0, 0.5]).tobytes(), kind=3, channels=2, bits=32), "w")
    assert array("f", part.data).tolist() == [0.75]


def test_float_samples_pass_as_they_are_and_the_extensible_head_is_read() -> None:
    sound = array("f", [0.5, -0.25]).tobytes()
    extra = struct.pack("<HHI", 22, 32, 0) + struct.pack("<H", 3) + bytes(14)
    assert media_parts.wav(wav(sound, kind=3, bits=32), "w").data == sound
    assert media_parts.wav(wav(sound, kind=0xFFFE, bits=32, extra=extra), "w").data == sound


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"ID3", "w is not a WAV file"),
        (b"RIFF\0\0\0\0WAVE", "16-bit or float32"),
        (wav(bytes(3), bits=24), "16-bit or float32"),
        (wav(b""), "contains no audio"),
        (wav(bytes(4), rate=0), "16-bit or float32"),
    ],
)
def test_other_sound_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        media_parts.wav(data, "w")


def test_a_broken_wav_file_never_raises_anything_but_a_problem() -> None:
    whole = wav(array("h", range(20)).tobytes(), channels=2)
    refused = 0
    for cut in range(len(whole)):
        try:
            media_parts.wav(whole[:cut], "w")
        except BadRequest:
            refused += 1
    assert 0 < refused < len(whole), (
        "a file without its header is refused, one without its last samples is not"
    )


def test_base64_is_the_same_in_however_many_pieces_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_parts, "PIECE", 8)
    for length in range(20):
        data = bytes(range(length))
        assert media_parts.from_base64(base64.b64encode(data).decode(), "u") == data
    for broken in (
        "AAAAAAA=AAAA",
        "AAAAAA==AAAAAAAA",
        "AAAAAAAA=",
        "AAAAAAAAA",
        "AAAAAAAA\nAAAA",
        "AAAAAAAAé",
    ):
        with pytest.raises(BadRequest, match="u is not valid base64"):
            media_parts.from_base64(broken, "u")


@pytest.mark.parametrize(("kind", "code"), [(1, "h"), (3, "f")])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_sound_is_the_same_in_however_many_pieces_it_is_mixed(
    kind: int, code: str, channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = array(code, [value * 100 for value in range(channels * 10)]).tobytes() + b"\0"
    file = wav(samples, kind=kind, channels=channels, bits=16 if kind == 1 else 32)
    whole = media_parts.wav(file, "here")
    monkeypatch.setattr(media_parts, "FRAMES", 4)
    assert media_parts.wav(file, "here") == whole
    assert len(whole.data) == 40

import struct

import pytest

from duologue.engines.openai_remote.wav_stream import WavHeaderStripper
from duologue.values.audio import wav_header


def through(data: bytes, size: int) -> tuple[bytes, int]:
    wav = WavHeaderStripper()
    out = b"".join(wav.feed(data[at : at + size]) for at in range(0, len(data), size))
    return out + wav.finish(), wav.rate


@pytest.mark.parametrize("size", [1, 3, 7, 4096])
def test_a_header_is_taken_away_however_it_comes(size):
    sound = bytes(range(256)) * 4
    assert through(wav_header(22_050) + sound, size) == (sound, 22_050)


def test_what_other_blocks_there_are_is_skipped():
    head = wav_header(8000, 4)
    listed = head[:36] + b"LIST" + struct.pack("<I", 5) + b"12345\0" + head[36:]
    assert through(listed + b"abcd", 5) == (b"abcd", 8000)


@pytest.mark.parametrize("size", [1, 100])
def test_bare_samples_stay_as_they_are(size):
    assert through(b"RIbare samples", size) == (b"RIbare samples", 0)
    assert through(b"RI", size) == (b"RI", 0)


def test_sound_of_another_kind_is_refused():
    stereo = b"RIFF" + bytes(4) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 2, 24_000, 0, 0, 16)
    with pytest.raises(ValueError, match="2 channels"):
        WavHeaderStripper().feed(stereo + b"data" + bytes(4))


def test_a_header_without_end_is_given_up():
    with pytest.raises(ValueError, match="without sound"):
        WavHeaderStripper().feed(b"RIFF" + bytes(4) + b"WAVE" + b"junk" + b"\xff\xff\xff\x7f" + bytes(70_000))

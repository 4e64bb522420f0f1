"""Sound made into files of every kind while it comes."""

import sys
import wave
from array import array
from io import BytesIO

import pytest
from tests.support.sample_files import loudness, tone

from duologue.errors import Unsupported
from duologue.media import encoder, recordings, sniff, wav

RATE = 24_000
PIECE = RATE // 5 * 2
COMPRESSED = ("mp3", "opus", "aac", "flac")


def test_pcm_is_what_came():
    made = encoder.make_encoder("pcm", RATE)
    assert [made.feed(b"\1\0"), made.feed(b"\2\0"), made.finish()] == [b"\1\0", b"\2\0", b""]


def test_a_wav_stream_begins_with_its_header_and_says_no_length():
    made = encoder.make_encoder("wav", RATE)
    data = made.feed(tone(RATE, 0.5)) + made.finish()
    assert data[40:44] == b"\xff\xff\xff\xff"
    assert wav.read_wav(data).duration == 500


def test_a_whole_wav_file_says_its_length():
    data = encoder.encode_file("wav", tone(RATE, 0.5), RATE)
    with wave.open(BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (RATE, 1, RATE // 2)


def test_a_wav_file_of_nothing_is_a_header():
    made = encoder.make_encoder("wav", RATE)
    assert len(made.finish()) == 44


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_compressed_file_comes_while_it_is_made_and_sounds_the_same(kind):
    pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    pcm = tone(RATE, 2.0)
    made = encoder.make_encoder(kind, RATE)
    pieces = [made.feed(pcm[at : at + PIECE]) for at in range(0, len(pcm), PIECE)]
    assert all(pieces[1:])
    data = b"".join(pieces) + made.finish()
    assert len(data) < len(pcm)
    mime = sniff.kind(data[: sniff.HEAD])
    assert mime == encoder.TYPES[kind]
    heard = recordings.read_recording(data, mime)
    assert heard.duration == pytest.approx(2000, abs=150)
    assert loudness(heard.samples) == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_compressed_file_of_nothing_is_no_error(kind):
    pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    made = encoder.make_encoder(kind, RATE)
    assert isinstance(made.feed(b"") + made.finish(), bytes)


def test_without_the_extra_compressed_sound_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(Unsupported, match=r"mp3 .*duologue\[voice\]"):
        encoder.make_encoder("mp3", RATE)
    assert array("h", encoder.encode_file("pcm", b"\1\0", RATE)).tolist() == [1]

"""Compressed sound of every kind, as mono float32 at 16 kHz."""

import io
import sys

import pytest
from tests.support.sample_files import CODECS, loudness, recorded, wav

from duologue.errors import BadRequest, Unsupported
from duologue.media import recordings, sniff

av = pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")


@pytest.mark.parametrize("mime", CODECS)
def test_every_kind_is_told_by_its_bytes_and_sounds_the_same(mime):
    data = recorded(mime)
    assert sniff.kind(data[: sniff.HEAD]) == mime
    heard = recordings.read_recording(data, mime)
    assert heard.duration == pytest.approx(500, abs=120)
    assert loudness(heard.samples) == pytest.approx(0.5, rel=0.2)


@pytest.mark.parametrize("mime", CODECS)
def test_a_broken_file_is_a_sentence(mime):
    with pytest.raises(BadRequest, match="broken"):
        recordings.read_recording(recorded(mime)[:40], mime)


def test_a_playlist_that_names_other_files_is_not_followed(tmp_path):
    secret = tmp_path / "secret.wav"
    secret.write_bytes(wav())
    with pytest.raises(BadRequest, match="broken"):
        recordings.read_recording(f"#EXTM3U\n#EXTINF:1,\n{secret}\n".encode(), "audio/mpeg")


def test_a_kind_that_is_not_read_is_named_with_those_that_are():
    with pytest.raises(Unsupported, match="MP3, OGG, FLAC, AAC, M4A"):
        recordings.read_recording(b"", "audio/midi")


def test_sound_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(recordings, "MOST", 100)
    with pytest.raises(Exception, match="cannot be attached"):
        recordings.read_recording(recorded("audio/flac"), "audio/flac")


def test_without_the_extra_the_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(Unsupported, match=r"duologue\[voice\]"):
        recordings.read_recording(b"ID3", "audio/mpeg")


def test_a_file_of_opus_becomes_webm_that_can_be_seeked_in_even_if_it_broke_off():
    encoder = recordings.Compressor("opus_stereo", 24_000)
    ogg = b"".join(encoder.feed(b"\1\0\2\0" * 24_000) for _ in range(10)) + encoder.finish()
    with av.open(io.BytesIO(recordings.to_webm(ogg))) as file:
        assert file.duration == pytest.approx(10e6, abs=0.1e6)
        assert file.streams.audio[0].codec_context.layout.name == "stereo"
    with av.open(io.BytesIO(recordings.to_webm(ogg[: len(ogg) // 2]))) as file:
        assert 3e6 < file.duration < 7e6


def test_what_is_no_ogg_becomes_no_webm():
    with pytest.raises(BadRequest, match="broken"):
        recordings.to_webm(b"OggS, it says")

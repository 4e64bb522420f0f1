"""Compressed sound of every kind, as mono float32 at 16 kHz."""

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

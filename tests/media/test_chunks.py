"""Long recordings, read a few minutes at a time."""

import sys
from array import array

import pytest
from tests.support.sample_files import CODECS, recorded, tone, wav

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media import chunks, encoder
from duologue.values.audio import wav_header

RATE = chunks.RATE


@pytest.fixture
def short(monkeypatch):
    """AudioChunks of a second, in whose last half the quietest place is looked for."""
    monkeypatch.setattr(chunks, "LONGEST", RATE)
    monkeypatch.setattr(chunks, "SEARCHED", RATE // 2)
    monkeypatch.setattr(chunks, "WINDOW", RATE // 10)


def all_of(read: chunks.AudioChunks) -> list[bytes]:
    found = []
    while passage := read.next_chunk():
        found.append(passage)
    return found


def test_sound_that_is_right_already_is_given_untouched():
    pcm = tone(RATE, 0.3)
    read = chunks.AudioChunks(encoder.encode_file("wav", pcm, RATE), "audio/wav", minutes=1)
    assert all_of(read) == [pcm]
    assert read.seconds == pytest.approx(0.3)


def test_a_long_recording_is_cut_where_it_is_quiet_and_nothing_is_lost(short):
    pcm = tone(RATE, 0.7) + bytes(2 * RATE // 5) + tone(RATE, 1.0)
    read = chunks.AudioChunks(encoder.encode_file("wav", pcm, RATE), "audio/wav", minutes=1)
    found = all_of(read)
    assert b"".join(found) == pcm
    assert len(found) == 3
    assert 0.7 * RATE < len(found[0]) // 2 < 0.9 * RATE
    assert max(len(passage) for passage in found) <= 2 * RATE
    assert read.seconds == pytest.approx(len(pcm) / 2 / RATE)


@pytest.mark.parametrize("mime", CODECS)
def test_compressed_sound_is_read(mime):
    pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    [pcm] = all_of(chunks.AudioChunks(recorded(mime), mime, minutes=1))
    assert len(pcm) / 2 / RATE == pytest.approx(0.5, abs=0.12)
    assert max(array("h", pcm)) == pytest.approx(16_384, rel=0.2)


def test_a_wav_file_of_another_rate_is_read_with_the_extra():
    pytest.importorskip("av", reason="PyAV is not installed: sound at another rate is not tested")
    [pcm] = all_of(chunks.AudioChunks(wav(44_100, channels=2), "audio/wav", minutes=1))
    assert len(pcm) / 2 / RATE == pytest.approx(0.5, abs=0.01)
    assert max(array("h", pcm)) == pytest.approx(16_384, rel=0.05)


def test_a_wav_file_of_another_rate_is_refused_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(Unsupported, match=r"44,100 Hz .* pip install 'duologue\[voice\]'"):
        chunks.AudioChunks(wav(44_100, channels=2), "audio/wav", minutes=1)


def test_a_wav_file_of_another_kind_is_read_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    [pcm] = all_of(chunks.AudioChunks(wav(RATE, channels=2, bits=24), "audio/wav", minutes=1))
    assert len(pcm) / 2 / RATE == pytest.approx(0.5, abs=0.01)
    assert max(array("h", pcm)) == pytest.approx(16_384, rel=0.05)


def test_what_is_too_long_is_refused_when_it_is_opened_and_names_the_setting():
    with pytest.raises(TooLarge, match=r"limits\.audio_minutes") as refused:
        chunks.AudioChunks(wav(RATE, seconds=3), "audio/wav", minutes=0.01)
    assert refused.value.code == "sound_too_long"


def test_a_compressed_recording_that_is_too_long_is_refused_too():
    pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    data = encoder.encode_file("mp3", tone(24_000, 4.0), 24_000)
    with pytest.raises(TooLarge, match=r"limits\.audio_minutes"):
        all_of(chunks.AudioChunks(data, "audio/mpeg", minutes=0.01))


def test_a_stream_of_unknown_length_is_no_long_recording():
    stream = encoder.make_encoder("wav", 24_000)
    data = stream.feed(tone(24_000, 0.5)) + stream.finish()
    [pcm] = all_of(chunks.AudioChunks(data, "audio/wav", minutes=0.1))
    assert len(pcm) / 2 / RATE == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("data", "mime", "error"),
    [
        (b"RIFF1234WAVE", "audio/wav", BadRequest),
        (wav_header(RATE, 0), "audio/wav", BadRequest),
        (b"hello", "text/plain", Unsupported),
    ],
)
def test_what_is_no_sound_is_a_sentence(data, mime, error):
    with pytest.raises(error):
        chunks.AudioChunks(data, mime, minutes=1)

"""The sound of a model that speaks itself, as servers send it."""

import base64

import pytest

from duologue.engines.openai_remote.reply_sound import LONGEST_PIECE, ReplySound
from duologue.values.audio import wav_header

PCM = bytes(range(256)) * 20


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_samples_at_24_khz_pass_untouched_wherever_they_are_cut() -> None:
    for size in (1, 3, 100, len(PCM)):
        sound = ReplySound()
        pieces = [
            piece for at in range(0, len(PCM), size) for piece in sound.feed(encoded(PCM[at : at + size]))
        ]
        assert b"".join(pieces + sound.finish()) == PCM


def test_other_rates_become_24_khz() -> None:
    sound = ReplySound(rate=16_000)
    made = b"".join([*sound.feed(encoded(bytes(3200))), *sound.finish()])
    assert len(made) == 4800


def test_the_header_of_a_wav_file_is_no_sound_and_tells_the_rate() -> None:
    sound = ReplySound()
    made = b"".join([*sound.feed(encoded(wav_header(16_000, 3200) + bytes(3200))), *sound.finish()])
    assert len(made) == 4800


def test_every_piece_may_be_a_file_of_its_own() -> None:
    sound = ReplySound()
    for _ in range(3):
        assert b"".join(sound.feed(encoded(wav_header(24_000, 4) + b"abcd"))) == b"abcd"


def test_a_whole_reply_in_one_piece_is_cut_by_the_second() -> None:
    pieces = ReplySound().feed(encoded(bytes(LONGEST_PIECE * 2 + 2)))
    assert [len(piece) for piece in pieces] == [LONGEST_PIECE, LONGEST_PIECE, 2]


@pytest.mark.parametrize("data", ["not base64!", encoded(b"OggS" + bytes(40)), encoded(b"ID3" + bytes(40))])
def test_anything_but_samples_is_an_error_and_no_noise(data: str) -> None:
    with pytest.raises(ValueError, match="sound"):
        ReplySound().feed(data)

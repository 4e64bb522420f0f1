from itertools import accumulate

from duologue.engines.tts.pocket_frames import (
    EndRule,
    SentenceEnd,
    VoiceMemory,
    batch_size,
    context_frames,
    most_frames,
)

RULE = EndRule(-4.0, 6)


def frames_until(signs: list[float], *, words: int = 9, most: int = 100) -> int:
    """How many of these signs are taken until the sentence ends."""
    end = SentenceEnd(RULE, words=words, most=most)
    return next(number for number, sign in enumerate(signs, 1) if end.take(sign))


def test_some_frames_follow_the_sign_of_the_end_and_more_after_a_short_text():
    signs = [-9.0] * 10 + [0.0] + [-9.0] * 50
    assert frames_until(signs) == 13
    assert frames_until(signs, words=4) == 15


def test_a_sign_that_stays_does_not_put_the_end_off():
    assert frames_until([-9.0] * 10 + [0.0] * 50) == 13


def test_the_first_frames_cannot_end_a_sentence():
    assert frames_until([0.0] * 50) == 9
    assert frames_until([0.0] * 6 + [-9.0] * 10 + [0.0] * 9) == 19


def test_a_sentence_ends_although_the_network_never_says_so():
    assert frames_until([-9.0] * 200, most=most_frames(30, 12.5)) == 150
    assert most_frames(1, 12.5) == 30


def test_the_first_frame_is_heard_at_once_and_later_ones_in_batches():
    assert list(accumulate(batch_size(number) for number in range(6))) == [1, 2, 4, 8, 12, 16]


def test_as_many_frames_are_decoded_before_a_batch_as_the_codec_attends_to():
    assert context_frames(250, 16) == 16
    assert context_frames(10, 16) == 4


def test_the_voices_used_last_are_kept():
    memory: VoiceMemory[int] = VoiceMemory(2)
    memory.keep("a", 1)
    memory.keep("b", 2)
    assert memory.find("a") == 1
    memory.keep("c", 3)
    assert (memory.find("a"), memory.find("b"), memory.find("c"), len(memory)) == (1, None, 3, 2)
    memory.clear()
    assert (memory.find("a"), len(memory)) == (None, 0)

"""Sound in frames, and which of them a detector has to hear."""

import logging
import random
from array import array
from typing import Any

import pytest
from tests.support.call_parts import Inline, LoudnessDetector, silence, speech

from duologue.sessions.call.audio_input import (
    CONTEXT,
    FRAME_BYTES,
    HANG,
    WAITING,
    AudioInput,
    ButtonMark,
    EnergyGate,
)
from duologue.sessions.speech.vad_batcher import VadBatcher

pytestmark = pytest.mark.anyio


class Counting(LoudnessDetector):
    def __init__(self):
        self.scored = 0
        self.resets = 0

    def probability(self, frame):
        self.scored += 1
        return super().probability(frame)

    def reset(self):
        self.resets += 1


def noise(seconds, loudness):
    chance = random.Random(4)
    return array("h", [chance.randint(-loudness, loudness) for _ in range(round(seconds * 16_000))]).tobytes()


async def frames_of(audio_input, pcm):
    """The frames of this sound."""
    frames: list[Any] = []
    for at in range(0, len(pcm), FRAME_BYTES):
        audio_input.add(pcm[at : at + FRAME_BYTES])
        if len(pcm) - at >= FRAME_BYTES:
            frames += await audio_input.take()
    return frames


async def test_sound_of_any_length_becomes_frames():
    audio_input = AudioInput[ButtonMark](LoudnessDetector(), VadBatcher(Inline()))
    pcm = speech(0.32)
    for at in range(0, len(pcm), 333):
        audio_input.add(pcm[at : at + 333])
    frames: list[Any] = []
    while len(frames) < len(pcm) // FRAME_BYTES:
        frames += await audio_input.take()
    assert b"".join(frame.pcm for frame in frames) == pcm
    assert all(frame.probability == 0.95 for frame in frames)


async def test_silence_is_not_judged():
    detector = Counting()
    audio_input = AudioInput[ButtonMark](detector, VadBatcher(Inline()))
    frames = await frames_of(audio_input, silence(3))
    assert detector.scored == 0
    assert {frame.probability for frame in frames} == {0.0}


async def test_a_steady_noise_is_soon_not_judged_and_speech_over_it_is():
    detector = Counting()
    audio_input = AudioInput[ButtonMark](detector, VadBatcher(Inline()))
    await frames_of(audio_input, noise(15.36, 60))
    before = detector.scored
    await frames_of(audio_input, noise(2.048, 60))
    assert detector.scored == before
    frames = await frames_of(audio_input, speech(0.512))
    assert all(frame.probability > 0.5 for frame in frames)


async def test_the_first_loud_frame_is_judged_after_the_ones_before_it():
    detector = Counting()
    audio_input = AudioInput[ButtonMark](detector, VadBatcher(Inline()))
    await frames_of(audio_input, silence(1))
    [frame] = await frames_of(audio_input, speech(0.032))
    assert frame.probability == 0.95
    assert detector.scored == 1 + CONTEXT


async def test_the_gate_stays_open_over_the_end_of_a_word_and_then_shuts():
    detector = Counting()
    audio_input = AudioInput[ButtonMark](detector, VadBatcher(Inline()))
    await frames_of(audio_input, speech(0.32) + silence(3))
    assert detector.scored == 10 + HANG


async def test_after_a_long_quiet_the_detector_begins_anew():
    detector = Counting()
    audio_input = AudioInput[ButtonMark](detector, VadBatcher(Inline()))
    await frames_of(audio_input, speech(0.32) + silence(1) + speech(0.32))
    assert detector.resets == 1
    await frames_of(audio_input, silence(4) + speech(0.32))
    assert detector.resets == 2


def test_whoever_talks_for_a_minute_is_no_noise():
    gate = EnergyGate()
    for _ in range(2000):
        assert gate.passes(-25.0)
        gate.learn(-25.0, 0.9)


async def test_so_much_sound_waits_and_the_oldest_goes(caplog):
    audio_input = AudioInput[ButtonMark](LoudnessDetector(), VadBatcher(Inline()))
    with caplog.at_level(logging.WARNING):
        audio_input.add(silence(10))
        audio_input.add(silence(10))
    waiting = 0
    while waiting < WAITING:
        waiting += len(await audio_input.take())
    audio_input.mark(ButtonMark(True))
    assert await audio_input.take() == [ButtonMark(True)], "nothing else waits"
    assert waiting == WAITING
    assert len(caplog.records) == 1


async def test_what_happens_between_two_frames_comes_between_them_and_is_never_dropped():
    audio_input = AudioInput[ButtonMark](LoudnessDetector(), VadBatcher(Inline()))
    audio_input.add(speech(0.064))
    audio_input.mark(ButtonMark(False))
    audio_input.add(silence(0.032))
    frames: list[Any] = []
    while len(frames) < 4:
        frames += await audio_input.take()
    assert [one.down if isinstance(one, ButtonMark) else one.probability for one in frames] == [
        0.95,
        0.95,
        False,
        0.02,
    ]
    audio_input.mark(ButtonMark(True))
    audio_input.add(silence(10))
    assert await audio_input.take() == [ButtonMark(True)]

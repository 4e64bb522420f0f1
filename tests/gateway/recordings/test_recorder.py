"""What a call reports to its recording: from its first event, within bounds, ended once."""

from __future__ import annotations

import pytest

from duologue.gateway.recordings.recorder import Recorder
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.messages import ImagePart

HEARD = call_events.MicrophoneAudio(b"\1\0" * 1600)
LISTENING = call_events.State(0, "listening")


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


def a_recorder(clock: Clock, **options: object) -> tuple[Recorder, list[str]]:
    ends: list[str] = []
    return Recorder("r1", marks=True, now=clock, on_end=ends.append, **options), ends  # type: ignore[arg-type]


def test_a_call_that_waits_has_not_begun(clock: Clock):
    recorder, _ = a_recorder(clock)
    recorder.client_sent(HEARD)
    recorder.saw(ImagePart(b"early"))
    clock.at += 60
    recorder.server_sent([LISTENING])
    clock.at += 0.1
    recorder.client_sent(HEARD)
    recorder.close()
    piece = recorder.take()
    assert piece.caller == HEARD.pcm
    assert [entry["at"] for entry in piece.entries] == [0]
    assert recorder.frames == 0


def test_in_the_middle_of_a_call_it_begins_at_once(clock: Clock):
    recorder, _ = a_recorder(clock, at_once=True)
    clock.at += 0.1
    recorder.client_sent(HEARD)
    recorder.close()
    assert recorder.take().caller == HEARD.pcm
    assert recorder.duration == 100


def test_what_was_said_first_is_its_title(clock: Clock):
    recorder, _ = a_recorder(clock)
    recorder.server_sent([call_events.UserSaid(0, 1, "  What  about " + "boats? " * 30)])
    recorder.server_sent([call_events.UserSaid(0, 2, "And ships?")])
    assert recorder.title.startswith("What about boats?")
    assert len(recorder.title) == 80


def test_a_disk_that_does_not_keep_up_ends_it_and_it_says_so(clock: Clock):
    recorder, ends = a_recorder(clock, most_pending=10_000)
    recorder.server_sent([LISTENING])
    for _ in range(10):
        recorder.client_sent(HEARD)
    assert (recorder.ended, ends) == ("slow_disk", ["slow_disk"])
    pending = recorder.pending
    recorder.client_sent(HEARD)
    recorder.server_sent([LISTENING])
    recorder.saw(ImagePart(b"late"))
    assert recorder.pending == pending
    recorder.close()
    assert recorder.ended == "slow_disk"


def test_its_owner_may_stop_it_and_is_told_once(clock: Clock):
    recorder, ends = a_recorder(clock)
    recorder.stop("stopped")
    recorder.stop("full")
    assert (recorder.ended, ends) == ("stopped", ["stopped"])


def test_the_end_of_the_call_is_told_to_nobody(clock: Clock):
    recorder, ends = a_recorder(clock)
    recorder.close()
    recorder.stop("failed")
    assert (recorder.ended, ends) == ("ended", [])


def test_before_anything_happened_there_is_nothing(clock: Clock):
    recorder, _ = a_recorder(clock)
    assert (recorder.take().caller, recorder.pending, recorder.duration) == (b"", 0, 0)


def test_pictures_are_counted(clock: Clock):
    recorder, _ = a_recorder(clock, at_once=True)
    recorder.saw(ImagePart(b"one"))
    recorder.saw(ImagePart(b"two"))
    recorder.close()
    assert recorder.frames == 2
    assert recorder.take().frames == (b"one", b"two")


def test_a_chat_of_any_length_is_recorded_whole(clock: Clock):
    """A long reply is made faster than it is spoken; its rest waited for its time in memory, until that ended as a slow disk."""
    minute = 60 * SPOKEN_RATE * SAMPLE_BYTES
    asked = call_events.MicrophoneAudio(bytes(18 * 60 * HEARD_RATE * SAMPLE_BYTES))
    recorder, ends = a_recorder(clock, at_once=True, chat=True)
    recorder.client_sent(asked)
    heard = said = 0
    recorder.server_sent([call_events.ReplyAudioStarted(0, 1)])
    for _ in range(20):
        recorder.server_sent([call_events.ReplyAudio(0, 1, bytes(minute))])
        clock.at += 1
        piece = recorder.take()
        heard, said = heard + len(piece.caller), said + len(piece.reply)
        assert recorder.pending < minute
    recorder.close()
    piece = recorder.take()
    heard, said = heard + len(piece.caller), said + len(piece.reply)
    assert (recorder.ended, ends) == ("ended", [])
    assert said * HEARD_RATE == heard * SPOKEN_RATE
    assert recorder.duration // 60_000 == 38

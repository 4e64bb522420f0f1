"""The timeline: both sides on one clock, and what a real player played, sample by sample."""

from __future__ import annotations

import itertools
import json
from array import array
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.client.player import Player
from duologue.config.settings import LimitSettings
from duologue.gateway.recordings.timeline import LAG, SettledPiece, Timeline, in_order
from duologue.values import call_events
from duologue.values.call_events import CallEvent, MicrophoneAudio
from duologue.values.events import ReplyWord
from duologue.values.messages import ImagePart
from duologue.wire.calls.caller_messages import control, decode
from duologue.wire.calls.voice import VoiceEncoder

STEP = 0.02
FRAME, HEARD = 320, 480
REPORTED = 13
"""Steps until the client's first regular report. What ends before it is placed to within one step: the sample is known, but
not when in the step it sounded."""
FADES = 520
"""Samples at most that a client fades at once: the recording has them at full volume."""


def pcm(count: int, value: int = 1000) -> bytes:
    return value.to_bytes(2, "little") * count


def ramp(first: int, count: int) -> bytes:
    """Sound whose samples say where they are in their reply."""
    return array("h", [1000 + (first + number) % 30_000 for number in range(count)]).tobytes()


class Recorded:
    """Everything a timeline gave out."""

    def __init__(self) -> None:
        self.caller, self.reply = b"", b""
        self.entries: list[dict[str, Any]] = []
        self.frames: list[bytes] = []

    def add(self, piece: SettledPiece) -> None:
        assert len(piece.reply) * 2 == len(piece.caller) * 3
        self.caller += piece.caller
        self.reply += piece.reply
        self.entries += piece.entries
        self.frames += piece.frames

    def of(self, type: str) -> list[dict[str, Any]]:
        return [entry for entry in in_order(self.entries) if entry["type"] == type]


class Conversation:
    """A server and a client with its player, step by step of 20 ms, and the timeline of what passes between them."""

    def __init__(self, *, holds: bool = True) -> None:
        self.at = 0.0
        self.timeline = Timeline(0.0, marks=holds)
        self.player = Player(holds=holds)
        self.encoder = VoiceEncoder()
        self.recorded = Recorded()
        self.spoken, self.played = b"", b""

    def server(self, *events: CallEvent) -> None:
        self.timeline.server_sent(events, self.at)
        for frame in self.encoder.encode(events):
            if isinstance(frame, bytes):
                self.player.receive_audio(frame)
            else:
                self.player.take(json.loads(frame))

    def client(self, message: dict[str, Any]) -> None:
        decoded = decode(json.dumps(message), LimitSettings())
        if (sent := control(decoded, self.encoder)) is not None:
            self.timeline.client_sent(sent, self.at)

    def step(self, steps: int = 1) -> None:
        for _ in range(steps):
            self.at += STEP
            frame = ramp(len(self.spoken) // 2, FRAME)
            self.spoken += frame
            self.timeline.client_sent(MicrophoneAudio(frame), self.at)
            self.played += self.player.play(HEARD)
            while self.player.reports:
                self.client(self.player.reports.popleft())
            if len(self.spoken) % 100_000 < FRAME * 2:
                self.recorded.add(self.timeline.take(self.at))

    def finish(self) -> Recorded:
        self.recorded.add(self.timeline.finish(self.at))
        return self.recorded

    def compare(self) -> int:
        """The samples that were recorded although the client did not play them. Where both have sound it is the same sound at
        the same sample, but for the client's fades; what was too short for a regular report may be a step later."""
        heard, recorded = array("h", self.played), array("h", self.recorded.reply)
        matched = surplus = 0
        for start, end in runs(recorded):
            shifts = range(1 if end - start > REPORTED * HEARD else HEARD + 1)
            fits = [
                fit for shift in shifts if (fit := surplus_of(heard, recorded, start, end, shift)) is not None
            ]
            assert fits, f"the recording has other sound than was heard from {start} to {end}"
            surplus += min(fits)
            matched += end - start - min(fits)
        assert sum(1 for one in heard if one) <= matched + FADES
        return surplus


def runs(recorded: array[int]) -> list[tuple[int, int]]:
    """Where sound begins and ends."""
    edges = [
        number
        for number in range(1, len(recorded))
        if bool(recorded[number]) != bool(recorded[number - 1])
        or (recorded[number] and recorded[number] != recorded[number - 1] + 1)
    ]
    bounds = [0, *edges, len(recorded)]
    return [(one, other) for one, other in itertools.pairwise(bounds) if recorded[one]]


def surplus_of(heard: array[int], recorded: array[int], start: int, end: int, shift: int) -> int | None:
    """The samples of this sound that were not heard; None if something else was heard there."""
    surplus = faded = 0
    for number in range(start, end):
        one = heard[number - shift] if 0 <= number - shift < len(heard) else 0
        if one == recorded[number]:
            faded = 0
            continue
        faded += 1
        surplus += one == 0
        if not 0 <= one < recorded[number] or faded > FADES:
            return None
    return surplus


def test_a_reply_that_was_heard_to_its_end_is_recorded_as_it_was_heard():
    talk = Conversation()
    talk.step(10)
    talk.server(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, ramp(0, 24_000)))
    talk.server(call_events.ReplyAudioEnded(0, 1, 24_000))
    talk.step(80)
    recorded = talk.finish()
    assert talk.compare() == 0
    assert recorded.caller == talk.spoken
    assert array("h", recorded.reply)[10 * HEARD] == 1000


def test_a_reply_that_was_interrupted_ends_where_playback_ended():
    talk = Conversation()
    talk.step(5)
    talk.server(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, ramp(0, 24_000)))
    talk.step(20)
    talk.server(call_events.Cut(1, 1))
    talk.step(40)
    talk.finish()
    played = 20 * HEARD + 240
    assert talk.compare() <= 2
    assert max(number for number, one in enumerate(array("h", talk.recorded.reply)) if one) == (
        5 * HEARD + played - 1
    )


Script = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.integers(1, 30)),
        st.tuples(st.just("send"), st.integers(4800, 30_000)),
        st.tuples(st.just("cut"), st.just(0)),
        st.tuples(st.just("hold"), st.just(0)),
        st.tuples(st.just("resume"), st.just(0)),
        st.tuples(st.just("stop"), st.just(0)),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=150)
@given(Script)
def test_whatever_happens_the_recording_is_what_the_client_played(script: list[tuple[str, int]]):
    talk, reply, epoch, cuts, held = Conversation(), 0, 0, 0, False
    for verb, count in script:
        match verb:
            case "step":
                talk.step(count)
            case "send":
                # One after another: the next reply is sent once the last one was played or cut.
                while reply and not talk.player.silent and not held:
                    talk.step()
                if held:
                    continue
                talk.step(2)
                reply += 1
                talk.server(
                    call_events.ReplyAudioStarted(epoch, reply),
                    call_events.ReplyAudio(epoch, reply, ramp(0, count)),
                    call_events.ReplyAudioEnded(epoch, reply, count),
                )
                talk.step(REPORTED)
            case "cut" if reply:
                epoch, cuts, held = epoch + 1, cuts + 1, False
                talk.server(call_events.Cut(epoch, reply))
                talk.step(3)
            case "stop" if reply and talk.player.current is not None:
                cuts, held = cuts + 1, False
                talk.client(talk.player.interrupt())
                epoch += 1
                talk.server(call_events.Cut(epoch, reply))
                talk.step(3)
            case "hold" if reply and not talk.player.silent and not held:
                talk.server(call_events.Hold(epoch, reply))
                held = True
                talk.step(3)
            case "resume" if held:
                talk.server(call_events.Resume(epoch, reply))
                held = False
                talk.step(REPORTED)
            case _:
                pass
    talk.step(5)
    while not talk.player.silent and not held:
        talk.step()
    talk.finish()
    # A fade ends in a sample or two of silence.
    assert talk.compare() <= 4 * len(script)
    assert talk.recorded.caller[: len(talk.spoken)] == talk.spoken


def test_what_is_cut_before_its_first_report_is_placed_to_within_a_step():
    talk = Conversation()
    talk.server(call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, ramp(0, 4800)))
    talk.step(4)
    talk.server(call_events.Cut(1, 1))
    talk.step(4)
    talk.finish()
    recorded = [number for number, one in enumerate(array("h", talk.recorded.reply)) if one]
    assert array("h", talk.recorded.reply)[recorded[0]] == 1000
    assert 0 <= recorded[0] <= HEARD
    assert len(recorded) == 4 * HEARD + 240


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 24)), min_size=1, max_size=8))
def test_a_client_without_reports_is_recorded_to_within_a_moment(script: list[tuple[int, int]]):
    talk = Conversation(holds=False)
    for reply, (pieces, cut) in enumerate(script, 1):
        talk.step(2)
        talk.server(call_events.ReplyAudioStarted(reply - 1, reply))
        for piece in range(pieces):
            talk.server(call_events.ReplyAudio(reply - 1, reply, ramp(piece * HEARD, HEARD)))
            talk.step()
        talk.step(max(0, cut - pieces))
        talk.server(call_events.Cut(reply, reply))
        talk.step(3)
    talk.finish()
    heard = sum(1 for one in array("h", talk.played) if one)
    recorded = sum(1 for one in array("h", talk.recorded.reply) if one)
    # It is not known when the client begins to play: its buffer is 40 ms, and doubles where it runs dry.
    assert abs(recorded - heard) <= len(script) * 24 * 480


def test_both_sides_have_the_same_length_however_they_are_taken():
    timeline, recorded = Timeline(0.0, marks=True), Recorded()
    for number in range(1, 400):
        timeline.client_sent(MicrophoneAudio(pcm(FRAME)), number * STEP)
        recorded.add(timeline.take(number * STEP))
    assert len(recorded.caller) // 2 == 399 * FRAME - LAG
    recorded.add(timeline.finish(399 * STEP))
    assert recorded.caller == pcm(399 * FRAME)


@pytest.fixture
def timeline() -> Timeline:
    return Timeline(0.0, marks=True)


def finished(timeline: Timeline, at: float = 10.0) -> Recorded:
    recorded = Recorded()
    recorded.add(timeline.finish(at))
    return recorded


def test_what_was_said_decided_and_measured_stands_at_its_time(timeline: Timeline):
    timeline.server_sent([call_events.State(0, "hearing")], 0.5)
    timeline.server_sent([call_events.Transcribed(0, 1, "Hello", final=True)], 0.75)
    timeline.server_sent([call_events.ReplyRequested(0, 1, 1, 1, "Hello")], 0.8)
    timeline.server_sent([call_events.UserSaid(0, 1, "Hello")], 0.9)
    timeline.server_sent(
        [call_events.ReplyText(0, 1, "Hi."), call_events.ReplyText(0, 1, "", final=True)], 1.0
    )
    timeline.server_sent([call_events.AssistantSaid(0, 1, "Hi.")], 2.0)
    timeline.server_sent([call_events.TurnFigures(0, 1, 1, endpoint=80.0, first_sound=210.5)], 2.0)
    entries = in_order(finished(timeline).entries)
    assert [(entry["at"], entry["type"]) for entry in entries] == [
        (500, "state"),
        (750, "transcript"),
        (800, "reply"),
        (900, "said"),
        (1000, "text"),
        (2000, "reply_done"),
        (2000, "latency"),
    ]
    assert entries[5] == {
        "at": 2000,
        "type": "reply_done",
        "reply": 1,
        "heard": "Hi.",
        "unheard": "",
        "ending": "spoken",
    }
    assert (entries[6]["endpoint_ms"], entries[6]["first_sound_ms"], entries[6]["interrupted_ms"]) == (
        80.0,
        210.5,
        None,
    )


def test_words_are_in_the_recording_only_if_they_were_heard(timeline: Timeline):
    words = (ReplyWord("one", 0, 4800, 0, 3), ReplyWord("two", 4800, 9600, 4, 7))
    timeline.server_sent(
        [call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, pcm(24_000), words)], 1.0
    )
    timeline.client_sent(call_events.Played(1, 4800), 1.2)
    timeline.server_sent([call_events.Cut(1, 1)], 1.3)
    timeline.client_sent(call_events.Played(1, 7200), 1.3)
    [word] = finished(timeline).of("word")
    assert word == {"at": 1000, "type": "word", "reply": 1, "text": "one", "end": 1200, "from": 0, "to": 3}


def test_the_parts_that_were_heard_are_told_with_their_samples(timeline: Timeline):
    timeline.server_sent(
        [call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, pcm(24_000))], 1.0
    )
    timeline.client_sent(call_events.Played(1, 4800), 1.2)
    assert finished(timeline, 1.2).of("heard") == [
        {"at": 1000, "type": "heard", "reply": 1, "from_sample": 0, "samples": 4800, "sample": 24_000}
    ]


def test_sound_and_text_of_an_older_epoch_are_dropped(timeline: Timeline):
    timeline.server_sent([call_events.ReplyAudioStarted(0, 2), call_events.Cut(1, 1)], 1.0)
    timeline.server_sent(
        [
            call_events.ReplyAudioStarted(0, 2),
            call_events.ReplyAudio(0, 2, pcm(100)),
            call_events.ReplyText(0, 2, "late"),
        ],
        1.0,
    )
    timeline.client_sent(call_events.Played(2, 100), 1.2)
    recorded = finished(timeline)
    assert not recorded.of("heard")
    assert not recorded.of("text")


def test_a_reply_that_began_before_the_recording_is_left_out(timeline: Timeline):
    timeline.server_sent([call_events.ReplyAudio(0, 1, pcm(24_000))], 1.0)
    timeline.client_sent(call_events.Played(1, 40_000), 1.2)
    assert not finished(timeline, 1.3).of("heard")


def test_pictures_are_kept_in_their_order(timeline: Timeline):
    timeline.saw(ImagePart(b"first", "image/jpeg"), 0.5)
    timeline.saw(ImagePart(b"second", "image/png"), 1.5)
    assert timeline.pending == len(b"firstsecond")
    recorded = finished(timeline)
    assert recorded.frames == [b"first", b"second"]
    assert recorded.of("frame") == [
        {"at": 500, "type": "frame", "index": 0, "mime": "image/jpeg", "size": 5},
        {"at": 1500, "type": "frame", "index": 1, "mime": "image/png", "size": 6},
    ]


def test_buttons_and_problems_are_told(timeline: Timeline):
    timeline.client_sent(call_events.Pressed(True), 0.1)
    timeline.client_sent(call_events.Interrupt(), 0.2)
    timeline.server_sent([call_events.CallProblem(0, "asr_failed", "It failed.")], 0.3)
    assert [entry["type"] for entry in in_order(finished(timeline).entries)] == [
        "button",
        "stop_pressed",
        "problem",
    ]


def test_what_was_sent_may_count_as_heard_however_early_it_is():
    timeline = Timeline(0.0, marks=False, heard_when_sent=True)
    timeline.server_sent(
        [call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, pcm(48_000))], 0.0
    )
    assert len(finished(timeline, 0.5).reply) // 2 == 48_000


def test_without_waiting_the_end_is_the_end():
    timeline = Timeline(0.0, marks=False)
    timeline.server_sent(
        [call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, pcm(48_000))], 0.0
    )
    assert len(finished(timeline, 0.5).reply) // 2 == 12_000


def test_in_a_native_call_the_sound_of_chunks_is_the_callers_and_its_replies_are_noted():
    timeline = Timeline(0.0, marks=True)
    recorded = Recorded()
    timeline.client_sent(call_events.CallChunk(pcm(16000)), 1.0)
    timeline.server_sent([call_events.ReplyBegun(0, 3, 2)], 1.0)
    recorded.add(timeline.finish(1.0))
    assert recorded.caller[: 2 * 16000] == pcm(16000)
    [reply] = recorded.of("reply")
    assert (reply["reply"], reply["turn"]) == (3, 2)


def test_the_sound_of_a_clip_is_recorded_as_far_as_it_was_heard():
    timeline = Timeline(0.0, marks=True)
    words = (ReplyWord("one", 0, 12_000, 0, 3), ReplyWord("two", 12_000, 24_000, 4, 7))
    clip = call_events.SpeakingClip(0, 1, b"mp4", "one two", 24_000, 64, 64, words, ramp(0, 24_000))
    timeline.server_sent([clip], 1.0)
    timeline.client_sent(call_events.Played(1, 12_000), 1.5)
    timeline.client_sent(call_events.Interrupt(1, 12_000), 1.5)
    timeline.server_sent([call_events.Cut(1, 1)], 1.5)
    piece = timeline.finish(3.0)
    assert piece.reply[48_000 : 48_000 + 24_000] == ramp(0, 12_000)
    assert not any(piece.reply[72_000:])
    said = [entry["text"] for entry in piece.entries if entry["type"] in ("text", "word")]
    assert said == ["one two", "one"]


def test_a_clip_of_an_older_epoch_is_not_recorded():
    timeline = Timeline(0.0, marks=False)
    clip = call_events.SpeakingClip(0, 1, b"mp4", "one", 24_000, 64, 64, (), ramp(0, 24_000))
    timeline.server_sent([call_events.Cut(1, 1), clip], 1.0)
    assert not any(timeline.finish(3.0).reply)

"""The arithmetic of the duplex benchmark, on recordings made by hand: what it says of them can be counted on fingers."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="the benchmarks count with numpy: pip install 'duologue[voice]'")
pytest.importorskip("av", reason="the benchmarks resample with PyAV: pip install 'duologue[voice]'")
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import numpy

from duologue.client.player import HOLD_FADE, Player
from duplex import scoring
from duplex.recording import Deed, Message, Recording

RATE = 24_000


def tones(seconds: float, seed: int = 1) -> bytes:
    """Sound of which no two places are alike."""
    noise = numpy.random.default_rng(seed).integers(500, 9000, round(seconds * RATE))
    return noise.astype("<i2").tobytes()


def a_recording(*sounding: tuple[float, float], seconds: float = 10.0) -> Recording:
    """One in which the server sounds between these seconds."""
    heard = numpy.zeros(round(seconds * RATE), numpy.int16)
    for start, end in sounding:
        heard[round(start * RATE) : round(end * RATE)] = 3000
    recording = Recording()
    recording.add(bytes(round(seconds * 16_000) * 2), heard.tobytes())
    return recording


def say(recording: Recording, at: float, kind: str, **fields: object) -> None:
    recording.messages.append(Message(at, {"type": kind, **fields}))


def test_speech_is_in_one_piece_through_short_silences():
    sound = a_recording((1.0, 2.0), (2.2, 3.0), (4.0, 5.0), (6.0, 6.01)).sounded
    assert scoring.segments(sound) == [(1.0, 3.0), (4.0, 5.0)]


def test_a_latency_runs_from_the_last_sound_to_the_first_and_knows_its_endpoint():
    recording = a_recording((3.0, 4.0))
    deed = Deed("say", 1.0, 2.0)
    recording.deeds.append(deed)
    say(recording, 1.2, "status", state="hearing")
    say(recording, 2.7, "status", state="thinking")
    found = scoring.latency(recording, deed)
    assert found is not None
    assert found.total == pytest.approx(1.0)
    assert found.beyond == pytest.approx(0.3)


def test_an_answer_that_was_ready_begins_at_the_endpoint():
    recording = a_recording((3.0, 4.0))
    say(recording, 1.2, "status", state="hearing")
    say(recording, 2.98, "audio_start", reply_id=1)
    found = scoring.latency(recording, Deed("say", 1.0, 2.0))
    assert found is not None
    assert found.beyond == pytest.approx(0.02)


def test_no_answer_has_no_latency():
    assert scoring.latency(a_recording((0.5, 0.9)), Deed("say", 1.0, 2.0)) is None


@pytest.mark.parametrize(("sounds", "taken"), [((2.1, 2.4), True), ((3.2, 4.0), False), ((0.2, 0.8), False)])
def test_a_take_over_sounds_before_the_turn_is_over(sounds: tuple[float, float], taken: bool):
    deed = Deed("say", 1.0, 3.0, pauses=((1.8, 2.5),))
    assert scoring.takeover(a_recording(sounds), deed) is taken
    assert scoring.takeover(a_recording(sounds), Deed("say", 1.0, 3.0)) is None


def test_a_barge_in_is_silent_when_held_and_over_when_cut():
    recording = a_recording((0.5, 2.17))
    say(recording, 2.15, "pause", reply_id=1)
    say(recording, 2.4, "interrupt", reply_id=1)
    stopped = scoring.stop(recording, Deed("say", 2.0, 3.0))
    assert stopped is not None
    assert stopped.silent == pytest.approx(0.17)
    assert stopped.held == pytest.approx(0.15)
    assert stopped.over == pytest.approx(0.4)


def test_an_interruption_of_nothing_is_none():
    assert scoring.stop(a_recording((5.0, 6.0)), Deed("say", 2.0, 3.0)) is None


def test_a_button_is_over_with_the_last_sound():
    stopped = scoring.stop(a_recording((0.5, 2.06)), Deed("press", 2.0, 2.0))
    assert stopped is not None
    assert stopped.over == pytest.approx(0.06)


def test_what_sounds_on_after_a_cut_is_stale():
    good, bad = a_recording((0.5, 2.03)), a_recording((0.5, 2.5))
    for recording in (good, bad):
        say(recording, 2.0, "interrupt", reply_id=1)
    assert scoring.after_cut(good) == 0
    assert scoring.after_cut(bad) == 1
    good.stale.append("caption")
    assert scoring.after_cut(good) == 1


WORDS = [("Once", 0.0, 0.5), ("there", 0.6, 1.0), ("was.", 1.1, 1.5)]


@pytest.mark.parametrize(
    ("kept", "played", "right"),
    [
        ("Once there", 1.2, True),
        ("once, there...", 1.2, True),
        ("Once", 1.2, False),
        ("Once there was.", 1.2, False),
        ("", 0.3, True),
        # Within the fade nobody can say.
        ("Once", 1.005, True),
        ("Once there", 1.005, True),
    ],
)
def test_what_is_kept_is_every_word_whose_end_was_played(kept: str, played: float, right: bool):
    recording = Recording(heard={1: round(played * RATE)})
    say(recording, 2.0, "reply_done", reply_id=1, text=kept, ending="interrupted")
    assert scoring.heard_exactly(recording, 1, WORDS) is right


def played(*holds: tuple[int, int], seconds: float = 3.0) -> tuple[numpy.ndarray, numpy.ndarray]:
    """A reply as a player plays it, held after so many steps for so many: recording and reply."""
    player, reply = Player(), tones(seconds)
    player.take({"type": "audio_start", "reply_id": 1, "chunk_id": 0})
    player.receive_audio(reply)
    player.take({"type": "audio_end", "reply_id": 1})
    heard = bytearray()
    plan = dict(holds)
    for step in range(round(seconds * 50) + 20):
        if count := plan.get(step):
            player.take({"type": "pause", "reply_id": 1})
            heard += b"".join(player.play(480) for _ in range(count))
            player.take({"type": "resume", "reply_id": 1})
        heard += player.play(480)
    return numpy.frombuffer(bytes(heard), numpy.int16), numpy.frombuffer(reply, numpy.int16)


def test_a_reply_without_a_pause_is_whole():
    assert scoring.continuity(*played()) == scoring.Continuity(0, 0, 0, 0)


def test_a_reply_that_was_held_and_resumed_is_whole():
    assert scoring.continuity(*played((40, 30), (90, 12))) == scoring.Continuity(0, 0, 0, 2)


def test_a_hold_that_is_taken_back_at_once_is_no_pause():
    assert scoring.continuity(*played((40, 1))).lost == 0


def test_what_is_left_out_after_a_pause_is_lost():
    sound, reply = played((40, 30))
    stopped = 40 * 480 + HOLD_FADE
    begins = stopped + 29 * 480
    found = scoring.continuity(numpy.concatenate([sound[:begins], sound[begins + 2400 :]]), reply)
    assert 2200 <= found.lost <= 2500
    assert found.repeated == 0


def test_what_sounds_again_after_a_pause_is_repeated():
    sound, reply = played((40, 30))
    stopped = 40 * 480 + HOLD_FADE
    begins = stopped + 29 * 480
    again = numpy.concatenate([sound[:begins], reply[stopped - 4800 : stopped], sound[begins:]])
    found = scoring.continuity(again, reply)
    assert 4600 <= found.repeated <= 5000


def test_an_alarm_is_blamed_for_what_happens_before_the_next_deed_and_no_more():
    recording = a_recording((0.5, 6.0))
    cough, word = Deed("cough", 2.0, 2.2), Deed("say", 4.0, 4.5)
    recording.deeds += [cough, word]
    say(recording, 4.3, "interrupt", reply_id=1)
    assert not scoring.ended_by(recording, cough)
    assert scoring.ended_by(recording, word)

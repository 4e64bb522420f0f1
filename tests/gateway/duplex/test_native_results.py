"""The results of a session that its model holds by itself: each waits for the model's answer, and carries all that it says."""

from typing import Any

from duologue.gateway.duplex.duplex_frames import MAX_UNIT_WAIT, DuplexBuffer
from duologue.values import call_events
from duologue.values.call_events import UnitAnswered

SECOND = 16000
SOUND = b"\1\0" * 26000


def unit(number: int, samples: int = SECOND, **figures: Any) -> UnitAnswered:
    return UnitAnswered(0, number, samples, **figures)


def speaking(buffer: DuplexBuffer) -> None:
    buffer.take(
        [
            call_events.ReplyBegun(0, 1, 1),
            call_events.ReplyAudioStarted(0, 1),
            call_events.ReplyText(0, 1, "Hello you"),
            call_events.ReplyAudio(0, 1, SOUND),
        ]
    )


def test_a_result_waits_for_its_units_answer_and_no_longer():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0)
    assert buffer.due(0.9) == []
    buffer.take([unit(1, cached=30)])
    [result] = buffer.due(0.91)
    assert (result.number, result.is_listen) == (1, True)
    assert result.figures is not None
    assert result.figures.cached == 30


def test_all_of_a_units_sound_and_text_are_in_its_result():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0)
    speaking(buffer)
    buffer.take([unit(1, listens=False, reply=1, written=2)])
    [result] = buffer.due(0.5)
    assert (result.pcm, result.text, result.reply, result.turn) == (SOUND, "Hello you", 1, 1)
    assert not result.is_listen


def test_a_slow_model_gets_its_results_in_order_and_none_overtakes():
    buffer = DuplexBuffer(native=True)
    for second in range(3):
        buffer.add_chunk(SECOND, float(second))
    assert buffer.due(2.5) == []
    buffer.take([unit(1)])
    assert [result.number for result in buffer.due(2.6)] == [1]
    buffer.take([unit(2), unit(3)])
    assert [result.number for result in buffer.due(2.7)] == [2, 3]


def test_a_model_that_does_not_answer_keeps_no_result_for_ever():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0)
    assert buffer.next_due == MAX_UNIT_WAIT
    [result] = buffer.due(MAX_UNIT_WAIT)
    assert result.is_listen


def test_chunks_shorter_than_a_unit_are_answered_together():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND // 2, 0.0)
    buffer.add_chunk(SECOND // 2, 0.5)
    assert buffer.due(1.0) == []
    buffer.take([unit(1, written=4)])
    first, second = buffer.due(1.1)
    assert first.figures is not None
    assert second.figures is not None
    assert (first.figures.written, second.figures.written) == (0, 4)


def test_a_chunk_that_must_be_silent_is_although_something_is_said():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0, force_listen=True)
    assert buffer.due(0.1) == []
    speaking(buffer)
    buffer.take([unit(1)])
    [result] = buffer.due(0.5)
    assert (result.is_listen, result.pcm) == (True, b"")


def test_in_a_pause_every_result_is_due():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0)
    assert len(buffer.due(0.1, all=True)) == 1


def test_a_chunk_that_came_too_late_waits_for_nobody():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0)
    buffer.take([unit(1)])
    buffer.due(0.0)
    for _ in range(8):
        buffer.add_chunk(SECOND, 20.0)
    heard = [result for result in buffer.due(20.0) if not result.arrival.heard]
    assert heard == [] or all(result.figures is None for result in heard)


def test_after_a_lost_model_results_that_wait_are_due():
    buffer = DuplexBuffer(native=True)
    buffer.add_chunk(SECOND, 0.0)
    buffer.take([call_events.State(1, "waiting")])
    assert len(buffer.due(0.1)) == 1

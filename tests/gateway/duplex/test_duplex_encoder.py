"""What a call says to a duplex client: most of it waits for the next result, and only its first wait for a seat is told."""

import json
from typing import Any

from duologue.errors import Problem
from duologue.gateway.duplex.duplex_encoder import DuplexEncoder
from duologue.gateway.duplex.duplex_frames import DuplexBuffer
from duologue.values import call_events
from duologue.values.events import Queued


class Told:
    def __init__(self) -> None:
        self.left: list[call_events.Played] = []
        self.held = self.changed = 0
        self.buffer = DuplexBuffer()
        self.encoder = DuplexEncoder(
            self.buffer, left=self.left.extend, held=self._hold, changed=self._change
        )

    def _hold(self) -> None:
        self.held += 1

    def _change(self) -> None:
        self.changed += 1


def types(messages: list[str]) -> list[Any]:
    return [json.loads(message)["type"] for message in messages]


def test_only_problems_are_messages_of_their_own():
    told = Told()
    messages = told.encoder.encode(
        [call_events.State(0, "hearing"), call_events.CallProblem(0, "worker_lost", "It is gone.")]
    )
    assert types(messages) == ["error"]
    assert told.changed == 1


def test_a_hold_is_reported_at_once():
    told = Told()
    told.encoder.encode([call_events.ReplyAudioStarted(0, 1), call_events.Hold(0, 1)])
    assert told.held == 1


def test_the_first_wait_for_a_seat_is_told_and_a_later_one_is_not():
    told = Told()
    place = Queued("q_1", 1, 2.0, 1)
    assert types(told.encoder.queued(place, False)) == ["queued"]
    assert types(told.encoder.seated(True)) == ["queue_done"]
    assert told.encoder.queued(place, False) == []
    assert told.encoder.seated(True) == []


def test_what_was_sent_of_a_reply_that_is_cut_counts_as_played():
    told = Told()
    told.buffer.add_chunk(16000, 0.0)
    told.encoder.encode([call_events.ReplyAudioStarted(0, 1), call_events.ReplyAudio(0, 1, b"\1\0" * 48000)])
    [result] = told.buffer.due(0.0, all=True)
    told.encoder.encode([call_events.Cut(1, 1)])
    assert told.left == [call_events.Played(1, len(result.pcm) // 2)]


def test_a_problem_is_an_error_with_its_code():
    assert json.loads(Told().encoder.problem(Problem("No.", code="busy"))[0])["code"] == "busy"

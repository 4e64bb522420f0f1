"""One reply as video beside its sound: what is drawn when, and that nothing late or stale is sent."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.turns.video.film_facts import (
    LONGEST,
    TOO_LONG,
    Draw,
    DrawingFailed,
    Drawn,
    DropDrawing,
    Due,
    EndVideo,
    FilmFact,
    FilmStep,
    Heard,
    Held,
    ReplyOver,
    Resumed,
    SendSegment,
    SoundAdded,
    SoundComplete,
    TellProblem,
    frames_of,
    sample_of,
)
from duologue.turns.video.stream_machine import (
    AHEAD,
    AHEAD_UNSENT,
    LOOK_AHEAD,
    SHORTEST,
    START_HOLD,
    WHOLE,
    StreamMachine,
)
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

RATE = 25
TICK = HEARD_RATE // 50
"""Samples between two looks at the clock: 20 ms."""


class Reply:
    """A reply that plays from when it is due, drawn by an engine that takes `cost` seconds for a second of video."""

    def __init__(self, *, cost: float = 0.2, rate: int = RATE) -> None:
        self.machine = StreamMachine(rate)
        self.rate, self.cost = rate, cost
        self.now = 0
        self.length = 0
        self.heard = 0.0
        self.due = self.held = self.cut = False
        self.steps: list[tuple[int, FilmStep]] = []
        self.draws: dict[int, Draw] = {}
        self.sent: list[Draw] = []
        self.drawing: Draw | None = None
        self.done_at = 0

    def take(self, fact: FilmFact) -> list[FilmStep]:
        steps = self.machine.take(fact, self.now)
        for step in steps:
            assert not self.cut, "nothing of a reply that is over"
            self.steps.append((self.now, step))
            match step:
                case Draw():
                    assert self.drawing is None, "one stretch at a time"
                    assert step.count > 0
                    self.draws[step.drawing] = step
                    self.drawing = step
                    self.done_at = self.now + round(step.count / self.rate * self.cost * HEARD_RATE)
                case SendSegment(drawing):
                    assert self.due
                    assert not self.held
                    draw = self.draws[drawing]
                    assert sample_of(draw.frame + draw.count, self.rate) > self.heard, (
                        "older than what was heard"
                    )
                    self.sent.append(draw)
                case DropDrawing(drawing):
                    if self.drawing is not None and self.drawing.drawing == drawing:
                        self.drawing = None
        return steps

    def sound(self, samples: int, *, complete: bool = False) -> None:
        self.length = samples
        self.take(SoundComplete(samples) if complete else SoundAdded(samples))

    def release(self) -> None:
        self.due = True
        self.take(Due())

    def hold(self) -> None:
        self.held = True
        self.take(Held())

    def resume(self) -> None:
        self.held = False
        self.take(Resumed())

    def stop(self) -> None:
        self.take(ReplyOver())
        self.cut = True

    def pass_time(self, seconds: float) -> None:
        until = self.now + round(seconds * HEARD_RATE)
        while self.now < until:
            self.now += TICK
            if self.due and not self.held and not self.cut:
                self.heard = min(self.length, self.heard + SPOKEN_RATE / 50)
                self.take(Heard(int(self.heard)))
            if self.drawing is not None and self.now >= self.done_at:
                done, self.drawing = self.drawing, None
                self.take(Drawn(done.drawing))

    @property
    def covered(self) -> float:
        """The share of the reply's frames that were sent."""
        return sum(draw.count for draw in self.sent) / frames_of(self.length, self.rate)


def test_a_fast_engine_draws_every_frame_once_and_in_time():
    reply = Reply(cost=0.3)
    reply.sound(4 * SPOKEN_RATE + 5, complete=True)
    reply.release()
    reply.pass_time(6)
    assert reply.covered == 1
    assert reply.sent[0].frame == 0
    assert all(one.frame + one.count == other.frame for one, other in pairwise(reply.sent))
    assert [draw.last for draw in reply.sent] == [False] * (len(reply.sent) - 1) + [True]
    assert reply.machine.late == 0
    assert reply.machine.over


def test_the_first_stretch_is_one_frame_drawn_before_the_reply_may_be_sent():
    reply = Reply(cost=0.3)
    reply.sound(4 * SPOKEN_RATE)
    reply.pass_time(3)
    assert reply.draws[1].frame == 0
    assert reply.draws[1].count == 1
    drawn = sum(draw.count for draw in reply.draws.values())
    assert drawn <= frames_of(AHEAD_UNSENT + WHOLE, RATE), "little of a reply that may be taken back"
    assert reply.sent == []
    reply.release()
    assert reply.sent, "lips come with the sound"
    assert reply.steps[-1][0] == reply.now


def test_stretches_grow_to_a_second_once_there_is_time():
    reply = Reply(cost=0.2)
    reply.sound(10 * SPOKEN_RATE, complete=True)
    reply.release()
    reply.pass_time(10)
    counts = [draw.count for draw in reply.sent]
    assert counts[0] == 1
    assert counts[1] >= 2
    assert counts[2] >= 4
    assert min(counts[3:-1]) >= frames_of(SHORTEST, RATE)
    assert frames_of(WHOLE, RATE) in counts


def test_the_sound_waits_briefly_for_the_first_picture_and_for_no_other():
    machine = StreamMachine(RATE)
    assert not machine.holds_start(0), "there is nothing to wait for"
    machine.take(SoundComplete(4 * SPOKEN_RATE), 0)
    machine.take(Due(), 0)
    assert machine.holds_start(START_HOLD - 1)
    assert not machine.holds_start(START_HOLD)
    assert SendSegment(1) in machine.take(Drawn(1), 100)
    assert machine.first_took == 100
    assert not machine.holds_start(100), "the second stretch is being drawn"


def test_the_sound_does_not_wait_for_an_engine_that_was_slow_the_last_time():
    machine = StreamMachine(RATE, START_HOLD + 1)
    machine.take(SoundComplete(4 * SPOKEN_RATE), 0)
    assert not machine.holds_start(0)


@pytest.mark.parametrize("end", [ReplyOver(), DrawingFailed(1)])
def test_the_sound_waits_for_no_picture_that_does_not_come(end):
    machine = StreamMachine(RATE)
    machine.take(SoundComplete(4 * SPOKEN_RATE), 0)
    machine.take(end, 1)
    assert not machine.holds_start(2)


def test_no_more_is_drawn_than_two_seconds_ahead():
    reply = Reply(cost=0.01)
    reply.sound(30 * SPOKEN_RATE, complete=True)
    reply.release()
    reply.pass_time(1)
    last = reply.sent[-1]
    assert sample_of(last.frame, RATE) - reply.heard <= AHEAD + SPOKEN_RATE / 50


def test_a_slow_engine_skips_frames_and_is_in_time_again():
    reply = Reply(cost=2.0)
    reply.sound(10 * SPOKEN_RATE, complete=True)
    reply.release()
    reply.pass_time(14)
    assert reply.machine.late
    assert 0.3 < reply.covered < 0.7
    sent = sum(isinstance(step, SendSegment) for _, step in reply.steps)
    assert sent >= 0.7 * len(reply.draws), "what is drawn is seldom in vain"
    assert reply.machine.over


def test_frames_near_the_end_of_the_sound_wait_for_what_follows():
    reply = Reply()
    reply.sound(SPOKEN_RATE)
    reply.release()
    reply.pass_time(0.5)
    last = max(draw.frame + draw.count for draw in reply.draws.values())
    assert sample_of(last, RATE) <= SPOKEN_RATE - LOOK_AHEAD
    reply.sound(SPOKEN_RATE, complete=True)
    reply.pass_time(1)
    assert reply.covered == 1


def test_a_hold_stops_drawing_and_sending_and_frames_continue_where_they_were():
    reply = Reply()
    reply.sound(6 * SPOKEN_RATE, complete=True)
    reply.release()
    reply.pass_time(1)
    reply.hold()
    before = len(reply.sent), reply.machine._next
    reply.pass_time(2)
    assert (len(reply.sent), reply.machine._next) == before
    reply.resume()
    reply.pass_time(7)
    assert reply.covered == 1


def test_numbers_on_the_avatars_clock_join_and_go_on_after_a_hold():
    reply = Reply()
    reply.now = 3 * HEARD_RATE
    reply.sound(6 * SPOKEN_RATE, complete=True)
    reply.release()
    assert reply.draws[1].first == 3 * RATE
    reply.pass_time(1)
    for one, other in pairwise(reply.draws.values()):
        assert other.first == one.first + one.count
    reply.hold()
    reply.pass_time(2)
    reply.resume()
    latest = list(reply.draws.values())
    reply.pass_time(3)
    after = list(reply.draws.values())[len(latest) :]
    assert after
    assert abs(after[0].first - latest[-1].first - latest[-1].count - 2 * RATE) <= 1


def test_a_failed_drawing_ends_the_video_and_is_told_once():
    reply = Reply(cost=0.9)
    reply.sound(6 * SPOKEN_RATE, complete=True)
    reply.release()
    while not (reply.sent and reply.drawing):
        reply.pass_time(0.02)
    failed = reply.drawing.drawing
    assert reply.take(DrawingFailed(failed)) == [TellProblem(), EndVideo()]
    assert reply.take(DrawingFailed(failed)) == []
    assert reply.machine.over
    assert reply.take(Heard(SPOKEN_RATE * 2)) == []


def test_before_anything_was_sent_a_failure_is_only_told():
    reply = Reply()
    reply.sound(6 * SPOKEN_RATE, complete=True)
    assert reply.take(DrawingFailed(1)) == [TellProblem()]
    reply.release()
    reply.pass_time(1)
    assert reply.sent == []


def test_a_cut_drops_what_is_drawn_and_what_is_ready():
    reply = Reply(cost=0.1)
    reply.sound(6 * SPOKEN_RATE, complete=True)
    reply.pass_time(0.1)
    assert reply.take(ReplyOver()) == [DropDrawing(drawing) for drawing in reply.draws]
    assert reply.machine.take(Due(), reply.now) == []


def test_a_reply_of_more_than_ten_minutes_goes_on_without_video():
    machine = StreamMachine(RATE)
    machine.take(SoundComplete(LONGEST * 2), 0)
    machine.take(Due(), 0)
    steps = machine.take(Heard(LONGEST), 600 * HEARD_RATE)
    steps += machine.take(Drawn(1), 600 * HEARD_RATE)
    assert TellProblem(TOO_LONG) in steps


ACTIONS = st.sampled_from(
    ["sound", "complete", "release", "hold", "resume", "cut", "fail", "stale", "time", "time"]
)


@settings(max_examples=1000, deadline=None)
@given(
    st.lists(st.tuples(ACTIONS, st.floats(0.02, 1.5)), max_size=25),
    st.sampled_from([0.05, 0.5, 1.0, 3.0]),
    st.sampled_from([25, 30, 24]),
)
def test_whatever_happens_pictures_are_in_order_in_time_and_of_this_reply(actions, cost, rate):
    reply = Reply(cost=cost, rate=rate)
    complete = False
    for action, amount in actions:
        match action:
            case "sound" if not complete:
                reply.sound(reply.length + round(amount * SPOKEN_RATE))
            case "complete" if not complete:
                complete = True
                reply.sound(reply.length, complete=True)
            case "release":
                reply.release()
            case "hold":
                reply.hold()
            case "resume":
                reply.resume()
            case "cut":
                reply.stop()
            case "fail" if reply.drawing is not None:
                failed, reply.drawing = reply.drawing, None
                reply.take(DrawingFailed(failed.drawing))
            case "stale":
                reply.take(Drawn(10_000))
                reply.take(DrawingFailed(0))
            case "time":
                reply.pass_time(amount)
    frames = [(draw.frame, draw.frame + draw.count) for draw in reply.draws.values()]
    assert all(end <= start for (_, end), (start, _) in pairwise(frames)), "positions increase"
    firsts = [(draw.first, draw.first + draw.count) for draw in reply.draws.values()]
    assert all(end <= start for (_, end), (start, _) in pairwise(firsts)), "and so does the avatar's clock"
    assert len(reply.sent) == len({draw.drawing for draw in reply.sent}), "each is sent once"
    assert sum(isinstance(step, TellProblem) for _, step in reply.steps) <= 1
    for draw in reply.draws.values():
        assert sample_of(draw.frame + draw.count - 1, rate) < reply.length


@pytest.mark.parametrize("cost", [0.05, 0.3])
def test_a_reply_whose_sound_comes_as_it_plays_is_drawn_nearly_whole(cost):
    reply = Reply(cost=cost)
    reply.sound(SPOKEN_RATE)
    reply.release()
    for _ in range(20):
        reply.pass_time(0.25)
        reply.sound(reply.length + SPOKEN_RATE // 4)
    reply.sound(reply.length, complete=True)
    reply.pass_time(3)
    assert reply.covered > 0.7

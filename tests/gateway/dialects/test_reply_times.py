"""The timings of a reply that somebody cancelled."""

from duologue.gateway.dialects.reply_times import ReplyTimes
from duologue.values.events import Prefilled, Progress, Queued, Started, TextDelta, Timings


def test_each_part_of_a_cancelled_reply_has_its_time():
    times = ReplyTimes(10.0)
    times.saw([Queued("t", 1, 0.0, 1)], 10.5)
    times.saw([Started("m"), Progress(1, 2)], 11.0)
    times.saw([Prefilled(7)], 13.0)
    times.saw([TextDelta("a")], 13.25)
    times.saw([TextDelta("b")], 14.0)
    assert times.timings(17.0) == Timings(queue=1000, prefill=2000, generate=4000, first=3250)


def test_what_a_reply_never_came_to_lasts_nothing():
    assert ReplyTimes(10.0).timings(12.0) == Timings(queue=2000, prefill=0, generate=0, first=2000)


def test_an_engine_that_only_tells_of_its_prompt_began_there():
    times = ReplyTimes(10.0)
    times.saw([Prefilled(None), TextDelta("a")], 11.0)
    assert times.timings(12.0) == Timings(queue=1000, prefill=0, generate=1000, first=1000)

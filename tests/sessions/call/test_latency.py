from duologue.sessions.call.latency import KEPT, TurnLatency


def test_moments_are_milliseconds_from_the_end_of_the_speech():
    times = TurnLatency()
    times.begin(7, 3, ended=100.0)
    times.note(7, "endpoint", 100.5)
    times.note(7, "first_sound", 100.62)
    times.note(7, "first_sound", 101.0)
    figures = times.end(7, epoch=2)
    assert (figures.epoch, figures.turn, figures.reply) == (2, 3, 7)
    assert (figures.endpoint, figures.first_sound, figures.first_text) == (500.0, 620.0, None)


def test_a_reply_that_answered_nobody_has_none():
    times = TurnLatency()
    times.note(1, "first_sound", 1.0)
    assert times.end(1, epoch=0) is None


def test_a_reply_that_was_dropped_is_forgotten_and_so_are_very_old_ones():
    times = TurnLatency()
    for reply in range(KEPT + 2):
        times.begin(reply, reply, 0.0)
    times.forget(KEPT)
    assert times.end(KEPT, 0) is None
    assert times.end(0, 0) is None
    assert times.end(KEPT + 1, 0) is not None

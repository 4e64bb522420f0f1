from duologue.sessions.call.latency import REPLIES, TurnLatency


def test_moments_are_milliseconds_from_the_end_of_the_speech():
    latency = TurnLatency()
    latency.begin(7, 3, speech_end=100.0)
    latency.note(7, "endpoint", 100.5)
    latency.note(7, "first_sound", 100.62)
    latency.note(7, "first_sound", 101.0)
    figures = latency.end(7, epoch=2, gaps=[120.0])
    assert (figures.epoch, figures.turn, figures.reply) == (2, 3, 7)
    assert (figures.endpoint, figures.first_sound, figures.first_text) == (500.0, 620.0, None)
    assert figures.gaps == (120.0,)


def test_a_reply_that_answered_nobody_has_none():
    latency = TurnLatency()
    latency.note(1, "first_sound", 1.0)
    assert latency.end(1, epoch=0) is None


def test_a_reply_that_was_dropped_is_forgotten_and_so_are_very_old_ones():
    latency = TurnLatency()
    for reply in range(REPLIES + 2):
        latency.begin(reply, reply, 0.0)
    latency.forget(REPLIES)
    assert latency.end(REPLIES, 0) is None
    assert latency.end(0, 0) is None
    assert latency.end(REPLIES + 1, 0) is not None

"""One reply as a clip: drawn once, sent once, or sent as sound."""

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.turns.video.clip_machine import CLIP, ClipMachine
from duologue.turns.video.film_facts import (
    LONGEST,
    TOO_LONG,
    DrawingFailed,
    Drawn,
    DrawWhole,
    DropDrawing,
    Due,
    FilmStep,
    Held,
    ReplyOver,
    Resumed,
    SendClip,
    SendSound,
    SoundAdded,
    SoundComplete,
    TellProblem,
)


def test_a_reply_is_drawn_when_its_sound_is_complete_and_sent_when_it_is_due():
    machine = ClipMachine()
    assert machine.take(SoundAdded(12_000), 0) == []
    assert machine.take(Due(), 0) == []
    assert machine.take(SoundComplete(24_001), 16_000) == [DrawWhole(CLIP, 24_001, 16_000)]
    assert machine.waits
    assert machine.take(Due(), 16_000) == []
    assert machine.take(Drawn(CLIP), 20_000) == []
    assert machine.take(Due(), 20_000) == [SendClip(CLIP)]
    assert machine.take(Due(), 20_000) == []


def test_a_clip_is_not_sent_while_its_reply_is_on_hold():
    machine = ClipMachine()
    machine.take(SoundComplete(100), 0)
    machine.take(Held(), 0)
    machine.take(Drawn(CLIP), 0)
    assert machine.take(Due(), 0) == []
    machine.take(Resumed(), 0)
    assert machine.take(Due(), 0) == [SendClip(CLIP)]


def test_an_interruption_while_it_is_drawn_drops_the_drawing():
    machine = ClipMachine()
    machine.take(SoundComplete(100), 0)
    assert machine.take(ReplyOver(), 0) == [DropDrawing(CLIP)]
    assert machine.take(Drawn(CLIP), 0) == []
    assert machine.take(Due(), 0) == []


def test_what_cannot_be_drawn_is_sent_as_sound_and_told_once():
    machine = ClipMachine()
    machine.take(SoundComplete(100), 0)
    assert machine.take(DrawingFailed(CLIP), 0) == [TellProblem(), SendSound()]
    assert machine.sounds
    assert machine.take(DrawingFailed(CLIP), 0) == []
    assert machine.take(Drawn(CLIP), 0) == []


def test_a_reply_without_sound_is_not_drawn():
    machine = ClipMachine()
    assert machine.take(SoundComplete(0), 0) == [SendSound()]
    assert machine.sounds


def test_a_reply_that_is_too_long_is_sent_as_sound_before_more_of_it_is_kept():
    machine = ClipMachine()
    assert machine.take(SoundAdded(LONGEST), 0) == []
    assert machine.take(SoundAdded(LONGEST + 1), 0) == [TellProblem(TOO_LONG), SendSound()]
    assert machine.take(SoundComplete(LONGEST * 2), 0) == []


FACTS = st.sampled_from(
    [
        SoundAdded(1000),
        SoundComplete(2000),
        Due(),
        Held(),
        Resumed(),
        ReplyOver(),
        Drawn(CLIP),
        Drawn(CLIP + 1),
        DrawingFailed(CLIP),
    ]
)


@settings(max_examples=1000)
@given(st.lists(FACTS, max_size=30))
def test_whatever_happens_a_reply_is_a_clip_or_sound_and_nothing_leaves_after_its_end(facts):
    machine = ClipMachine()
    steps: list[FilmStep] = []
    cut = held = False
    for now, fact in enumerate(facts):
        held = (held or isinstance(fact, Held)) and not isinstance(fact, Resumed)
        new = machine.take(fact, now)
        if cut:
            assert new == [], "nothing of a reply that is over"
        if held:
            assert not any(isinstance(step, SendClip) for step in new)
        steps += new
        cut = cut or isinstance(fact, ReplyOver)
    kinds = [type(step) for step in steps]
    assert not (SendClip in kinds and SendSound in kinds), "never both"
    assert all(kinds.count(kind) <= 1 for kind in (DrawWhole, SendClip, SendSound, TellProblem, DropDrawing))
    if SendClip in kinds:
        assert kinds.index(DrawWhole) < kinds.index(SendClip)

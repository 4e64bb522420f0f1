from __future__ import annotations

from duologue.turns.announcements import WAITING, Asides
from duologue.turns.caller_turn import CallerTurn
from duologue.turns.facts_and_decisions import Announce, Decision, KeepReply, Say
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings, seconds


def made() -> tuple[Asides, ReplyState, list[Decision]]:
    log: list[Decision] = []
    settings = TurnSettings()
    mouth = ReplyState(settings, log.append)
    return Asides(settings, mouth), mouth, log


def test_an_announcement_is_said_when_nobody_speaks() -> None:
    asides, _, log = made()
    asides.announce(Announce("Hello."))
    asides.go_on(0)
    assert log == [Say(1, "Hello.", "announcement")]


def test_one_sentence_at_a_time() -> None:
    asides, mouth, log = made()
    asides.announce(Announce("One."))
    asides.announce(Announce("Two."))
    asides.go_on(0)
    asides.go_on(0)
    assert len(log) == 1
    assert mouth.aside is not None
    mouth.aside.complete = True
    asides.finish(10)
    asides.go_on(10)
    assert log[1:] == [KeepReply(1, 0, "spoken"), Say(2, "Two.", "announcement")]


def test_so_many_wait_and_no_more() -> None:
    asides, mouth, log = made()
    for number in range(3 * WAITING):
        asides.announce(Announce(str(number)))
    for _ in range(3 * WAITING):
        asides.go_on(0)
        if mouth.aside is not None:
            mouth.aside.complete = True
        asides.finish(0)
    assert [one.text for one in log if isinstance(one, Say)] == [str(number) for number in range(WAITING)]


def test_the_apology_of_a_broken_reply_waits_for_what_is_being_said() -> None:
    asides, mouth, log = made()
    mouth.ask(CallerTurn(1, 1, text="hello"), 0)
    mouth.release(0)
    mouth.say("One moment.", "filler", 0)
    assert mouth.main is not None
    mouth.main.broken, mouth.main.apology = True, "Sorry."
    asides.finish(seconds(1))
    assert [one.kind for one in log if isinstance(one, Say)] == ["filler"]
    assert mouth.aside is not None
    mouth.aside.complete = True
    asides.finish(seconds(2))
    assert [one.kind for one in log if isinstance(one, Say)] == ["filler", "apology"]
    assert mouth.main is None


def test_a_sentence_that_never_sounds_is_given_up() -> None:
    asides, mouth, _ = made()
    mouth.say("Hello.", "announcement", 0)
    asides.finish(seconds(7))
    assert mouth.aside is not None
    asides.finish(seconds(8))
    assert mouth.aside is None

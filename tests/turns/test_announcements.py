from __future__ import annotations

import pytest

from duologue.turns.announcements import WAITING, Announcements, PhraseKind, overdue, phrase
from duologue.turns.caller_turn import CallerTurn
from duologue.turns.decisions import CommitReply, Decision, SaySentence
from duologue.turns.facts import AnnouncementRequested
from duologue.turns.reply_state import ReplyState, Utterance
from duologue.turns.settings import TurnSettings, seconds


def create() -> tuple[Announcements, ReplyState, list[Decision]]:
    log: list[Decision] = []
    settings = TurnSettings()
    replies = ReplyState(settings, log.append)
    return Announcements(settings, replies), replies, log


def test_an_announcement_is_said_when_nobody_speaks() -> None:
    announcements, _, log = create()
    announcements.announce(AnnouncementRequested("Hello."))
    announcements.advance(0)
    assert log == [SaySentence(1, "Hello.", "announcement")]


def test_one_sentence_at_a_time() -> None:
    announcements, replies, log = create()
    announcements.announce(AnnouncementRequested("One."))
    announcements.announce(AnnouncementRequested("Two."))
    announcements.advance(0)
    announcements.advance(0)
    assert len(log) == 1
    assert replies.aside is not None
    replies.aside.complete = True
    announcements.finish(10)
    announcements.advance(10)
    assert log[1:] == [CommitReply(1, 0, "spoken"), SaySentence(2, "Two.", "announcement")]


def test_so_many_wait_and_no_more() -> None:
    announcements, replies, log = create()
    for number in range(3 * WAITING):
        announcements.announce(AnnouncementRequested(str(number)))
    for _ in range(3 * WAITING):
        announcements.advance(0)
        if replies.aside is not None:
            replies.aside.complete = True
        announcements.finish(0)
    assert [one.text for one in log if isinstance(one, SaySentence)] == [
        str(number) for number in range(WAITING)
    ]


def test_the_apology_of_a_broken_reply_waits_for_what_is_being_said() -> None:
    announcements, replies, log = create()
    replies.request(CallerTurn(1, 1, text="hello"), 0)
    replies.release(0)
    replies.say("One moment.", "filler", 0)
    assert replies.main is not None
    replies.main.broken, replies.main.apology = True, "Sorry."
    announcements.finish(seconds(1))
    assert [one.kind for one in log if isinstance(one, SaySentence)] == ["filler"]
    assert replies.aside is not None
    replies.aside.complete = True
    announcements.finish(seconds(2))
    assert [one.kind for one in log if isinstance(one, SaySentence)] == ["filler", "apology"]
    assert replies.main is None


def test_a_sentence_that_never_sounds_is_given_up() -> None:
    announcements, replies, _ = create()
    replies.say("Hello.", "announcement", 0)
    announcements.finish(seconds(7))
    assert replies.aside is not None
    announcements.finish(seconds(8))
    assert replies.aside is None


# ---- overdue

SETTINGS = TurnSettings()


def test_a_model_that_gives_nothing_is_announced_once_and_given_up() -> None:
    utterance = Utterance(1)
    assert overdue(utterance, seconds(7.9), SETTINGS) is None
    assert overdue(utterance, seconds(8.0), SETTINGS) == "slow"
    utterance.slow = True
    assert overdue(utterance, seconds(19.9), SETTINGS) is None
    assert overdue(utterance, seconds(20.0), SETTINGS) == "give_up"


def test_whatever_comes_begins_the_time_anew() -> None:
    utterance = Utterance(1, progress_at=seconds(6))
    assert overdue(utterance, seconds(13), SETTINGS) is None
    assert overdue(utterance, seconds(14), SETTINGS) == "slow"


def test_a_wait_is_filled_once_and_counted_from_the_last_sound() -> None:
    utterance = Utterance(1, waiting_since=seconds(1), progress_at=seconds(3))
    assert overdue(utterance, seconds(4), SETTINGS) is None
    assert overdue(utterance, seconds(4.5), SETTINGS) == "filler"
    utterance.filled = True
    assert overdue(utterance, seconds(60), SETTINGS) is None


def test_a_tool_is_not_a_silent_model_but_is_not_waited_for_for_ever() -> None:
    utterance = Utterance(1, waiting_since=0, filled=True)
    assert overdue(utterance, seconds(100), SETTINGS) is None
    assert overdue(utterance, seconds(180), SETTINGS) == "give_up"


# ---- wording

KINDS: tuple[PhraseKind, ...] = ("filler", "slow", "gave_up", "not_understood")


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_exists_in_every_language_and_never_runs_out(kind: PhraseKind) -> None:
    for language in ("en", "en-GB", "de", "de-AT", "fr", "es-MX", "pt-BR", ""):
        assert all(phrase(kind, language, count) for count in range(10))


def test_an_unknown_language_is_spoken_to_in_english() -> None:
    assert phrase("slow", "ja") == phrase("slow", "en") != phrase("slow", "de")


def test_each_language_has_words_of_its_own() -> None:
    for kind in KINDS:
        assert len({phrase(kind, language) for language in ("en", "de", "fr", "es")}) == 4


def test_a_filler_is_not_the_same_twice() -> None:
    assert phrase("filler", "en", 0) != phrase("filler", "en", 1)

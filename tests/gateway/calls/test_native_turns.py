"""The turns of a native call go into the history in order: the caller's as they were written down, replies as far as they were heard."""

from collections.abc import Sequence

import anyio
import pytest

from duologue.errors import Busy
from duologue.gateway.calls import native_turns
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.calls.native_turns import MAX_WAITING, SPOKEN, NativeTurns
from duologue.values import call_events
from duologue.values.call_events import AssistantSaid, CallEvent, ReplyBegun, Transcribed, UserSaid, UserSound
from duologue.values.events import ReplyWord
from duologue.values.speech import Transcript

pytestmark = pytest.mark.anyio

SOUND = b"\1\0" * 160


class Recogniser:
    """Writes down what it is given, once it may."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.asked: list[tuple[bytes, str]] = []
        self.free = anyio.Event()
        self.free.set()

    async def __call__(self, pcm: bytes, language: str) -> Transcript | None:
        self.asked.append((pcm, language))
        await self.free.wait()
        if not self.texts:
            raise Busy("Too many.")
        text = self.texts.pop(0)
        return Transcript(text, understood=text != "?")


class Turns:
    def __init__(self, recogniser: Recogniser | None = None) -> None:
        self.history = EphemeralHistory("", "m", ())
        self.told: list[CallEvent] = []
        self.turns = NativeTurns(self.history, self._tell, recogniser)

    async def _tell(self, events: Sequence[CallEvent]) -> None:
        self.told += events

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(message.role, message.text) for message in self.history.messages]


async def test_a_turn_is_written_down_told_and_stored_before_the_reply_to_it():
    recogniser = Recogniser("what is that")
    recogniser.free = anyio.Event()
    fixture = Turns(recogniser)
    fixture.turns.heard_language = "en"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fixture.turns.run)
        fixture.turns.user_said(UserSound(0, 1, SOUND))
        fixture.turns.assistant_said(AssistantSaid(0, 1, "A lamp."))
        await anyio.wait_all_tasks_blocked()
        assert fixture.said == []
        recogniser.free.set()
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert fixture.said == [("user", "what is that"), ("assistant", "A lamp.")]
    assert fixture.told == [
        Transcribed(0, 1, "what is that", final=True),
        UserSaid(0, 1, "what is that"),
    ]
    assert recogniser.asked == [(SOUND, "en")]


@pytest.mark.parametrize("language", ["en", "de"])
async def test_without_a_recogniser_the_history_says_that_it_was_spoken(language: str):
    fixture = Turns()
    fixture.turns.language = language
    fixture.turns.user_said(UserSound(0, 3, SOUND))
    await fixture.turns.settle()
    assert fixture.said == [("user", SPOKEN[language])]
    assert fixture.told == [UserSaid(0, 3, SPOKEN[language])]


async def test_what_the_recogniser_does_not_understand_is_told_as_that():
    fixture = Turns(Recogniser("?", ""))
    fixture.turns.user_said(UserSound(0, 1, SOUND))
    fixture.turns.user_said(UserSound(0, 2, SOUND))
    await fixture.turns.settle()
    assert [event.understood for event in fixture.told if isinstance(event, Transcribed)] == [False, False]
    assert fixture.said == [("user", "?"), ("user", SPOKEN["en"])]


async def test_a_recogniser_that_fails_costs_the_words_and_not_the_turn():
    fixture = Turns(Recogniser())
    fixture.turns.user_said(UserSound(0, 1, SOUND))
    fixture.turns.user_said(UserSaid(0, 2, "typed", typed=True))
    await fixture.turns.settle()
    assert fixture.said == [("user", SPOKEN["en"]), ("user", "typed")]


async def test_at_the_end_nobody_waits_for_a_recogniser_that_does_not_answer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(native_turns, "LAST_WORDS_TIMEOUT", 0.0)
    recogniser = Recogniser("late")
    recogniser.free = anyio.Event()
    fixture = Turns(recogniser)
    fixture.turns.user_said(UserSound(0, 1, SOUND))
    fixture.turns.assistant_said(AssistantSaid(0, 1, "Yes."))
    await fixture.turns.settle()
    assert fixture.said == [("user", SPOKEN["en"]), ("assistant", "Yes.")]


async def test_a_reply_that_is_cut_by_the_end_is_stored_as_far_as_its_words_were_played():
    fixture = Turns()
    fixture.turns.begun(ReplyBegun(0, 1, 1))
    fixture.turns.add_output(1, text="one two three")
    fixture.turns.add_output(
        1, words=(ReplyWord("one", 0, 10, 0, 3), ReplyWord("two", 10, 20, 4, 7)), samples=30
    )
    fixture.turns.set_played(1, 15)
    [end] = fixture.turns.close()
    assert (end.heard, end.unheard, end.ending) == ("one", " two three", "interrupted")
    await fixture.turns.settle()
    assert fixture.said == [("assistant", "one…")]


@pytest.mark.parametrize(
    ("played", "heard"), [(0, ""), (20, ""), (60, "one"), (80, "one two"), (100, "one two three")]
)
async def test_where_words_are_not_timed_whole_words_are_heard_by_the_share_of_the_sound(
    played: int, heard: str
):
    fixture = Turns()
    fixture.turns.begun(ReplyBegun(0, 1, 1))
    fixture.turns.add_output(1, text="one two three", samples=100)
    fixture.turns.set_played(1, played)
    assert fixture.turns.close()[0].heard == heard


async def test_a_conversation_that_begins_anew_stores_nothing_of_the_last_one():
    recogniser = Recogniser("old")
    recogniser.free = anyio.Event()
    fixture = Turns(recogniser)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fixture.turns.run)
        fixture.turns.user_said(UserSound(0, 1, SOUND))
        await anyio.wait_all_tasks_blocked()
        fixture.turns.forget()
        recogniser.free.set()
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert (fixture.said, fixture.told) == ([], [])


async def test_of_too_many_turns_that_wait_only_that_they_were_spoken_is_kept():
    recogniser = Recogniser(*["x"] * MAX_WAITING)
    fixture = Turns(recogniser)
    for turn in range(MAX_WAITING + 2):
        fixture.turns.user_said(UserSound(0, turn, SOUND))
    await fixture.turns.settle()
    assert [text for _, text in fixture.said].count(SPOKEN["en"]) == 2
    assert all(isinstance(event, call_events.Transcribed | UserSaid) for event in fixture.told)

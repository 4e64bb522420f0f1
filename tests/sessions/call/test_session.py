"""A whole call, on a clock that is moved by hand: what is heard, said, held, cut, kept."""

from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import anyio
import pytest
from msgspec.structs import replace
from tests.support.call_parts import (
    STEP,
    CallControls,
    Inline,
    Player,
    RunningCall,
    engines,
    running_call,
    silence,
    speech,
)

from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.errors import EngineFailed, Problem, Unavailable
from duologue.sessions.call.clock import StepClock
from duologue.sessions.call.session import call
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.turns import decisions, facts
from duologue.values.call_events import (
    AssistantSaid,
    CallProblem,
    CallSetup,
    CancelReply,
    Cut,
    Hold,
    Interrupt,
    MicrophoneAudio,
    Pressed,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyAudioStarted,
    ReplyFailed,
    ReplyRequested,
    ReplyText,
    Resume,
    Speak,
    State,
    Text,
    ToolsRunning,
    Transcribed,
    TurnFigures,
    Typed,
    UserSaid,
)

pytestmark = pytest.mark.anyio

PAGE = CallSetup(pauses=True, marks=True)
"""How the page calls: it holds and resumes, and tells what it has played."""
WORD = 7200
"""Samples of a word of the scripted voice: 240 ms and 60 ms of silence."""
LONG = "One two three four five six seven. Eight nine ten eleven twelve. Thirteen fourteen fifteen sixteen."


async def ask(talk: RunningCall, seconds: float = 1.2) -> ReplyRequested:
    """Say something, and wait until a reply to it is wanted."""
    before = len(talk.of(ReplyRequested))
    await talk.speak(seconds)
    await talk.until(lambda: len(talk.of(ReplyRequested)) > before)
    return talk.of(ReplyRequested)[-1]


def pcm_of(talk: RunningCall, reply: int) -> bytes:
    return b"".join(sound.pcm for sound in talk.of(ReplyAudio) if sound.reply == reply)


def text_of(talk: RunningCall, reply: int) -> str:
    return "".join(event.text for event in talk.of(ReplyText) if event.reply == reply)


# ---- plain turns


async def test_a_turn_is_heard_answered_and_kept():
    async with running_call(setup=PAGE, texts=["what time is it"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, "It is noon.")
        player = Player(talk)
        await player.play(3)
    assert request.text == "what time is it"
    assert talk.of(UserSaid) == [UserSaid(0, request.turn, "what time is it")]
    assert talk.of(AssistantSaid) == [AssistantSaid(0, request.reply, "It is noon.")]
    assert Transcribed(0, request.turn, "what time is it", final=True) in talk.events
    shown = [transcript.text for transcript in talk.of(Transcribed) if not transcript.final]
    assert all(one != other for one, other in pairwise(shown)), "the same words are told once"
    assert talk.of(ReplyAudioEnded) == [ReplyAudioEnded(0, request.reply, 3 * WORD)]
    assert talk.sent(request.reply) == 3 * WORD
    assert text_of(talk, request.reply) == "It is noon."
    words = [word for sound in talk.of(ReplyAudio) for word in sound.words]
    assert [word.start for word in words] == [0, WORD, 2 * WORD]
    assert {event.epoch for event in talk.events if hasattr(event, "epoch")} == {0}


async def test_the_order_of_a_reply_is_begin_text_sound_end_and_then_what_is_kept():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, "It is noon.")
        await Player(talk).play(3)
    names = [
        type(event).__name__
        for event in talk.events
        if getattr(event, "reply", None) == request.reply and not isinstance(event, TurnFigures)
    ]
    assert names[:4] == ["ReplyRequested", "TurnConfirmed", "ReplyAudioStarted", "ReplyText"]
    assert names[-3:] == ["ReplyText", "ReplyAudioEnded", "AssistantSaid"]


async def test_the_first_sentence_sounds_while_the_rest_is_written():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.say(Text(request.reply, "It is noon. And the"))
        await talk.until(lambda: talk.of(ReplyAudioStarted))
        await talk.be_quiet(0.2)
        assert talk.sent(request.reply) == 3 * WORD
        assert not talk.of(ReplyAudioEnded)
        await talk.say(Text(request.reply, " sun shines.", last=True))
        await Player(talk).play(4)
    assert talk.of(AssistantSaid)[0].heard == "It is noon. And the sun shines."


async def test_the_figures_of_a_turn_count_from_the_end_of_the_speech():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, "It is noon.")
        await Player(talk).play(3)
    figures: Any
    [figures] = talk.of(TurnFigures)
    assert (figures.turn, figures.reply) == (request.turn, request.reply)
    assert 0 < figures.transcript <= figures.endpoint
    assert figures.first_sound - max(figures.endpoint, figures.first_text) <= 150
    assert figures.first_heard >= figures.first_sound
    assert figures.interrupted is None


async def test_a_greeting_is_said_and_kept():
    setup = CallSetup(pauses=True, marks=True, greeting="Hello there.")
    async with running_call(setup=setup) as talk:
        await Player(talk).play(2)
    [event] = talk.of(AssistantSaid)
    assert (event.heard, event.ending) == ("Hello there.", "spoken")
    assert talk.of(ReplyRequested) == []


async def test_what_is_to_be_said_now_is_said():
    async with running_call(setup=PAGE) as talk:
        await talk.say(Speak("Your tea is ready."))
        await Player(talk).play(3)
    assert [event.heard for event in talk.of(AssistantSaid)] == ["Your tea is ready."]


async def test_typed_text_is_a_turn():
    async with running_call(setup=PAGE) as talk:
        await talk.say(Typed("and tomorrow?"))
        await talk.until(lambda: talk.of(ReplyRequested))
        request = talk.of(ReplyRequested)[0]
        await talk.answer(request.reply, "It will rain.")
        await Player(talk).play(3)
    assert request.text == "and tomorrow?"
    assert talk.of(UserSaid) == [UserSaid(0, request.turn, "and tomorrow?", typed=True)]
    assert talk.of(AssistantSaid)[0].heard == "It will rain."


async def test_a_call_without_a_microphone_goes_on_all_the_same():
    async with running_call(setup=CallSetup()) as talk:
        await talk.say(Typed("hello"))
        for _ in range(60):
            talk.clock.advance(STEP)
            await talk.settle()
        [request] = talk.of(ReplyRequested)
        await talk.answer(request.reply, "It is noon.")
        for _ in range(150):
            talk.clock.advance(STEP)
            await talk.settle()
    assert [event.heard for event in talk.of(AssistantSaid)] == ["It is noon."]


async def test_hold_to_talk_ends_with_the_button():
    setup = CallSetup(pauses=True, marks=True, listens=False)
    async with running_call(setup=setup, texts=["first this and then that"]) as talk:
        await talk.be_quiet(0.5)
        await talk.say(Pressed(True))
        await talk.speak(0.8)
        await talk.be_quiet(3)
        assert talk.of(ReplyRequested) == []
        await talk.speak(0.8)
        await talk.say(Pressed(False))
        await talk.until(lambda: talk.of(ReplyRequested), 1.0)
    assert talk.of(ReplyRequested)[0].text == "first this and then that"


# ---- interruptions


async def test_after_a_barge_in_exactly_the_heard_words_are_kept():
    async with running_call(setup=PAGE, texts=["hello", "no not that one please"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        player = Player(talk)
        while player.played.get(request.reply, 0) < 2.5 * WORD:
            await player.play(STEP)
        await talk.speak(1.5)
        await talk.until(lambda: len(talk.of(ReplyRequested)) == 2)
    position = player.played[request.reply]
    words = LONG.split()[: int((position + WORD - 5760) // WORD)]
    [event] = talk.of(AssistantSaid)
    assert event.heard == " ".join(words)
    assert event.heard + event.unheard == LONG
    assert event.ending == "interrupted"
    assert talk.stale == []
    kinds = [type(event).__name__ for event in talk.events]
    assert kinds.index("Cut") < kinds.index("AssistantSaid")
    assert kinds.index("AssistantSaid") < len(kinds) - 1 - kinds[::-1].index("ReplyRequested")
    assert talk.of(Cut)[0].epoch == 1
    assert talk.of(ReplyRequested)[1].epoch == 1


async def test_the_reply_is_held_within_200_ms_of_the_onset():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        await Player(talk).play(1.0)
        began = talk.clock.now()
        while not talk.of(Hold):
            await talk.speak(STEP)
        assert talk.clock.now() - began <= 0.2


async def test_a_false_alarm_resumes_from_the_very_sample():
    async with running_call(setup=PAGE, texts=["hello", ""]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        player = Player(talk)
        await player.play(1.5)
        await talk.speak(0.13)
        assert len(talk.of(Hold)) == 1
        held = talk.sent(request.reply)
        await talk.be_quiet(0.1)
        assert talk.sent(request.reply) == held
        await talk.until(lambda: talk.of(Resume), 3)
        await player.play(8)
    parts = engines()
    expected = b""
    async with parts.require_speaker().speak(LONG) as sounds:
        async for spoken in sounds:
            expected += spoken.pcm
    assert pcm_of(talk, request.reply) == expected
    assert [event.heard for event in talk.of(AssistantSaid)] == [LONG]
    assert talk.of(Cut) == []
    assert len(talk.of(ReplyAudioStarted)) == len(talk.of(ReplyAudioEnded)) == 1


async def test_the_button_silences_at_once_and_stops_whoever_writes():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.say(Text(request.reply, LONG))
        player = Player(talk)
        await player.play(2)
        await talk.say(Interrupt(request.reply, 7 * WORD))
        assert talk.of(Cut) == [Cut(1, request.reply)]
        assert talk.of(CancelReply) == [CancelReply(1, request.reply)]
        sent = talk.sent(request.reply)
        await talk.say(Text(request.reply, " And more.", last=True))
        await talk.be_quiet(2)
    assert talk.sent(request.reply) == sent
    assert talk.of(AssistantSaid)[0].heard == "One two three four five six seven."


async def test_a_client_that_does_not_pause_is_sent_little_ahead_and_is_never_held():
    async with running_call(texts=["hello", ""]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        await talk.until(lambda: talk.of(ReplyAudioStarted))
        began = talk.clock.now()
        for _ in range(60):
            ahead = talk.sent(request.reply) / 24_000 - (talk.clock.now() - began)
            assert ahead <= 0.2 + STEP
            await talk.be_quiet(STEP)
        await talk.speak(0.13)
        await talk.be_quiet(8)
    assert talk.of(Hold) == []
    assert talk.of(Resume) == []
    assert [event.heard for event in talk.of(AssistantSaid)] == [LONG]


async def test_a_caller_in_pieces_of_a_second_is_heard_without_gaps_between_them():
    async with running_call(
        setup=CallSetup(pauses=True, marks=True, fills=False), texts=["hello there"]
    ) as talk:
        sound = speech(1.6) + silence(2.4)
        for at in range(0, len(sound), 32_000):
            talk.clock.advance(1.0)
            await talk.say(MicrophoneAudio(sound[at : at + 32_000]))
        assert [request.text for request in talk.of(ReplyRequested)] == ["hello there"]
        before = talk.names()
        for _ in range(50):
            talk.clock.advance(0.5)
            await talk.settle()
        assert talk.names() == before, "time stands still where nothing is heard"


async def test_a_client_may_be_sent_as_much_ahead_as_it_asks_for():
    async with running_call(setup=CallSetup(marks=True, ahead=3.0), texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        await talk.until(lambda: talk.sent(request.reply) > 24_000 * 2.8)
        assert talk.sent(request.reply) <= 24_000 * 3.2


async def test_a_thousand_cancels_leave_nothing_stale_behind():
    async with running_call(setup=replace(PAGE, mouth=True)) as talk:
        cut = keys = 0
        for number in range(1000):
            await talk.say(Typed(f"question {number}"))
            await talk.until(lambda: talk.of(ReplyRequested), 2)
            reply = talk.of(ReplyRequested)[-1].reply
            await talk.say(Text(reply, f"{LONG} {number}. "))
            await talk.be_quiet(STEP * (number % 4))
            await talk.say(Interrupt())
            await talk.say(Text(reply, "Too late for this."))
            cut += len(talk.of(Cut))
            # The keys of the mouth come with the sound, so that none is of a reply that was cut before.
            found = [key for sound in talk.of(ReplyAudio) for key in sound.mouth]
            assert all(one.at < other.at for one, other in pairwise(found))
            keys += len(found)
            talk.events.clear()
        await talk.be_quiet(1)
        assert talk.stale == []
    assert cut == 1000
    assert keys > 1000


# ---- waiting, and what goes wrong


async def test_while_a_tool_works_a_filler_is_said_and_then_the_reply_goes_on():
    async with running_call(setup=PAGE, texts=["how is the weather"]) as talk:
        request = await ask(talk)
        await talk.say(Text(request.reply, "Let me look"), ToolsRunning(request.reply))
        player = Player(talk)
        await player.play(4)
        fillers = [start.reply for start in talk.of(ReplyAudioStarted) if start.reply != request.reply]
        assert len(fillers) >= 1
        await talk.say(
            ToolsRunning(request.reply, busy=False), Text(request.reply, ". It is sunny today.", last=True)
        )
        await player.play(6)
    [event] = talk.of(AssistantSaid)
    assert event.heard == "Let me look. It is sunny today."
    assert text_of(talk, request.reply) == "Let me look. It is sunny today."


async def test_a_reply_that_breaks_is_apologised_for():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.say(ReplyFailed(request.reply, "I cannot answer that now."))
        await Player(talk).play(4)
    assert "I cannot answer that now." in "".join(event.text for event in talk.of(ReplyText))


async def test_a_model_that_gives_nothing_is_announced_and_then_given_up():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        player = Player(talk)
        await player.play(10)
        slow = {sound.reply for sound in talk.of(ReplyAudio)}
        assert slow
        assert request.reply not in slow
        assert talk.of(CancelReply) == []
        await player.play(16)
        assert [cancel.reply for cancel in talk.of(CancelReply)] == [request.reply]
        assert {sound.reply for sound in talk.of(ReplyAudio)} > slow
        await player.play(4)
        assert talk.of(State)[-1].state == "listening"


async def test_what_was_not_understood_is_said_to_be():
    async with running_call(setup=PAGE, texts=[""]) as talk:
        await talk.speak(1.5)
        await Player(talk).play(4)
    assert talk.of(ReplyRequested) == []
    assert [transcript.understood for transcript in talk.of(Transcribed) if transcript.final] == [False]
    assert talk.of(ReplyAudio)


async def test_a_clause_that_cannot_be_spoken_is_told_and_the_call_goes_on():
    async with running_call(setup=PAGE, texts=["hello"]) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, "It is noon. This will xfail now. Goodbye friend.")
        await Player(talk).play(5)
    assert [trouble.code for trouble in talk.of(CallProblem)] == ["scripted_failure"]
    assert talk.sent(request.reply) == 7 * WORD  # the clause up to where it failed
    assert len(talk.of(AssistantSaid)) == 1


async def test_a_call_that_goes_on_in_another_session_counts_on():
    setup = CallSetup(pauses=True, marks=True, greeting="Please go on.", epoch=3, reply=8, turn=5)
    async with running_call(setup=setup, texts=["what time is it"]) as talk:
        await Player(talk).play(2)
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        await Player(talk).play(2)
        await talk.say(Interrupt())
        await talk.be_quiet(1)
    assert talk.of(AssistantSaid)[0].reply == 8
    assert request.reply > 8
    assert request.turn == 5
    assert talk.of(Cut)[0].epoch == 4


async def test_without_an_engine_a_call_is_a_sentence():
    async def nothing(event):
        raise AssertionError("nothing is to be said")

    with pytest.raises(Unavailable):
        await call(SpeechEngines(VadBatcher(Inline())), CallSetup(), CallControls(), nothing, StepClock())


async def test_a_problem_of_whoever_tells_ends_the_call_with_its_sentence():
    class BrokenControls(CallControls):
        async def take(self):
            raise EngineFailed("The line broke.")

    async def send(event):
        return None

    with pytest.raises(Problem, match="The line broke"):
        await call(engines(), CallSetup(), BrokenControls(), send, StepClock())


# ---- many calls


async def test_whoever_hangs_up_leaves_nothing_behind():
    parts = engines(["hello", "more"])
    async with running_call(setup=PAGE, engines=parts) as talk:
        request = await ask(talk)
        await talk.answer(request.reply, LONG)
        await talk.speak(0.3)
        assert parts.recogniser.listening == 1
    assert parts.recogniser.listening == 0


async def test_an_interruption_ends_the_synthesis():
    class Counting(ScriptedSpeaker):
        speaking = 0

        @asynccontextmanager
        async def speak(self, clause, **how):
            Counting.speaking += 1
            try:
                async with super().speak(clause, **how) as sounds:
                    yield sounds
            finally:
                Counting.speaking -= 1

    parts = engines()
    parts.speaker = Counting()
    async with running_call(setup=PAGE, engines=parts) as talk:
        await talk.say(Typed("hello"))
        await talk.until(lambda: talk.of(ReplyRequested))
        await talk.say(Text(talk.of(ReplyRequested)[0].reply, "It is noon. This will xhang now. Goodbye."))
        await talk.until(lambda: talk.of(ReplyAudioStarted))
        assert Counting.speaking == 1
        await talk.say(Interrupt())
        assert Counting.speaking == 0


async def test_two_calls_never_cross():
    voices = {"low": "first reply is low", "high": "other reply is high"}
    parts = engines(["one", "two"] * 2)
    talks = {}
    async with anyio.create_task_group() as tasks:
        for voice in voices:
            talk = talks[voice] = RunningCall(StepClock())
            setup = CallSetup(pauses=True, marks=True, voice=voice)
            tasks.start_soon(call, parts, setup, talk.controls, talk.receive, talk.clock)
        await talk.settle()
        for voice, talk in talks.items():
            await talk.say(Typed(voice))
        for talk in talks.values():
            await talk.until(partial(talk.of, ReplyRequested), 2)
        for voice, talk in talks.items():
            await talk.answer(talk.of(ReplyRequested)[-1].reply, voices[voice])
        players = {voice: Player(talk) for voice, talk in talks.items()}
        for _ in range(60):
            for player in players.values():
                await player.play(STEP)
        tasks.cancel_scope.cancel()
    for voice, talk in talks.items():
        assert [event.heard for event in talk.of(AssistantSaid)] == [voices[voice]]
        assert [event.text for event in talk.of(UserSaid)] == [voice]
        expected = b""
        async with parts.require_speaker().speak(voices[voice], voice=voice) as sounds:
            async for spoken in sounds:
                expected += spoken.pcm
        assert b"".join(sound.pcm for sound in talk.of(ReplyAudio)) == expected


# ---- decisions carried out, whoever made them


class Script:
    """A machine that decides what it was given, at the facts it was given it for."""

    def __init__(self, at):
        self.epoch = 0
        self.facts = []
        self._at = list(at)

    def take(self, fact):
        self.facts.append(fact)
        for number, (when, answer) in enumerate(self._at):
            if when(fact):
                del self._at[number]
                return answer
        return []


async def test_a_reply_that_was_asked_for_too_early_is_dropped_unheard():
    machine = Script(
        [
            (lambda fact: fact == facts.TextTyped("a"), [decisions.RequestReply(1, 1, 0, "a")]),
            (
                lambda fact: fact == facts.TextTyped("b"),
                [decisions.DropReply(1), decisions.RequestReply(2, 1, 1, "a b")],
            ),
            (lambda fact: fact == facts.TextTyped("c"), [decisions.ReleaseReply(2)]),
        ]
    )
    async with running_call(machine, PAGE) as talk:
        await talk.say(Typed("a"), Text(1, "Not this. "))
        await talk.say(Typed("b"), Text(1, "Nor this."))
        assert talk.of(CancelReply) == [CancelReply(0, 1)]
        await talk.answer(2, "But this.")
        await talk.be_quiet(0.5)
        assert talk.of(ReplyAudio) == []
        await talk.say(Typed("c"))
        await talk.be_quiet(0.5)
    assert {sound.reply for sound in talk.of(ReplyAudio)} == {2}
    assert facts.ReplyTextStarted(2) in machine.facts
    assert facts.SynthesisComplete(2, 2 * WORD) in machine.facts


async def test_an_aside_sounds_first_and_the_reply_goes_on_after_it():
    machine = Script(
        [
            (
                lambda fact: fact == facts.TextTyped("a"),
                [decisions.RequestReply(1, 1, 0, "a"), decisions.ReleaseReply(1)],
            ),
            (
                lambda fact: fact == facts.TextTyped("b"),
                [decisions.SaySentence(2, "One moment.", "filler")],
            ),
        ]
    )
    async with running_call(machine, PAGE) as talk:
        await talk.say(Typed("a"), Text(1, LONG, last=True))
        await talk.say(Typed("b"))
        await Player(talk).play(12)
    order = [sound.reply for sound in talk.of(ReplyAudio)]
    first, last = order.index(2), len(order) - 1 - order[::-1].index(2)
    assert set(order[first : last + 1]) == {2}
    assert order[0] == order[-1] == 1
    assert talk.sent(1) == 16 * WORD


async def test_sound_of_a_turn_is_heard_from_its_pre_roll_on():
    machine = Script(
        [
            (lambda fact: isinstance(fact, facts.Frame) and fact.probability > 0.5, []),
            (lambda fact: isinstance(fact, facts.Frame) and fact.probability > 0.5, []),
            (
                lambda fact: isinstance(fact, facts.Frame) and fact.probability > 0.5,
                [decisions.TranscribeTurn(1, 16384 - 4800)],
            ),
            (lambda fact: isinstance(fact, facts.Frame) and fact.probability < 0.5, []),
        ]
    )
    parts = engines(["hello"])
    async with running_call(machine, PAGE, engines=parts) as talk:
        await talk.be_quiet(1.024)
        await talk.sound(speech(0.32))
        machine._at = [(lambda fact: True, [decisions.FinishTranscript(1, 16384 + 5120)])]
        await talk.be_quiet(STEP)
    assert parts.recogniser.finished == [4800 + 5120]

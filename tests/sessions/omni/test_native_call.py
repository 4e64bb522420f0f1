"""A whole call of an omni model, on a clock that is moved by hand: what it hears, says, and takes back."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import msgspec
import pytest
from tests.support.call_parts import STEP, Inline, Player, silence, speech
from tests.support.native_calls import NATIVE, NativeTalk, native_talk

from duologue.engines.contracts import Generation
from duologue.engines.scripted.duplex_view import WORD, DuplexScript, ScriptedDuplexView, digest_of
from duologue.errors import BadRequest, EngineFailed, Unsupported
from duologue.values.audio import samples
from duologue.values.call_events import (
    AssistantSaid,
    CallChunk,
    CallFrame,
    CallProblem,
    Cut,
    Hold,
    Interrupt,
    MicrophoneAudio,
    Played,
    Pressed,
    ReplyAudio,
    ReplyAudioEnded,
    ReplyAudioStarted,
    ReplyBegun,
    ReplyText,
    Resume,
    Speak,
    State,
    TurnFigures,
    Typed,
    UnitAnswered,
    UserSaid,
    UserSound,
)
from duologue.values.messages import ImagePart

pytestmark = pytest.mark.anyio

TOLD = DuplexScript(decides=False)
LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"


class Gate(Inline):
    """A lane that works once it is open."""

    def __init__(self) -> None:
        self.opened = anyio.Event()
        self.opened.set()

    async def run(self, step):
        await self.opened.wait()
        return step()


async def ask(talk: NativeTalk, seconds: float = 1.0) -> int:
    """Say something, and wait for a reply to begin to sound."""
    before = len(talk.of(ReplyAudioStarted))
    await talk.speak(seconds)
    await talk.until(lambda: len(talk.of(ReplyAudioStarted)) > before)
    return talk.of(ReplyAudioStarted)[-1].reply


@pytest.mark.parametrize("script", [DuplexScript(), TOLD])
async def test_a_turn_is_heard_answered_and_kept(script):
    async with native_talk(script) as talk:
        reply = await ask(talk)
        await Player(talk).play(5)
        [sound] = talk.of(UserSound)
    assert talk.problem is None
    assert not talk.stale
    assert talk.of(ReplyBegun) == [ReplyBegun(0, reply, sound.turn)]
    [said] = talk.of(AssistantSaid)
    assert said.ending == "spoken"
    assert said.heard.startswith("heard ")
    assert talk.text(reply) == said.heard
    assert 1.0 <= samples(sound.pcm) / 16_000 <= 2.0
    assert [event.state for event in talk.of(State)] == ["listening", "hearing", "speaking", "listening"] or [
        event.state for event in talk.of(State)
    ] == ["listening", "hearing", "thinking", "speaking", "listening"]


@pytest.mark.parametrize("script", [DuplexScript(), TOLD])
async def test_what_the_model_is_given_is_the_callers_sound_itself(script):
    async with native_talk(script) as talk:
        spoken = speech(1.0)
        await talk.sound(spoken)
        await talk.until(lambda: talk.of(ReplyAudioStarted))
        await Player(talk).play(5)
        heard = talk.of(UnitAnswered)
        given = next(number for number, answer in enumerate(heard) if not answer.listens) + 1
        count = sum(answer.samples for answer in heard[:given])
    words = talk.said[0].split()
    assert words[:3] == ["heard", str(given), "units"]
    assert int(words[5]) == count
    assert words[7] == digest_of([spoken + bytes((count - 16_000) * 2)])


async def test_silence_is_not_answered():
    async with native_talk(TOLD) as talk:
        await talk.be_quiet(10)
    assert {answer.listens for answer in talk.answers} == {True}
    assert not talk.of(ReplyBegun)
    assert not talk.of(UserSound)


async def test_the_figures_of_a_turn_count_from_the_end_of_the_speech():
    async with native_talk(TOLD, msgspec.structs.replace(NATIVE, interruptible=False)) as talk:
        reply = await ask(talk)
        await Player(talk).play(5)
        [figures] = talk.of(TurnFigures)
    assert figures.reply == reply
    assert figures.turn == talk.of(UserSound)[0].turn
    assert figures.endpoint is not None
    assert figures.first_sound is not None
    assert 500 <= figures.endpoint <= figures.first_sound <= 1500


# ---- units


async def test_six_hundred_units_are_answered_in_order_and_none_is_lost():
    setup = msgspec.structs.replace(NATIVE, fills=False)
    async with native_talk(DuplexScript(fewest=16_000, unit_cost_ms=100), setup) as talk:
        player = Player(talk)
        for number in range(600):
            loud = speech(0.5) + silence(0.5) if number % 20 == 0 else silence(1)
            talk.controls.put(CallChunk(loud, (ImagePart(b"%d" % number),)))
            for _ in range(4):
                talk.clock.advance(0.25)
                await talk.settle()
                for reply in {sound.reply for sound in talk.of(ReplyAudio)[-30:]}:
                    await talk.say(*played(player, talk, reply))
        await talk.say(*[])
        talk.clock.advance(1)
        await talk.settle()
    assert talk.problem is None
    assert [answer.unit for answer in talk.answers] == list(range(1, 601))
    assert {answer.samples for answer in talk.answers} == {16_000}
    assert {answer.slices for answer in talk.answers} == {1}
    assert {answer.prefill_ms for answer in talk.answers} == {100}
    assert max(answer.late_ms for answer in talk.answers) <= 251, "the test's clock moves by 250 ms"
    assert len(talk.of(ReplyBegun)) == 30
    assert [said.ending for said in talk.of(AssistantSaid)] == ["spoken"] * 30
    assert not talk.stale


def played(player: Player, talk: NativeTalk, reply: int):
    """Marks of a client that plays everything at once."""
    return [Played(reply, talk.sent(reply))]


async def test_a_model_that_is_too_slow_skips_the_oldest_and_never_falls_further_behind():
    setup = msgspec.structs.replace(NATIVE, fills=False)
    async with native_talk(DuplexScript(fewest=16_000, unit_cost_ms=2000), setup) as talk:
        for _ in range(60):
            talk.controls.put(CallChunk(silence(1)))
            for _ in range(2):
                talk.clock.advance(0.5)
                await talk.settle()
        for _ in range(20):
            talk.clock.advance(1)
            await talk.settle()
    assert sum(answer.samples for answer in talk.answers) == 60 * 16_000
    assert 25 <= len(talk.answers) <= 35
    assert max(answer.late_ms for answer in talk.answers) <= 8000
    assert [answer.unit for answer in talk.answers] == list(range(1, len(talk.answers) + 1))


async def test_the_answer_to_a_unit_follows_its_words_and_sound():
    async with native_talk(TOLD) as talk:
        reply = await ask(talk)
        await Player(talk).play(6)
    total = 0
    for event in talk.events:
        if isinstance(event, ReplyAudio):
            total += samples(event.pcm)
        elif isinstance(event, UnitAnswered) and event.reply == reply:
            assert total >= event.codes * WORD
            total -= event.codes * WORD
    assert not total


@pytest.mark.parametrize("script", [TOLD, DuplexScript(decides=False, unit_cost_ms=100)])
async def test_a_reply_plays_without_gaps(script):
    async with native_talk(script, msgspec.structs.replace(NATIVE, interruptible=False)) as talk:
        reply = await ask(talk)
        player = Player(talk)
        while not talk.of(ReplyAudioEnded):
            await player.play(STEP)
            assert talk.sent(reply) > player.played[reply] or talk.of(ReplyAudioEnded)
    assert samples(talk.pcm(reply)) > 5 * WORD


async def test_a_frame_that_cannot_be_read_is_told_and_the_call_goes_on():
    class Blind(ScriptedDuplexView):
        async def unit(self, pcm, frames=(), **more):
            if frames:
                raise BadRequest("This is no picture.")
            return await super().unit(pcm, frames, **more)

        async def type(self, text):
            raise Unsupported("This model takes no typed text.")

    class BlindEngine:
        @asynccontextmanager
        async def duplex(self):
            yield Blind(DuplexScript())

    async with native_talk(engine=lambda sleep: BlindEngine()) as talk:
        await talk.say(CallFrame(ImagePart(b"no picture")), Typed("hello"))
        await talk.be_quiet(2)
    assert talk.problem is None
    assert [problem.code for problem in talk.of(CallProblem)] == ["unsupported", "invalid_request"]
    assert len(talk.answers) >= 3


async def test_frames_reach_the_model_and_the_newest_counts():
    async with native_talk(TOLD) as talk:
        await talk.say(CallFrame(ImagePart(b"old")), CallFrame(ImagePart(b"new")))
        await ask(talk)
        await Player(talk).play(5)
    words = talk.said[0].split()
    assert words[3] == "1"
    assert words[7][8:] == digest_of([], [ImagePart(b"new")])[8:]


async def test_a_unit_that_must_be_silent_ends_a_reply_and_is_answered_once_it_may_be():
    setup = msgspec.structs.replace(NATIVE, fills=False)
    async with native_talk(msgspec.structs.replace(TOLD, says=LONG), setup) as talk:
        for chunk in (speech(1), silence(1), silence(1)):
            await talk.say(CallChunk(chunk, force_listen=True))
        assert not talk.of(ReplyBegun)
        for _ in range(2):
            talk.clock.advance(1)
            await talk.say(CallChunk(silence(1)))
        [begun] = talk.of(ReplyBegun)
        talk.clock.advance(1)
        await talk.say(CallChunk(silence(1), force_listen=True))
        await talk.say(CallChunk(silence(1), force_listen=True))
        assert talk.of(Cut) == [Cut(1, begun.reply)]
        await talk.say(CallChunk(silence(1)))
    assert len(talk.answers) == 8
    assert [answer.listens for answer in talk.answers[-2:]] == [True, True]
    assert not talk.stale


async def test_a_frame_that_came_while_the_model_spoke_is_seen_afterwards():
    async with native_talk(TOLD) as talk:
        await ask(talk)
        await talk.say(CallFrame(ImagePart(b"late")))
        await Player(talk).play(5)
        await ask(talk)
        await Player(talk).play(5)
    words = talk.said[1].split()
    assert words[3] == "1"
    assert words[7][8:] == digest_of([], [ImagePart(b"late")])[8:]


async def test_the_cache_is_told_truly_also_for_units_that_were_withheld():
    async with native_talk(TOLD) as talk:
        reply = await ask(talk)
        for _ in range(200):  # what the model said long ago still plays
            talk.controls.put(Played(reply, 10))
            await talk.be_quiet(STEP)
        await Player(talk).play(5)
    cached = [answer.cached for answer in talk.answers]
    assert cached == sorted(cached)
    assert cached.count(max(cached[:-8])) > 5, "nothing is read while it plays"


async def test_a_unit_is_passed_once_its_sound_was_judged():
    lane = Gate()
    async with native_talk(lane=lane) as talk:
        await talk.settle()
        lane.opened = anyio.Event()
        await talk.say(CallChunk(speech(1)))
        await talk.say(Interrupt())  # which lets the model's task look
        too_early = talk.answers
        lane.opened.set()  # in any case: what is being judged is awaited
        assert not too_early
        await talk.settle()
        assert len(talk.answers) == 1


async def test_a_client_that_does_not_tell_what_it_has_played_is_sent_a_fifth_of_a_second_ahead():
    setup = msgspec.structs.replace(NATIVE, marks=False, pauses=False)
    async with native_talk(DuplexScript(says=LONG), setup) as talk:
        reply = await ask(talk)
        begun = talk.clock.now()
        for _ in range(60):
            await talk.be_quiet(STEP)
            assert talk.sent(reply) <= (talk.clock.now() - begun + 2 * STEP + 0.2) * 24_000
        assert talk.sent(reply) >= 1.5 * 24_000
        await talk.say(Interrupt())
        await talk.be_quiet(0.5)
    heard = len(talk.said[0].split())
    assert abs(heard - talk.sent(reply) / WORD) <= 1.5


# ---- interruptions


async def test_a_model_that_begins_to_speak_as_the_caller_asks_for_silence_is_no_reply():
    async with native_talk(DuplexScript(unit_cost_ms=300)) as talk:
        await talk.say(CallChunk(speech(0.5) + silence(0.5)))
        await talk.say(Interrupt())
        await talk.be_quiet(3)
    assert not talk.of(ReplyBegun)
    assert not talk.of(ReplyAudio)
    assert {answer.listens for answer in talk.answers} == {True}
    assert len(talk.answers) >= 5


@pytest.mark.parametrize("script", [DuplexScript(says=LONG), DuplexScript(decides=False, says=LONG)])
async def test_a_caller_who_interrupts_is_heard_and_only_what_they_heard_is_kept(script):
    async with native_talk(script) as talk:
        reply = await ask(talk)
        player = Player(talk)
        await player.play(1.5)
        await talk.speak(1.5)
        assert talk.of(Hold) == [Hold(0, reply)]
        assert talk.of(Cut) == [Cut(1, reply)]
        await talk.until(lambda: len(talk.of(ReplyAudioStarted)) > 1)
    heard = talk.of(AssistantSaid)[0]
    assert heard.ending == "interrupted"
    count = round(player.played[reply]) // WORD
    assert heard.heard.split() == LONG.split()[: len(heard.heard.split())]
    assert abs(len(heard.heard.split()) - count) <= 1
    assert (heard.heard + heard.unheard).startswith(heard.heard)
    assert not talk.stale
    second = talk.of(UserSound)[1]
    assert samples(second.pcm) > 16_000


async def test_what_was_said_over_a_reply_is_passed_again_to_a_model_that_was_deaf_meanwhile():
    async with native_talk(DuplexScript(decides=False, says=LONG)) as talk:
        await ask(talk)
        await Player(talk).play(1.5)
        await talk.speak(1.5)
        await talk.until(lambda: len(talk.of(ReplyAudioStarted)) > 1)
        await Player(talk).play(14)
    report = talk.said[1].split()[len(LONG.split()) :]
    assert int(report[5]) >= 1.5 * 16_000, "all of the interruption is in it"
    assert not talk.problem


async def test_nothing_of_a_reply_sounds_after_its_cut_although_the_model_works_on_it():
    script = DuplexScript(decides=False, says=LONG, unit_cost_ms=400)
    async with native_talk(script) as talk:
        reply = await ask(talk)
        await Player(talk).play(0.3)
        await talk.say(Interrupt(None, WORD))
        assert talk.of(Cut) == [Cut(1, reply)]
        await talk.be_quiet(5)
    at = talk.events.index(Cut(1, reply))
    assert not [
        event
        for event in talk.events[at:]
        if isinstance(event, ReplyAudio | ReplyText | ReplyAudioStarted | ReplyAudioEnded)
    ]
    assert talk.said == ["one"]
    assert not talk.stale
    assert sum(answer.samples for answer in talk.answers) >= 5 * 16_000


async def test_a_cough_holds_the_reply_and_lets_it_go_on():
    async with native_talk(DuplexScript(says=LONG)) as talk:
        reply = await ask(talk)
        player = Player(talk)
        await player.play(1)
        await talk.speak(0.2)
        assert talk.of(Hold) == [Hold(0, reply)]
        await player.play(12)
    assert talk.of(Resume) == [Resume(0, reply)]
    assert not talk.of(Cut)
    assert [said.ending for said in talk.of(AssistantSaid)] == ["spoken"]
    assert talk.said[0].startswith(LONG)


async def test_a_reply_that_may_not_be_interrupted_is_said_to_its_end_and_the_caller_answered_then():
    setup = msgspec.structs.replace(NATIVE, interruptible=False)
    async with native_talk(DuplexScript(decides=False, says="one two three four"), setup) as talk:
        await ask(talk)
        await Player(talk).play(0.5)
        await talk.speak(1.5)
        await Player(talk).play(12)
    assert not talk.of(Cut)
    assert not talk.of(Hold)
    assert [said.ending for said in talk.of(AssistantSaid)] == ["spoken", "spoken"]
    assert len(talk.of(UserSound)) == 2
    assert int(talk.said[1].split()[-3]) >= 1.5 * 16_000


# ---- keys and buttons


@pytest.mark.parametrize("script", [DuplexScript(says=LONG), DuplexScript(decides=False, says=LONG)])
async def test_typed_text_ends_a_reply_and_is_answered(script):
    async with native_talk(script) as talk:
        reply = await ask(talk)
        await Player(talk).play(1)
        await talk.say(Typed("and tomorrow?"))
        await talk.until(lambda: len(talk.of(ReplyAudioStarted)) > 1)
        await Player(talk).play(14)
    assert talk.of(Cut) == [Cut(1, reply)]
    [typed] = talk.of(UserSaid)
    assert (typed.text, typed.typed) == ("and tomorrow?", True)
    assert talk.of(ReplyBegun)[1].turn == typed.turn
    assert talk.said[1].endswith("typed and tomorrow?")


@pytest.mark.parametrize("script", [DuplexScript(), TOLD])
async def test_push_to_talk_hears_only_while_the_button_is_down(script):
    setup = msgspec.structs.replace(NATIVE, listens=False)
    async with native_talk(script, setup) as talk:
        await talk.speak(2)
        await talk.be_quiet(2)
        assert not talk.of(UserSound)
        await talk.say(Pressed(True))
        await talk.speak(1)
        await talk.be_quiet(1.5)
        assert not talk.of(ReplyBegun), "silence does not end the turn"
        await talk.say(Pressed(False))
        await talk.until(lambda: talk.of(ReplyAudioStarted))
        [sound] = talk.of(UserSound)
    assert samples(sound.pcm) / 16_000 == pytest.approx(2.5, abs=0.2)


GREETED = msgspec.structs.replace(NATIVE, greeting="Good morning to you.")


@pytest.mark.parametrize("decides", [True, False])
async def test_the_greeting_and_announcements_are_said_by_the_model_before_it_answers(decides):
    async with native_talk(DuplexScript(decides=decides), GREETED) as talk:
        player = Player(talk)
        while len(talk.said) < 1:
            await player.play(1)
        await talk.say(Speak("Tea is ready."))
        while len(talk.said) < 2:
            await player.play(1)
        await talk.speak(1.0)
        while len(talk.said) < 3:
            await player.play(1)
    assert talk.said[:2] == ["Good morning to you.", "Tea is ready."]
    assert talk.said[2].startswith("heard")
    assert [event.reply for event in talk.of(ReplyBegun)] == [1, 2, 3]
    assert not talk.of(CallProblem)
    assert not talk.stale


@pytest.mark.parametrize("decides", [True, False])
async def test_a_caller_who_talks_over_the_greeting_is_answered_and_the_rest_of_it_is_not_said(decides):
    async with native_talk(DuplexScript(decides=decides), GREETED) as talk:
        await talk.until(lambda: talk.of(ReplyAudioStarted))
        await Player(talk).play(0.4)
        await talk.speak(1.5)
        assert talk.of(Cut) == [Cut(1, 1)]
        player = Player(talk)
        while len(talk.said) < 2:
            await player.play(1)
    assert GREETED.greeting.startswith(talk.said[0])
    assert talk.said[0] != GREETED.greeting
    assert talk.said[1].startswith("heard")


async def test_a_model_that_says_only_its_own_words_is_told_of():
    async with native_talk(DuplexScript(recites=False), GREETED) as talk:
        await talk.say(Speak("Tea."))
        await talk.be_quiet(1)
    assert [problem.code for problem in talk.of(CallProblem)] == ["unsupported", "unsupported"]
    assert not talk.of(ReplyBegun)


# ---- beginnings and ends


async def test_numbers_go_on_where_an_earlier_session_of_the_call_ended():
    setup = msgspec.structs.replace(NATIVE, epoch=4, reply=7, turn=5)
    async with native_talk(TOLD, setup) as talk:
        assert await ask(talk) == 7
        await talk.say(Interrupt())
    assert talk.of(UserSound)[0].turn == 5
    assert talk.of(Cut) == [Cut(5, 7)]
    assert not talk.stale


async def test_a_failure_of_the_model_ends_the_call_with_its_code_and_frees_the_model():
    async with native_talk(DuplexScript(fails_at=3)) as talk:
        await talk.be_quiet(5)
        assert isinstance(talk.problem, EngineFailed)
        assert talk.problem.code == "scripted_failure"
        assert talk.engine.view is None


async def test_a_call_without_sound_goes_on_in_silence():
    async with native_talk() as talk:
        for _ in range(200):
            talk.clock.advance(STEP)
            await talk.settle()
    assert len(talk.answers) >= 10


async def test_chats_and_calls_take_turns_on_the_same_weights_and_know_nothing_of_each_other():
    reports = set()
    written = set()
    async with native_talk() as first:
        engine = first.engine
    prompt = tuple(b"<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n")
    for _ in range(50):
        async with native_talk(engine=lambda sleep: engine) as talk:
            await talk.sound(speech(0.7) + silence(1.3))
            await talk.until(lambda: talk.text(1).startswith("heard "))
            reports.add(talk.text(1))
            assert talk.answers[0].cached == 5
        assert engine.view is None
        async with engine.generate(0, prompt, Generation()) as items:
            written.add(tuple([repr(item) async for item in items]))
    assert len(reports) == 1
    assert len(written) <= 2, "the second chat finds its prompt in the slot, which a call leaves alone"


async def test_the_inbox_of_a_call_takes_plain_sound_and_chunks():
    async with native_talk(TOLD) as talk:
        await talk.say(MicrophoneAudio(silence(0.3)), CallChunk(silence(1)), MicrophoneAudio(silence(0.7)))
        await talk.settle()
    assert sum(answer.samples for answer in talk.answers) >= 1.3 * 16_000

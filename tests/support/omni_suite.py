"""What every omni engine must do, whatever its model: one suite for stand-ins, tiny weights and real ones.

Each check takes a loaded engine. It looks at what follows from the contracts alone (what went in changes what comes out, sound comes while
text is still written, nothing is left of the other view), so that it holds for weights that make no sense.
"""

from __future__ import annotations

import io
import math
import time
from array import array
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import anyio

from duologue.engines.contracts import Decision, DuplexOptions, DuplexView, UnitAnswer
from duologue.sessions.chat.chat import reply
from duologue.values.audio import HEARD_RATE, to_float32
from duologue.values.events import AudioDelta, Done, Event, Failed, TextDelta
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, system, user
from duologue.values.requests import ChatRequest, Sampling

PATIENCE = 1800.0
"""Seconds of one check: nine billion parameters on a processor are slow."""
BEST = Sampling(temperature=0.0, max_tokens=60)
KIND = system("You are a kind assistant. Answer in one short sentence.")
Check = Callable[[Any], Awaitable[None]]


def picture(colour: str) -> ImagePart:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (448, 448), "white")
    ImageDraw.Draw(image).ellipse((60, 60, 388, 388), fill=colour)
    file = io.BytesIO()
    image.save(file, "PNG")
    return ImagePart(file.getvalue(), "image/png")


def sound(seconds: float, pitch: float = 140.0) -> bytes:
    """Something like a vowel, 16-bit at 16 kHz."""
    times = (number / HEARD_RATE for number in range(int(seconds * HEARD_RATE)))
    values = (
        sum(math.sin(math.tau * pitch * k * at) / k for k in range(1, 8)) * (1 + math.sin(20 * at)) * 4000
        for at in times
    )
    return array("h", (max(-32768, min(32767, int(value))) for value in values)).tobytes()


def part_of(pcm: bytes) -> AudioPart:
    return AudioPart(to_float32(pcm))


async def replied(engine: Any, *messages: Message, **how: Any) -> tuple[list[Event], list[float]]:
    """The events of a reply, and when each came."""
    events: list[Event] = []
    times: list[float] = []

    async def emit(event: Event) -> None:
        events.append(event)
        times.append(time.monotonic())

    request = ChatRequest(messages, sampling=how.pop("sampling", BEST), **how)
    await reply(engine, 0, request, emit, now=datetime.now(UTC), clock=time.monotonic)
    assert not isinstance(events[-1], Failed), events[-1]
    assert isinstance(events[-1], Done)
    return events, times


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def answers_about_a_picture(engine: Any) -> None:
    question = TextPart("Which colour is the circle?")
    red, _ = await replied(engine, KIND, Message("user", (picture("red"), question)))
    again, _ = await replied(engine, KIND, Message("user", (picture("red"), question)))
    blue, _ = await replied(engine, KIND, Message("user", (picture("blue"), question)))
    assert text_of(red)
    assert text_of(red) == text_of(again)
    assert text_of(red) != text_of(blue)


async def hears_a_sound(engine: Any) -> None:
    question = TextPart("What do you hear?")
    written = []
    for pcm in (sound(2, 110), bytes(2 * 2 * HEARD_RATE), sound(2, 600)):
        events, _ = await replied(engine, KIND, Message("user", (part_of(pcm), question)))
        written.append(text_of(events))
    # A model may have the same words for two of them.
    assert all(written)
    assert len(set(written)) > 1


async def speaks_while_it_writes(engine: Any) -> None:
    asked = user("Tell me in three long sentences about the sea.")
    limit = Sampling(temperature=0.0, max_tokens=160)
    events, times = await replied(engine, KIND, asked, speak_as="", sampling=limit)
    sounds = [number for number, event in enumerate(events) if isinstance(event, AudioDelta)]
    texts = [number for number, event in enumerate(events) if isinstance(event, TextDelta)]
    assert sounds
    assert texts
    assert sounds[0] < texts[-1]
    assert times[sounds[0]] <= times[texts[-1]]
    assert "<|" not in text_of(events)


async def listens_and_speaks_by_units(engine: Any) -> None:
    """Twenty units of silence and of speech: one answer each, the cache grows, and a model that listens sends nothing."""
    async with engine.duplex() as view:
        before = await view.prepare((KIND,), DuplexOptions())
        answers = [await unit(view, number) for number in range(20)]
    assert len(answers) == 20
    assert answers[-1].cached > before
    for answer in answers:
        if answer.listens:
            assert (answer.text, answer.pcm) == ("", b"")
    if not view.decides:
        assert not all(answer.listens for answer in answers)


async def is_cut_short(engine: Any) -> None:
    """An interrupted reply gives what was heard of it, and the unit after it is silent."""
    async with engine.duplex() as view:
        await view.prepare((KIND,), DuplexOptions())
        said = ""
        for number in range(40):
            answer = await unit(view, number)
            said += answer.text
            if not answer.listens and answer.pcm:
                heard = await view.cut(len(answer.pcm) // 4)
                assert said.replace(" ", "").startswith(heard.replace(" ", ""))
                await view.finalize()
                silent = await view.unit(samples_of(view, 0), decision="listen")
                assert silent.listens
                assert silent.pcm == b""
                return
        # A model that decides may have nothing to say to such a sound.
        assert view.decides, "it never spoke although it was told to"


async def keeps_the_views_apart(engine: Any) -> None:
    asked = (KIND, user("Name a tree."))
    first, _ = await replied(engine, *asked)
    for _ in range(3):
        async with engine.duplex() as view:
            await view.prepare((KIND,), DuplexOptions())
            await unit(view, 1)
        again, _ = await replied(engine, *asked)
        assert text_of(again) == text_of(first)


CHECKS: tuple[Check, ...] = (
    answers_about_a_picture,
    hears_a_sound,
    speaks_while_it_writes,
    listens_and_speaks_by_units,
    is_cut_short,
    keeps_the_views_apart,
)


async def run(check: Check, engine: Any) -> None:
    with anyio.fail_after(PATIENCE):
        await check(engine)


def samples_of(view: DuplexView, number: int) -> bytes:
    """The sound of a unit: two seconds of speech in each five."""
    length = view.unit_samples[1]
    return sound(length / HEARD_RATE) if number % 5 in (1, 2) else bytes(2 * length)


async def unit(view: DuplexView, number: int) -> UnitAnswer:
    """The next unit, with a frame now and then. A model that does not decide is told to speak after speech."""
    decision: Decision = "model"
    if not view.decides:
        decision = "speak" if number % 5 in (3, 4) else "listen"
        if number % 5 == 0 and number:
            await view.cut(0)
    frames = [picture("green")] if number % 4 == 1 else []
    answer = await view.unit(
        b"" if decision == "speak" else samples_of(view, number),
        frames if decision != "speak" else (),
        decision=decision,
    )
    await view.finalize()
    return answer

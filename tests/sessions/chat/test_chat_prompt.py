"""Pictures and sound in a model turn: a tiny random model with a projector, really loaded by llama.cpp. It sees and hears, so
that another picture makes another reply, and understands nothing."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import anyio
import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import picture, sound, write_projector

from duologue.engines.llama.engine import LlamaEngine, load
from duologue.engines.scripted.language import ScriptedEngine
from duologue.sessions.chat.chat import count, reply
from duologue.sessions.chat.chat_prompt import render
from duologue.text.templates.chatml import CHATML
from duologue.values.events import Done, Event, Failed, Prefilled, TextDelta, ToolCallDelta
from duologue.values.messages import (
    AudioPart,
    ImagePart,
    Message,
    Part,
    TextPart,
    Tool,
    assistant,
    system,
    user,
)
from duologue.values.requests import ChatRequest, OutputFormat, Sampling

pytestmark = pytest.mark.anyio
NOW = datetime(2031, 5, 4, tzinfo=UTC)
GREEDY = Sampling(max_tokens=6, temperature=0.0, logprobs=3, ignore_eos=True)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LlamaEngine]:
    folder = tmp_path_factory.mktemp("models")
    write_tiny_model(folder / "tiny.gguf", TinyModel(context=4096, template=CHATML))
    write_projector(folder / "mmproj-tiny.gguf", sees=True, hears=True)
    engine = await load({"model": str(folder / "tiny.gguf"), "slots": 2, "log": 0})
    yield engine
    await engine.close()


def asking(*parts: Part | str) -> Message:
    return Message("user", tuple(TextPart(part) if isinstance(part, str) else part for part in parts))


async def ask(engine: LlamaEngine, *messages: Message, slot: int = 0, **more: object) -> list[Event]:
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    request = ChatRequest(messages, **{"sampling": GREEDY, **more})  # type: ignore[arg-type]
    await reply(engine, slot, request, emit, now=NOW, clock=time.monotonic)
    return events


def logprobs(events: list[Event]) -> list[float]:
    assert isinstance(events[-1], Done), events[-1]
    return [token.logprob for event in events if isinstance(event, TextDelta) for token in event.logprobs]


def prefilled(events: list[Event]) -> Prefilled:
    (found,) = (event for event in events if isinstance(event, Prefilled))
    return found


async def test_the_card_says_what_the_model_takes(engine):
    assert engine.card.modalities == ("text", "image", "audio")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((picture(1),), (picture(2),)),
        ((picture(1),), ("a picture of a cat",)),
        ((sound(1),), (sound(1, pitch=3.0),)),
        ((sound(1),), ("somebody says hello",)),
        ((picture(1), sound(1)), (sound(1), picture(1))),
        ((picture(1), picture(2)), (picture(2), picture(1))),
    ],
)
async def test_what_the_model_is_shown_changes_what_it_says(engine, one, other):
    first = logprobs(await ask(engine, asking("Look: ", *one, " What is it?")))
    second = logprobs(await ask(engine, asking("Look: ", *other, " What is it?")))
    again = logprobs(await ask(engine, asking("Look: ", *one, " What is it?"), slot=1))
    assert first != pytest.approx(second, abs=1e-3)
    assert first == pytest.approx(again, abs=1e-2), "and nothing else does"


async def test_tokens_of_media_are_counted_before_and_after_alike(engine):
    message = asking("Look ", picture(3), " and hear ", sound(2), ".")
    events = await ask(engine, message)
    done = events[-1]
    assert isinstance(done, Done)
    before = await count(engine, ChatRequest((message,)), now=NOW)
    assert before.tokens == prefilled(events).input == done.usage.input
    assert not before.estimated
    longer = await count(
        engine, ChatRequest((asking("Look ", picture(3), " and hear ", sound(8), "."),)), now=NOW
    )
    assert longer.tokens > before.tokens + 30


async def test_the_second_turn_about_a_picture_does_not_look_again(engine):
    looking = asking(picture(4), "What is it?")
    first = prefilled(await ask(engine, looking))
    second = prefilled(await ask(engine, looking, assistant("A cat."), user("What colour?")))
    assert first.input is not None
    assert second.input is not None
    assert first.cached < 20
    assert first.input - 8 <= second.cached
    assert first.input < second.input


async def test_another_picture_is_looked_at(engine):
    await ask(engine, asking(picture(5), "What is it?"))
    other = prefilled(await ask(engine, asking(picture(6), "What is it?")))
    assert other.cached < 30


async def test_a_prompt_that_ends_with_a_sound_does_not_end_the_process(engine):
    # Left open, the last message ends the prompt.
    events = await ask(engine, user("hi"), Message("assistant", (sound(1),)), continue_final=True)
    assert isinstance(events[-1], Done | Failed)
    assert isinstance((await ask(engine, user("still there?")))[-1], Done)
    tokens = await engine.tokenize_media([sound(1)])
    async with engine.generate(0, tokens, generation()) as items:
        assert [item async for item in items]


def generation():
    from duologue.engines.contracts import Generation

    return Generation(Sampling(max_tokens=2))


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (ImagePart(b"\x89PNG\r\n\x1a\nbroken", "image/png"), "image_unreadable"),
        (ImagePart(picture(1).data[:60], "image/png"), "image_unreadable"),
        (ImagePart(b"RIFF0000WEBPVP8 ", "image/webp"), "image_unreadable"),
        (ImagePart(b"", "image/png"), "image_unreadable"),
        (AudioPart(b"", 16_000), "sound_unreadable"),
        (AudioPart(b"\0" * 400, 0), "sound_unreadable"),
    ],
)
async def test_what_cannot_be_read_is_refused_and_the_model_lives_on(engine, part, code):
    events = await ask(engine, asking(part, "What is it?"))
    assert isinstance(events[-1], Failed)
    assert (events[-1].code, events[-1].status) == (code, 400)
    assert isinstance((await ask(engine, asking(picture(1), "And this?")))[-1], Done)


async def test_sound_that_is_no_number_is_silence(engine):
    nothing = AudioPart(b"\xff\xff\xff\x7f" * 16_000, 16_000)
    assert isinstance((await ask(engine, asking(nothing, "What do you hear?")))[-1], Done)


async def test_the_engines_own_marker_in_a_text_is_text(engine):
    marker = engine._media._marker
    events = await ask(engine, asking(f"{marker} {marker}", picture(1), "What is it?"))
    assert isinstance(events[-1], Done)
    assert prefilled(events).input == (events[-1]).usage.input


async def test_more_than_the_context_is_refused_with_its_media(engine):
    events = await ask(engine, asking(*[picture(seed) for seed in range(130)], "What are they?"))
    assert isinstance(events[-1], Failed)
    assert events[-1].code == "context_length_exceeded"


async def test_text_and_media_run_side_by_side(engine):
    outcomes: dict[int, list[float]] = {}

    async def run(number: int, slot: int, *parts: Part | str) -> None:
        outcomes[number] = logprobs(await ask(engine, asking(*parts), slot=slot))

    alone = logprobs(await ask(engine, asking("Only text.")))
    async with anyio.create_task_group() as group:
        group.start_soon(run, 0, 0, "Only text.")
        group.start_soon(run, 1, 1, picture(9), sound(3), "What is it?")
    assert outcomes[0] == pytest.approx(alone, abs=1e-2)
    assert outcomes[1]


async def test_who_leaves_frees_the_slot(engine):
    request = ChatRequest((asking(picture(8), "Go on"),), sampling=Sampling(max_tokens=3000, ignore_eos=True))
    with anyio.CancelScope() as scope:

        async def emit(event: Event) -> None:
            if isinstance(event, TextDelta):
                scope.cancel()

        await reply(engine, 0, request, emit, now=NOW, clock=time.monotonic)
    assert scope.cancelled_caught
    slots = engine._client._request("GET", "/slots")
    assert not any(slot["is_processing"] for slot in slots)
    assert isinstance((await ask(engine, user("next")))[-1], Done)


async def test_who_leaves_while_the_picture_is_read_frees_the_slot(engine):
    with anyio.CancelScope() as scope:

        async def emit(event: Event) -> None:
            scope.cancel()

        request = ChatRequest((asking("x" * 600, picture(11), "y" * 600, sound(9)),), sampling=GREEDY)
        await reply(engine, 1, request, emit, now=NOW, clock=time.monotonic)
    assert not any(slot["is_processing"] for slot in engine._client._request("GET", "/slots"))


async def test_a_long_prompt_with_a_picture_is_read_in_parts(engine):
    history = [
        message for number in range(30) for message in (user(f"{number} " * 12), assistant("yes " * 12))
    ]
    history.insert(10, asking(picture(12), "this"))
    events = await ask(engine, *history, user("and?"))
    steps = [event for event in events if type(event).__name__ == "Progress"]
    assert len(steps) > 2
    assert [step.processed for step in steps] == sorted(step.processed for step in steps)
    done = events[-1]
    assert isinstance(done, Done)
    whole = logprobs(events)
    fixed = logprobs(await ask(engine, *history, user("and?"), slot=1))
    assert whole == pytest.approx(fixed, abs=1e-2)


async def test_json_tools_stop_strings_and_thoughts_work_beside_pictures(engine):
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"a": {"type": "boolean"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    events = await ask(
        engine,
        asking(picture(1), "true?"),
        sampling=Sampling(max_tokens=60),
        format=OutputFormat("json_schema", schema),
    )
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert json.loads(text) in ({"a": True}, {"a": False})
    events = await ask(
        engine,
        asking(picture(1), "call it"),
        sampling=Sampling(max_tokens=200),
        tools=(Tool("f", "does", {"type": "object", "properties": {}, "additionalProperties": False}),),
        tool_choice="required",
        parallel_tool_calls=False,
    )
    assert any(isinstance(event, ToolCallDelta) for event in events), events[-1]
    first = await ask(
        engine, asking(picture(1), "say"), sampling=Sampling(max_tokens=5, temperature=0.0, ignore_eos=True)
    )
    said = "".join(event.text for event in first if isinstance(event, TextDelta))
    stopped = await ask(
        engine,
        asking(picture(1), "say"),
        sampling=Sampling(max_tokens=5, temperature=0.0, ignore_eos=True),
        stop=(said[1:2],),
    )
    assert isinstance(stopped[-1], Done)
    assert stopped[-1].stop == said[1:2]


async def test_only_reading_ahead_prepares_the_reply(engine):
    message = asking("x" * 100, picture(13), "What is it?")
    await ask(engine, message, ahead=True, sampling=Sampling())
    assert prefilled(await ask(engine, message)).cached > 100


async def test_a_voice_in_the_system_message_is_not_read(engine):
    prompt = await render(
        engine, ChatRequest((Message("system", (TextPart("Be kind."), sound(1))), user("hi"))), NOW, "full"
    )
    assert prompt.media == ()
    assert (
        await prompt.tokens()
        == await (await render(engine, ChatRequest((system("Be kind."), user("hi"))), NOW, "full")).tokens()
    )


async def test_an_engine_for_text_alone_is_asked_for_text():
    prompt = await render(ScriptedEngine(), ChatRequest((asking("a", picture(1)),)), NOW, "full")
    assert prompt.media == ()
    assert "medium" not in prompt.text

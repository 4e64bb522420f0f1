"""A model turn behind a raw prompt: no template, no reading of thoughts and calls; on the scripted engine, and on a tiny model that
llama.cpp really loads."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.tiny_model import TinyModel, token_id, write_tiny_model

from duologue.engines.contracts import LanguageEngine
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.engines.scripted.language import ScriptedChatEngine, ScriptedEngine
from duologue.sessions.chat.chat import count, reply
from duologue.sessions.chat.chat_prompt import raw_prompt
from duologue.values.events import Done, Event, Failed, Prefilled, TextDelta
from duologue.values.requests import ChatRequest, OutputFormat, Sampling

pytestmark = pytest.mark.anyio
NOW = datetime(2031, 5, 4, tzinfo=UTC)
GREEDY = Sampling(max_tokens=6, temperature=0.0, ignore_eos=True)
FILL = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def tiny(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LlamaEngine]:
    folder: Path = tmp_path_factory.mktemp("models")
    shape = TinyModel(add_bos=True, more_control=FILL)
    engine = await load({"model": str(write_tiny_model(folder / "tiny.gguf", shape)), "slots": 2, "log": 0})
    yield engine
    await engine.close()


async def ask(
    engine: LanguageEngine, prompt: str | tuple[int, ...], slot: int = 0, **more: Any
) -> list[Event]:
    events: list[Event] = []

    async def emit(event: Event) -> None:
        events.append(event)

    request = ChatRequest((), prompt, **more)
    await reply(engine, slot, request, emit, now=NOW, clock=time.monotonic)
    return events


def text(events: list[Event]) -> str:
    assert isinstance(events[-1], Done), events[-1]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failed(events: list[Event]) -> Failed:
    assert isinstance(events[-1], Failed), events[-1]
    return events[-1]


def usage(events: list[Event]) -> tuple[int, int, int]:
    assert isinstance(events[-1], Done), events[-1]
    return events[-1].usage.input, events[-1].usage.cached, events[-1].usage.output


async def test_thoughts_calls_and_white_space_of_a_raw_reply_are_text():
    said = '  \n<think>no</think>\n<tool_call>{"name": "x"}</tool_call> \n'
    events = await ask(ScriptedEngine(), f"/repeat 1 {said}".replace("\n", "\\n"))
    assert text(events) == said
    assert events[-1].finish == "stop"


async def test_a_stop_of_the_request_ends_it_and_that_of_the_template_does_not():
    engine = ScriptedEngine()
    engine.template.chat.stop_strings = ("two",)
    assert text(await ask(engine, "/say one two three four")) == "one two three four"
    events = await ask(engine, "/say one two three four", stop=("three",))
    assert text(events) == "one two "
    assert events[-1].stop == "three"


async def test_a_raw_prompt_has_logprobs():
    events = await ask(ScriptedEngine(), "/say one two", sampling=Sampling(logprobs=1))
    tokens = [each.token for event in events if isinstance(event, TextDelta) for each in event.logprobs]
    assert tokens == ["one ", "two"]


async def test_the_beginning_of_the_reply_is_part_of_the_prompt():
    assert usage(await ask(ScriptedEngine(), "/say x", prefix="ab"))[0] == 8
    assert usage(await ask(ScriptedEngine(), tuple(b"/say x"), prefix="ab"))[0] == 8


async def test_an_empty_prompt_needs_a_token():
    problem = failed(await ask(ScriptedEngine(), ""))
    assert (problem.status, problem.param) == (400, "prompt")


async def test_a_prompt_that_is_too_long_is_refused_by_its_name():
    engine = ScriptedEngine(context=100)
    for prompt in ("x" * 101, "x" * 20_000, tuple(b"x" * 101)):
        problem = failed(await ask(engine, prompt))
        assert (problem.code, problem.param) == ("context_length_exceeded", "prompt")
        assert "The prompt takes" in problem.message


async def test_tokens_that_the_model_does_not_have_are_refused():
    for token in (256, -1, 1 << 40):
        problem = failed(await ask(ScriptedEngine(), (65, token)))
        assert (problem.status, problem.param) == (400, "prompt")
        assert str(token) in problem.message


async def test_an_engine_that_takes_messages_refuses_a_prompt():
    problem = failed(await ask(ScriptedChatEngine(), "hello"))
    assert (problem.code, problem.param) == ("unsupported", "prompt")
    assert "/v1/chat/completions" in problem.message


async def test_a_suffix_needs_a_vocabulary_that_can_fill_in():
    problem = failed(await ask(ScriptedEngine(), "hello", suffix="world"))
    assert (problem.code, problem.param) == ("unsupported", "suffix")


async def test_raw_prompts_are_counted():
    engine = ScriptedEngine(context=100)
    assert (await count(engine, ChatRequest((), "hello"), now=NOW)).tokens == 5
    assert (await count(engine, ChatRequest((), (1, 2, 3)), now=NOW)).tokens == 3
    assert (await count(engine, ChatRequest((), "x" * 100_000), now=NOW)).estimated
    assert (await count(ScriptedChatEngine(), ChatRequest((), "x" * 36), now=NOW)).tokens == 10


async def test_the_first_token_is_there_once_whether_or_not_the_text_has_it(tiny: LlamaEngine):
    bare = await ask(tiny, "Once upon", sampling=GREEDY)
    written = await ask(tiny, "<|endoftext|>Once upon", sampling=GREEDY)
    tokens = await ask(tiny, await tiny.tokenize("Once upon"), sampling=GREEDY)
    assert usage(bare)[0] == usage(written)[0] == usage(tokens)[0] == 10
    assert text(bare) == text(written) == text(tokens)


async def test_control_tokens_in_the_text_are_tokens(tiny: LlamaEngine):
    assert usage(await ask(tiny, "<|im_start|>a<|im_end|>", sampling=GREEDY))[0] == 4


async def test_the_second_prompt_finds_the_first_in_the_cache(tiny: LlamaEngine):
    await ask(tiny, "a" * 300, slot=1, sampling=GREEDY)
    prompt, cached, written = usage(await ask(tiny, "a" * 300 + "b", slot=1, sampling=GREEDY))
    assert (prompt, written) == (302, 6)
    assert cached >= 290


async def test_a_reply_without_a_token_only_reads_the_prompt(tiny: LlamaEngine):
    events = await ask(tiny, "hello", sampling=Sampling(max_tokens=0))
    assert text(events) == ""
    assert usage(events)[2] == 0
    assert events[-1].finish == "length"


async def test_a_raw_reply_keeps_a_format(tiny: LlamaEngine):
    format = OutputFormat("choice", choices=("yes", "no"))
    assert text(await ask(tiny, "Is it? ", format=format)) in ("yes", "no")
    problem = failed(
        await ask(tiny, "Is it? ", format=OutputFormat("grammar", grammar="x ::= ]", param="grammar"))
    )
    assert problem.param == "grammar"


async def test_a_token_beyond_the_vocabulary_never_reaches_the_engine(tiny: LlamaEngine):
    assert failed(await ask(tiny, (65, tiny.card.vocabulary))).param == "prompt"
    assert text(await ask(tiny, (65, tiny.card.vocabulary - 1), sampling=GREEDY)) is not None


async def test_a_suffix_is_put_behind_the_gap(tiny: LlamaEngine):
    assert "infill" in tiny.card.verbs
    assert tiny.fill_tokens is not None
    request = ChatRequest((), "a", suffix="b")
    prompt = await raw_prompt(tiny, request, "a")
    before, behind, gap = range(264, 267)
    begin = token_id("<|endoftext|>")
    expected = (begin, before, token_id("a"), behind, token_id("b"), gap)
    assert tuple(await prompt.tokens()) == expected
    given = await raw_prompt(tiny, request, (token_id("a"),))
    assert tuple(await given.tokens()) == expected
    events = await ask(tiny, "def f(", suffix="): pass", sampling=GREEDY)
    assert usage(events)[0] == 1 + 3 + len("def f(): pass")
    assert sum(isinstance(event, Prefilled) for event in events) == 1


async def test_a_preset_that_forces_thinking_does_not_forbid_a_schema(tiny: LlamaEngine):
    beyond_types = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^a", "maxLength": 3}},
    }
    format = OutputFormat("json_schema", schema={**beyond_types, "required": ["a"]})
    events = await ask(tiny, "JSON: ", format=format, thinking=True, sampling=Sampling(max_tokens=3))
    assert isinstance(events[-1], Done)


async def test_a_long_prompt_is_read_but_for_its_last_token(tiny: LlamaEngine):
    prompt = await raw_prompt(tiny, ChatRequest((), "x" * 300), "x" * 300)
    tokens = await prompt.tokens()
    assert tuple(await prompt.stable_prefix(tokens)) == tuple(tokens[:-1])
    events = await ask(tiny, "y" * 400, sampling=GREEDY)
    assert usage(events)[0] == 401
    assert sum(isinstance(event, Prefilled) for event in events) == 1

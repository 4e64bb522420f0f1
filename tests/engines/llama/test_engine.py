"""The llama engine on tiny random models: what is asked is applied, and everything ends."""

from __future__ import annotations

import contextlib
import gc
import json
import math
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.support.tiny_model import TinyModel, token_id, write_tiny_model

from duologue.engines import load_progress
from duologue.engines.contracts import Generation, GenerationEnded, Piece, PromptEngine
from duologue.engines.llama import engine as llama_module
from duologue.engines.llama import model_server
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.engines.llama.prompt.prompt_steps import STEP_SECONDS
from duologue.engines.llama.prompt.text_pieces import pieces
from duologue.engines.llama.request import SEQUENCE_BREAKERS, generate_request, sampling_defaults
from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.errors import BadRequest, ContextExceeded, EngineFailed, StartFailed, Unavailable
from duologue.models.gguf.header import read as read_header
from duologue.text.output.parsed import parse_reply
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.output.reply_grammar import (
    AllowedToolCalls,
    ReplyGrammar,
    ThoughtPrefix,
    constrained_reply,
    optional_tool_calls,
)
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.events import Progress
from duologue.values.messages import Tool, user
from duologue.values.requests import OutputFormat, Sampling

pytestmark = pytest.mark.anyio
PROMPT = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
GREEDY = Sampling(max_tokens=24, temperature=0.0, ignore_eos=True)
MARKERS = ("<think>", "</think>", "<tool_call>", "</tool_call>")
NOW = datetime(2031, 5, 4)
NEVER = 1.0e6
"""A bias nothing withstands."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
async def engine(models: Path) -> AsyncIterator[LlamaEngine]:
    engine = await load({"model": str(write_tiny_model(models / "tiny.gguf")), "slots": 2, "log": 0})
    yield engine
    await engine.close()


async def read(engine: LlamaEngine, tokens: tuple[int, ...], slot: int = 0) -> list[Progress]:
    async with engine.prefill(slot, tokens) as steps:
        return [step async for step in steps]


async def write(
    engine: LlamaEngine, generation: Generation, slot: int = 0, prompt: str = PROMPT
) -> tuple[list[Piece], GenerationEnded]:
    tokens = await engine.tokenize(prompt)
    async with engine.generate(slot, tokens, generation) as items:
        everything = [item async for item in items]
    *pieces, ended = everything
    assert isinstance(ended, GenerationEnded)
    return [piece for piece in pieces if isinstance(piece, Piece)], ended


async def text(engine: LlamaEngine, sampling: Sampling, prompt: str = PROMPT) -> str:
    pieces, _ = await write(engine, Generation(sampling), prompt=prompt)
    return "".join(piece.text for piece in pieces)


class TestDevice:
    async def test_the_processor_can_be_named_and_a_model_says_where_it_runs(self, models: Path) -> None:
        path = write_tiny_model(models / "placed.gguf")
        engine = await load({"model": str(path), "device": "cpu", "log": 0})
        ended = (await write(engine, Generation(GREEDY)))[1]
        await engine.close()
        assert ended.generated == 24
        assert engine.card.device == "cpu"

    async def test_a_card_that_is_not_there_is_refused_with_those_that_are(self, models: Path) -> None:
        path = write_tiny_model(models / "placed.gguf")
        with pytest.raises(StartFailed, match=r"no device cuda:77.*It has: cpu"):
            await load({"model": str(path), "device": "cuda:77", "log": 0})


class TestCard:
    async def test_it_keeps_the_engines_contract(self, engine: LlamaEngine) -> None:
        assert isinstance(engine, PromptEngine)

    async def test_it_says_what_was_loaded(self, engine: LlamaEngine, models: Path) -> None:
        card = engine.card
        assert (card.name, card.engine, card.slots) == ("tiny", "llama", 2)
        assert (card.context, card.trained_context) == (512, 512)
        assert card.size == (models / "tiny.gguf").stat().st_size
        assert card.parameters > 90_000
        assert card.modalities == ("text",)
        assert "tools" not in card.verbs
        assert card.warnings == ()

    async def test_its_defaults_are_what_the_engine_uses_where_nothing_is_asked(self, models: Path) -> None:
        path = write_tiny_model(models / "advised.gguf", TinyModel(advice=(("temp", 0.25), ("top_k", 7))))
        engine = await load({"model": str(path), "log": 0})
        asked = generate_request(0, await engine.tokenize(PROMPT), Generation(), vocabulary=0)
        asked |= {"stream": False, "return_progress": False}
        nothing = engine._client._request("POST", "/completion", asked | {"n_predict": 1})[
            "generation_settings"
        ]
        used = sampling_defaults(nothing | {"n_predict": asked["n_predict"]})
        await engine.close()
        assert engine.card.defaults == used
        assert tuple(nothing["dry_sequence_breakers"]) == SEQUENCE_BREAKERS
        assert (engine.card.defaults["temperature"], engine.card.defaults["top_k"]) == (0.25, 7)
        assert set(engine.card.defaults) == set(engine.card.sampling) - {"logprobs", "logit_bias"}

    async def test_every_default_is_a_value_that_can_be_asked_for(self, engine: LlamaEngine) -> None:
        own: dict[str, Any] = {
            name: value for name, value in engine.card.defaults.items() if name != "max_tokens"
        }
        pieces, _ = await write(engine, Generation(Sampling(**own | {"max_tokens": 2, "ignore_eos": True})))
        assert pieces

    async def test_the_template_of_the_file_is_used(self, engine: LlamaEngine) -> None:
        assert "<|im_start|>" in engine.template.source
        assert engine.template.eos == "<|im_end|>"

    async def test_a_template_of_a_file_takes_the_place_of_the_models_own(
        self, models: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "own.jinja"
        file.write_text("{% for message in messages %}{{ message.content }}!{% endfor %}")
        engine = await load({"model": str(models / "tiny.gguf"), "template": str(file), "log": 0})
        prompt = await engine.template.render(PromptRequest((user("Hi"),), form="full"), NOW)
        assert (prompt.text, engine.card.warnings) == ("Hi!", ())
        await engine.close()

    @pytest.mark.parametrize(
        ("content", "words"), [(b"\xff\xfe\xfa", "not text"), (b"a" * 1_000_001, "1 MB")]
    )
    async def test_a_template_that_cannot_be_read_is_refused(
        self, models: Path, tmp_path: Path, content: bytes, words: str
    ) -> None:
        file = tmp_path / "own.jinja"
        file.write_bytes(content)
        for path, reason in ((file, words), (tmp_path / "none.jinja", "No such file")):
            with pytest.raises(StartFailed, match=reason):
                await load({"model": str(models / "tiny.gguf"), "template": str(path), "log": 0})

    async def test_a_smaller_context_is_what_each_slot_has(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 2, "context": 256, "log": 0})
        assert (engine.card.context, engine.card.trained_context) == (256, 512)
        await engine.close()

    async def test_more_context_than_trained_is_not_promised(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "context": 4096, "name": "mine", "log": 0})
        assert (engine.card.name, engine.card.context) == ("mine", 512)
        assert "4096" in engine.card.warnings[0]
        await engine.close()

    async def test_tools_and_thinking_are_offered_where_the_template_knows_them(self, models: Path) -> None:
        template = (
            "{{ tools }}<think></think>{% if enable_thinking %}{% endif %}"
            '<tool_call>\n{"name": "x", "arguments": {}}\n</tool_call>'
        )
        path = write_tiny_model(models / "tools.gguf", TinyModel(template=template))
        engine = await load({"model": str(path), "log": 0})
        assert {"tools", "thinking", "effort"} <= set(engine.card.verbs)
        assert engine.card.tool_format == "hermes"
        await engine.close()

    @pytest.mark.parametrize(
        ("template", "words"),
        [
            (None, "no chat template"),
            ("{% if %}", "cannot be read"),
            ("{{ " + "9" * 900_000 + " }}", "cannot be read"),
        ],
    )
    async def test_a_model_without_a_usable_template_gets_chatml_and_a_warning(
        self, models: Path, template: str | None, words: str
    ) -> None:
        path = write_tiny_model(models / "bare.gguf", TinyModel(template=template))
        engine = await load({"model": str(path), "log": 0})
        assert words in engine.card.warnings[0]
        assert "<|im_start|>" in engine.template.source
        prompt = await engine.template.render(PromptRequest((user("Hi"),), form="full"), NOW)
        assert prompt.text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        process = engine.template.process
        await engine.close()
        assert process is not None
        assert process.returncode == 0

    async def test_a_model_that_cannot_be_loaded_leaves_no_process(
        self, models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[TemplateRenderer] = []
        start = TemplateRenderer.start

        async def noted(renderer: TemplateRenderer) -> None:
            made.append(renderer)
            await start(renderer)

        monkeypatch.setattr(TemplateRenderer, "start", noted)

        def refuse(*arguments: object) -> None:
            raise StartFailed("No.")

        monkeypatch.setattr(llama_module, "start_server", refuse)
        path = write_tiny_model(models / "refused.gguf")
        with pytest.raises(StartFailed, match=r"No\."):
            await load({"model": str(path), "log": 0})
        assert [renderer.process for renderer in made] == [None]


class TestTokenize:
    async def test_control_tokens_are_parsed_and_nothing_is_added(self, engine: LlamaEngine) -> None:
        tokens = await engine.tokenize("<|im_start|>hé")
        assert tokens == (token_id("<|im_start|>"), ord("h"), 0xC3, 0xA9)

    async def test_no_text_is_no_token(self, engine: LlamaEngine) -> None:
        assert await engine.tokenize("") == ()

    async def test_half_a_surrogate_pair_does_no_harm(self, engine: LlamaEngine) -> None:
        assert await engine.tokenize("a\ud800") == (ord("a"), *"\ufffd".encode())

    async def test_a_long_text_is_tokenized_whole(self, engine: LlamaEngine) -> None:
        assert len(await engine.tokenize("ab" * 1024)) == 2048

    async def test_a_text_far_beyond_the_context_is_not_tokenized_to_its_end(
        self, engine: LlamaEngine
    ) -> None:
        for text in ("ab" * 100_000, "<|im_start|>a<|im_end|>" * 12_600, "<think>" * 40_000):
            with pytest.raises(ContextExceeded, match=r"more than 2048 tokens.* length is 512"):
                await engine.tokenize(text)

    async def test_pieces_have_the_tokens_of_the_whole(
        self, engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = "".join(
            f"<|im_start|>user\nthe {at} héé<|im_end|>\n<|im_start|> x<think> he</think>he he"
            for at in range(40)
        )
        whole = await engine.tokenize(text)
        for size in (1, 7, 50, 333):
            monkeypatch.setattr("duologue.engines.llama.prompt.tokenizer.PIECE", size)
            monkeypatch.setattr("duologue.engines.llama.prompt.tokenizer.pieces", partial(pieces, size=size))
            assert await engine.tokenize(text) == whole

    async def test_a_short_text_passes_a_long_one(self, engine: LlamaEngine) -> None:
        order: list[str] = []

        async def tokenize(name: str, text: str) -> None:
            with contextlib.suppress(ContextExceeded):
                await engine.tokenize(text)
            order.append(name)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                held = engine._tokenizer._long_lane.turn()
                async with held:
                    group.start_soon(tokenize, "long", "word " * 20_000)
                    await tokenize("short", "hello")
        assert order == ["short", "long"]

    async def test_many_questions_survive_the_engines_hanging_up(self, engine: LlamaEngine) -> None:
        # The engine closes a connection after some hundred requests.
        for _ in range(250):
            assert await engine.tokenize("x") == (ord("x"),)

    async def test_bos_stands_in_front_exactly_once(self, models: Path) -> None:
        path = write_tiny_model(models / "bos.gguf", TinyModel(add_bos=True))
        engine = await load({"model": str(path), "log": 0})
        bos = token_id("<|endoftext|>")
        assert await engine.tokenize("a") == (bos, ord("a"))
        assert await engine.tokenize("<|endoftext|>a") == (bos, ord("a"))
        await engine.close()


class TestPrefill:
    async def test_progress_ends_with_the_whole_prompt(self, engine: LlamaEngine) -> None:
        tokens = await engine.tokenize("first " * 30)
        steps = await read(engine, tokens)
        assert steps[0] == Progress(0, len(tokens), 0)
        assert steps[-1] == Progress(len(tokens), len(tokens), 0)

    async def test_a_long_prompt_is_told_batch_by_batch(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 1, "batch": 64, "log": 0})
        steps = await read(engine, await engine.tokenize("x" * 300))
        assert [step.processed for step in steps] == [0, 64, 128, 192, 256, 300]
        await engine.close()

    async def test_without_a_batch_of_the_operator_a_prompt_is_read_in_steps(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 1, "log": 0})
        engine._pace.took(1000, 1000 / (100 / STEP_SECONDS))
        steps = await read(engine, await engine.tokenize("x" * 400))
        assert steps[0] == Progress(0, 400, 0)
        assert [step.processed for step in steps] == sorted({step.processed for step in steps})
        assert steps[1] == Progress(100, 400, 0)
        assert steps[-1] == Progress(400, 400, 0)
        await engine.close()

    async def test_a_prompt_read_in_steps_is_answered_like_one_read_at_once(self, models: Path) -> None:
        texts = []
        for batch in (32, 400):
            engine = await load({"model": str(models / "tiny.gguf"), "slots": 1, "batch": batch, "log": 0})
            texts.append(await text(engine, GREEDY, prompt="story " * 60))
            await engine.close()
        assert texts[0] == texts[1]

    async def test_a_reply_tells_what_was_cached_before_its_steps(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 1, "batch": 64, "log": 0})
        tokens = await engine.tokenize("y" * 400)
        await read(engine, tokens[:50])
        _, ended = await write(engine, Generation(GREEDY), prompt="y" * 400)
        assert ended.cached == 50
        await engine.close()

    async def test_another_prompt_need_not_wait_for_the_whole_of_a_long_one(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 2, "batch": 32, "log": 0})
        long, short = await engine.tokenize("l" * 480), await engine.tokenize("short")
        order: list[str] = []

        async def read_long() -> None:
            async with engine.prefill(0, long) as steps:
                async for step in steps:
                    order.append("long" if step.processed < len(long) else "long ended")
                    begun.set()

        begun = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(read_long)
            await begun.wait()
            await read(engine, short, slot=1)
            order.append("short ended")
        assert order.index("short ended") < order.index("long ended")
        await engine.close()

    async def test_a_conversation_that_lost_its_slot_is_not_read_again(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 1, "batch": 64, "log": 0})
        first, second = await engine.tokenize("first " * 70), await engine.tokenize("second " * 60)
        await read(engine, first)
        await read(engine, second)
        steps = await read(engine, first)
        assert steps[-1].cached >= len(first) - 1
        await engine.close()

    async def test_the_common_prefix_is_kept(self, engine: LlamaEngine) -> None:
        await read(engine, await engine.tokenize("kept prefix, one"))
        steps = await read(engine, await engine.tokenize("kept prefix, two"))
        assert steps[-1].cached == len("kept prefix, ")

    async def test_generate_goes_on_from_what_was_prefilled(self, engine: LlamaEngine) -> None:
        tokens = await engine.tokenize(PROMPT)
        await read(engine, tokens[:-5], slot=1)
        _, ended = await write(engine, Generation(GREEDY), slot=1)
        assert ended.cached == len(tokens) - 5

    async def test_slots_keep_separate_caches(self, engine: LlamaEngine) -> None:
        await read(engine, await engine.tokenize("zero " * 9), slot=0)
        await read(engine, await engine.tokenize("other " * 9), slot=1)
        steps = await read(engine, await engine.tokenize("zero " * 10), slot=0)
        assert steps[-1].cached == len("zero " * 9)

    async def test_prefilling_does_not_change_what_is_written(self, engine: LlamaEngine) -> None:
        plain = await text(engine, GREEDY)
        await read(engine, await engine.tokenize(PROMPT))
        assert await text(engine, GREEDY) == plain

    async def test_a_prompt_without_room_for_a_reply_is_refused(self, engine: LlamaEngine) -> None:
        with pytest.raises(ContextExceeded, match=r"takes 600 tokens.*length is 512"):
            await read(engine, await engine.tokenize("x" * 600))


class TestGenerate:
    async def test_the_limit_ends_it_with_length(self, engine: LlamaEngine) -> None:
        pieces, ended = await write(engine, Generation(GREEDY))
        assert (ended.finish, ended.generated) == ("length", 24)
        assert sum(piece.tokens for piece in pieces) == 24

    async def test_the_end_token_ends_it_with_stop(self, engine: LlamaEngine) -> None:
        sampling = Sampling(logit_bias={str(token_id("<|im_end|>")): NEVER})
        pieces, ended = await write(engine, Generation(sampling))
        assert ended.finish == "stop"
        assert "".join(piece.text for piece in pieces) == ""

    async def test_a_full_context_ends_it_with_length(self, engine: LlamaEngine) -> None:
        sampling = Sampling(temperature=0.0, ignore_eos=True)
        _, ended = await write(engine, Generation(sampling), prompt="y" * 480)
        assert ended.finish == "length"
        assert 25 <= ended.generated <= 33

    async def test_no_tokens_asked_is_none_given(self, engine: LlamaEngine) -> None:
        pieces, ended = await write(engine, Generation(Sampling(max_tokens=0)))
        assert "".join(piece.text for piece in pieces) == ""
        assert ended == GenerationEnded("length", 0, ended.cached)

    async def test_a_character_of_several_tokens_comes_whole(self, engine: LlamaEngine) -> None:
        # A grammar makes the model write it byte by byte.
        grammar = OutputFormat("grammar", grammar='root ::= "é" "漢" "🎉"')
        pieces, ended = await write(engine, Generation(Sampling(), grammar))
        assert [piece.text for piece in pieces if piece.text] == ["é", "漢", "🎉"]
        assert sum(piece.tokens for piece in pieces) == ended.generated == 2 + 3 + 4 + 1
        assert ended.finish == "stop"

    async def test_half_a_character_at_the_limit_is_not_shown(self, engine: LlamaEngine) -> None:
        grammar = OutputFormat("grammar", grammar='root ::= "a🎉"')
        pieces, ended = await write(engine, Generation(Sampling(max_tokens=3), grammar))
        assert "".join(piece.text for piece in pieces) == "a"
        assert (ended.finish, ended.generated) == ("length", 3)

    async def test_control_tokens_are_silent_unless_preserved(self, engine: LlamaEngine) -> None:
        think = Sampling(max_tokens=3, logit_bias={str(token_id("<think>")): NEVER})
        silent, _ = await write(engine, Generation(think))
        spoken, _ = await write(
            engine, Generation(think, preserved=("<think>", "</think>", "no token at all"))
        )
        assert "".join(piece.text for piece in silent) == ""
        assert all(piece.control for piece in spoken)
        assert "".join(piece.text for piece in spoken) == "<think>" * 3

    async def test_slots_run_side_by_side_and_do_not_mix(self, engine: LlamaEngine) -> None:
        alone = {slot: await self.forced(engine, slot, letter) for slot, letter in ((0, "A"), (1, "B"))}
        together: dict[int, str] = {}

        async def run(slot: int, letter: str) -> None:
            together[slot] = await self.forced(engine, slot, letter)

        async with anyio.create_task_group() as group:
            group.start_soon(run, 0, "A")
            group.start_soon(run, 1, "B")
        assert together == alone == {0: "A" * 200, 1: "B" * 200}

    @staticmethod
    async def forced(engine: LlamaEngine, slot: int, letter: str) -> str:
        sampling = Sampling(max_tokens=200, logit_bias={letter: NEVER})
        pieces, _ = await write(engine, Generation(sampling), slot)
        return "".join(piece.text for piece in pieces)

    async def test_cancelled_in_the_middle_it_leaves_a_slot_that_works(self, engine: LlamaEngine) -> None:
        tokens = await engine.tokenize(PROMPT)
        with anyio.CancelScope() as scope:
            async with engine.generate(0, tokens, Generation(Sampling(ignore_eos=True))) as items:
                async for item in items:
                    if isinstance(item, Piece) and item.tokens:
                        scope.cancel()
        assert scope.cancelled_caught
        assert await text(engine, GREEDY)

    async def test_a_token_the_model_does_not_have_is_refused(self, engine: LlamaEngine) -> None:
        with pytest.raises(BadRequest):
            async with engine.generate(0, (1, 99_999), Generation()) as items:
                await anext(items)

    async def test_an_empty_prompt_is_refused(self, engine: LlamaEngine) -> None:
        with pytest.raises(BadRequest):
            await read(engine, ())


class TestLeaving:
    """On a model slow enough that going on would show: some milliseconds a token, thousands of tokens to go."""

    @pytest.fixture(scope="class")
    async def slow(self, models: Path) -> AsyncIterator[LlamaEngine]:
        shape = TinyModel(embedding=256, feed_forward=3072, blocks=6, context=4096)
        path = write_tiny_model(models / "slow.gguf", shape)
        engine = await load({"model": str(path), "slots": 2, "batch": 32, "log": 0})
        yield engine
        await engine.close()

    @staticmethod
    async def counted(engine: LlamaEngine, name: str) -> int:
        """The engine's own count of tokens `predicted` or read as `prompt`, once all it was given has ended."""
        await read(engine, (1, 2, 3), slot=0)
        await read(engine, (1, 2, 3), slot=1)
        metrics = await anyio.to_thread.run_sync(engine._server.handle_metrics)
        wanted = {"predicted": "llamacpp:tokens_predicted_total", "prompt": "llamacpp:prompt_tokens_total"}[
            name
        ]
        return int(
            float(next(line.split()[1] for line in metrics.splitlines() if line.startswith(wanted + " ")))
        )

    async def test_a_generation_that_is_left_ends(self, slow: LlamaEngine) -> None:
        tokens = await slow.tokenize(PROMPT)
        before = await self.counted(slow, "predicted")
        async with slow.generate(0, tokens, Generation(Sampling(ignore_eos=True))) as items:
            async for item in items:
                if isinstance(item, Piece) and item.tokens:
                    break
        assert await self.counted(slow, "predicted") - before < 40

    async def test_a_generation_that_is_cancelled_ends(self, slow: LlamaEngine) -> None:
        tokens = await slow.tokenize(PROMPT)
        before = await self.counted(slow, "predicted")
        with anyio.CancelScope() as scope:
            async with slow.generate(1, tokens, Generation(Sampling(ignore_eos=True))) as items:
                async for item in items:
                    if isinstance(item, Piece) and item.tokens:
                        scope.cancel()
        assert scope.cancelled_caught
        assert await self.counted(slow, "predicted") - before < 40

    async def test_one_that_is_left_does_not_disturb_the_other(self, slow: LlamaEngine) -> None:
        tokens = await slow.tokenize(PROMPT)
        async with slow.generate(0, tokens, Generation(Sampling(ignore_eos=True))) as items:
            await anext(items)
            sampling = Sampling(max_tokens=40, logit_bias={"A": NEVER})
            beside, ended = await write(slow, Generation(sampling), slot=1)
        assert "".join(piece.text for piece in beside) == "A" * 40
        assert (ended.finish, ended.generated) == ("length", 40)

    async def test_a_prefill_that_is_left_ends_within_a_batch_or_two(self, slow: LlamaEngine) -> None:
        before = await self.counted(slow, "prompt")
        async with slow.prefill(0, (7,) * 4000) as steps:
            assert (await anext(steps)).processed == 0
        assert await self.counted(slow, "prompt") - before < 1000

    async def test_a_generation_left_while_its_prompt_is_read_ends_too(self, slow: LlamaEngine) -> None:
        before = await self.counted(slow, "prompt")
        async with slow.generate(0, (8,) * 4000, Generation()) as items:
            assert isinstance(await anext(items), Progress)
        assert await self.counted(slow, "prompt") - before < 1000


class TestSampling:
    """Each parameter changes what the model does, in the direction it should."""

    async def test_temperature_zero_is_deterministic_and_equals_the_likeliest(
        self, engine: LlamaEngine
    ) -> None:
        greedy = await text(engine, GREEDY)
        assert await text(engine, GREEDY) == greedy
        assert (
            await text(engine, Sampling(max_tokens=24, top_k=1, temperature=1.5, ignore_eos=True)) == greedy
        )

    async def test_heat_changes_the_text(self, engine: LlamaEngine) -> None:
        hot = Sampling(max_tokens=24, temperature=2.0, top_k=0, top_p=1.0, min_p=0.0, seed=1, ignore_eos=True)
        assert await text(engine, hot) != await text(engine, GREEDY)

    async def test_the_same_seed_writes_the_same_and_others_differ(self, engine: LlamaEngine) -> None:
        texts = {}
        for seed in (1, 2, 3, 1 << 31, (1 << 31) + 1, 5_000_000_000):
            sampling = Sampling(max_tokens=24, temperature=1.5, seed=seed, ignore_eos=True)
            texts[seed] = await text(engine, sampling)
            assert await text(engine, sampling) == texts[seed]
        assert len(set(texts.values())) == len(texts)

    async def test_min_p_cuts_just_the_tokens_below_its_share_of_the_likeliest(
        self, engine: LlamaEngine
    ) -> None:
        plain = Sampling(max_tokens=1, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, ignore_eos=True)
        prompt = "Once upon"
        pieces, _ = await write(engine, Generation(replace_struct(plain, logprobs=20)), prompt=prompt)
        shares = sorted((math.exp(each.logprob) for each in pieces[0].logprobs[0].top), reverse=True)
        least = (shares[2] + shares[3]) / 2 / shares[0]
        cut = {
            await text(engine, replace_struct(plain, min_p=least, seed=seed), prompt) for seed in range(30)
        }
        assert 1 < len(cut) <= 3

    async def test_without_a_seed_texts_differ(self, engine: LlamaEngine) -> None:
        for sampling in (
            Sampling(max_tokens=24, temperature=2.0),
            Sampling(max_tokens=24, temperature=2.0, seed=-1),
        ):
            hot = replace_struct(sampling, top_k=0, top_p=1.0, min_p=0.0, ignore_eos=True)
            assert len({await text(engine, hot) for _ in range(4)}) > 1

    @pytest.mark.parametrize("key", ["A", str(ord("A"))])
    async def test_a_logit_bias_forces_a_token_by_text_or_id(self, engine: LlamaEngine, key: str) -> None:
        assert await text(engine, Sampling(max_tokens=5, logit_bias={key: NEVER})) == "AAAAA"

    async def test_a_logit_bias_forbids_a_token(self, engine: LlamaEngine) -> None:
        greedy = await text(engine, GREEDY)
        letter = next(character for character in greedy if character.isascii())
        biased = replace_struct(GREEDY, logit_bias={letter: -NEVER})
        assert letter not in await text(engine, biased)

    async def test_ignore_eos_writes_on(self, engine: LlamaEngine) -> None:
        end = {str(token_id("<|im_end|>")): 30.0}
        _, ended = await write(engine, Generation(Sampling(max_tokens=20, logit_bias=end)))
        assert ended.finish == "stop"
        _, ended = await write(engine, Generation(Sampling(max_tokens=20, logit_bias=end, ignore_eos=True)))
        assert (ended.finish, ended.generated) == ("length", 20)

    @pytest.mark.parametrize(
        "change",
        [
            {"top_p": 0.0001},
            {"min_p": 1.0},
            {"top_n_sigma": 0.001},
            {"xtc_probability": 1.0, "xtc_threshold": 0.02},
            {"typical_p": 0.1},
            {"dynamic_temperature_range": 1.9},
            {"dynamic_temperature_range": 1.9, "dynamic_temperature_exponent": 4.0},
            {"repetition_penalty": 1.9},
            {"presence_penalty": 2.0},
            {"frequency_penalty": 2.0},
            {"mirostat": 1},
            {"mirostat": 2},
            {"samplers": ("top_k",), "top_k": 1},
        ],
        ids=str,
    )
    async def test_a_parameter_changes_the_text_of_the_same_seed(
        self, engine: LlamaEngine, change: dict[str, object]
    ) -> None:
        plain = Sampling(
            max_tokens=40, temperature=2.0, top_k=0, top_p=1.0, min_p=0.0, seed=5, ignore_eos=True
        )
        assert await text(engine, replace_struct(plain, **change)) != await text(engine, plain)

    @pytest.mark.parametrize("narrow", [{"top_p": 0.0001}, {"min_p": 1.0}, {"top_n_sigma": 0.001}], ids=str)
    async def test_the_narrowest_choice_is_the_likeliest(
        self, engine: LlamaEngine, narrow: dict[str, object]
    ) -> None:
        hot = Sampling(max_tokens=24, temperature=2.0, top_k=0, top_p=1.0, min_p=0.0, seed=5, ignore_eos=True)
        assert await text(engine, replace_struct(hot, **narrow)) == await text(engine, GREEDY)

    async def test_min_keep_keeps_a_choice_that_top_p_would_not(self, engine: LlamaEngine) -> None:
        one = Sampling(
            max_tokens=24, temperature=2.0, top_k=0, top_p=0.0001, min_p=0.0, seed=5, ignore_eos=True
        )
        assert await text(engine, replace_struct(one, min_keep=200)) != await text(engine, one)

    async def test_a_repetition_window_bounds_the_penalty(self, engine: LlamaEngine) -> None:
        penal = replace_struct(GREEDY, max_tokens=60, repetition_penalty=1.9)
        wide, narrow = replace_struct(penal, repetition_window=-1), replace_struct(penal, repetition_window=1)
        none = replace_struct(penal, repetition_window=0)
        assert await text(engine, none) == await text(engine, replace_struct(GREEDY, max_tokens=60))
        assert len({await text(engine, wide), await text(engine, narrow), await text(engine, none)}) == 3

    async def test_mirostat_is_steered_by_its_target_and_rate(self, engine: LlamaEngine) -> None:
        steered = Sampling(max_tokens=40, mirostat=2, seed=5, ignore_eos=True)
        texts = {
            await text(engine, replace_struct(steered, mirostat_tau=tau, mirostat_eta=eta))
            for tau, eta in ((0.3, 0.9), (3.0, 0.9), (0.3, 0.01))
        }
        assert len(texts) == 3

    async def test_dry_breaks_a_loop_and_its_settings_count(self, engine: LlamaEngine) -> None:
        prompt = "abcdefgh " * 12
        # A bias makes the model want to go on with the loop; DRY makes it dearer the longer it goes.
        loop = Sampling(
            max_tokens=18, temperature=0.0, ignore_eos=True, logit_bias=dict.fromkeys("abcdefgh ", 12.0)
        )
        dry = {"dry_multiplier": 5.0, "dry_base": 1.75, "dry_allowed_length": 2, "dry_penalty_last_n": -1}
        plain = await text(engine, loop, prompt)
        dried = await text(engine, replace_struct(loop, **dry), prompt)
        assert dried != plain
        for change in (
            {"dry_multiplier": 0.0},
            {"dry_allowed_length": 400},
            {"dry_penalty_last_n": 0},
            {"dry_sequence_breakers": tuple("abcdefgh ")},
        ):
            assert await text(engine, replace_struct(loop, **(dry | change)), prompt) == plain, change
        assert (
            await text(
                engine, replace_struct(loop, **(dry | {"dry_base": 1.0, "dry_multiplier": 0.01})), prompt
            )
            == plain
        )


def replace_struct(sampling: Sampling, **changes: object) -> Sampling:
    import msgspec

    return msgspec.structs.replace(sampling, **changes)


class TestLogprobs:
    async def test_each_token_has_one_with_its_alternatives(self, engine: LlamaEngine) -> None:
        pieces, _ = await write(engine, Generation(replace_struct(GREEDY, logprobs=3)))
        entries = [entry for piece in pieces for entry in piece.logprobs]
        assert entries
        for entry in entries:
            assert entry.logprob <= 0
            assert len(entry.top) == 3
            assert [other.logprob for other in entry.top] == sorted(
                (o.logprob for o in entry.top), reverse=True
            )
            # Greedy: the token that was taken is the likeliest.
            assert entry.top[0].logprob == entry.logprob

    async def test_none_asked_are_none_given(self, engine: LlamaEngine) -> None:
        pieces, _ = await write(engine, Generation(GREEDY))
        assert not any(piece.logprobs for piece in pieces)

    async def test_zero_alternatives_give_the_token_alone(self, engine: LlamaEngine) -> None:
        pieces, _ = await write(engine, Generation(replace_struct(GREEDY, logprobs=0)))
        entries = [entry for piece in pieces for entry in piece.logprobs]
        assert entries
        assert not any(entry.top for entry in entries)

    async def test_bytes_join_to_the_text(self, engine: LlamaEngine) -> None:
        grammar = OutputFormat("grammar", grammar='root ::= "aé漢b"')
        pieces, _ = await write(engine, Generation(Sampling(logprobs=1), grammar))
        entries = [entry for piece in pieces for entry in piece.logprobs]
        assert b"".join(entry.data for entry in entries).decode() == "aé漢b"


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


class TestFormat:
    async def test_a_schema_holds(self, engine: LlamaEngine) -> None:
        for seed in range(3):
            # A model with a liking for blanks writes nothing else where any are allowed.
            sampling = Sampling(
                max_tokens=200, temperature=1.5, seed=seed, logit_bias=dict.fromkeys(" \t\r\n", 40.0)
            )
            pieces, ended = await write(
                engine, Generation(sampling, OutputFormat("json_schema", schema=SCHEMA))
            )
            value = json.loads("".join(piece.text for piece in pieces))
            assert ended.finish == "stop"
            assert value["a"] in (1, 2)
            assert value["b"] in (True, False)

    async def test_any_json_object_is_an_object(self, engine: LlamaEngine) -> None:
        # Steer towards the end of the object, so that noise does not fill the whole limit.
        sampling = Sampling(max_tokens=60, temperature=0.0, logit_bias={"}": 40.0})
        pieces, ended = await write(engine, Generation(sampling, OutputFormat("json_object")))
        assert ended.finish == "stop"
        assert json.loads("".join(piece.text for piece in pieces)) == {}

    async def test_a_grammar_holds(self, engine: LlamaEngine) -> None:
        grammar = OutputFormat("grammar", grammar='root ::= "yes" | "no"')
        for seed in range(4):
            pieces, _ = await write(engine, Generation(Sampling(temperature=2.0, seed=seed), grammar))
            assert "".join(piece.text for piece in pieces) in ("yes", "no")

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "wibble"},
            {"$ref": "#/nowhere"},
            {"type": "object", "properties": 5},
            {"type": "string", "pattern": "^[("},
            {"not": {}},
        ],
        ids=str,
    )
    async def test_a_schema_that_cannot_be_applied_is_refused_every_time(
        self, engine: LlamaEngine, schema: dict[str, object]
    ) -> None:
        for _ in range(2):
            with pytest.raises(BadRequest, match="schema cannot be applied") as caught:
                await write(engine, Generation(GREEDY, OutputFormat("json_schema", schema=schema)))
            assert caught.value.param == "response_format"

    @pytest.mark.parametrize(
        "grammar", ["root ::= (((", 'other ::= "a"', 'root ::= root "a" | "b"', "%llguidance {}", " "]
    )
    async def test_a_grammar_that_cannot_be_parsed_is_refused(
        self, engine: LlamaEngine, grammar: str
    ) -> None:
        with pytest.raises(BadRequest, match=r"GBNF") as caught:
            await write(engine, Generation(GREEDY, OutputFormat("grammar", grammar=grammar)))
        assert caught.value.param == "response_format"

    @pytest.mark.parametrize(
        "format",
        [
            OutputFormat("grammar", grammar="root ::= (((", param="guided_grammar"),
            OutputFormat("grammar", grammar="%llguidance {}", param="guided_grammar"),
            OutputFormat("grammar", grammar='root ::= "a"{0,9999}', param="guided_grammar"),
            OutputFormat("grammar", grammar='root ::= "\\x00"', param="guided_grammar"),
            OutputFormat("json_schema", schema={"not": {}}, param="guided_json"),
            OutputFormat("json_schema", schema={"minItems": 10**9}, param="guided_json"),
        ],
        ids=str,
    )
    async def test_what_is_wrong_with_a_constraint_is_said_of_the_field_that_was_sent(
        self, engine: LlamaEngine, format: OutputFormat
    ) -> None:
        """The engine knows one name for all of them, response_format."""
        with pytest.raises(BadRequest) as caught:
            await write(engine, Generation(GREEDY, format))
        assert caught.value.param == format.param

    async def test_a_grammar_that_would_keep_the_engine_busy_is_refused(self, engine: LlamaEngine) -> None:
        grammar = OutputFormat("grammar", grammar='root ::= ((("a" | "b"){0,10}){0,10}){0,10}')
        with anyio.fail_after(60), pytest.raises(BadRequest, match="ways to go on"):
            await write(engine, Generation(GREEDY, grammar))

    async def test_a_grammar_nobody_can_follow_is_the_callers_fault(self, engine: LlamaEngine) -> None:
        with pytest.raises(BadRequest, match="grammar"):
            await write(engine, Generation(GREEDY, OutputFormat("grammar", grammar='root ::= "\\x00"')))

    async def test_a_constraint_the_engine_drops_midway_is_an_error_and_no_answer(
        self, engine: LlamaEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # What the engine does with a schema that is too complex, without spending seconds on compiling one.
        def dropped(request: dict[str, object], *rest: Any, **names: Any) -> dict[str, object]:
            made = original(request, *rest, **names)
            made.pop("json_schema", None)
            return made

        original: Callable[..., dict[str, object]] = generate_request
        monkeypatch.setattr(llama_module, "generate_request", dropped)
        end = Sampling(max_tokens=9, logit_bias={str(token_id("<|im_end|>")): NEVER})
        with pytest.raises(EngineFailed, match="too complex"):
            await write(engine, Generation(end, OutputFormat("json_object")))

    async def test_the_slot_works_on_after_a_refusal(self, engine: LlamaEngine) -> None:
        with pytest.raises(BadRequest):
            await write(engine, Generation(GREEDY, OutputFormat("json_schema", schema={"type": "wibble"})))
        assert await text(engine, GREEDY)


WEATHER = Tool(
    "weather",
    "The weather somewhere.",
    {
        "type": "object",
        "properties": {
            "place": {"enum": ["Oslo", "Rome"]},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
        "required": ["place", "days"],
    },
)
CALLS = AllowedToolCalls("hermes", (WEATHER,), several=False)
CALLING = Sampling(
    max_tokens=120, temperature=1.5, logit_bias={"]": 40.0, str(token_id("<tool_call>")): NEVER}
)
"""Towards a call, and towards the end of its list, so that noise does not fill the whole limit."""


def called(pieces: list[Piece]) -> dict[str, object]:
    reply = parse_reply("".join(piece.text for piece in pieces), tools=(WEATHER,))
    assert reply.content == ""
    [call] = reply.tool_calls
    assert call.name == "weather"
    arguments: dict[str, object] = json.loads(call.arguments)
    jsonschema.validate(arguments, WEATHER.parameters)
    return arguments


class TestGrammar:
    async def test_a_call_that_begins_becomes_one_of_those_that_are_offered(
        self, engine: LlamaEngine
    ) -> None:
        grammar = optional_tool_calls(CALLS)
        for seed in range(4):
            sampling = replace_struct(CALLING, seed=seed)
            pieces, ended = await write(engine, Generation(sampling, preserved=MARKERS, grammar=grammar))
            assert ended.finish == "stop"
            assert called(pieces)["place"] in ("Oslo", "Rome")

    async def test_a_reply_without_a_call_is_written_as_if_there_were_no_grammar(
        self, engine: LlamaEngine
    ) -> None:
        sampling = replace_struct(GREEDY, logit_bias={str(token_id("<tool_call>")): -NEVER})
        free, _ = await write(engine, Generation(sampling, preserved=MARKERS))
        bound, _ = await write(
            engine, Generation(sampling, preserved=MARKERS, grammar=optional_tool_calls(CALLS))
        )
        assert [piece.text for piece in bound] == [piece.text for piece in free]

    @pytest.mark.parametrize("thinking", [False, True])
    async def test_a_call_can_be_forced_behind_a_thought_or_without_one(
        self, engine: LlamaEngine, thinking: bool
    ) -> None:
        grammar = constrained_reply(CALLS, None, ThoughtPrefix(ReasoningTags(), open=thinking))
        bias = {
            "]": 40.0,
            str(token_id("</think>" if thinking else "<think>")): NEVER if thinking else -NEVER,
        }
        sampling = replace_struct(CALLING, seed=1, logit_bias=bias)
        pieces, ended = await write(engine, Generation(sampling, preserved=MARKERS, grammar=grammar))
        assert ended.finish == "stop"
        if thinking:
            assert pieces.pop(0).text == "</think>"
        assert called(pieces)

    async def test_a_marker_may_be_several_tokens(self, engine: LlamaEngine) -> None:
        sampling = Sampling(max_tokens=20, logit_bias={"A": NEVER})
        grammar = ReplyGrammar('root ::= "AA" "BC"', "AA")
        pieces, ended = await write(engine, Generation(sampling, preserved=("AA",), grammar=grammar))
        assert ("".join(piece.text for piece in pieces), ended.finish) == ("AABC", "stop")

    async def test_json_can_be_forced_where_calls_are_offered(self, engine: LlamaEngine) -> None:
        sampling = replace_struct(CALLING, seed=1, logit_bias={str(token_id("<tool_call>")): -NEVER})
        grammar = constrained_reply(CALLS, OutputFormat("json_schema", schema=SCHEMA), None)
        pieces, ended = await write(engine, Generation(sampling, preserved=MARKERS, grammar=grammar))
        assert ended.finish == "stop"
        jsonschema.validate(json.loads("".join(piece.text for piece in pieces)), SCHEMA)

    async def test_a_grammar_that_cannot_be_used_costs_no_reply(
        self, engine: LlamaEngine, caplog: pytest.LogCaptureFixture
    ) -> None:
        broken = ReplyGrammar('root ::= root "a" | "b"', "<tool_call>")
        pieces, ended = await write(engine, Generation(GREEDY, preserved=MARKERS, grammar=broken))
        assert (len(pieces) > 0, ended.finish) == (True, "length")
        assert "without a grammar" in caplog.text

    @pytest.mark.parametrize("grammar", [optional_tool_calls(CALLS), constrained_reply(CALLS, None, None)])
    async def test_what_is_wrong_with_something_else_is_still_the_callers(
        self, engine: LlamaEngine, grammar: ReplyGrammar, caplog: pytest.LogCaptureFixture
    ) -> None:
        sampling = Sampling(max_tokens=3, dry_multiplier=1.0, dry_sequence_breakers=())
        with pytest.raises(BadRequest):
            await write(engine, Generation(sampling))
        with pytest.raises(BadRequest):
            await write(engine, Generation(sampling, preserved=MARKERS, grammar=grammar))
        assert "grammar" not in caplog.text

    async def test_a_shape_that_was_promised_is_not_given_up_for_that(self, engine: LlamaEngine) -> None:
        broken = ReplyGrammar("root ::= (((")
        with pytest.raises(EngineFailed):
            await write(engine, Generation(GREEDY, preserved=MARKERS, grammar=broken))


class TestLoading:
    async def test_the_loop_turns_before_and_after_the_model_is_constructed(self, models: Path) -> None:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await anyio.sleep(0.001)

        async with anyio.create_task_group() as group:
            group.start_soon(turn)
            engine = await load({"model": str(models / "tiny.gguf"), "log": 0})
            group.cancel_scope.cancel()
        assert turns > 1
        await engine.close()

    async def test_a_broken_file_is_a_sentence_with_its_path(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.gguf"
        path.write_bytes(b"GGUF")
        with pytest.raises(StartFailed, match=r"broken\.gguf is truncated"):
            await load({"model": str(path)})

    async def test_what_the_library_refuses_is_a_sentence_with_likely_reasons(self, tmp_path: Path) -> None:
        # A header that is in order, and weights that do not fit it.
        path = write_tiny_model(tmp_path / "odd.gguf", TinyModel(blocks=2))
        content = path.read_bytes().replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_xx.weight")
        path.write_bytes(content)
        with pytest.raises(StartFailed, match=r"could not load .*odd\.gguf .*Likely reasons"):
            await load({"model": str(path), "log": 0})

    async def test_an_architecture_the_engine_does_not_know_is_named(self, tmp_path: Path) -> None:
        path = write_tiny_model(tmp_path / "new.gguf", TinyModel(architecture="llama9000"))
        with pytest.raises(StartFailed, match=r"llama9000.*pip install --upgrade xllamacpp"):
            await load({"model": str(path), "log": 0})

    async def test_without_a_model_it_is_the_bundled_one(
        self, models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(llama_module, "bundled_model", lambda: models / "tiny.gguf")
        engine = await load({"model": None, "log": 0})
        assert (engine.card.name, engine.card.bundled) == ("tiny", True)
        await engine.close()

    async def test_a_library_that_is_too_old_says_so(
        self, models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def settings(*rest: object) -> None:
            raise AttributeError("no attribute 'hostnames'")

        monkeypatch.setattr(model_server, "_fill", settings)
        with pytest.raises(StartFailed, match=r"xllamacpp 20\S+ is too old .*pip install --upgrade"):
            await load({"model": str(models / "tiny.gguf")})

    async def test_an_unknown_option_is_named(self) -> None:
        with pytest.raises(StartFailed, match="Did you mean 'threads'"):
            await load({"model": "x.gguf", "treads": 3})

    def test_reading_ahead_reports_how_far_it_is(self, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        shares: list[float] = []
        monkeypatch.setattr(load_progress, "report", shares.append)
        model_server.read_ahead(read_header(models / "tiny.gguf"))
        assert shares[-1] == model_server.READ_SHARE
        assert shares == sorted(shares)

    async def test_a_large_file_is_read_ahead(self, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[Path] = []
        original = model_server.read_ahead
        monkeypatch.setattr(llama_module, "READ_AHEAD", 1000)

        def read_ahead(header: Any) -> None:
            seen.append(header.path)
            original(header)

        monkeypatch.setattr(llama_module, "read_ahead", read_ahead)
        engine = await load({"model": str(models / "tiny.gguf"), "log": 0})
        assert seen == [models / "tiny.gguf"]
        await engine.close()


class TestClosing:
    async def test_a_closed_engine_refuses_work_and_may_be_closed_again(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "log": 0})
        await engine.close()
        await engine.close()
        with pytest.raises(Unavailable):
            await engine.tokenize("a")
        with pytest.raises(Unavailable):
            await write_blindly(engine)

    async def test_closing_closes_the_engines_port(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "log": 0})
        host, port = engine._client._connection.host, engine._client._connection.port
        with socket.create_connection((host, port), timeout=5):
            pass
        with anyio.fail_after(60):
            await engine.close()
        gc.collect()
        with pytest.raises(OSError):
            socket.create_connection((host, port), timeout=1)

    async def test_closing_waits_for_nobody_who_forgot_to_leave(self, models: Path) -> None:
        engine = await load({"model": str(models / "tiny.gguf"), "slots": 1, "log": 0})
        tokens = await engine.tokenize(PROMPT)
        with anyio.fail_after(60):
            async with engine.generate(0, tokens, Generation(Sampling(ignore_eos=True))) as items:
                await anext(items)
                await engine.close()


async def write_blindly(engine: LlamaEngine) -> None:
    async with engine.generate(0, (1, 2), Generation()) as items:
        await anext(items)


class TestTheHiddenDoor:
    """The library's own HTTP server answers nobody but this process."""

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/props", None),
            ("/slots", None),
            ("/models", None),
            ("/metrics", None),
            ("/tokenize", b'{"content":"a"}'),
            ("/completion", b'{"prompt":"a","n_predict":1}'),
            ("/v1/chat/completions", b'{"messages":[{"role":"user","content":"a"}]}'),
        ],
    )
    async def test_it_wants_the_key(self, engine: LlamaEngine, path: str, body: bytes | None) -> None:
        status = await anyio.to_thread.run_sync(self.ask, engine, path, body, "Bearer wrong")
        assert status in (401, 404)

    async def test_it_shows_no_page(self, engine: LlamaEngine) -> None:
        assert await anyio.to_thread.run_sync(self.ask, engine, "/", None, "") in (401, 404)

    async def test_it_listens_on_loopback_alone(self, engine: LlamaEngine) -> None:
        assert engine._client._connection.host == "127.0.0.1"

    @staticmethod
    def ask(engine: LlamaEngine, path: str, body: bytes | None, key: str) -> int:
        host, port = engine._client._connection.host, engine._client._connection.port
        request = urllib.request.Request(f"http://{host}:{port}{path}", body, {"Authorization": key})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

"""Tokens of texts that are no prompt, and another chat template, on the real library with a tiny model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import anyio
import pytest
from tests.support.tiny_model import CONTROL, TEMPLATE, TinyModel, token_id, write_tiny_model

from duologue.engines.choice_contracts import TemplateChooser, TokenTeller
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.errors import BadRequest, ContextExceeded, Unsupported
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.messages import user
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText

pytestmark = pytest.mark.anyio
TEXT = "h\u00e9llo \U0001f600 <|im_end|> x"
PLAIN = "{% for message in messages %}{{ message.role }}> {{ message.content }}\n{% endfor %}"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LlamaEngine]:
    path = write_tiny_model(tmp_path_factory.mktemp("m") / "m.gguf", TinyModel(add_bos=True))
    engine = await load({"model": str(path), "slots": 2, "log": 0})
    yield engine
    await engine.close()


async def test_a_text_comes_back_from_its_tokens(engine: LlamaEngine) -> None:
    assert isinstance(engine, TokenTeller)
    for control in (True, False):
        found = await engine.text_tokens(TokenizeText(TEXT, control=control, pieces=True))
        assert (token_id("<|im_end|>") in found.tokens) is control
        assert b"".join(found.pieces) == TEXT.encode()
        assert await engine.tokens_text(DetokenizeTokens(found.tokens)) == TEXT
        assert (await engine.text_tokens(TokenizeText(TEXT, control=control))).tokens == found.tokens


async def test_the_first_token_is_there_once_where_it_is_asked_for(engine: LlamaEngine) -> None:
    bos = token_id("<|endoftext|>")
    found = await engine.text_tokens(TokenizeText("ab", start=True, pieces=True))
    assert found.tokens == (bos, *b"ab")
    assert found.pieces == (b"<|endoftext|>", b"a", b"b")
    assert (await engine.text_tokens(TokenizeText("<|endoftext|>ab", start=True))).tokens == found.tokens
    assert (await engine.text_tokens(TokenizeText("", start=True))).tokens == (bos,)


async def test_control_tokens_are_written_or_left_out(engine: LlamaEngine) -> None:
    tokens = (*b"a", *map(token_id, CONTROL), *b"b")
    assert await engine.tokens_text(DetokenizeTokens(tokens)) == f"a{''.join(CONTROL)}b"
    assert await engine.tokens_text(DetokenizeTokens(tokens, control=False)) == "ab"


async def test_half_a_character_is_a_replacement_and_an_unknown_token_is_refused(engine: LlamaEngine) -> None:
    assert await engine.tokens_text(DetokenizeTokens((0xF0, 0x9F))) == "\ufffd"
    assert await engine.tokens_text(DetokenizeTokens(())) == ""
    for token in (99_999, -1):
        with pytest.raises(BadRequest, match=str(token)):
            await engine.tokens_text(DetokenizeTokens((token,)))


async def test_a_long_text_is_tokenized_unless_it_is_full_of_what_may_be_markers(engine: LlamaEngine) -> None:
    words = "word " * 20_000
    assert len((await engine.text_tokens(TokenizeText(words))).tokens) == len(words)
    markers = "<|bogus|>" * 20_000
    assert len((await engine.text_tokens(TokenizeText(markers, control=False))).tokens) == len(markers)
    with pytest.raises(ContextExceeded, match="4 times the context"):
        await engine.text_tokens(TokenizeText(markers))


async def test_another_template_renders_later_prompts_and_the_card_follows(engine: LlamaEngine) -> None:
    assert isinstance(engine, TemplateChooser)
    before, now = engine.template, datetime(2031, 5, 4)
    request = PromptRequest((user("hi"),), form="full")
    usual = (await before.render(request, now)).text
    await engine.use_template(PLAIN + "{# <tool_call> {{ tools }} <think> </think> #}")
    assert (await engine.template.render(request, now)).text == "user> hi\n"
    assert engine.template.source != TEMPLATE
    with pytest.raises(Unsupported) as met:
        await engine.use_template("{% for message in %}")
    assert met.value.code == "template_error"
    assert (await engine.template.render(request, now)).text == "user> hi\n"
    await engine.use_template("")
    assert (await engine.template.render(request, now)).text == usual
    assert engine.template.source == TEMPLATE


async def test_a_prompt_that_is_being_rendered_keeps_its_template(engine: LlamaEngine) -> None:
    """The former template's process ends once it has answered."""
    now, texts = datetime(2031, 5, 4), []
    long = PromptRequest(tuple(user("word " * 2000) for _ in range(20)), form="full")

    async def render() -> None:
        texts.append((await engine.template.render(long, now)).text)

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(render)
        await anyio.lowlevel.checkpoint()
        await engine.use_template(PLAIN)
    await engine.use_template("")
    assert len(texts) == 6
    assert all(text.startswith("<|im_start|>user\n") for text in texts)

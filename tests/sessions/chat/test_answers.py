"""What a worker answers without a slot, on the scripted engine, whose tokens are bytes."""

from datetime import datetime

import pytest

from duologue.engines.scripted.language import ScriptedChatEngine, ScriptedEngine
from duologue.errors import BadRequest, ContextExceeded, Unsupported
from duologue.sessions.chat.answers import answer
from duologue.sessions.chat.chat import count, reply
from duologue.values.events import Done
from duologue.values.messages import user
from duologue.values.questions.worker_answers import Counted, Described, Detokenized, Rendered, Tokenized
from duologue.values.questions.worker_questions import (
    CountPrompt,
    DescribeModel,
    DetokenizeTokens,
    RenderChat,
    TokenizeText,
    UseTemplate,
)
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio
NOW = datetime(2031, 5, 4)
REQUEST = ChatRequest((user("/say hi"),), thinking=False)


async def test_a_prompt_is_rendered_as_the_reply_begins():
    engine = ScriptedEngine("m")
    rendered = await answer(engine, RenderChat(REQUEST, tokens=True), now=NOW)
    assert isinstance(rendered, Rendered)
    assert rendered.text.startswith("<|im_start|>user\n/say hi<|im_end|>\n")
    assert bytes(rendered.tokens).decode() == rendered.text
    events = []

    async def emit(event):
        events.append(event)

    await reply(engine, 0, REQUEST, emit, now=NOW, clock=lambda: 0.0)
    assert isinstance(events[-1], Done)
    assert len(rendered.tokens) == events[-1].usage.input == (await count(engine, REQUEST, now=NOW)).tokens
    assert (await answer(engine, RenderChat(REQUEST), now=NOW)) == Rendered(rendered.text)


async def test_a_count_is_one_of_the_questions():
    assert await answer(ScriptedEngine("m", context=500), CountPrompt(REQUEST), now=NOW) == Counted(76, 500)


async def test_texts_become_tokens_and_tokens_texts():
    engine = ScriptedEngine("m")
    found = await answer(engine, TokenizeText("hé", pieces=True), now=NOW)
    assert found == Tokenized(tuple("hé".encode()), (b"h", b"\xc3", b"\xa9"))
    assert await answer(engine, DetokenizeTokens(found.tokens), now=NOW) == Detokenized("hé")
    with pytest.raises(BadRequest, match="256 tokens"):
        await answer(engine, DetokenizeTokens((300,)), now=NOW)


async def test_the_model_describes_its_template():
    described = await answer(ScriptedEngine("m"), DescribeModel(), now=NOW)
    assert isinstance(described, Described)
    assert "<|im_start|>" in described.template


async def test_a_model_that_takes_messages_says_that_it_has_no_prompt():
    engine = ScriptedChatEngine("m")
    assert await answer(engine, DescribeModel(), now=NOW) == Described()
    for question in (RenderChat(REQUEST), TokenizeText("a"), DetokenizeTokens((1,)), UseTemplate("a")):
        with pytest.raises(Unsupported):
            await answer(engine, question, now=NOW)


async def test_what_cannot_fit_is_refused_before_it_is_rendered():
    with pytest.raises(ContextExceeded):
        await answer(ScriptedEngine("m", context=100), RenderChat(ChatRequest((user("a"),) * 200)), now=NOW)
    with pytest.raises(BadRequest):
        await answer(ScriptedEngine("m"), RenderChat(ChatRequest(())), now=NOW)

"""What is added to a request whose reply will be read aloud."""

from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from duologue.engines.llama.engine import load
from duologue.sessions.chat.spoken_prompt import NEVER, speakable_request, styled_request
from duologue.text.speech.prompt_style import UNSPOKEN, spoken_style
from duologue.values.messages import system, user
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, Sampling

REQUEST = ChatRequest((user("hi"),))
pytestmark = pytest.mark.anyio


def remote(*verbs: str) -> Any:
    """An engine that takes messages."""
    return SimpleNamespace(card=ModelCard("m", "remote", 100, sampling=("logit_bias",), verbs=verbs))


def test_the_style_joins_the_system_message_there_is():
    asked = styled_request(ChatRequest((system("Be kind."), user("hi"))))
    assert asked.messages[0].text == f"Be kind.\n\n{spoken_style()}"
    assert asked.messages[1] == user("hi")


def test_the_style_is_in_the_language_that_will_be_spoken():
    asked = styled_request(ChatRequest((user("Hallo"),), spoken=True, spoken_language="de-AT"))
    assert asked.messages[0].text == spoken_style("de")


async def test_without_a_system_message_the_style_is_one():
    asked = await speakable_request(REQUEST, remote())
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert asked.sampling.logit_bias is None


async def test_another_server_is_sent_only_symbols_that_are_one_token_anywhere():
    request = ChatRequest((user("hi"),), sampling=Sampling(logit_bias={"7": 1.0}))
    asked = await speakable_request(request, remote("text_bias"))
    biases = asked.sampling.logit_bias or {}
    assert (biases["*"], biases["7"]) == (NEVER, 1.0)
    assert not {"|---", " *", "**", "✅"} & set(biases)


async def test_a_format_keeps_its_symbols():
    asked = await speakable_request(
        ChatRequest((user("hi"),), format=OutputFormat("json_object")), remote("text_bias")
    )
    assert asked.sampling.logit_bias is None


async def test_a_symbol_behind_a_blank_is_kept_from_the_model_too_and_the_blank_is_not():
    engine = await load({"slots": 1, "context": 256})
    try:
        asked = await speakable_request(REQUEST, engine)
        biases = asked.sampling.logit_bias or {}
        for symbol in UNSPOKEN:
            for text in (symbol, f" {symbol}"):
                tokens = await engine.tokenize(text, start=False)
                assert len(tokens) > 1 or str(tokens[0]) in biases, text
        for kept in (" ", "-", " -", "\n"):
            for token in await engine.tokenize(kept, start=False):
                assert str(token) not in biases, kept
    finally:
        with anyio.CancelScope(shield=True):
            await engine.close()

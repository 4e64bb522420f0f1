"""Prepares a request whose reply will be read aloud: a speakable style, and a bias against symbols."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import msgspec

from duologue.engines.contracts import LanguageEngine, PromptEngine
from duologue.text.speech.prompt_style import UNSPOKEN, spoken_style
from duologue.values.messages import Message, TextPart, system
from duologue.values.requests import ChatRequest

NEVER = -100.0
"""A bias at which a token is never chosen."""
_known: WeakKeyDictionary[LanguageEngine, dict[str, float]] = WeakKeyDictionary()
"""The biases against symbols by the engine, which has to be asked for each of them."""


async def speakable_request(request: ChatRequest, engine: LanguageEngine) -> ChatRequest:
    """The request with the spoken style in its system message, and with a bias against symbols if the engine supports
    one. A bias of the request itself takes precedence. Raises the Problems of tokenizing."""
    sampling = request.sampling
    # A format is a promise about symbols; the grammar and the bias would fight.
    if "text_bias" in engine.card.verbs and request.format is None and not request.tools:
        biases = await _symbol_biases(engine)
        sampling = msgspec.structs.replace(sampling, logit_bias=biases | (sampling.logit_bias or {}))
    return msgspec.structs.replace(styled_request(request), sampling=sampling)


def styled_request(request: ChatRequest) -> ChatRequest:
    """The request with the spoken style in its system message."""
    first, *rest = request.messages
    style = spoken_style(request.spoken_language)
    if first.role == "system":
        messages = (_with(first, style), *rest)
    else:
        messages = (system(style), first, *rest)
    return msgspec.structs.replace(request, messages=messages)


async def _symbol_biases(engine: LanguageEngine) -> dict[str, float]:
    """The biases that keep symbols out of a reply, also behind a blank: in many vocabularies those are other tokens."""
    if not isinstance(engine, PromptEngine):
        # A text's bias is that of all its tokens, which nobody here knows: of longer texts they may be the hyphen or a blank, and
        # of other letters single bytes.
        return {symbol: NEVER for symbol in UNSPOKEN if len(symbol) == 1 and symbol.isascii()}
    if engine not in _known:
        texts = [text for symbol in UNSPOKEN for text in (symbol, f" {symbol}")]
        tokens = [await engine.tokenize(text, start=False) for text in texts]
        _known[engine] = {str(single[0]): NEVER for single in tokens if len(single) == 1}
    return _known[engine]


def _with(message: Message, style: str) -> Message:
    return msgspec.structs.replace(message, parts=(*message.parts, TextPart(f"\n\n{style}")))

"""Prepares a request whose reply will be read aloud: a speakable style, and a bias against symbols."""

from __future__ import annotations

import msgspec

from duologue.text.speech.prompt_style import UNSPOKEN, spoken_style
from duologue.values.messages import Message, TextPart, system
from duologue.values.requests import ChatRequest, ModelCard

NEVER = -100.0
"""A bias at which a token is never chosen."""


def speakable_request(request: ChatRequest, card: ModelCard) -> ChatRequest:
    """The request with the spoken style in its system message, and with a bias against symbols if the engine supports
    one. A bias of the request itself takes precedence."""
    first, *rest = request.messages
    style = spoken_style()
    if first.role == "system":
        messages = (_with(first, style), *rest)
    else:
        messages = (system(style), first, *rest)
    sampling = request.sampling
    # A format is a promise about symbols; the grammar and the bias would fight. The symbols are biased as text, which most
    # upstreams refuse together with the whole request.
    if "text_bias" in card.verbs and request.format is None and not request.tools:
        bias = dict.fromkeys(UNSPOKEN, NEVER) | (sampling.logit_bias or {})
        sampling = msgspec.structs.replace(sampling, logit_bias=bias)
    return msgspec.structs.replace(request, messages=messages, sampling=sampling)


def _with(message: Message, style: str) -> Message:
    return msgspec.structs.replace(message, parts=(*message.parts, TextPart(f"\n\n{style}")))

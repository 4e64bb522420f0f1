"""`truncation: auto`: the oldest turns are left out until the rest fits the context. Used by `preparation`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile

import msgspec

from duologue.errors import Unsupported
from duologue.values.messages import Message
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest, ModelCard

REPLY_TOKENS = 1024
"""Room that is left for a reply without a limit, in a quarter of the context at most."""


async def fitted_to_context(
    request: ChatRequest,
    card: ModelCard,
    count: Callable[[ChatRequest, str], Awaitable[Counted]],
    user: str,
) -> ChatRequest:
    """The request without its oldest turns, as few of them as possible. The instructions and the last turn stay, even where those
    alone do not fit. Raises Unsupported for a model whose tokens cannot be counted."""
    if "count" not in card.verbs or not card.context:
        raise Unsupported(
            f"truncation: the tokens of the model {card.name} cannot be counted; send disabled.",
            param="truncation",
        )
    room = card.context - min(request.sampling.max_tokens or REPLY_TOKENS, card.context // 4)
    fewest, most = 0, len(turn_starts(request.messages)) - 1
    if most <= 0 or (await count(request, user)).tokens <= room:
        return request
    while fewest < most:
        middle = (fewest + most) // 2
        tokens = (await count(_without(request, middle), user)).tokens
        fewest, most = (fewest, middle) if tokens <= room else (middle + 1, most)
    return _without(request, fewest)


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Where turns begin: at each message of the user that does not follow another one."""
    return [
        index
        for index, message in enumerate(messages)
        if message.role == "user" and (index == 0 or messages[index - 1].role != "user")
    ]


def _without(request: ChatRequest, turns: int) -> ChatRequest:
    """The request without so many turns; the system messages at its beginning stay."""
    messages = request.messages
    head = tuple(takewhile(lambda message: message.role == "system", messages))
    start = turn_starts(messages)[turns] if turns else len(head)
    return msgspec.structs.replace(request, messages=head + messages[start:])

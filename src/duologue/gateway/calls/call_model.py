"""Which model answers a call, how, and who sees its pictures. Pure. Used by both sockets of calls.

A call is *native* where its model holds it by itself (`verbs` has "duplex"): it then takes a worker of that model whole. Any other is a
*cascade* of recogniser, model and voice, in a seat of the voice worker.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.errors import Problem, Unsupported
from duologue.values.requests import ModelCard


def is_native(card: ModelCard) -> bool:
    """Whether a model holds calls by itself."""
    return "duplex" in card.verbs


def sees(card: ModelCard) -> bool:
    """Whether a model may be sent pictures. Of one that is still loading nobody knows yet."""
    return "image" in card.accepted or not (card.context or card.verbs)


def seeing(cards: Sequence[ModelCard]) -> ModelCard | None:
    """The model that sees a camera's pictures where nobody named one: the default one, or one of this machine. They go to a connected
    server only if its model is the default."""
    own = [card for number, card in enumerate(cards) if number == 0 or not card.upstream]
    return next((card for card in own if "image" in card.modalities), None)


def no_eyes(card: ModelCard | None, cards: Sequence[ModelCard], *, field: str, param: str) -> Problem:
    """What a client is told whose pictures nobody sees. `field` is where it can name a model, `param` the field of the picture."""
    able = [each.name for each in cards if "image" in each.modalities]
    way = f"Name {able[0]} in {field}" if able else "Load a model that does"
    sentence = (
        f"The model {card.name if card else ''} does not take pictures, so yours are not used; the call goes on with sound. {way} "
        "to have them seen."
    )
    return Unsupported(sentence, code="modality_unsupported", param=param)

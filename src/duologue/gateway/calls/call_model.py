"""Which model answers a call, how, and who sees its pictures. Pure. Used by both sockets of calls.

A call is *native* where its model holds it by itself (`verbs` has "duplex"): it then takes a worker of that model whole. Any other is a
*cascade* of recogniser, model and voice, in a seat of the voice worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from duologue.errors import Problem, Unsupported
from duologue.values.messages import Tool
from duologue.values.requests import ModelCard

OMNI_ENGINES = ("qwen_omni", "minicpmo")
"""Engines whose models hold calls by themselves."""


class CallModel(Struct, frozen=True):
    """The model that answers a call. `native`: it holds the call by itself; `note`: why it is another one than was asked for."""

    card: ModelCard
    native: bool = False
    note: str = ""


def is_native(card: ModelCard) -> bool:
    """Whether a model holds calls by itself."""
    return "duplex" in card.verbs


def may_hold(card: ModelCard) -> bool:
    """Whether a model holds calls by itself, or will once it is loaded: its engine is for such models, and nothing is known of it yet. A call
    to it waits instead of beginning with another voice."""
    return is_native(card) or (card.engine in OMNI_ENGINES and not (card.context or card.verbs))


def chosen(
    card: ModelCard, cards: Sequence[ModelCard], failure: Callable[[str], str], *, cascade: bool
) -> CallModel:
    """Who answers a call for which the model of `card` was asked. `failure` says of a model why none of its workers works, "" if one does or may;
    `cascade`: the server has a voice. Where a model that holds calls by itself has failed, a cascade takes its place if there is one."""
    if not may_hold(card):
        return CallModel(card)
    why = failure(card.name)
    other = next(
        (each for each in cards if not may_hold(each) and not each.upstream and not failure(each.name)), None
    )
    if not why or not cascade or other is None:
        return CallModel(card, native=True)
    note = f"The model {card.name} cannot be used: {why} {other.name} answers instead, with the voice of the server."
    return CallModel(other, note=note)


def by_itself(cards: Sequence[ModelCard], *, seeing: bool) -> ModelCard | None:
    """The model that holds the call of a duplex client that named none: of this machine, and with `seeing` rather one that takes
    pictures."""
    able = [card for card in cards if may_hold(card) and not card.upstream]
    able.sort(key=lambda card: not is_native(card))  # one that is ready before one that loads
    return next((card for card in able if seeing and "image" in card.modalities), able[0] if able else None)


def sees(card: ModelCard) -> bool:
    """Whether a model may be sent pictures. Of one that is still loading nobody knows yet."""
    return "image" in card.accepted or not (card.context or card.verbs)


def seeing(cards: Sequence[ModelCard]) -> ModelCard | None:
    """The model that sees a camera's pictures where nobody named one: the default one, or one of this machine. They go to a connected
    server only if its model is the default."""
    own = [card for number, card in enumerate(cards) if number == 0 or not card.upstream]
    return next((card for card in own if "image" in card.modalities), None)


def unused_tools(model: CallModel, tools: Sequence[Tool]) -> str:
    """What a client is told that brings tools to a call in which nobody calls any; "" where they are used."""
    if not (model.native and tools):
        return ""
    return (
        f"{model.card.name} holds this call by itself and calls no tools, so those of `start` are not used."
    )


def other_seat(session: str, asked: ModelCard, held_by: ModelCard | None) -> Problem:
    """What a duplex client is told that names a model for which its session has the wrong seat. `held_by`: the model that holds the session
    by itself, None for a seat of the voice."""
    now = (
        f"is held by the model {held_by.name}" if held_by is not None else "has a seat of the server's voice"
    )
    return Problem(
        f"This session {now}, and {asked.name} needs another seat. Connect to /ws/duplex/{session}?model={asked.name} to talk to it.",
        code="session_model_fixed",
        status=409,
        param="model",
    )


def no_eyes(card: ModelCard | None, cards: Sequence[ModelCard], *, field: str, param: str) -> Problem:
    """What a client is told whose pictures nobody sees. `field` is where it can name a model, `param` the field of the picture."""
    able = [each.name for each in cards if "image" in each.modalities]
    way = f"Name {able[0]} in {field}" if able else "Load a model that does"
    sentence = (
        f"The model {card.name if card else ''} does not take pictures, so yours are not used; the call goes on with sound. {way} "
        "to have them seen."
    )
    return Unsupported(sentence, code="modality_unsupported", param=param)

"""Which model sees a duplex session's pictures, and what is said where none does. Pure. Used by `DuplexSession`."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.errors import Problem, Unsupported
from duologue.values.requests import ModelCard


def seeing(cards: Sequence[ModelCard]) -> ModelCard | None:
    """The model that sees a camera's pictures where nobody named one: the default one, or one of this machine. They go to a connected
    server only if its model is the default."""
    own = [card for number, card in enumerate(cards) if number == 0 or not card.upstream]
    return next((card for card in own if "image" in card.modalities), None)


def no_eyes(card: ModelCard | None, cards: Sequence[ModelCard]) -> Problem:
    able = [each.name for each in cards if "image" in each.modalities]
    way = f"Name {able[0]} in prepare (model)" if able else "Load a model that does"
    sentence = (
        f"The model {card.name if card else ''} does not take pictures, so yours are not used; the session goes on with sound. {way} "
        "to have them seen."
    )
    return Unsupported(sentence, code="modality_unsupported", param="frame_base64_list")

"""The loaded models by name and alias, and the check that a model can do what a request needs.

Every dialect resolves the `model` field of a request here. The cards come from the pool and are read each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from duologue.errors import ModelNotFound, Unavailable, Unsupported
from duologue.gateway.scheduling.scheduler import NO_MODEL
from duologue.values.requests import ChatRequest, ModelCard, unmet
from duologue.wire.validation_errors import shortened


class ModelRegistry:
    """The loaded models, the default chat model first, and their aliases.

    `cards` may give a model once for each of its workers; `aliases` maps an alias to a model's name.
    """

    def __init__(
        self, cards: Callable[[], Sequence[ModelCard]], aliases: Mapping[str, str] | None = None
    ) -> None:
        self._cards = cards
        self._aliases = dict(aliases or {})

    def cards(self) -> tuple[ModelCard, ...]:
        """Every loaded model once, the default first."""
        first: dict[str, ModelCard] = {}
        for card in self._cards():
            first.setdefault(card.name, card)
        return tuple(first.values())

    def aliases(self) -> dict[str, ModelCard]:
        """The aliases whose model is loaded. A model's own name is never shadowed by an alias."""
        loaded = {card.name: card for card in self.cards()}
        return {
            alias: loaded[name]
            for alias, name in self._aliases.items()
            if name in loaded and alias not in loaded
        }

    def resolve(self, name: str) -> ModelCard:
        """The card of a model or alias; an empty name is the default chat model.

        Raises ModelNotFound with the known names, Unavailable while no model is loaded.
        """
        cards = self.cards()
        if not cards:
            raise Unavailable(NO_MODEL, code="model_empty")
        if not name:
            return cards[0]
        known = {card.name: card for card in cards} | self.aliases()
        if name in known:
            return known[name]
        if name in self._aliases:
            reason = f"{name!r} is an alias of {self._aliases[name]!r}, which is not loaded"
        else:
            reason = f"There is no model {shortened(name)!r}"
        raise ModelNotFound(f"{reason}. Known: {', '.join(known)}.", param="model")


def admit(card: ModelCard, request: ChatRequest) -> ChatRequest:
    """The request, addressed to the card's model.

    Raises Unsupported, naming the field, when the model cannot do what the request needs: a refusal before the queue is better
    than a reply that silently lacks it. The abilities of a model that is still loading are unknown; its worker will check.
    """
    if card.context and (lack := unmet(card, request)) is not None:
        raise Unsupported(lack.message, param=lack.param)
    return msgspec.structs.replace(request, model=card.name)

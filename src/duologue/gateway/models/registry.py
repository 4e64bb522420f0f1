"""The loaded models by name and alias, and the check that a model can do what a request needs.

Every dialect resolves the `model` field of a request here. The cards come from the pool and are read each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from duologue.errors import ModelNotFound, Unavailable, Unsupported
from duologue.gateway.models.requested.alias_patterns import best_pattern, is_pattern
from duologue.gateway.scheduling.scheduler import NO_MODEL
from duologue.models.model_names import KnownName, find_similar
from duologue.values.fitting import refused
from duologue.values.requests import ChatRequest, ModelCard, Task, unable
from duologue.wire.validation_errors import shortened

NONE_ALLOWED = "Your key may use none of the loaded models. Ask an admin, who can change its limits."
NAMED = 30
"""Models that a sentence names: a connected server may have hundreds."""


class ModelRegistry:
    """The loaded models, the default chat model first, and their aliases.

    `cards` may give a model once for each of its workers; `aliases` maps an alias to a model's name. `find` knows further names
    of models, which are not listed. `allows` says whether the key of the running task may use a model; to it the others do not exist.
    """

    def __init__(
        self,
        cards: Callable[[], Sequence[ModelCard]],
        aliases: Mapping[str, str] | None = None,
        find: Callable[[str], ModelCard | None] = lambda name: None,
        allows: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self._cards = cards
        self._find = find
        self.allows = allows
        self._aliases = dict(aliases or {})

    def cards(self) -> tuple[ModelCard, ...]:
        """Every loaded model that the key of the running task may use, once, the default first."""
        return tuple(card for card in self.every() if self.allows(card.name))

    def every(self) -> tuple[ModelCard, ...]:
        """Every loaded model once, the default first: what the server has, whoever asks."""
        first: dict[str, ModelCard] = {}
        for card in self._cards():
            first.setdefault(card.name, card)
        return tuple(first.values())

    def aliases(self) -> dict[str, ModelCard]:
        """The aliases whose model is loaded, without those with `*`. A model's own name is never shadowed by an alias."""
        loaded = {card.name: card for card in self.cards()}
        return {
            alias: loaded[name]
            for alias, name in self._aliases.items()
            if name in loaded and alias not in loaded and not is_pattern(alias)
        }

    def default(self) -> ModelCard | None:
        """The default chat model; None while no model is loaded."""
        return next(iter(self.cards()), None)

    def find(self, name: str) -> ModelCard | None:
        """The card of a loaded model by its name, an alias, or the longer name of a connected server's model."""
        own = next((card for card in self.cards() if card.name == name), None)
        found = own or self.aliases().get(name) or self._find(name)
        return found if found is not None and self.allows(found.name) else None

    def similar(self, name: str) -> ModelCard | None:
        """The card of the loaded model that a name means as other servers' clients write it, such as `NAME:latest`."""
        known = [KnownName(name) for name in (*(card.name for card in self.cards()), *self.aliases())]
        return self.find(found) if (found := find_similar(name, known)) else None

    def alias_of(self, name: str) -> str:
        """The model that an alias stands for, loaded or not; "" for a name that is no alias."""
        return self._aliases.get(name, "")

    def by_pattern(self, name: str) -> str | None:
        """The model that the alias with `*` stands for that fits `name` best, loaded or not; None without one."""
        return best_pattern(name, self._aliases)

    def resolve(self, name: str) -> ModelCard:
        """The card of a loaded model by any name; an empty name is the default chat model.

        Raises ModelNotFound with the known names, Unavailable while no model is loaded.
        """
        cards = self.cards()
        if not cards and self.every():
            raise ModelNotFound(NONE_ALLOWED, param="model")
        if not cards:
            raise Unavailable(NO_MODEL, code="model_empty")
        if not name:
            return cards[0]
        if (card := self.find(name) or self.similar(name)) is not None:
            return card
        pattern = self.by_pattern(name)
        if pattern is not None and (card := self.find(pattern) if pattern else cards[0]) is not None:
            return card
        known = [*(card.name for card in cards), *self.aliases()]
        if name in self._aliases:
            reason = f"{name!r} is an alias of {self._aliases[name]!r}, which is not loaded"
        else:
            reason = f"There is no model {shortened(name)!r}"
        more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
        raise ModelNotFound(f"{reason}. Known: {', '.join(known[:NAMED])}{more}.", param="model")

    def of_task(self, task: Task) -> ModelCard:
        """The model for such work where the request names none: the default chat model, or the first that can. Raises Unsupported
        where none does, and as `resolve`."""
        if task == "chat":
            return self.resolve("")
        card = next((card for card in self.cards() if task in card.verbs), None)
        if card is None:
            self.require(self.resolve(""), task)
            raise Unsupported(f"Set model: no loaded model is known that {_DOES[task]}.", param="model")
        return card

    def require(self, card: ModelCard, task: Task) -> None:
        """Raises Unsupported, with the names of models that can, where the model of `card` is not for such work."""
        if card.may(task):
            return
        able = [
            other.name for other in self.cards() if (other.chats if task == "chat" else task in other.verbs)
        ]
        raise Unsupported(unfit(card, task, able), param="model")


_DOES: dict[Task, str] = {
    "chat": "writes replies",
    "embed": "turns texts into vectors",
    "rerank": "scores documents for a query",
}
_IS: dict[Task, str] = {
    "chat": "a chat model",
    "embed": "an embedding model",
    "rerank": "a reranker",
}


def unfit(card: ModelCard, task: Task, able: Sequence[str]) -> str:
    """The sentence for work that a model is not for; `able`: the models that can."""
    more = f" and {len(able) - NAMED} more" if len(able) > NAMED else ""
    others = (
        f"Choose another: {', '.join(able[:NAMED])}{more}." if able else f"None that {_DOES[task]} is loaded."
    )
    return f"The model {card.name} is {_IS[card.task]}, not one that {_DOES[task]}. {others}"


def admit(card: ModelCard, request: ChatRequest, *, hears: bool = False) -> ChatRequest:
    """The request, addressed to the card's model. `hears`: sound is written down for models that take none.

    Raises Unsupported, naming the field, when the model cannot do what the request needs: a refusal before the queue is better
    than a reply that silently lacks it. The abilities of a model that is still loading are unknown; its worker will check.
    """
    if not card.chats:
        raise Unsupported(
            f"The model {card.name} writes no replies: it is an embedding model or a reranker. Choose a chat model.",
            param="model",
        )
    # What the models of a connected server take is known before its worker is ready.
    known = bool(card.context or card.verbs)
    lack = refused(card, request, hears=hears) if known or card.upstream else None
    if lack is None and known:
        lack = unable(card, request)
    if lack is not None:
        raise Unsupported(lack.message, code=lack.code, param=lack.param)
    return msgspec.structs.replace(request, model=card.name)

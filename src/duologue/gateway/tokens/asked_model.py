"""The model that a request about tokens is about, and the questions to its worker. Used by the routes of this package."""

from __future__ import annotations

from starlette.types import Receive

from duologue.gateway.models.registry import admit
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.scheduling.pool import Pool
from duologue.values.questions.worker_answers import Described, Detokenized, Rendered, Tokenized
from duologue.values.questions.worker_questions import (
    DescribeModel,
    DetokenizeTokens,
    RenderChat,
    TokenizeText,
)
from duologue.values.requests import ChatRequest, ModelCard


class AskedModels:
    """Finds models and asks their workers, without a slot; `pool` shares the workers' time between the users."""

    def __init__(self, requested: RequestedModels, pool: Pool) -> None:
        self._requested, self.pool = requested, pool

    async def card(self, name: str, user: str, receive: Receive) -> ModelCard:
        """The card of the model, waited for until the client leaves. Raises ModelNotFound, Unavailable."""
        card = await self._requested.card(name, user, receive=receive)
        return card if (preset := self.pool.tuning.preset) is None else card.with_defaults(preset)

    async def tokens(self, question: TokenizeText, user: str) -> Tokenized:
        """The tokens of a text. Raises as `Pool.ask`."""
        return await self.pool.ask(question, Tokenized, user)

    async def text(self, question: DetokenizeTokens, user: str) -> str:
        """The text of tokens. Raises as `Pool.ask`."""
        return (await self.pool.ask(question, Detokenized, user)).text

    async def prompt(self, card: ModelCard, request: ChatRequest, user: str, *, tokens: bool) -> Rendered:
        """The prompt of a request, as a chat with it would begin. Raises Unsupported for what the model does not take, and as
        `Pool.ask`."""
        return await self.pool.ask(RenderChat(admit(card, request), tokens), Rendered, user)

    async def described(self, card: ModelCard, user: str) -> Described:
        """What only the worker knows of the model. Raises as `Pool.ask`."""
        return await self.pool.ask(DescribeModel(card.name), Described, user)

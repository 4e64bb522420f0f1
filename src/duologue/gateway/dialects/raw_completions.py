"""Reads the bodies of completions of a text, and runs the replies to their prompts.

What `text_completions` and `llama_completions` share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from fastapi import Request

from duologue.config.settings import LimitSettings
from duologue.gateway.dialects.merged_replies import Source, merged
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import body_of, user_of
from duologue.request_parsing import parsing
from duologue.values.generate import Generate
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.validation import Body, validate

B = TypeVar("B", bound=Body)


class RawCompletions:
    """Reads bodies and runs the replies to their prompts, for every API of raw prompts."""

    def __init__(self, generate: Generate, limits: LimitSettings) -> None:
        self._limits = limits
        self._pipeline = ReplyPipeline(generate, SpeechService(None))

    async def body(self, request: Request, model: type[B]) -> B:
        """Raises BadRequest, TooLarge; Unsupported for a compressed body."""
        fields = await body_of(request)
        size = len(await request.body())
        return await parsing(size, validate, model, fields, user=user_of(request))

    async def run(
        self,
        request: Request,
        card: ModelCard,
        make: Callable[[LimitSettings, ModelCard], Sequence[ChatRequest]],
        each: int,
    ) -> tuple[Source, Sequence[ChatRequest]]:
        """The batches of the replies to the requests that `make` makes, `each` choices of each; and the requests. Raises Problem for
        what cannot be requested."""
        user = user_of(request)
        requests = await parsing(len(await request.body()), make, self._limits, card, user=user)
        plans = [
            self._pipeline.plan(
                card, asked, None, choices=each, request_id=request_id_of(request.scope), user=user
            )
            for asked in requests
        ]
        return merged([self._pipeline.run(plan) for plan in plans], each), requests

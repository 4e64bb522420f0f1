"""`/tokenize`, `/detokenize` and `/apply-template` of llama-server and vLLM, `/v1/token/encode` and `/v1/token/decode` of tabbyAPI.

Bodies and answers are in `wire/tokens/token_bodies.py`; the worker of the model answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.gateway.tokens.asked_model import AskedModels
from duologue.http.json_api import answer, body_of, user_of
from duologue.http.openapi import json_body
from duologue.request_parsing import parsing
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import TokenizeText
from duologue.values.requests import ModelCard
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.tokens.token_bodies import (
    DecodeBody,
    DetokenizeBody,
    EncodeBody,
    TokenizeBody,
    chat_body,
    encode_body,
    llama_tokens,
    prompt_request,
    tokenize_body,
    vllm_tokens,
)
from duologue.wire.validation import validate

B = TypeVar("B")


class _TokenDoor:
    """What the routes share: reading a body, and the prompt of one that has messages."""

    def __init__(self, asked: AskedModels, limits: LimitSettings) -> None:
        self.asked, self.limits = asked, limits

    async def body(
        self, request: Request, read: Callable[[Mapping[str, Any], LimitSettings], B]
    ) -> tuple[B, int]:
        """The body, and its size in bytes. Raises BadRequest, TooLarge."""
        fields = await body_of(request)
        size = len(await request.body())
        return await parsing(size, read, fields, self.limits, user=user_of(request)), size

    async def prompt(self, request: Request, body: ChatCompletionBody, size: int, card: ModelCard) -> str:
        """The prompt of a chat. Raises Problems."""
        user = user_of(request)
        asked = await parsing(size, prompt_request, body, card.name, self.limits, user=user)
        return (await self.asked.prompt(card, asked, user, tokens=False)).text

    async def prompt_tokens(
        self, request: Request, body: ChatCompletionBody, size: int, card: ModelCard
    ) -> Tokenized:
        """The tokens of the prompt of a chat. Raises Problems."""
        user = user_of(request)
        asked = await parsing(size, prompt_request, body, card.name, self.limits, user=user)
        return Tokenized((await self.asked.prompt(card, asked, user, tokens=True)).tokens)


def router(asked: AskedModels, limits: LimitSettings) -> APIRouter:
    """The routes, which every user may use."""
    routes = APIRouter(tags=["tokens"])
    door = _TokenDoor(asked, limits)
    _add_tabby(routes, door)

    @routes.post(
        "/tokenize",
        openapi_extra=json_body(
            TokenizeBody,
            "application/json",
            description="`tokens`; for `prompt` and `messages` also `count`, `max_model_len` and `token_strs`.",
        ),
        summary="Tokenize a text",
    )
    async def tokenize(request: Request) -> Response:
        """llama-server's body (`content`), or vLLM's (`prompt`, or the `messages` and `tools` of a chat)."""
        user = user_of(request)
        body, size = await door.body(request, tokenize_body)
        card = await asked.card(body.model, user, request.receive)
        if isinstance(body, TokenizeBody):
            question = body.question(card.name, limits)
            found = await asked.tokens(question, user)
            if body.content is not None:
                return answer(llama_tokens(found, pieces=question.pieces))
            return answer(vllm_tokens(found, card.context, pieces=question.pieces))
        if not _wants_texts(await body_of(request)):
            return answer(
                vllm_tokens(await door.prompt_tokens(request, body, size, card), card.context, pieces=False)
            )
        text = await door.prompt(request, body, size, card)
        found = await asked.tokens(TokenizeText(text, start=True, pieces=True, model=card.name), user)
        return answer(vllm_tokens(found, card.context, pieces=True))

    @routes.post(
        "/detokenize",
        openapi_extra=json_body(
            DetokenizeBody, "application/json", description="The text, as `content` and as `prompt`."
        ),
        summary="Detokenize tokens",
    )
    async def detokenize(request: Request) -> Response:
        body, _ = await door.body(request, lambda fields, _: validate(DetokenizeBody, fields))
        user = user_of(request)
        card = await asked.card(body.model, user, request.receive)
        text = await asked.text(body.question(card.name), user)
        return answer({"content": text, "prompt": text})

    @routes.post(
        "/apply-template",
        openapi_extra=json_body(ChatCompletionBody, "application/json", description="`prompt`: the text."),
        summary="Render the prompt of a chat",
    )
    async def apply_template(request: Request) -> Response:
        """What the model's chat template makes of a chat completion's body. Nothing is generated."""
        body, size = await door.body(request, chat_body)
        card = await asked.card(body.model, user_of(request), request.receive)
        return answer({"prompt": await door.prompt(request, body, size, card)})

    @routes.post(
        "/v1/chat/completions/input_tokens",
        openapi_extra=json_body(
            ChatCompletionBody, "application/json", description="`input_tokens`: how many the prompt has."
        ),
        summary="Count the tokens of a chat completion",
    )
    async def count_input_tokens(request: Request) -> Response:
        """As llama-server has it, with the body of a chat completion. Nothing is generated."""
        body, size = await door.body(request, chat_body)
        card = await asked.card(body.model, user_of(request), request.receive)
        found = await door.prompt_tokens(request, body, size, card)
        return answer({"object": "response.input_tokens", "input_tokens": len(found.tokens)})

    return routes


def _add_tabby(routes: APIRouter, door: _TokenDoor) -> None:
    """The routes of tabbyAPI."""
    asked, limits = door.asked, door.limits

    @routes.post(
        "/v1/token/encode",
        openapi_extra=json_body(EncodeBody, "application/json", description="`tokens` and their `length`."),
        summary="Tokenize a text",
    )
    async def encode(request: Request) -> Response:
        """tabbyAPI's body; `text` may be a list of messages."""
        user = user_of(request)
        body, size = await door.body(request, encode_body)
        card = await asked.card(body.model, user, request.receive)
        if isinstance(body, EncodeBody):
            found = await asked.tokens(body.question(card.name, limits), user)
        else:
            found = await door.prompt_tokens(request, body, size, card)
        return answer({"tokens": found.tokens, "length": len(found.tokens)})

    @routes.post(
        "/v1/token/decode",
        openapi_extra=json_body(DecodeBody, "application/json", description="The `text`."),
        summary="Detokenize tokens",
    )
    async def decode(request: Request) -> Response:
        """tabbyAPI's body."""
        body, _ = await door.body(request, lambda fields, _: validate(DecodeBody, fields))
        user = user_of(request)
        card = await asked.card(body.model, user, request.receive)
        return answer({"text": await asked.text(body.question(card.name), user)})


def _wants_texts(fields: Mapping[str, Any]) -> bool:
    return fields.get("return_token_strs") is True

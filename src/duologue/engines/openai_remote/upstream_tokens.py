"""Tokens as the upstream tells them: of the texts in `logit_bias`, for servers that take ids alone, and for token routes.

Used by `engine`. As in llama.cpp, the bias of a text is that of each of its tokens. What a server said of them is remembered: a text has
the same tokens as long as the model is the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from duologue.engines.openai_remote.request import is_token
from duologue.engines.openai_remote.response_json import json_of
from duologue.engines.openai_remote.server_kinds import DOORS, TokenDoors, Tokenizer
from duologue.errors import Unsupported
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText

PATIENCE = 10.0
"""Seconds for all texts of a request."""
MOST_TEXTS = 100
REMEMBERED = 1000
"""Texts whose tokens are kept."""
Ask = Callable[[str, object], Awaitable[bytes]]
"""Posts a JSON body to a path of the server; b"" where that is refused."""


class TokenBiases:
    """`ask` reaches the server."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._tokens: dict[tuple[str, str], tuple[int, ...]] = {}

    async def of(self, bias: Mapping[str, float], tokenizer: Tokenizer, model: str) -> dict[str, float]:
        """The same biases by token id alone; an id that was named itself keeps its own. Raises Unsupported, naming a text whose tokens
        the server does not tell."""
        by_id = {key: value for key, value in bias.items() if is_token(key)}
        texts = {key: value for key, value in bias.items() if not is_token(key)}
        if len(texts) > MOST_TEXTS:
            raise Unsupported(
                f"logit_bias: {len(texts)} texts; at most {MOST_TEXTS} are turned into token ids for an upstream.",
                param="logit_bias",
            )
        with anyio.move_on_after(PATIENCE):
            for text in texts:
                await self._learn(text, tokenizer, model)
        for text, value in texts.items():
            tokens = self._tokens.get((model, text))
            if not tokens:
                raise Unsupported(
                    f"logit_bias: {text!r} is a text, and this upstream does not tell its tokens. Send the ids of its tokens.",
                    param="logit_bias",
                )
            for token in tokens:
                by_id.setdefault(str(token), value)
        return by_id

    async def _learn(self, text: str, tokenizer: Tokenizer, model: str) -> None:
        if (model, text) in self._tokens:
            return
        question = {"model": model, tokenizer.text: text} | dict(tokenizer.more)
        tokens = tokens_in(await self._ask(tokenizer.path, question), tokenizer.answer)
        if not tokens:
            return
        while len(self._tokens) >= REMEMBERED:
            del self._tokens[next(iter(self._tokens))]
        self._tokens[model, text] = tokens


class UpstreamTokens:
    """`ask` reaches the server, `kind` is what it is; `shown` is its address for people."""

    def __init__(self, ask: Ask, kind: str, shown: str) -> None:
        self._ask, self._shown = ask, shown
        self._doors = DOORS.get(kind)

    async def tokens(self, question: TokenizeText, model: str) -> Tokenized:
        """The tokens of a text. Raises Unsupported where the server does not tell them."""
        doors = self._known()
        if not question.text:
            return Tokenized(())
        if question.pieces:
            raise Unsupported(
                "with_pieces: this upstream tells the ids of tokens alone.", param="with_pieces"
            )
        if not question.control and not doors.plain:
            raise Unsupported("This upstream always reads markers as control tokens.", param="parse_special")
        body: dict[str, Any] = {
            "model": model,
            doors.tokenizer.text: question.text,
            doors.start: question.start,
        }
        if doors.plain:
            body[doors.plain] = question.control
        found = tokens_in(await self._ask(doors.tokenizer.path, body), doors.tokenizer.answer)
        if not found:
            raise self._silent()
        return Tokenized(found)

    async def text(self, question: DetokenizeTokens, model: str) -> str:
        """The text of tokens. Raises Unsupported where the server does not tell it."""
        doors = self._known()
        if not question.control and not doors.written:
            raise Unsupported("This upstream always writes control tokens.", param="decode_special_tokens")
        body: dict[str, Any] = {"model": model, doors.detokenizer.tokens: list(question.tokens)}
        if doors.written:
            body[doors.written] = question.control
        try:
            answer: Any = json_of(await self._ask(doors.detokenizer.path, body))
        except ValueError:
            answer = None
        text = answer.get(doors.detokenizer.answer) if isinstance(answer, dict) else None
        if not isinstance(text, str):
            raise self._silent()
        return text

    def _known(self) -> TokenDoors:
        if self._doors is None:
            raise Unsupported(f"The server {self._shown} has no known API for tokens. Call it directly.")
        return self._doors

    def _silent(self) -> Unsupported:
        return Unsupported(
            f"The server {self._shown} did not answer with tokens. Call it directly, or try again later."
        )


def tokens_in(content: bytes, name: str) -> tuple[int, ...]:
    """The token ids that a tokenizer answered with; none if it did not."""
    try:
        body: Any = json_of(content)
    except ValueError:
        return ()
    tokens = body.get(name) if isinstance(body, dict) else None
    if not isinstance(tokens, list) or not all(type(token) is int and token >= 0 for token in tokens):
        return ()
    return tuple(tokens)

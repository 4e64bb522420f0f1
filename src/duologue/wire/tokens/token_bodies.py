"""The bodies and answers of the routes about tokens: `/tokenize` and `/detokenize` as llama-server and vLLM have them,
`/v1/token/encode` and `/v1/token/decode` as tabbyAPI has them.

A text may come as messages; these are the fields of a chat completion, and make the prompt that a chat would have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from pydantic import AliasChoices, ConfigDict, Field, WithJsonSchema

from duologue.errors import BadRequest, TooLarge
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
from duologue.values.requests import ChatRequest
from duologue.wire.completions.text_completion_body import MOST_TOKEN
from duologue.wire.fields.field_schemas import needs_one_of
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.validation import MEGABYTE, Body, RequestLimits, check_counts, validate

MOST_TOKENS = 150_000
"""Tokens that are turned into a text at a time."""
MOST_PIECED = 200_000
"""Characters of a text whose tokens are listed with the text of each."""
OWN = frozenset(
    {
        *("text", "add_special_tokens", "add_special", "parse_special", "with_pieces", "return_token_strs"),
        *("add_bos_token", "encode_special_tokens", "decode_special_tokens"),
    }
)
"""Fields of these routes that a chat completion does not have."""


TokenId = Annotated[int, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MOST_TOKEN})]


class TokenizeBody(Body):
    """The body of `POST /tokenize`: `content`, or as vLLM has it `prompt` or `messages`."""

    model_config = ConfigDict(json_schema_extra=needs_one_of("content", "prompt"))

    content: str | None = Field(default=None, description="The text, as llama-server calls it.")
    prompt: str | None = Field(default=None, description="The text, as vLLM and SGLang call it.")
    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")
    add_special: bool | None = Field(
        default=None,
        validation_alias=AliasChoices("add_special", "add_special_tokens"),
        description="With the tokens that a text begins with. Default: not for `content` and `messages`, but for `prompt`.",
    )
    parse_special: bool = Field(default=True, description="Markers in the text become control tokens.")
    with_pieces: bool = Field(default=False, description="The text of each token too.")
    return_token_strs: bool = Field(default=False, description="The text of each token too, as vLLM says it.")

    def question(self, model: str, limits: RequestLimits) -> TokenizeText:
        """What is asked of the worker. Raises BadRequest, TooLarge."""
        text = self.content if self.content is not None else self.prompt
        if text is None:
            raise BadRequest("content, prompt or messages is missing.", param="content")
        start = self.content is None if self.add_special is None else self.add_special
        param = "prompt" if self.content is None else "content"
        check_size(text, limits, param)
        pieces = self.with_pieces or self.return_token_strs
        if pieces and len(text) > MOST_PIECED:
            raise TooLarge(
                f"{param} may have {MOST_PIECED:,} characters where the text of each token is asked for.",
                param=param,
            )
        return TokenizeText(text, start, self.parse_special, pieces, model)


class DetokenizeBody(Body):
    """The body of `POST /detokenize`."""

    tokens: list[TokenId] = Field(max_length=MOST_TOKENS, description="Token ids.")
    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")

    def question(self, model: str) -> DetokenizeTokens:
        return DetokenizeTokens(_ids(self.tokens), model=model)


class EncodeBody(Body):
    """The body of `POST /v1/token/encode`."""

    text: str = Field(description="A text, or a list of messages as in a chat completion.")
    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")
    add_bos_token: bool = Field(default=True, description="With the tokens that a text begins with.")
    encode_special_tokens: bool = Field(default=True, description="Markers become control tokens.")

    def question(self, model: str, limits: RequestLimits) -> TokenizeText:
        """What is asked of the worker. Raises TooLarge."""
        check_size(self.text, limits, "text")
        return TokenizeText(self.text, self.add_bos_token, self.encode_special_tokens, model=model)


class DecodeBody(Body):
    """The body of `POST /v1/token/decode`."""

    tokens: list[TokenId] = Field(max_length=MOST_TOKENS, description="Token ids.")
    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")
    decode_special_tokens: bool = Field(default=True, description="Control tokens are written too.")

    def question(self, model: str) -> DetokenizeTokens:
        return DetokenizeTokens(_ids(self.tokens), self.decode_special_tokens, model)


def check_size(text: str, limits: RequestLimits, param: str) -> None:
    """Raises TooLarge for a text beyond `limits.text_mb`."""
    size, most = len(text.encode(errors="replace")), limits.text_mb * MEGABYTE
    if size > most:
        raise TooLarge(
            f"{param} has {size:,} bytes; at most {most:,} are allowed (setting limits.text_mb).", param=param
        )


def tokenize_body(fields: Mapping[str, Any], limits: RequestLimits) -> TokenizeBody | ChatCompletionBody:
    """The body of `/tokenize`. Raises BadRequest, TooLarge."""
    if "messages" in fields:
        return chat_body(fields, limits)
    return validate(TokenizeBody, fields)


def encode_body(fields: Mapping[str, Any], limits: RequestLimits) -> EncodeBody | ChatCompletionBody:
    """The body of `/v1/token/encode`. Raises BadRequest, TooLarge."""
    text = fields.get("text")
    if isinstance(text, list):
        # As tabbyAPI counts a conversation: without the beginning of an answer, unless that is asked for.
        return chat_body({"add_generation_prompt": False, **fields, "messages": text}, limits)
    return validate(EncodeBody, fields)


def chat_body(fields: Mapping[str, Any], limits: RequestLimits) -> ChatCompletionBody:
    """The fields of a chat completion among these. Raises BadRequest, TooLarge."""
    chat = {name: value for name, value in fields.items() if name not in OWN}
    check_counts(chat, limits)
    return validate(ChatCompletionBody, chat)


def prompt_request(body: ChatCompletionBody, model: str, limits: RequestLimits) -> ChatRequest:
    """The request whose prompt is asked for. Raises BadRequest, TooLarge, and Unsupported for files and media at addresses."""
    for reference in body.references():
        raise BadRequest(
            f"{reference.where}: a prompt of files or media cannot be shown.", param=reference.where
        )
    return msgspec.structs.replace(body.request(limits), model=model)


def llama_tokens(found: Tokenized, *, pieces: bool) -> dict[str, Any]:
    """The answer of llama-server's `/tokenize`. A piece that is no whole character is a list of its bytes."""
    if not pieces:
        return {"tokens": found.tokens}
    return {
        "tokens": [
            {"id": token, "piece": _piece(piece)}
            for token, piece in zip(found.tokens, found.pieces, strict=True)
        ]
    }


def vllm_tokens(found: Tokenized, context: int, *, pieces: bool) -> dict[str, Any]:
    """The answer of vLLM's `/tokenize`."""
    texts = [piece.decode(errors="replace") for piece in found.pieces] if pieces else None
    return {
        "count": len(found.tokens),
        "max_model_len": context,
        "tokens": found.tokens,
        "token_strs": texts,
    }


def _piece(piece: bytes) -> str | list[int]:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)


def _ids(tokens: list[int]) -> tuple[int, ...]:
    # msgpack, in the protocol to the workers, has integers of 64 bits.
    for token in tokens:
        if not 0 <= token < 1 << 31:
            raise BadRequest(
                f"tokens has {str(token)[:40]}; ids of tokens are whole numbers from 0 on.", param="tokens"
            )
    return tuple(tokens)

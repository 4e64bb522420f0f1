"""The questions to a worker that need no slot. The answers are in `worker_answers.py`.

`gateway/scheduling/pool.py` asks, `sessions/chat/answers.py` answers, `wire/worker_protocol.py` carries both.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.values.requests import ChatRequest


class CountPrompt(Struct, frozen=True, tag="count"):
    """How many tokens the prompt of this request has. Answered by `Counted`."""

    request: ChatRequest


class RenderChat(Struct, frozen=True, tag="render"):
    """The prompt that the model's template makes of this request, and with `tokens` its tokens. Answered by `Rendered`."""

    request: ChatRequest
    tokens: bool = False


class TokenizeText(Struct, frozen=True, tag="tokenize"):
    """The tokens of a text. `start`: with those that every text of this tokenizer begins with. `control`: markers in it are control
    tokens; without it they are plain text. `pieces`: the bytes of each token too. Answered by `Tokenized`."""

    text: str
    start: bool = False
    control: bool = True
    pieces: bool = False
    model: str = ""
    upstream_model: str = ""
    """What a connected server calls the model; set by the pool."""


class DetokenizeTokens(Struct, frozen=True, tag="detokenize"):
    """The text of tokens. `control`: control tokens are written too. Answered by `Detokenized`."""

    tokens: tuple[int, ...]
    control: bool = True
    model: str = ""
    upstream_model: str = ""


class DescribeModel(Struct, frozen=True, tag="describe"):
    """What only the worker knows of its model. Answered by `Described`."""

    model: str = ""
    upstream_model: str = ""


class UseTemplate(Struct, frozen=True, tag="use_template"):
    """Render the prompts of later requests with this chat template; "": with the model's own. Answered by `TemplateUsed`."""

    source: str
    model: str = ""
    upstream_model: str = ""


class DrainReplica(Struct, frozen=True, tag="drain_replica"):
    """Give one of the model's servers no new requests, or give it some again. Answered by `ReplicaDrained`."""

    url: str
    drained: bool = True
    model: str = ""
    upstream_model: str = ""


Question = (
    CountPrompt | RenderChat | TokenizeText | DetokenizeTokens | DescribeModel | UseTemplate | DrainReplica
)

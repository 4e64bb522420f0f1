"""Optional protocols of language engines: token questions, choosing a chat template, LoRA adapters.

The sessions check whether an engine has one of these; the protocols of every language engine are in `contracts`. `check_tokens` is the check that
all engines with token questions share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from duologue.errors import BadRequest
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText


@runtime_checkable
class TokenTeller(Protocol):
    """A language engine that tells the tokens of texts, and the text of tokens. Long texts keep neither replies nor short texts
    waiting."""

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """The tokens of a text. Raises Unsupported for what this engine cannot tell."""
        ...

    async def tokens_text(self, question: DetokenizeTokens) -> str:
        """The text of tokens. Raises BadRequest for a token that the model does not have."""
        ...


@runtime_checkable
class TemplateChooser(Protocol):
    """A prompt engine whose chat template can be replaced while it runs."""

    async def use_template(self, source: str) -> None:
        """Render later prompts with this template, "" for the model's own; those that run keep theirs. The card follows it. Raises
        Unsupported (`template_error`) for one that cannot be compiled, and keeps the one in use."""
        ...


@runtime_checkable
class AdaptedEngine(Protocol):
    """A prompt engine that was loaded with LoRA adapters (`ModelCard.adapters`)."""

    def adapt(self, slot: int, scales: tuple[float, ...] | None) -> None:
        """From the slot's next operation on, add the adapters to the model with these scales, in the card's order; None: with those
        that they were loaded with. What the slot has cached under other scales is not used."""
        ...


@runtime_checkable
class ReplicatedEngine(Protocol):
    """A language engine whose model is on one or several servers."""

    def drain_replica(self, url: str, drained: bool) -> None:
        """Give one of several servers no new requests, or give it some again. Raises NotFound (`replica_not_found`)."""
        ...


def check_tokens(tokens: Sequence[int], vocabulary: int, model: str) -> None:
    """Raises BadRequest for a token that the model does not have."""
    if tokens and not (min(tokens) >= 0 and max(tokens) < vocabulary):
        wrong = next(token for token in tokens if not 0 <= token < vocabulary)
        raise BadRequest(
            f"tokens has {wrong}, but the model {model} has {vocabulary} tokens (0 to {vocabulary - 1}).",
            param="tokens",
        )

"""Holds a reply to a grammar or a JSON schema with llguidance, token by token.

`engine` makes one `GrammarMaker` for a model. Owns the translation of our formats and of GBNF, the limits on what is compiled, and the wait
for a trigger. Without the library a model does not declare formats, so that requests for them are refused. Blocks.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from typing import Any

from duologue.engines.contracts import Generation
from duologue.engines.decoding.token_choice import TokenConstraint
from duologue.engines.decoding.token_text import BLANK, token_bytes
from duologue.errors import BadRequest, EngineFailed

log = logging.getLogger(__name__)
LARGEST = 128 * 1024
"""Bytes of a schema or grammar that a request may bring."""
WHITESPACE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""As Python writes JSON. Where any white space is allowed, small models repeat it until their reply is cut."""


class GrammarMaker:
    """`tokenizer` is transformers'; `ends` the tokens that end a reply."""

    def __init__(self, torch: Any, tokenizer: Any, vocabulary: int, ends: Sequence[int]) -> None:
        self._torch, self._tokenizer, self._vocabulary = torch, tokenizer, vocabulary
        self._ends = sorted(ends)
        self._made: dict[tuple[str, ...], Any] = {}

    def constraint(self, generation: Generation) -> TokenConstraint | None:
        """What holds this reply; None where nothing does. Raises BadRequest (`response_format`) for what cannot be applied."""
        grammar, format = generation.grammar, generation.format
        if grammar is not None:
            try:
                found = self._matcher(self._lark(grammar.text), generation.preserved)
            except BadRequest as problem:
                if not grammar.trigger:
                    raise EngineFailed(
                        f"The engine could not hold the reply to its shape: {problem.message}"
                    ) from None
                # Schemas of tools come from anywhere; one that cannot be compiled must not cost the reply.
                log.warning("tool calls are generated without a grammar: %s", problem.message)
                return None
            if not grammar.trigger:
                return MatchedTokens(self._torch, found)
            return TriggeredTokens(
                self._torch, found, grammar.trigger, self._tokens(generation.preserved), self._ends
            )
        if format is None:
            return None
        if format.kind == "grammar":
            text = format.grammar or ""
            if not text.strip() or len(text.encode()) > LARGEST:
                raise _refused(
                    f"a grammar must be GBNF text with a rule `root`, of {LARGEST:,} bytes at most"
                )
            return MatchedTokens(self._torch, self._matcher(self._lark(text), generation.preserved))
        schema: dict[str, object] = (
            {"type": "object"} if format.kind == "json_object" else dict(format.schema or {})
        )
        if len(text := json.dumps({**schema, "x-guidance": WHITESPACE})) > LARGEST:
            raise _refused(f"a schema may have {LARGEST:,} bytes at most")
        from llguidance import LLMatcher

        try:
            compiled = LLMatcher.grammar_from_json_schema(text)
        except ValueError as error:
            raise _refused(str(error)) from None
        return MatchedTokens(self._torch, self._matcher(compiled, generation.preserved))

    def _lark(self, gbnf: str) -> str:
        from llguidance import LLMatcher
        from llguidance.gbnf_to_lark import gbnf_to_lark

        try:
            return str(LLMatcher.grammar_from_lark(gbnf_to_lark(gbnf)))
        except Exception as error:  # noqa: BLE001
            raise _refused(str(error) or "it is no GBNF") from None

    def _matcher(self, grammar: str, preserved: Sequence[str]) -> Any:
        from llguidance import LLMatcher

        matcher = LLMatcher(self._tokens(preserved), grammar)
        if matcher.is_error():
            raise _refused(matcher.get_error().splitlines()[0])
        return matcher

    def _tokens(self, preserved: Sequence[str]) -> Any:
        """The library's view of the tokenizer, in which the `preserved` control tokens are spelled as text."""
        if (key := tuple(sorted(preserved))) not in self._made:
            from llguidance import LLTokenizer, TokenizerWrapper

            spelled = SpelledTokens(self._tokenizer, self._vocabulary, self._ends, preserved)
            self._made[key] = LLTokenizer(TokenizerWrapper(spelled), eos_token=self._ends)
        return self._made[key]


class SpelledTokens:
    """A tokenizer as llguidance takes one: the bytes of every token. By itself it takes every token between angle brackets for a control
    token, which the letters of a grammar do not match."""

    def __init__(
        self, tokenizer: Any, vocabulary: int, ends: Sequence[int], preserved: Sequence[str]
    ) -> None:
        self._tokenizer = tokenizer
        control = {
            number
            for number in tokenizer.all_special_ids
            if tokenizer.convert_ids_to_tokens(number) not in preserved
        }
        self.special_token_ids = sorted({number for number in (*control, *ends) if number < vocabulary})
        self.eos_token_id, self.bos_token_id = ends[0], None
        added = tokenizer.get_added_vocab()
        self.tokens = [b""] * vocabulary
        for text, number in tokenizer.get_vocab().items():
            if number < vocabulary:
                self.tokens[number] = text.encode() if text in added else token_spelling(text)

    def __call__(self, text: str | bytes) -> list[int]:
        letters = text.decode(errors="replace") if isinstance(text, bytes) else text
        return list(self._tokenizer.encode(letters, add_special_tokens=False))


def token_spelling(letters: str) -> bytes:
    """The bytes of a token of a vocabulary: one letter a byte, or letters with a sign for the blank and numbers for single bytes."""
    if BLANK in letters or (found := token_bytes(letters)) is None:
        number = re.fullmatch(r"<0x([0-9A-F]{2})>", letters)
        return bytes([int(number[1], 16)]) if number else letters.replace(BLANK, " ").encode()
    return bytes([int(letters[3:5], 16)]) if re.fullmatch(r"<0x[0-9A-F]{2}>", letters) else found


class MatchedTokens:
    """A reply that is held from its first token on."""

    def __init__(self, torch: Any, matcher: Any) -> None:
        self._torch, self._matcher = torch, matcher

    def allow(self, logits: Any) -> None:
        """See `TokenConstraint`."""
        torch = self._torch
        words = torch.frombuffer(bytearray(self._matcher.compute_bitmask()), dtype=torch.uint8)
        bits = (words[:, None] >> torch.arange(8, dtype=torch.uint8)) & 1
        allowed = bits.flatten()[: logits.shape[0]].bool().to(logits.device)
        if self._matcher.is_error() or not bool(allowed.any()):
            raise EngineFailed(
                "The engine could not hold the reply to its shape. Use a simpler schema or grammar."
            )
        logits[: allowed.shape[0]].masked_fill_(~allowed, float("-inf"))
        logits[allowed.shape[0] :] = float("-inf")

    def chose(self, token: int) -> None:
        """See `TokenConstraint`."""
        self._matcher.consume_token(token)


class TriggeredTokens(MatchedTokens):
    """A reply that is held from the `trigger` on, which the grammar begins with. `tokens` is llguidance's view of the tokenizer."""

    def __init__(self, torch: Any, matcher: Any, trigger: str, tokens: Any, ends: Sequence[int]) -> None:
        super().__init__(torch, matcher)
        self._trigger, self._tokens, self._ends = trigger.encode(), tokens, ends
        self._recent = b""
        self._holds = False

    def allow(self, logits: Any) -> None:
        if self._holds and not self._matcher.is_stopped():
            super().allow(logits)

    def chose(self, token: int) -> None:
        if self._holds:
            if not self._matcher.is_stopped():
                super().chose(token)
            return
        if token in self._ends:
            return
        self._recent += self._tokens.decode_bytes([token])
        at = self._recent.find(self._trigger)
        if at < 0:
            self._recent = self._recent[-2 * len(self._trigger) :]
            return
        written = self._tokens.tokenize_bytes(self._recent[at:])
        self._holds = bool(self._matcher.consume_tokens(written))


def _refused(reason: str) -> BadRequest:
    return BadRequest(f"The reply's format cannot be applied: {reason}.", param="response_format")

"""A reply whose words are given: the session's own sentences, said with the model's voice.

Used by `held_call` in the place of a `TokenChoice`. The model reads the tokens as if it had chosen them, so its talker speaks them, its cache
holds them, and an interruption takes back what was not heard, as of every reply.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from duologue.engines.decoding.token_choice import ChosenToken


class RecitedText:
    """These tokens one after the other, then `end`."""

    def __init__(self, tokens: Iterable[int], end: int) -> None:
        self._tokens, self._end = deque(tokens), end

    def choose(self, logits: Any, before: Sequence[int]) -> ChosenToken:
        """The next token, whatever the logits are."""
        return ChosenToken(self._tokens.popleft() if self._tokens else self._end)

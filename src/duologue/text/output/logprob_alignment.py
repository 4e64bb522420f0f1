"""Assigns the logprobs of tokens to the deltas of the content.

`sessions/chat/chat.py` and `engines/openai_remote` use it. Tokens and deltas have different boundaries, because the text between them is split into channels.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.values.events import TokenLogprob


class LogprobAlignment:
    """Gives a content delta the logprobs of the tokens whose text begins inside its raw characters."""

    def __init__(self) -> None:
        self._position = 0
        self._waiting: list[tuple[int, TokenLogprob]] = []
        self._held: list[tuple[int, TokenLogprob]] = []
        """Those of content that is not shown yet, by their place in the content."""
        self._length = self._shown = 0
        """Characters of the content, and how many of them were shown."""

    def add(self, text: str, logprobs: Sequence[TokenLogprob] = ()) -> None:
        """Add the next piece of raw text with the tokens that begin in it: each is placed where its text is found, and where the last
        one ended if it is not (half a character)."""
        at = 0
        for entry in logprobs:
            found = text.find(entry.token, at)
            at = at if found < 0 else found
            self._waiting.append((self._position + at, entry))
            at += 0 if found < 0 else len(entry.token)
        self._position += len(text)

    def take(self, start: int, length: int, shown: int | None = None) -> tuple[TokenLogprob, ...]:
        """The logprobs of the tokens that begin in these characters of the raw text, which are content; each is returned once. Where
        only `shown` characters more of the content are shown with this delta, the tokens of the others wait for `release`."""
        self._held += (
            (self._length + at - start, entry) for at, entry in self._waiting if start <= at < start + length
        )
        self._waiting = [(at, entry) for at, entry in self._waiting if at >= start + length]
        self._length += length
        return self.release(length if shown is None else shown)

    def release(self, shown: int) -> tuple[TokenLogprob, ...]:
        """The logprobs of the next `shown` characters of the content."""
        self._shown += shown
        ready = tuple(entry for at, entry in self._held if at < self._shown)
        self._held = [(at, entry) for at, entry in self._held if at >= self._shown]
        return ready

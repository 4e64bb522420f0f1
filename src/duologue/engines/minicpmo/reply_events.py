"""What the model writes and says as the events of a reply: thoughts split from the answer, stop strings, special tokens left out.

`engine` feeds it in the model's thread. Pure, with the time as an argument, in seconds.
"""

from __future__ import annotations

import re

from duologue.engines.minicpmo.model_messages import text_tokens
from duologue.engines.minicpmo.reply_methods import Written
from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.stream.stops import StopMatcher
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE
from duologue.values.events import (
    AudioDelta,
    Delta,
    Done,
    Event,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    Timings,
    Usage,
)

SPECIAL = re.compile(r"<\|[a-z_]+\|>|</?(?:unit|image|slice|s)>")
"""Special tokens in decoded text. Each is one token, so none is ever cut in two."""
LONGEST_PIECE = SPOKEN_RATE * SAMPLE_BYTES
"""Bytes of one piece of sound: a second."""


def without_special(text: str) -> str:
    """The text without the model's control tokens."""
    return SPECIAL.sub("", text)


class ReplyEvents:
    """One reply that was requested at `began`. `estimate`: tokens of its prompt where the model does not count them."""

    def __init__(self, began: float, estimate: int, most: int, stops: tuple[str, ...] = ()) -> None:
        self._began, self._estimate, self._most = began, estimate, most
        self._prefilled = self._first = began
        self._counted: int | None = None
        self._splitter = ChannelSplitter(
            tool_format=None,
            reasoning=ReasoningTags(),
            start_in_reasoning=False,
            new_call_id=str,
        )
        self._stops = StopMatcher(stops)
        self._thoughts, self._text = "", ""
        self._said_anything = False
        self._unfinished = False
        self.stop: str | None = None
        """The stop string that ended the reply: nothing more is to be generated."""

    def prefilled(self, now: float, tokens: int | None, ignored: tuple[str, ...] = ()) -> Event:
        """The prompt was read: `tokens` are in the cache. `ignored`: options of the request without effect."""
        self._prefilled = self._first = now
        self._counted = tokens
        return Prefilled(tokens, ignored=ignored)

    def feed(self, written: Written, now: float) -> list[Event]:
        """The events of one piece; of nothing more once `stop` is set."""
        self._unfinished = written.unfinished
        events = self._texts(self._splitter.feed(without_special(written.text)))
        if self.stop is None:
            events += [
                AudioDelta(written.pcm[at : at + LONGEST_PIECE])
                for at in range(0, len(written.pcm), LONGEST_PIECE)
            ]
        if events and not self._said_anything:
            self._said_anything, self._first = True, now
        return events

    def finished(self, now: float, generated: int | None) -> list[Event]:
        """The last events. `generated`: tokens that were generated, where the model tells."""
        events: list[Event] = []
        if self.stop is None:
            events = self._texts(self._splitter.finish())
            if rest := self._stops.finish():
                events += self._shown(TextDelta(rest))
        reasoning = text_tokens(self._thoughts)
        written = generated if generated is not None else text_tokens(self._text) + reasoning
        is_cut = self.stop is None and (self._unfinished or written >= self._most)
        usage = Usage(
            self._counted if self._counted is not None else self._estimate,
            written,
            reasoning=reasoning,
            estimated=self._counted is None or generated is None or reasoning > 0,
        )
        timings = Timings(
            prefill=(self._prefilled - self._began) * 1000,
            generate=(now - self._prefilled) * 1000,
            first=(self._first - self._began) * 1000,
        )
        return [*events, Done("length" if is_cut else "stop", usage, timings, self.stop)]

    def _texts(self, deltas: list[Delta]) -> list[Event]:
        events: list[Event] = []
        for delta in deltas:
            if isinstance(delta, ReasoningDelta):
                self._thoughts += delta.text
                events.append(delta)
            elif isinstance(delta, TextDelta) and self.stop is None:
                text, self.stop = self._stops.feed(delta.text)
                events += self._shown(TextDelta(text))
        return events

    def _shown(self, delta: TextDelta) -> list[Event]:
        self._text += delta.text
        return [delta] if delta.text else []

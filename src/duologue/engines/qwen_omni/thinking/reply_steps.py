"""One reply, a step at a time: its prompt read in parts, then a token a step, spoken where the session asks for it.

Made by `engine`, which runs each step in the engine's thread, so that several replies go on by turns. Owns the order: a token is
written, then read into the cache with its sound made, then the next one is chosen. Blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from duologue.engines.contracts import GenerationEnded, ModelVoice, Piece, SpokenSound
from duologue.engines.decoding.token_choice import ChosenToken, TokenChoice
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.qwen_omni.prompt.omni_prompt import (
    OmniPrompt,
    PromptText,
    common_beginning,
    reading_steps,
)
from duologue.engines.qwen_omni.talker import Talker, TalkerReply
from duologue.engines.qwen_omni.thinking.thinker import Thinker
from duologue.engines.qwen_omni.thinking.thinker_sequence import ThinkerSequence
from duologue.values.events import Progress, TokenLogprob

Item = Piece | SpokenSound | Progress | GenerationEnded


class SequenceReading:
    """Reads a prompt into a sequence, keeping what both begin with. `logits` are those behind it, once it is read."""

    def __init__(self, thinker: Thinker, sequence: ThinkerSequence, prompt: OmniPrompt, batch: int) -> None:
        self._thinker, self._sequence, self._prompt, self._batch = thinker, sequence, prompt, batch
        self.logits: Any = None
        self.cached = 0

    def steps(self) -> Iterator[Progress]:
        """Read it, a batch or a medium a step; with each step how far it is."""
        sequence, prompt = self._sequence, self._prompt
        # The last token is always read: only that gives the logits behind it.
        known = min(common_beginning(sequence.numbers, prompt.tokens), len(prompt) - 1)
        self.cached = prompt.readable(known)
        sequence.crop(self.cached)
        for pieces in reading_steps(prompt.after(self.cached), self._batch):
            self.logits = self._thinker.read(sequence, pieces)
            yield Progress(len(sequence), len(prompt), self.cached)


class ReplySteps:
    """A reply behind `prompt`, of at most `limit` tokens; `ends` are the tokens that end it. With a `voice` the talker speaks it."""

    def __init__(
        self,
        reading: SequenceReading,
        thinker: Thinker,
        sequence: ThinkerSequence,
        choice: TokenChoice,
        text: TokenText,
        *,
        ends: Collection[int],
        limit: int,
        talker: Talker | None = None,
        voice: ModelVoice | None = None,
    ) -> None:
        self._reading, self._thinker, self._sequence = reading, thinker, sequence
        self._choice, self._text = choice, text
        self._ends, self._limit = ends, limit
        self._talker, self._voice = talker, voice
        self._waiting: list[TokenLogprob] = []

    def steps(self) -> Iterator[Sequence[Item]]:
        """The reply; each step is one of reading, of writing a token or of speaking, and gives the items that are ready with it."""
        yield from ([progress] for progress in self._reading.steps())
        sequence, logits = self._sequence, self._reading.logits
        spoken: TalkerReply | None = None
        if self._talker is not None and self._voice is not None and sequence.trace is not None:
            spoken = self._talker.begin(sequence.trace, self._voice)
        written = 0
        finish = "length"
        while written < self._limit:
            chosen = self._choice.choose(logits, sequence.numbers)
            if chosen.id in self._ends:
                finish = "stop"
                break
            written += 1
            yield self._written(chosen)
            logits = self._thinker.read(sequence, (PromptText((chosen.id,)),))
            if spoken is not None and sequence.trace is not None and (pcm := spoken.feed(sequence.trace)):
                yield [SpokenSound(pcm)]
        if (left := self._text.finish()) or self._waiting:
            yield [Piece(left, 0, tuple(self._waiting))]
        if spoken is not None and sequence.trace is not None:
            for pcm in spoken.finish(sequence.trace):
                yield [SpokenSound(pcm)] if pcm else []
        ended = GenerationEnded("stop" if finish == "stop" else "length", written, self._reading.cached)
        yield [ended]

    def _written(self, chosen: ChosenToken) -> list[Item]:
        if self._choice.reports:
            self._waiting.append(self._logprob(chosen))
        text = self._text.add(chosen.id)
        if self._text.pending:
            # It counts although its text waits.
            return [Piece("", 1)]
        logprobs, self._waiting = tuple(self._waiting), []
        return [Piece(text, 1, logprobs, self._text.is_control(chosen.id))]

    def _logprob(self, chosen: ChosenToken) -> TokenLogprob:
        def spelt(token: int, logprob: float) -> TokenLogprob:
            text, data = self._text.spelling(token)
            return TokenLogprob(text, logprob, data)

        top: Sequence[TokenLogprob] = [spelt(token, logprob) for token, logprob in chosen.top]
        text, data = self._text.spelling(chosen.id)
        return TokenLogprob(text, chosen.logprob, data, tuple(top))

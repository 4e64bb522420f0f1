"""One reply of a call, made a token at a time: its tokens, their texts, and the sound that waits to be sent.

Used by `held_call`, in the engine's thread. The sound is given out as long as a unit is, and the text with it that it says.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator

from duologue.engines.decoding.token_choice import TokenChoice
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.qwen_omni.duplex.heard_words import heard_tokens
from duologue.engines.qwen_omni.prompt.omni_prompt import PromptText
from duologue.engines.qwen_omni.talker import TalkerReply
from duologue.engines.qwen_omni.thinking.recited_text import RecitedText
from duologue.engines.qwen_omni.thinking.thinker import Thinker
from duologue.engines.qwen_omni.thinking.thinker_sequence import ThinkerSequence
from duologue.values.audio import SAMPLE_BYTES, samples


class SpokenTurn:
    """A reply that begins behind `sequence`, at token `start`; `marks` tokens before that belong to it."""

    def __init__(
        self,
        thinker: Thinker,
        sequence: ThinkerSequence,
        spoken: TalkerReply,
        choice: TokenChoice | RecitedText,
        text: TokenText,
        logits: object,
        *,
        marks: int,
        ends: Collection[int],
        limit: int,
    ) -> None:
        self._thinker, self._sequence, self._spoken = thinker, sequence, spoken
        self._choice, self._text, self._logits = choice, text, logits
        self._ends, self._limit = ends, limit
        self.start, self.marks = len(sequence), marks
        self.texts: list[str] = []
        self._sent_samples = self._sent_tokens = 0
        self._ready = bytearray()
        self._steps: Iterator[None] = self._made()
        self._text_made = self._made_all = False
        self.language = self.speech = 0.0
        """Seconds so far of writing, and of speaking with the vocoder's."""

    @property
    def over(self) -> bool:
        """All of it was given out."""
        return self._made_all and not self._ready

    @property
    def written(self) -> int:
        """Tokens so far."""
        return len(self.texts)

    @property
    def codes(self) -> int:
        """Codes of speech so far."""
        return self._spoken.codes

    @property
    def vocoder(self) -> float:
        """Seconds of `speech` that the vocoder took."""
        return self._spoken.vocoder_seconds

    def lacks(self, count: int) -> bool:
        """Whether more has to be made before `count` samples can be given out."""
        return not self._made_all and len(self._ready) < count * SAMPLE_BYTES

    def step(self) -> None:
        """Make the next token and its sound, or the next of the sound behind the last one."""
        try:
            next(self._steps)
        except StopIteration:
            self._made_all = True

    def take(self, count: int) -> tuple[bytes, str]:
        """The next sound, at most `count` samples, and the text that it says."""
        pcm = bytes(self._ready[: count * SAMPLE_BYTES])
        del self._ready[: len(pcm)]
        self._sent_samples += samples(pcm)
        tokens = len(self.texts) if self.over else self._spoken.spoken_tokens(self._sent_samples)
        tokens = max(self._sent_tokens, heard_tokens(self.texts, tokens, whole=self._text_made))
        text = "".join(self.texts[self._sent_tokens : tokens])
        self._sent_tokens = tokens
        return pcm, text

    def heard(self, count: int) -> int:
        """How many of its tokens its first `count` samples say, in whole words; none of them after what was given out."""
        if self.over and count >= self._sent_samples:
            return len(self.texts)
        tokens = self._spoken.spoken_tokens(min(count, self._sent_samples))
        return heard_tokens(self.texts, min(tokens, self._sent_tokens), whole=self._text_made)

    def _made(self) -> Iterator[None]:
        trace = self._sequence.trace
        assert trace is not None, "a model that speaks has a trace"
        began = time.perf_counter()
        # Nobody in a call reads what the talker leaves out. A tiny model that had ended its speech wrote 941 tokens more in one unit.
        while len(self.texts) < self._limit and not self._spoken.ended:
            chosen = self._choice.choose(self._logits, self._sequence.numbers)
            if chosen.id in self._ends:
                break
            self.texts.append(self._text.add(chosen.id))
            self._logits = self._thinker.read(self._sequence, (PromptText((chosen.id,)),))
            between = time.perf_counter()
            self._ready += self._spoken.feed(trace)
            now = time.perf_counter()
            self.language, self.speech = self.language + between - began, self.speech + now - between
            yield
            began = time.perf_counter()
        self._text_made = True
        if left := self._text.finish():
            self.texts[-1] += left
        for pcm in self._spoken.finish(trace):
            self._ready += pcm
            self.speech += time.perf_counter() - began
            yield
            began = time.perf_counter()

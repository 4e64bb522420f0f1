"""What the thinker's half of the engine asks of the half that speaks.

`speech/reply_speech` implements it; `reply_steps` and `held_call` call it, always in the engine's one thread. All of it blocks. It keeps
nothing in the model's modules, so that several replies may be spoken by turns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Protocol

from duologue.engines.contracts import ModelVoice
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace


class TalkerReply(Protocol):
    """The sound of one reply, 16-bit mono at 24 kHz, while its tokens come."""

    @property
    def codes(self) -> int:
        """Codes of speech made so far."""
        ...

    @property
    def vocoder_seconds(self) -> float:
        """What making sound of the codes took so far; the rest of the time of `feed` and `finish` went into codes."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the talker has ended its speech, which it may do before the text ends: no later token is spoken."""
        ...

    def spoken_tokens(self, samples: int) -> int:
        """How many of the reply's tokens its first `samples` (24 kHz) say. An estimate: the model does not time its words."""
        ...

    def feed(self, trace: ThinkerTrace) -> bytes:
        """A token of the reply was appended to `trace`: the sound that is ready with it, often none."""
        ...

    def finish(self, trace: ThinkerTrace) -> Iterator[bytes]:
        """The reply has no more tokens: the rest of its sound, in pieces that take about as long to make as those of `feed`, so that
        others get their turn after each; some may be empty."""
        ...


class Talker(Protocol):
    """The talker and its vocoder, made once for a model."""

    @property
    def layer(self) -> int:
        """The index in the thinker's `hidden_states` (0: its input, -1: its last) that `ThinkerTrace.hidden` is to have."""
        ...

    @property
    def voices(self) -> tuple[str, ...]:
        """The model's own, the default first."""
        ...

    @property
    def clones(self) -> bool:
        """Whether it speaks like a recording."""
        ...

    def suppressed(self, tokenizer: Any) -> Collection[int]:
        """The tokens that are not written while speaking: Markdown and control tokens."""
        ...

    def begin(self, trace: ThinkerTrace, voice: ModelVoice) -> TalkerReply:
        """Speak the reply that follows the tokens in `trace`. Raises Problem for a voice that there is not."""
        ...

"""The vocoder of Qwen3-Omni: it makes sound of groups of codes and looks only back.

Made by `reply_speech`, which calls it. Its first half is a transformer that looks back seconds: it reads each code once and keeps its keys and
values. Its second half is made of convolutions that look back less than a second: they get the states of some codes before a group again. So
the sound is that of the whole reply made at once, and cheaper than the library's `chunked_decode`, which reads 25 codes before each
chunk again and leaves out the last samples before every seam, each of its steps that make more samples needing the next value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Any

from duologue.engines.qwen_omni.speech.speech_groups import GroupRule, GroupSize
from duologue.values.audio import SPOKEN_RATE

LEFT = 10
"""Codes before a group whose states the convolutions get again: they look back nine and a bit."""
FIRST = (GroupSize(4), GroupSize(4))
LATER = GroupSize(8)
"""Sizes of groups: a code is 80 ms."""


class Qwen3Vocoder:
    """Of one model, for all replies."""

    def __init__(self, torch: Any, new_cache: Any, model: Any) -> None:
        """`new_cache` makes an empty cache of keys and values."""
        self.torch, self.new_cache, self.network = torch, new_cache, model.code2wav
        self.device = model.code2wav.code_embedding.weight.device
        self.rule = GroupRule(
            samples=int(model.code2wav.total_upsample),
            left=LEFT,
            first=FIRST,
            later=LATER,
            missing=missing_samples(model.code2wav.config.upsample_rates),
            fade=SPOKEN_RATE // 200,
        )

    def reply(self, voice: str, seed: int) -> Qwen3Sound:
        """The sound of one reply: its codes have the voice in them, and nothing is left to chance."""
        return Qwen3Sound(self)

    def wave(self, states: Any) -> Any:
        """The samples of states [n, width] as an array, -1 to 1."""
        values = states.T[None]
        for step in self.network.upsample:
            for layer in step:
                values = layer(values)
        for layer in self.network.decoder:
            values = layer(values)
        return values.reshape(-1).float().clamp(-1, 1).cpu().numpy()


class Qwen3Sound:
    """Turns the codes of one reply into sound."""

    def __init__(self, vocoder: Qwen3Vocoder) -> None:
        self._vocoder = vocoder
        self._cache = vocoder.new_cache(config=vocoder.network.pre_transformer.config)
        self._states: Any = None
        self._forgotten = self._read = 0

    @property
    def rule(self) -> GroupRule:
        return self._vocoder.rule

    def sound(self, codes: Sequence[tuple[int, ...]], begin: int) -> Any:
        """The samples of these groups of codes as an array, the first of which is the reply's group `begin`. No window begins or ends
        earlier than the one before. Blocks."""
        if self._read < begin + len(codes):
            self._add(self._read_on(codes[self._read - begin :]))
            self._read = begin + len(codes)
        self._states = self._states[begin - self._forgotten :]
        self._forgotten = begin
        return self._vocoder.wave(self._states)

    def _read_on(self, codes: Sequence[tuple[int, ...]]) -> Any:
        """The states [n, width] of the next codes."""
        torch, network = self._vocoder.torch, self._vocoder.network
        numbers = torch.tensor(codes, device=self._vocoder.device).T[None]
        places = torch.arange(self._read, self._read + len(codes), device=self._vocoder.device)
        read = network.pre_transformer(
            inputs_embeds=network.code_embedding(numbers + network.code_offset).mean(1),
            position_ids=places[None],
            past_key_values=self._cache,
            use_cache=True,
        )
        return read.last_hidden_state[0]

    def _add(self, states: Any) -> None:
        held = self._states
        self._states = states if held is None else self._vocoder.torch.cat([held, states])


def missing_samples(rates: Sequence[int]) -> int:
    """The samples that the sound of a window lacks: each step loses one value, which is as many samples as the rates after it make."""
    return sum(accumulate(reversed(rates), mul))

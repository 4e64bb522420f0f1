"""The vocoder of Qwen2.5-Omni: a flow makes mel spectra of codes and a reference voice, a network makes sound of the spectra.

Made by `reply_speech`, which calls it. The flow attends within blocks of codes, and in a few layers to the block before or after, so
windows begin at blocks, with as many before and after as there are such layers. It starts from noise: each code keeps its own in every window
it is in, or the windows would be sounds of different takes. The library draws noise anew with each call, so the flow is
integrated here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from duologue.engines.qwen_omni.speech.speech_groups import GroupRule, GroupSize
from duologue.values.audio import SPOKEN_RATE

STEPS, GUIDANCE, SWAY = 10, 0.5, -1.0
"""As in the library: points in time, how much of the difference that the codes make is added, and how much denser the points are at the
beginning."""
FIRST = (GroupSize(10, 2), GroupSize(10, 4))
"""The first codes are made into sound early, to shorten the wait for the first sound."""
LATER = 2
"""Blocks of a later group. The blocks before and after are computed again with each."""


class Qwen25Vocoder:
    """Of one model, for all replies."""

    def __init__(self, torch: Any, model: Any) -> None:
        self.torch = torch
        self._flow = model.token2wav.code2wav_dit_model
        self._network = model.token2wav.code2wav_bigvgan_model
        self._voices = model.speaker_map
        self.device = self._flow.proj_out.weight.device
        config = self._flow.config
        self.repeats, self.mels = int(config.repeats), int(config.mel_dim)
        block = max(1, int(config.block_size) // self.repeats)
        self.rule = GroupRule(
            samples=self.repeats * math.prod(model.token2wav.config.bigvgan_config.upsample_rates),
            left=block * len(config.look_backward_layers),
            first=FIRST,
            later=GroupSize(block * LATER, block * len(config.look_ahead_layers)),
            block=block,
            fade=SPOKEN_RATE // 200,
        )

    def reply(self, voice: str, seed: int) -> Qwen25Sound:
        """The sound of one reply in this voice."""
        return Qwen25Sound(self, self._voices[voice], seed)

    def spectra(self, codes: Any, noise: Any, cond: Any, reference: Any) -> Any:
        """Mel spectra [1, mels, t] of codes [1, n], from noise [1, t, mels]: the flow integrated by Kutta's 3/8 rule."""
        torch = self.torch
        speaker = cond[:, None].expand(-1, noise.shape[1], -1)

        def slope(time: Any, state: Any) -> Any:
            both = self._flow(
                hidden_states=state,
                condition_vector=reference,
                speaker_embedding=speaker,
                quantized_code=codes,
                time_step=time,
            )
            with_codes, without = both.chunk(2, dim=0)
            return with_codes + (with_codes - without) * GUIDANCE

        times = torch.linspace(0, 1, STEPS, device=self.device)
        times = times + SWAY * (torch.cos(torch.pi / 2 * times) - 1 + times)
        state = noise
        for start, end in pairwise(times):
            step = end - start
            k1 = slope(start, state)
            k2 = slope(start + step / 3, state + step * k1 / 3)
            k3 = slope(start + step * 2 / 3, state + step * (k2 - k1 / 3))
            k4 = slope(end, state + step * (k1 - k2 + k3))
            state = state + step * (k1 + 3 * (k2 + k3) + k4) / 8
        return state.transpose(1, 2)

    def wave(self, spectra: Any) -> Any:
        """The samples of the spectra as an array, -1 to 1."""
        return self._network(spectra).reshape(-1).float().cpu().numpy()


class Qwen25Sound:
    """Turns the codes of one reply into sound. Its chance is its own."""

    def __init__(self, vocoder: Qwen25Vocoder, voice: Any, seed: int) -> None:
        self._vocoder = vocoder
        device = vocoder.device
        self._cond = voice["cond"].to(device).float().reshape(1, -1)
        self._reference = voice["ref_mel"].to(device).float().reshape(1, -1, vocoder.mels)
        self._chance = vocoder.torch.Generator().manual_seed(seed)
        self._noise: list[Any] = []
        self._forgotten = 0

    @property
    def rule(self) -> GroupRule:
        return self._vocoder.rule

    def sound(self, codes: Sequence[tuple[int, ...]], begin: int) -> Any:
        """The samples of these codes as an array, the first of which is the reply's code `begin`. Blocks."""
        torch, vocoder = self._vocoder.torch, self._vocoder
        numbers = torch.tensor([[code for (code,) in codes]], device=vocoder.device)
        noise = self._noise_of(begin, begin + len(codes)).to(vocoder.device)
        return vocoder.wave(vocoder.spectra(numbers, noise, self._cond, self._reference))

    def _noise_of(self, begin: int, end: int) -> Any:
        """[1, t, mels]. No later window begins before `begin`."""
        while self._forgotten + len(self._noise) < end:
            shape = (self._vocoder.repeats, self._vocoder.mels)
            self._noise.append(self._vocoder.torch.randn(shape, generator=self._chance))
        del self._noise[: begin - self._forgotten]
        self._forgotten = begin
        return self._vocoder.torch.cat(self._noise[: end - begin])[None]

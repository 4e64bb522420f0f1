"""The sound of a reply's codes, group by group.

Used by `reply_speech`. `speech_groups` decides what goes into the vocoder and what of its sound is new; here seams are blended.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

from duologue.engines.audio.pcm import crossfade, to_pcm
from duologue.engines.qwen_omni.speech.speech_groups import GroupRule, SpeechGroup, SpeechGroups


class Vocoder(Protocol):
    """What turns codes into sound. It may keep what belongs to one reply."""

    @property
    def rule(self) -> GroupRule: ...

    def sound(self, codes: Sequence[tuple[int, ...]], begin: int) -> Any:
        """The samples of these codes as a float array, -1 to 1; the first is the reply's code `begin`. Blocks."""
        ...


class GroupedSound:
    """The codes and the sound of one reply. Codes that no later group needs are forgotten."""

    def __init__(self, vocoder: Vocoder) -> None:
        self._vocoder = vocoder
        self._groups = SpeechGroups(vocoder.rule)
        self._codes: list[tuple[int, ...]] = []
        self._forgotten = 0
        self._kept: Any = None
        self.seconds = 0.0
        """What the vocoder took so far."""

    @property
    def codes(self) -> int:
        """How many codes there were."""
        return self._forgotten + len(self._codes)

    @property
    def samples(self) -> int:
        """The samples of all codes so far, given or not."""
        return max(0, self.codes * self._vocoder.rule.samples - self._vocoder.rule.missing)

    def add(self, code: tuple[int, ...]) -> bytes:
        """One more code: the sound that is ready with it, as 16-bit PCM, often none."""
        self._codes.append(code)
        group = self._groups.take(self.codes)
        return b"" if group is None else self._pcm(group)

    def finish(self) -> bytes:
        """The sound of the last codes."""
        group = self._groups.finish(self.codes)
        return b"" if group is None else self._pcm(group)

    def _pcm(self, group: SpeechGroup) -> bytes:
        forgotten, began = self._forgotten, time.perf_counter()
        window = self._vocoder.sound(
            self._codes[group.begin - forgotten : group.end - forgotten], group.begin
        )
        sound = window[group.first : group.last].copy()
        if group.blend:
            sound[: group.blend] = crossfade(self._kept[: group.blend], sound[: group.blend])
        self._kept = window[group.last : group.kept].copy()
        del self._codes[: self._groups.oldest - forgotten]
        self._forgotten = self._groups.oldest
        pcm = to_pcm(sound)
        self.seconds += time.perf_counter() - began
        return pcm

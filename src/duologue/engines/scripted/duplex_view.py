"""The duplex view of the scripted omni engine: it listens and speaks by rule, the same way every time.

It replies to loud sound followed by silence, or when told to. The reply reports what the view received, so that a test fails where
sound or frames were lost, or replaced by text: "heard 2 units 1 frames 32000 samples 5f2c8e1a". The last word is a digest of the
sound and the frames since its last answer, in order (`digest_of`). Every word is a tone of 240 ms and 60 ms of silence.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

import anyio
from msgspec import Struct

from duologue.engines.contracts import Decision, DuplexOptions, ModelVoice, UnitAnswer, UnitCosts
from duologue.engines.scripted.speaker import (
    GAP_MS,
    WORD_MS,
    frequency_of,
    lowest_tone,
    pitch_of,
    tone,
)
from duologue.errors import EngineFailed, Unsupported
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.messages import ImagePart, Message, TextPart

LOUD = 1000
"""Amplitude from which sound is loud."""
SILENT_END = HEARD_RATE // 5
"""Samples at the end of a unit that are silent once the caller has finished."""
SOUNDING = WORD_MS * SPOKEN_RATE // 1000
PAUSE = GAP_MS * SPOKEN_RATE // 1000
WORD = SOUNDING + PAUSE
"""Samples (24 kHz) of one word."""
SOUND_TOKENS = HEARD_RATE // 10
"""Samples of one token of sound."""
SLICE_TOKENS = 64
"""Tokens of one picture, or piece of a picture."""
Sleep = Callable[[float], Awaitable[None]]


class DuplexScript(Struct, frozen=True):
    """How the view behaves, from the options of the engine. `decides`: it decides itself when to speak. `fewest` and `most`: samples of
    a unit. `recites`: it says sentences that it is given. `says`: words before those of the report. `unit_cost_ms`: how long each unit takes; `fails_at` and `hangs_at`: the number of
    the unit that fails, and of the one that is never answered, 0 for none."""

    decides: bool = True
    fewest: int = HEARD_RATE // 5
    most: int = HEARD_RATE
    says: str = ""
    unit_cost_ms: float = 0
    fails_at: int = 0
    hangs_at: int = 0
    recites: bool = True


def digest_of(sounds: Iterable[bytes], frames: Iterable[ImagePart] = ()) -> str:
    """The last word of a report on these sounds and frames."""
    heard, seen = hashlib.sha256(), hashlib.sha256()
    for pcm in sounds:
        heard.update(pcm)
    for frame in frames:
        seen.update(frame.data)
    return heard.hexdigest()[:8] + seen.hexdigest()[:4]


class _Heard:
    """What it was given since its last answer."""

    def __init__(self) -> None:
        self.units = 0
        self.sounds: list[bytes] = []
        self.frames: list[ImagePart] = []
        self.typed: list[str] = []
        self.loud = False

    def add(self, pcm: bytes, frames: Sequence[ImagePart]) -> None:
        self.units += 1
        self.sounds.append(pcm)
        self.frames += frames
        self.loud = self.loud or _is_loud(pcm)

    def report(self) -> str:
        """The words about it."""
        if self.typed:
            return " ".join(["typed", *self.typed])
        count = sum(map(samples, self.sounds))
        digest = digest_of(self.sounds, self.frames)
        return f"heard {self.units} units {len(self.frames)} frames {count} samples {digest}"


class ScriptedDuplexView:
    """Implements `contracts.DuplexView`. A misuse of the contract raises ValueError, which no test overlooks."""

    def __init__(self, script: DuplexScript, sleep: Sleep = anyio.sleep) -> None:
        self._script = script
        self._sleep = sleep
        self._options = DuplexOptions()
        self._messages: tuple[Message, ...] = ()
        self._heard = _Heard()
        self._to_say: deque[str] = deque()
        self._to_recite: deque[str] = deque()
        self._said: list[str] = []
        """The words of the reply that have been given."""
        self._open = False
        self._owed = 0
        self._cached = 0
        self._units = 0
        self._finalized = True
        self.closed = False

    @property
    def decides(self) -> bool:
        return self._script.decides

    @property
    def unit_samples(self) -> tuple[int, int]:
        return self._script.fewest, self._script.most

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that it was prepared with."""
        return self._messages

    async def prepare(self, messages: Sequence[Message], options: DuplexOptions) -> int:
        """A token for each character of text. Raises NotFound for a voice that it has not."""
        self._pitch(options.voice)
        self._messages, self._options = tuple(messages), options
        self._heard, self._open = _Heard(), False
        self._to_say.clear()
        self._said.clear()
        self._cached = sum(len(message.text) for message in messages)
        return self._cached

    async def unit(
        self,
        pcm: bytes,
        frames: Sequence[ImagePart] = (),
        *,
        decision: Decision = "model",
        max_slices: int | None = None,
    ) -> UnitAnswer:
        """Raises EngineFailed at the unit that the script names."""
        self._check(pcm, decision)
        self._units += 1
        self._finalized = False
        if self._script.unit_cost_ms:
            await self._sleep(self._script.unit_cost_ms / 1000)
        if self._units == self._script.fails_at:
            raise EngineFailed("The script asked for a failure.", code="scripted_failure")
        if self._units == self._script.hangs_at:
            await anyio.sleep_forever()
        slices = 0
        if self.decides or not self._open:
            self._heard.add(pcm, frames)
            slices = len(frames) * (max_slices or 1)
            self._count(samples(pcm) // SOUND_TOKENS + SLICE_TOKENS * slices)
        if not self._open and self._speaks_now(pcm, decision):
            self._begin(recites=decision == "speak")
        words, sound = self._say(samples(pcm)) if self._open else ("", b"")
        costs = UnitCosts(prefill=self._script.unit_cost_ms)
        if not sound:
            return UnitAnswer(
                cached=self._cached, slices=slices, vision_tokens=SLICE_TOKENS * slices, costs=costs
            )
        self._open = bool(self._to_say)
        spoken = len(sound) // SAMPLE_BYTES // WORD
        self._count(spoken)
        return UnitAnswer(
            False,
            words,
            sound,
            end_of_turn=not self._open,
            cached=self._cached,
            written=spoken,
            codes=spoken,
            slices=slices,
            vision_tokens=SLICE_TOKENS * slices,
            costs=costs,
        )

    async def finalize(self) -> None:
        """Nothing is left to be done, but that it was called is remembered."""
        self._finalized = True

    async def cut(self, heard: int) -> str:
        """The words whose tones had ended."""
        kept = self._said[: max(0, (heard + PAUSE) // WORD)]
        self._cached -= len(self._said) - len(kept)
        self._said, self._open = kept, False
        self._to_say.clear()
        return "".join(kept).rstrip()

    async def recite(self, text: str) -> None:
        """Raises Unsupported where the script says so."""
        if not self._script.recites:
            raise Unsupported("This model speaks only its own words, so the announcement was not spoken.")
        self._to_recite.append(text)

    async def type(self, text: str) -> None:
        """The next answer repeats it."""
        self._heard.typed.append(text)

    # ---- what it does

    def _check(self, pcm: bytes, decision: Decision) -> None:
        if self.closed:
            raise ValueError("the view was left")
        if not self._finalized:
            raise ValueError("finalize comes before the next unit")
        if not self._script.fewest <= samples(pcm) <= self._script.most:
            raise ValueError(
                f"a unit has {self._script.fewest} to {self._script.most} samples, not {samples(pcm)}"
            )
        if decision == "listen" and self._open:
            raise ValueError("while a reply is open, cut comes before listening")
        if decision == "model" and not self.decides:
            raise ValueError("this model does not decide")

    def _speaks_now(self, pcm: bytes, decision: Decision) -> bool:
        if decision != "model":
            return decision == "speak"
        over = self._heard.loud and not _is_loud(pcm[-SILENT_END * SAMPLE_BYTES :])
        return over or bool(self._heard.typed)

    def _begin(self, *, recites: bool) -> None:
        self._open, self._owed, self._said = True, 0, []
        if recites and self._to_recite:
            words = self._to_recite.popleft().split()
            self._to_say = deque([f"{word} " for word in words[:-1]] + words[-1:])
            return
        texts = (
            part.text
            for message in self._messages
            if message.role == "system"
            for part in message.parts
            if isinstance(part, TextPart)
        )
        asked = [line[5:] for text in texts for line in text.splitlines() if line.startswith("/say ")]
        words = " ".join([*asked, self._script.says, self._heard.report()]).split()
        self._to_say = deque([f"{word} " for word in words[:-1]] + words[-1:])
        self._heard = _Heard()

    def _say(self, unit: int) -> tuple[str, bytes]:
        """The next words, about as long as the unit of `unit` samples."""
        self._owed += unit * SPOKEN_RATE // HEARD_RATE
        words: list[str] = []
        while self._to_say and (self._owed > 0 or not words):
            words.append(self._to_say.popleft())
            self._owed -= WORD
        self._said += words
        lowest = self._pitch(self._options.voice)
        tones = (tone(pitch_of(word.strip(), lowest), SOUNDING) for word in words)
        return "".join(words), b"".join(one + bytes(PAUSE * SAMPLE_BYTES) for one in tones)

    def _count(self, tokens: int) -> None:
        self._cached += tokens
        if self._options.window is not None:
            self._cached = min(self._cached, self._options.window)

    @staticmethod
    def _pitch(voice: ModelVoice) -> float:
        return lowest_tone(voice.name) if voice.sample is None else frequency_of(voice.sample.pcm)


def _is_loud(pcm: bytes) -> bool:
    return max(map(abs, array("h", pcm)), default=0) > LOUD

"""One duplex session on MiniCPM-o: a second of sound and its frames go in, and the model decides whether it listens or speaks.

Made by `engine`. Owns the order of the calls, the open turn, what was said and heard, and the costs of each unit; `duplex_methods` are the
model's own. The cache cannot go back to what was heard: an interrupted turn is closed in the next unit, which is silent, as the model was
trained.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duologue.engines.audio.pcm import to_floats, to_pcm
from duologue.engines.contracts import Decision, DuplexOptions, UnitAnswer, UnitCosts
from duologue.engines.device_failures import device_errors
from duologue.engines.minicpmo.duplex_methods import DuplexMethods, DuplexPrompt
from duologue.engines.minicpmo.heard_text import HeardText
from duologue.engines.minicpmo.model_messages import PICTURE_TOKENS, picture
from duologue.engines.minicpmo.reference_voice import ReferenceVoice
from duologue.engines.minicpmo.reply_events import without_special
from duologue.engines.minicpmo.reply_methods import array_of
from duologue.engines.minicpmo.temporary_folder import TemporaryFolder
from duologue.errors import EngineFailed, Unsupported
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.messages import ImagePart, Message

UNIT = HEARD_RATE
"""Samples of a unit: one second."""
CountSlices = Callable[[Any, int], int]
"""How many pictures the model makes of a picture that may be cut into so many pieces."""
SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Result of a tool"}


class UnitSession:
    """Implements `contracts.DuplexView`. `choose`: the voice for a session of these messages and options."""

    def __init__(
        self,
        name: str,
        methods: DuplexMethods,
        lane: ThreadLane,
        folder: TemporaryFolder,
        choose: Callable[[Sequence[Message], DuplexOptions], ReferenceVoice | None],
        count_slices: CountSlices,
    ) -> None:
        self._name, self._methods, self._lane, self._folder = name, methods, lane, folder
        self._choose, self._count_slices = choose, count_slices
        self._said = HeardText()
        self._turn_open = False
        """The model has begun a turn and not ended it."""
        self._begins_reply = True
        self._must_close = False
        self._unfinished = False
        """`finalize` was not called since the last unit."""

    @property
    def decides(self) -> bool:
        return True

    @property
    def unit_samples(self) -> tuple[int, int]:
        return UNIT, UNIT

    async def prepare(self, messages: Sequence[Message], options: DuplexOptions) -> int:
        """Begin anew; the conversation so far is told in the system's message, as the methods take no others. Raises Unsupported,
        BadRequest and EngineFailed."""
        voice = self._choose(messages, options)
        return await self._lane.run(self._prepare, prompt_text(messages), voice, options)

    async def unit(
        self,
        pcm: bytes,
        frames: Sequence[ImagePart] = (),
        *,
        decision: Decision = "model",
        max_slices: int | None = None,
    ) -> UnitAnswer:
        """As `DuplexView.unit`. The model cannot be made to speak: "speak" is "model". Raises BadRequest for a frame that is no picture,
        EngineFailed where the model refuses the unit, DeviceLost."""
        return await self._lane.run(self._unit, pcm, frames, decision == "listen", max_slices or 1)

    async def finalize(self) -> None:
        await self._lane.run(self._finalize)

    async def cut(self, heard: int) -> str:
        """As `DuplexView.cut`. The next unit closes the turn and is silent."""
        text = self._said.until(heard)
        self._said, self._begins_reply = HeardText(), True
        self._must_close = self._turn_open
        return text

    async def recite(self, text: str) -> None:
        """Its methods take no words to say. Raises Unsupported."""
        raise Unsupported("This model speaks only its own words, so the announcement was not spoken.")

    async def type(self, text: str) -> None:
        """As `DuplexView.type`. Raises Unsupported where the methods take no text."""
        await self._lane.run(self._type, text)

    def leave(self) -> None:
        """Give the weights back. Blocks; called in the lane, last."""
        with device_errors(self._name):
            try:
                self._finalize()
            finally:
                self._methods.leave()
        self._folder.clean()

    # ---- in the model's thread

    def _prepare(self, text: str, voice: ReferenceVoice | None, options: DuplexOptions) -> int:
        with device_errors(self._name):
            self._finalize()
            self._folder.clean()
            prompt = DuplexPrompt(text)
            if voice is not None:
                prompt = DuplexPrompt(text, voice.sound, voice.write(self._folder.path))
            self._methods.prepare(prompt, options)
            self._said, self._begins_reply = HeardText(), True
            self._turn_open = self._must_close = False
            return self._methods.cached

    def _unit(self, pcm: bytes, frames: Sequence[ImagePart], listens: bool, slices: int) -> UnitAnswer:
        pictures = [picture(frame) for frame in frames]
        # With too little sound the model would have read half a unit when it refuses it.
        sound = to_floats(pcm[: UNIT * SAMPLE_BYTES].rjust(UNIT * SAMPLE_BYTES, b"\0"))
        with device_errors(self._name):
            self._finalize()
            seen = sum(self._count_slices(each, slices) for each in pictures)
            began = time.perf_counter()
            read = self._methods.prefill(sound, pictures, slices)
            prefill = time.perf_counter() - began
            if not read.get("success"):
                reason = str(read.get("reason") or "it gave no reason")
                raise EngineFailed(f"{self._name} refused a second of the call: {reason}.")
            result = self._methods.generate(listens=listens or self._must_close)
            self._unfinished = True
            self._must_close = False
            return self._answer(result, prefill, seen)

    def _answer(self, result: Mapping[str, Any], prefill: float, slices: int) -> UnitAnswer:
        listens = bool(result["is_listen"])
        text = "" if listens else without_special(str(result.get("text") or ""))
        wave = result.get("audio_waveform")
        # Listening comes with a second of silence, which nobody needs to be sent.
        pcm = b"" if listens or wave is None else to_pcm(array_of(wave))
        ended = not listens and bool(result.get("end_of_turn"))
        if not listens:
            if self._begins_reply:
                self._said, self._begins_reply = HeardText(), False
            self._said.say(text, pcm)
        self._begins_reply = self._begins_reply or ended or listens
        self._turn_open = not listens and not ended
        return UnitAnswer(
            listens=listens,
            text=text,
            pcm=pcm,
            end_of_turn=ended,
            cached=self._methods.cached,
            written=int(result.get("n_tokens") or 0),
            codes=int(result.get("n_tts_tokens") or 0),
            slices=slices,
            vision_tokens=slices * PICTURE_TOKENS,
            costs=UnitCosts(
                prefill * 1000,
                _milliseconds(result, "cost_llm"),
                _milliseconds(result, "cost_tts_prep") + _milliseconds(result, "cost_tts"),
                _milliseconds(result, "cost_token2wav"),
            ),
        )

    def _finalize(self) -> None:
        if self._unfinished:
            self._unfinished = False
            with device_errors(self._name):
                self._methods.finalize()

    def _type(self, text: str) -> None:
        with device_errors(self._name):
            self._finalize()
            self._methods.type(text)
            self._turn_open = self._must_close = False


def prompt_text(messages: Sequence[Message]) -> str:
    """The system's texts, and what was said so far; pictures and sounds of earlier turns are left out."""
    system = "\n".join(message.text for message in messages if message.role == "system" and message.text)
    said = [
        f"{SPEAKERS[message.role]}: {message.text}"
        for message in messages
        if message.role != "system" and message.text
    ]
    return "\n\n".join(filter(None, (system, "The conversation so far:\n" + "\n".join(said) if said else "")))


def _milliseconds(result: Mapping[str, Any], name: str) -> float:
    return float(result.get(name) or 0.0) * 1000

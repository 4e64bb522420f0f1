"""The methods of a duplex session, as the published code and the patched copy of it have them.

The published code wraps the model in an object of its own (`as_duplex`); the patched copy has the methods on the model, leaves the end of each unit to
a call of its own, and closes an open turn when it is forced to listen. `choose_duplex` looks at the model and assumes nothing. Everything here
blocks, and is called in the model's one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct

from duologue.engines.contracts import DuplexOptions
from duologue.engines.minicpmo.reply_methods import set_mode
from duologue.errors import Unsupported

PROMPT = "Streaming Omni Conversation."
"""The system's message where there is none, as the model was trained."""
KEPT_SHARE = 0.75
"""What is left of the window once the oldest units have left it."""


PATCHED: dict[str, Any] = {
    "decode_mode": "sampling",
    "temperature": 0.7,
    "top_k": 20,
    "top_p": 0.8,
    "listen_prob_scale": 1.0,
    "listen_top_k": None,
    "text_repetition_penalty": 1.05,
    "text_repetition_window_size": 512,
    "length_penalty": 1.1,
}
"""The demo's own values. Its method passes on the None of an argument that is left out, which then takes part in arithmetic."""


class DuplexPrompt(Struct, frozen=True):
    """What a session begins with: the system's text, and the voice as [samples] float32 at 16 kHz and as the path of a WAV file."""

    text: str
    voice: Any = None
    voice_file: str | None = None


class DuplexMethods(Protocol):
    """One session: `prepare`, then for each unit `prefill`, `generate` and `finalize`."""

    def prepare(self, prompt: DuplexPrompt, options: DuplexOptions) -> None: ...

    def prefill(self, sound: Any, frames: Sequence[Any], slices: int) -> Mapping[str, Any]: ...

    def generate(self, *, listens: bool) -> Mapping[str, Any]:
        """What follows the unit. `listens`: it must be silent, and a turn that is open is closed."""
        ...

    def finalize(self) -> None:
        """What `generate` left to be done. Called once after each."""
        ...

    def type(self, text: str) -> None:
        """Read this text as a unit of its own. Raises Unsupported."""
        ...

    @property
    def cached(self) -> int:
        """Tokens in the session's cache; 0 where that is not told."""
        ...

    def leave(self) -> None:
        """Give the weights back to the chats."""
        ...


def choose_duplex(model: Any) -> DuplexMethods:
    """The methods of this object."""
    return PatchedDuplex(model) if hasattr(model, "duplex_prefill") else StockDuplex(model)


class StockDuplex:
    """The published code. Its wrapper is made at the first session: making one loads the vocoder again, which takes seconds."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._duplex: Any = None
        self._window: int | None = None
        self._arguments: dict[str, Any] = {}

    def prepare(self, prompt: DuplexPrompt, options: DuplexOptions) -> None:
        if self._duplex is None or options.window != self._window:
            self._duplex = self._model.as_duplex(**_window(options.window))
            self._window = options.window
        self._arguments = _sampling(options)
        self._duplex.prepare(
            prefix_system_prompt=prompt.text or PROMPT,
            ref_audio=prompt.voice,
            prompt_wav_path=prompt.voice_file,
        )

    def prefill(self, sound: Any, frames: Sequence[Any], slices: int) -> Mapping[str, Any]:
        result: Mapping[str, Any] = self._duplex.streaming_prefill(
            audio_waveform=sound, frame_list=list(frames) or None, max_slice_nums=slices
        )
        return result

    def generate(self, *, listens: bool) -> Mapping[str, Any]:
        duplex = self._duplex
        forced = getattr(duplex, "force_listen_count", 0)
        if listens:
            self._close_turn()
            duplex.force_listen_count = getattr(duplex, "_streaming_generate_count", 0) + 1
        try:
            result: Mapping[str, Any] = duplex.streaming_generate(**self._arguments)
        finally:
            duplex.force_listen_count = forced
        return result

    def finalize(self) -> None:
        return None

    def type(self, text: str) -> None:
        result = self._duplex.streaming_prefill(text_list=[text])
        if not result.get("success"):
            raise Unsupported("The model cannot read typed words in a call. Say them instead.")
        self.generate(listens=True)

    @property
    def cached(self) -> int:
        return _cache_length(self._duplex)

    def leave(self) -> None:
        if self._duplex is not None:
            self._duplex.as_simplex(reset_session=True, reset_token2wav_cache=True)

    def _close_turn(self) -> None:
        """End the turn that is open. Being forced to listen does not: the next unit might go on with the old sentence."""
        duplex = self._duplex
        if getattr(duplex, "current_turn_ended", True):
            return
        decoder = duplex.decoder
        logits, _ = decoder.feed(decoder.embed_token(duplex.turn_eos_token_id), return_logits=True)
        duplex.pending_logits = logits
        duplex.current_turn_ended = True
        # What the end of a turn resets of its speech: the next turn is not spoken as a continuation of this one.
        for name, value in (
            ("tts_text_start_pos", 0),
            ("tts_past_key_values", None),
            ("tts_current_turn_start_time", None),
        ):
            if hasattr(duplex, name):
                setattr(duplex, name, value)
        if hasattr(duplex, "_reset_token2wav_for_new_turn"):
            duplex._reset_token2wav_for_new_turn()


class PatchedDuplex:
    """The patched copy."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._arguments: dict[str, Any] = {}

    def prepare(self, prompt: DuplexPrompt, options: DuplexOptions) -> None:
        if options.window is not None:
            raise Unsupported(
                "This version of the model has no window that a call can set. Leave it out.", param="window"
            )
        set_mode(self._model, "DUPLEX")
        self._arguments = _sampling(options)
        if options.sampling.length_penalty is not None:
            self._arguments["length_penalty"] = options.sampling.length_penalty
        self._model.duplex_prepare(
            prefix_system_prompt=f"<|im_start|>system\n{prompt.text or PROMPT}\n<|audio_start|>",
            suffix_system_prompt="<|audio_end|><|im_end|>",
            ref_audio=prompt.voice,
            prompt_wav_path=prompt.voice_file,
        )

    def prefill(self, sound: Any, frames: Sequence[Any], slices: int) -> Mapping[str, Any]:
        result: Mapping[str, Any] = self._model.duplex_prefill(
            audio_waveform=sound, frame_list=list(frames) or None, max_slice_nums=slices
        )
        return result

    def generate(self, *, listens: bool) -> Mapping[str, Any]:
        result: Mapping[str, Any] = self._model.duplex_generate(
            force_listen_override=listens, **PATCHED | self._arguments
        )
        return result

    def finalize(self) -> None:
        self._model.duplex_finalize()

    def type(self, text: str) -> None:
        raise Unsupported("This version of the model cannot read typed words in a call. Say them instead.")

    @property
    def cached(self) -> int:
        return _cache_length(getattr(self._model, "duplex", None))

    def leave(self) -> None:
        set_mode(self._model, "STREAMING")


def _sampling(options: DuplexOptions) -> dict[str, Any]:
    """What was asked for, by the names that both versions have; the model's own values for the rest."""
    asked = options.sampling
    values = {
        "temperature": asked.temperature,
        "top_k": asked.top_k,
        "top_p": asked.top_p,
        "text_repetition_penalty": asked.repetition_penalty,
        "text_repetition_window_size": asked.repetition_window,
        "listen_prob_scale": options.listen_scale,
    }
    given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if asked.temperature is not None and asked.temperature <= 0:
        del given["temperature"]
        given["decode_mode"] = "greedy"
    return given


def _window(tokens: int | None) -> dict[str, Any]:
    if tokens is None:
        return {}
    return {
        "sliding_window_mode": "basic",
        "basic_window_high_tokens": tokens,
        "basic_window_low_tokens": int(tokens * KEPT_SHARE),
    }


def _cache_length(duplex: Any) -> int:
    with suppress(AttributeError, TypeError):
        return int(duplex.decoder.get_cache_length())
    return 0

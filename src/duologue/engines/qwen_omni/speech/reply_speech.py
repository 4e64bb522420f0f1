"""A reply of a Qwen omni model spoken while it is written: talker and vocoder step by step beside the thinker.

Implements `talker.Talker` for both families; `thinker` opens it. The library's `generate()` writes, then makes all codes, then all
sound, so that nothing is heard before the end. Here the talker makes one code for each token that is written, the most that the models allow,
because each code is made beside the next token; once the text has ended it goes on alone. What a reply needs is in its
`ReplySpeech` and gone with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol

from duologue.engines.contracts import ModelVoice
from duologue.engines.qwen_omni.speech.grouped_sound import GroupedSound, Vocoder
from duologue.engines.qwen_omni.speech.qwen3_talker import Qwen3Talker
from duologue.engines.qwen_omni.speech.qwen3_vocoder import Qwen3Vocoder
from duologue.engines.qwen_omni.speech.qwen25_talker import Qwen25Talker
from duologue.engines.qwen_omni.speech.qwen25_vocoder import Qwen25Vocoder
from duologue.engines.qwen_omni.speech.speech_pace import covered, longest_seconds, token_seconds
from duologue.engines.qwen_omni.speech.spoken_vocabulary import unspeakable_tokens
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace
from duologue.errors import NotFound
from duologue.values.audio import SPOKEN_RATE


class CodeSteps(Protocol):
    """The codes of one reply, one at a time. None: the speech has ended."""

    def start(self, trace: ThinkerTrace, prompt: int, first: int) -> tuple[int, ...] | None: ...

    def follow(self, text: Any) -> tuple[int, ...] | None: ...


class FamilyTalker(Protocol):
    """The talker of one family of models."""

    layer: int
    code_rate: float
    end_text: Any
    pad_text: Any

    @property
    def voices(self) -> tuple[str, ...]: ...

    def reply(self, voice: str, generator: Any) -> CodeSteps: ...

    def text(self, trace: ThinkerTrace, start: int, end: int) -> Any: ...


class FamilyVocoder(Protocol):
    """The vocoder of one family of models."""

    def reply(self, voice: str, seed: int) -> Vocoder: ...


class ReplySpeech:
    """The sound of one reply. Implements `talker.TalkerReply`."""

    def __init__(
        self,
        talker: FamilyTalker,
        steps: CodeSteps,
        sound: GroupedSound,
        *,
        prompt: int,
        ends: Collection[int],
        seconds: Callable[[int], float],
        inference: Callable[[], Any],
    ) -> None:
        """`prompt` tokens come before the reply, which `ends` may follow; `seconds` that a token takes to say; `inference` is a context for
        steps of the model."""
        self._talker, self._steps, self._sound = talker, steps, sound
        self._prompt = self._read = prompt
        self._ends = ends
        self._seconds_of, self._inference = seconds, inference
        self._seconds: list[float] = []
        self._started = self._ended = False

    @property
    def codes(self) -> int:
        """Codes of speech made so far; of Qwen3-Omni, groups of codes."""
        return self._sound.codes

    @property
    def vocoder_seconds(self) -> float:
        """What making sound of the codes took so far; the rest of the time of `feed` and `finish` went into codes."""
        return self._sound.seconds

    @property
    def ended(self) -> bool:
        """See `TalkerReply.ended`."""
        return self._ended

    def feed(self, trace: ThinkerTrace) -> bytes:
        """Tokens of the reply were appended to `trace`: a code for each, and the sound that is ready with them. Blocks."""
        with self._inference():
            return b"".join(self._follow(trace, row) for row in self._unread(trace))

    def finish(self, trace: ThinkerTrace) -> Iterator[bytes]:
        """The reply has no more tokens: the rest of its sound, a code at a time, most of them b"". Blocks in each."""
        yield self.feed(trace)
        if not self._started:
            return
        most = longest_seconds(self._seconds) * self._talker.code_rate
        text = self._talker.end_text
        while not self._ended and self.codes < most:
            with self._inference():
                pcm = self._take(self._steps.follow(text))
            text = self._talker.pad_text
            yield pcm
        self._ended = True
        with self._inference():
            pcm = self._sound.finish()
        yield pcm

    def spoken_tokens(self, samples: int) -> int:
        """How many of the reply's tokens its first `samples` say: an estimate by the pace of ordinary speech (`speech_pace`), and once
        the speech has ended by its real length."""
        whole = self._sound.samples / SPOKEN_RATE if self._ended else None
        return covered(self._seconds, samples / SPOKEN_RATE, whole)

    def _unread(self, trace: ThinkerTrace) -> range:
        rows = range(self._read, len(trace))
        self._read = max(self._read, len(trace))
        return rows

    def _follow(self, trace: ThinkerTrace, row: int) -> bytes:
        """The talker reads the token in this row of the trace."""
        token = int(trace.ids[row])
        if token in self._ends:
            return b""
        self._seconds.append(self._seconds_of(token))
        if not self._started:
            self._started = True
            return self._take(self._steps.start(trace, self._prompt, row))
        if self._ended:
            return b""
        return self._take(self._steps.follow(self._talker.text(trace, row, row + 1)))

    def _take(self, code: tuple[int, ...] | None) -> bytes:
        self._ended = code is None
        return b"" if code is None else self._sound.add(code)


class Speech:
    """The talker and the vocoder of one model. Implements `talker.Talker`."""

    clones = False
    """What these models know of a voice beyond a short recording of it comes from a network that is not among their weights (Qwen2.5-Omni),
    or is a number among their marks (Qwen3-Omni): they speak with their own voices only."""

    def __init__(
        self, torch: Any, model: Any, tokenizer: Any, talker: FamilyTalker, vocoder: FamilyVocoder
    ) -> None:
        self._torch, self._model, self._tokenizer = torch, model, tokenizer
        self.talker, self.vocoder = talker, vocoder
        self._suppressed: frozenset[int] | None = None
        self._ends = _ends(model, tokenizer)

    @property
    def layer(self) -> int:
        """The index in the thinker's `hidden_states` (0: its input, -1: its last) that `ThinkerTrace.hidden` has."""
        return self.talker.layer

    @property
    def voices(self) -> tuple[str, ...]:
        """The model's own, the default first."""
        return self.talker.voices

    def suppressed(self, tokenizer: Any) -> frozenset[int]:
        """The tokens that are not written while speaking (`spoken_vocabulary`). What ends a reply is not among them. The first call
        takes a second, where the vocabulary is large."""
        if self._suppressed is None:
            added = tokenizer.added_tokens_decoder
            self._suppressed = unspeakable_tokens(
                tokenizer.batch_decode([[number] for number in range(len(tokenizer))]),
                control={*tokenizer.all_special_ids, *(at for at, token in added.items() if token.special)},
                ends=self._ends,
                size=int(self._model.thinker.get_output_embeddings().weight.shape[0]),
            )
        return self._suppressed

    def begin(self, trace: ThinkerTrace, voice: ModelVoice, *, seed: int = 0) -> ReplySpeech:
        """Speak the reply that follows the tokens in `trace`: its prompt, up to where the reply begins. The same `seed` gives
        the same sound. A recording in `voice` is not imitated (`clones`). Raises NotFound for an unknown name."""
        name = self._voice(voice.name)
        generator = self._torch.Generator(device=self.talker.pad_text.device).manual_seed(seed)
        return ReplySpeech(
            self.talker,
            self.talker.reply(name, generator),
            GroupedSound(self.vocoder.reply(name, seed)),
            prompt=len(trace),
            ends=self._ends,
            seconds=self._token_seconds,
            inference=self._torch.inference_mode,
        )

    def _voice(self, name: str) -> str:
        known = self.voices
        if not name:
            return known[0]
        for voice in known:
            if voice.lower() == name.lower():
                return voice
        names = ", ".join(known)
        raise NotFound(
            f"There is no voice {name!r}. These are: {names}.", code="voice_not_found", param="voice"
        )

    def _token_seconds(self, token: int) -> float:
        return token_seconds(self._tokenizer.decode([token]))


def open_speech(model: Any, processor: Any) -> Speech | None:
    """The speech of a loaded Qwen omni model, on the device that its weights are on. None where it has no talker, or no voice."""
    if not getattr(model, "has_talker", False):
        return None
    import torch
    from transformers import DynamicCache

    tokenizer = processor.tokenizer
    talker: FamilyTalker
    vocoder: FamilyVocoder
    if hasattr(model, "token2wav"):
        # Its flow is not exact enough in half precision; the library converts it with the first reply.
        model.token2wav.float()
        talker, vocoder = Qwen25Talker(torch, DynamicCache, model), Qwen25Vocoder(torch, model)
    else:
        talker, vocoder = Qwen3Talker(torch, DynamicCache, model), Qwen3Vocoder(torch, DynamicCache, model)
    return Speech(torch, model, tokenizer, talker, vocoder) if talker.voices else None


def _ends(model: Any, tokenizer: Any) -> set[int]:
    """The tokens that end a reply."""
    found: set[int] = set()
    for settings in (getattr(model, "generation_config", None), model.thinker.generation_config):
        ends = getattr(settings, "eos_token_id", None)
        found.update([] if ends is None else [ends] if isinstance(ends, int) else ends)
    found.update(
        number
        for number in (tokenizer.eos_token_id, getattr(model.config, "im_end_token_id", None))
        if number is not None
    )
    return found

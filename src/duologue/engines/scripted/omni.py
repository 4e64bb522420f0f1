"""The scripted omni engine: it plays scripts in its chats, speaks what it writes, and holds calls by rule.

`language.load` makes it where the options have `duplex`. Its chat view is the scripted prompt engine with pictures and sound in the
prompt, a tone for each word of a reply that is to be spoken, and nothing for thoughts and tool calls. `duplex_view.py` is the other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from duologue.engines.contracts import (
    Generation,
    GenerationEnded,
    ModelVoice,
    Piece,
    SpokenSound,
)
from duologue.engines.options import read_options
from duologue.engines.scripted.duplex_view import (
    PAUSE,
    SOUNDING,
    DuplexScript,
    ScriptedDuplexView,
    Sleep,
)
from duologue.engines.scripted.language import CONTEXT, SLOTS, ScriptedEngine
from duologue.engines.scripted.speaker import VOICES, frequency_of, lowest_tone, pitch_of, tone
from duologue.errors import Busy, EngineFailed
from duologue.text.speech.word_spans import words_in
from duologue.values.audio import SAMPLE_BYTES
from duologue.values.events import Progress
from duologue.values.messages import AudioPart, ImagePart

_OWN_OPTIONS = {"name", "slots", "context", "kind", "modalities", "duplex"}
_SILENT = re.compile(r"<(think|tool_call)>.*?(</\1>|$)", re.DOTALL)
"""What is written and not spoken."""
_MEDIUM = re.compile(r"^<((?:image|audio):\S+)>$", re.MULTILINE)


class ScriptedOmniEngine(ScriptedEngine):
    """Implements `contracts.PromptEngine`, `MediaPromptEngine` and `OmniEngine`."""

    def __init__(
        self,
        name: str = "scripted",
        slots: int = SLOTS,
        context: int = CONTEXT,
        script: DuplexScript | None = None,
        *,
        sleep: Sleep | None = None,
    ) -> None:
        super().__init__(name, slots, context)
        self.card = msgspec.structs.replace(
            self.card,
            modalities=("text", "image", "audio"),
            outputs=("text", "audio"),
            voices=tuple(voice.name for voice in VOICES),
            clones=True,
            verbs=(*self.card.verbs, "duplex"),
        )
        self.view: ScriptedDuplexView | None = None
        """The duplex session of the moment."""
        self._script = script or DuplexScript()
        self._sleep = sleep
        self._generating = 0

    async def tokenize_media(self, pieces: Sequence[str | ImagePart | AudioPart]) -> Sequence[int]:
        """A picture or sound is a line of its own with its kind, size and digest."""
        return tuple("".join(map(_text_of, pieces)).encode())

    @asynccontextmanager
    async def generate(  # type: ignore[override]
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | SpokenSound | Progress | GenerationEnded]]:
        """Raises EngineFailed while a duplex session is open."""
        if self.view is not None:
            raise EngineFailed("The model is in a call.", code="scripted_failure")
        self._generating += 1
        try:
            async with super().generate(slot, _with_media_told(tokens), generation) as items:
                if generation.voice is None:
                    yield items
                else:
                    async with aclosing(_spoken(items, generation.voice)) as spoken:
                        yield spoken
        finally:
            self._generating -= 1

    @asynccontextmanager
    async def duplex(self) -> AsyncIterator[ScriptedDuplexView]:
        """Raises Busy while a slot generates, or another session is open."""
        if self.view is not None or self._generating:
            raise Busy("The model is in use.")
        self.view = (
            ScriptedDuplexView(self._script)
            if self._sleep is None
            else ScriptedDuplexView(self._script, self._sleep)
        )
        try:
            yield self.view
        finally:
            self.view.closed = True
            self.view = None


def load_omni(name: str, slots: int, context: int, options: Mapping[str, Any]) -> ScriptedOmniEngine:
    """The engine for the options of `language.load`. Raises StartFailed for a misspelt one."""
    own = {key: value for key, value in options.items() if key not in _OWN_OPTIONS}
    return ScriptedOmniEngine(name, slots, context, read_options(DuplexScript, own, "scripted"))


def _text_of(piece: str | ImagePart | AudioPart) -> str:
    if isinstance(piece, str):
        return piece
    kind = piece.mime.replace("/", ":") if isinstance(piece, ImagePart) else f"audio:{piece.rate}"
    return f"\n<{kind}:{len(piece.data)}:{hashlib.sha256(piece.data).hexdigest()[:8]}>\n"


def _with_media_told(tokens: Sequence[int]) -> Sequence[int]:
    """The prompt with its `/got` carried out: what it has besides text is to be said."""
    prompt = bytes(tokens).decode(errors="replace")
    if "/got" not in prompt:
        return tokens
    told = " ".join(_MEDIUM.findall(prompt)) or "nothing"
    return tuple(re.sub(r"^([^\S\n]*)/got\b.*$", rf"\1/say {told}", prompt, flags=re.MULTILINE).encode())


async def _spoken(
    items: AsyncIterator[Piece | Progress | GenerationEnded], voice: ModelVoice
) -> AsyncGenerator[Piece | SpokenSound | Progress | GenerationEnded]:
    """The items, with a tone behind each piece for the words that it completes."""
    lowest = lowest_tone(voice.name) if voice.sample is None else frequency_of(voice.sample.pcm)
    written, said = "", 0
    async for item in items:
        yield item
        if not isinstance(item, Piece):
            continue
        written += item.text
        speakable = _SILENT.sub(" ", written)
        words = [speakable[at:to] for at, to in words_in(speakable)]
        for word in words[said:]:
            yield SpokenSound(tone(pitch_of(word, lowest), SOUNDING) + bytes(PAUSE * SAMPLE_BYTES))
        said = max(said, len(words))

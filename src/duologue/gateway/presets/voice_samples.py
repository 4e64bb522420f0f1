"""Samples of the server's own voices, for clients that send a recording of the voice they want to hear.

Made by the speaker when first asked for, and kept. Used by `preset_routes`.
"""

from __future__ import annotations

from collections import OrderedDict

from duologue.decoder.service import decode
from duologue.errors import Unavailable
from duologue.gateway.presets.preset_list import sample_text
from duologue.gateway.speech.service import SpeechService
from duologue.media.wav import to_16_bit
from duologue.values.audio import SPOKEN_RATE, to_float32
from duologue.values.speech import SpeechRequest

MOST = 16
"""Samples that are kept."""


class VoiceSamples:
    """One sample for each voice that was asked for."""

    def __init__(self, speech: SpeechService) -> None:
        self._speech = speech
        self._made: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def has(self, language: str) -> bool:
        """Whether a voice speaks this language."""
        card = self._speech.card
        if card is None or not self._speech.features()["speech"]:
            return False
        return any(voice.language.lower().split("-")[0] == language for voice in card.voices)

    async def sample(self, language: str = "") -> bytes:
        """The sample of the language's voice, of the default voice without one: 16-bit mono, 16 kHz. Raises Problem."""
        voice = self._speech.voice_for(SpeechRequest(language=language or self._speech.settings.language))
        key = (voice, language)
        if key not in self._made:
            self._made[key] = await self._make(voice, language)
            while len(self._made) > MOST:
                self._made.popitem(last=False)
        return self._made[key]

    async def _make(self, voice: str, language: str) -> bytes:
        spoken = bytearray()
        request = SpeechRequest(sample_text(language or "en"), voice=voice, language=language)
        async with self._speech.speak(request) as speech:
            async for sound in speech.sounds():
                spoken += sound.pcm
        if not spoken:
            raise Unavailable("The voice has said nothing.", code="voice_unavailable")
        heard: bytes = await decode(to_16_bit, to_float32(bytes(spoken)), SPOKEN_RATE)
        return heard

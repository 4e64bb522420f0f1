"""espeak-ng: a small, clear speaker of many languages, with exact times of words and phones.

Loaded by `registry`. Owns the choice of a voice, pauses, and how the library's sound becomes chunks with words; the C
interface is `espeak_library`. A second of speech takes about a millisecond.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from duologue.engines.audio.pcm import no_speech
from duologue.engines.contracts import SpeakerEngine, SpeechChunk, SpokenWord
from duologue.engines.tts.clause_split import check_length
from duologue.engines.tts.espeak_library import RATE, EspeakLibrary, SpeechEvent, espeak_library
from duologue.engines.tts.word_timestamps import WordTimestamps
from duologue.errors import NotFound, StartFailed
from duologue.resampler import Resampler, at_rate
from duologue.threads import Emit
from duologue.values.audio import SPOKEN_RATE
from duologue.values.mouth import Phone
from duologue.values.speech import Voice

WORDS_PER_MINUTE = 165
SLOWEST, FASTEST = 80, 450
"""Words a minute the library can speak at."""
LONGEST = 12_000
"""Characters of one clause: it is synthesised in one go, while other callers wait."""
PAUSES = {".": 280, "!": 280, "?": 280, "…": 280, "。": 280, "！": 280, "？": 280}
PAUSES |= dict.fromkeys(",;:–—،、，；：", 140)
"""Milliseconds of silence after a clause, by its last character."""
_CLOSING = "\"'”’»)]"
ROOM = LONGEST * 2
"""Chunks that may be buffered: all of the longest clause, so that a slow listener never blocks the lane."""

VOICES = (
    Voice("en-us", "en-US", "American English, male, clear."),
    Voice("en-us+f3", "en-US", "American English, female, clear."),
    Voice("en-us+f2", "en-US", "American English, female, deeper."),
    Voice("en-us+m3", "en-US", "American English, male, deeper."),
    Voice("en-gb", "en-GB", "British English, male."),
    Voice("en-gb+f3", "en-GB", "British English, female."),
    Voice("en-gb-scotland", "en-GB", "Scottish English, male."),
    Voice("de", "de", "German, male."),
    Voice("de+f3", "de", "German, female."),
    Voice("fr", "fr", "French, male."),
    Voice("fr+f3", "fr", "French, female."),
    Voice("es", "es", "Spanish, male."),
    Voice("es+f3", "es", "Spanish, female."),
    Voice("es-419", "es-419", "Spanish of Latin America, male."),
    Voice("it", "it", "Italian, male."),
    Voice("it+f3", "it", "Italian, female."),
    Voice("pt", "pt-PT", "Portuguese, male."),
    Voice("pt-br", "pt-BR", "Portuguese of Brazil, male."),
    Voice("nl", "nl", "Dutch, male."),
    Voice("sv", "sv", "Swedish, male."),
    Voice("da", "da", "Danish, male."),
    Voice("pl", "pl", "Polish, male."),
    Voice("cs", "cs", "Czech, male."),
    Voice("ru", "ru", "Russian, male."),
    Voice("uk", "uk", "Ukrainian, male."),
    Voice("tr", "tr", "Turkish, male."),
    Voice("el", "el", "Greek, male."),
    Voice("ar", "ar", "Arabic, male."),
    Voice("hi", "hi", "Hindi, male."),
    Voice("cmn", "zh", "Mandarin Chinese, male."),
)
"""The voices that are listed. Any language of the library, with any variant, is accepted by its name as well."""

_NAME = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]+)*(?:\+[A-Za-z0-9]{1,16})?")
_STRESS = "ˈˌ"
_PLOSIVES = tuple("ptkcqʈ")
"""The sounds that begin with silence."""
CLOSED = RATE * 60 // 1000
"""The longest silence of one, in samples of the library: longer ones are pauses."""
_SOUNDLESS = {"Cc", "Cf", "Cs", "Co", "Cn"}


class EspeakSpeaker:
    """Implements `contracts.SpeakerEngine`. Several may be loaded; they share the one library."""

    def __init__(
        self, library: EspeakLibrary, default: str, languages: Collection[str], variants: Collection[str]
    ) -> None:
        self._library = library
        self._languages = languages
        self._variants = variants
        first = next(
            (voice for voice in VOICES if voice.name == default), Voice(default, default.partition("+")[0])
        )
        self._voices = (first, *(voice for voice in VOICES if voice is not first))

    @property
    def name(self) -> str:
        return "espeak"

    @property
    def voices(self) -> tuple[Voice, ...]:
        return self._voices

    @asynccontextmanager
    async def speak(
        self, clause: str, *, voice: str = "", speed: float = 1.0, language: str = ""
    ) -> AsyncIterator[AsyncIterator[SpeechChunk]]:
        """The sound of the clause, a word at a time, and a pause after it according to its punctuation. `voice` wins over
        `language`. `speed` is limited to between half and nearly three times the usual one.

        Raises NotFound for an unknown voice, TooLarge for more than LONGEST characters.
        """
        name = self._choose(voice, language)
        check_length(clause, LONGEST)
        text = replace_soundless(clause)
        rate = max(SLOWEST, min(FASTEST, round(WORDS_PER_MINUTE * max(0.1, min(10.0, speed)))))

        def step(emit: Emit[SpeechChunk]) -> None:
            speech = _ClauseSound(text, emit)
            self._library.synthesise(text, name, rate, speech.take)
            speech.end(pause_after(text) * WORDS_PER_MINUTE // rate)

        if not any(map(str.isalnum, text)):
            yield no_speech()
            return
        async with self._library.lane.stream(step, ROOM) as chunks:
            yield chunks

    def _choose(self, voice: str, language: str) -> str:
        """The name of the voice to use: `voice`, else one for exactly `language`, else one for its main language."""
        if voice:
            if not is_voice(voice, self._languages, self._variants):
                names = ", ".join(each.name for each in self._voices)
                raise NotFound(
                    f"There is no voice {voice!r}. These are: {names}.", code="voice_not_found", param="voice"
                )
            return voice
        whole = language.lower().replace("_", "-")
        main = whole.partition("-")[0]
        tags = [(each.language.lower(), each.name) for each in self._voices]
        exact = next((name for tag, name in tags if tag == whole), None)
        near = next((name for tag, name in tags if tag.partition("-")[0] == main), None)
        return (
            exact
            or near
            or next((each for each in (whole, main) if each in self._languages), self._voices[0].name)
        )

    async def close(self) -> None:
        """The library stays loaded: another engine of this process may use it."""


class _ClauseSound:
    """The sound of one clause as the library makes it, emitted in chunks cut where words begin. Lives in the lane's
    thread."""

    def __init__(self, text: str, emit: Emit[SpeechChunk]) -> None:
        self._emit = emit
        self._times = WordTimestamps(text, hold=RATE * 3 // 2)
        self._resampler = Resampler(RATE, SPOKEN_RATE)
        self._waiting = bytearray()
        """Sound that is held back: it belongs to a word that has not ended."""
        self._synthesised = 0
        """Samples the library has made, the ones in `_waiting` included."""
        self._words: list[SpokenWord] = []
        self._phone = ("", 0)
        """What sounds now (silence: ""), and since which sample."""
        self._phones: list[Phone] = []
        self._emitted = 0

    def take(self, pcm: bytes, events: list[SpeechEvent]) -> bool:
        """An `OnSpeech`."""
        self._waiting += pcm
        self._synthesised += len(pcm) // 2
        for event in events:
            symbol = event.phoneme.lstrip(_STRESS)
            begun = self._closed_since(event.sample) if symbol.startswith(_PLOSIVES) else event.sample
            self._end_phone(begun)
            if event.is_word:
                self._times.word(event.sample, event.position)
            else:
                self._times.sound(event.sample, pause=not event.phoneme)
                self._phone = (symbol, begun)
        ready = self._times.ready(self._synthesised)
        symbol, start = self._phone
        if symbol:
            # Of a long word, which is not held back whole, a phone is complete before its sound leaves.
            ready = min(ready, start)
        released = self._synthesised - len(self._waiting) // 2
        cut = max(0, min(ready - released, len(self._waiting) // 2)) * 2
        return self._release(bytes(self._waiting[:cut]), cut)

    def end(self, pause: int) -> None:
        """The synthesis is over; `pause` is in milliseconds."""
        self._times.end(self._synthesised)
        self._end_phone(self._synthesised)
        silence = bytes(RATE * pause // 1000 * 2)
        self._release(bytes(self._waiting) + silence, len(self._waiting), last=True)

    def _release(self, pcm: bytes, used: int, *, last: bool = False) -> bool:
        del self._waiting[:used]
        for at, to, text, start, finish in self._times.finished():
            self._words.append(
                SpokenWord(
                    text, at_rate(start, RATE, SPOKEN_RATE), at_rate(finish, RATE, SPOKEN_RATE), at, to
                )
            )
        if not pcm and not last:
            return True
        sound = self._resampler.feed(pcm) + (self._resampler.finish() if last else b"")
        self._emitted += len(sound) // 2
        beginning = [word for word in self._words if word.start < self._emitted or last]
        self._words = self._words[len(beginning) :]
        phones = [phone for phone in self._phones if phone.start < self._emitted or last]
        self._phones = self._phones[len(phones) :]
        if not sound and not beginning and not phones:
            return True
        return self._emit(SpeechChunk(sound, tuple(beginning), tuple(phones)))

    def _closed_since(self, sample: int) -> int:
        """Where the silence before `sample` begins, in which the mouth is closed for a plosive: the library reports its burst, and counts
        that silence as part of the sound before."""
        released = self._synthesised - len(self._waiting) // 2
        first = max(0, sample - released - CLOSED)
        before = memoryview(self._waiting)[first * 2 : max(0, sample - released) * 2].cast("h").tolist()
        silent = 0
        while silent < len(before) and not before[-1 - silent]:
            silent += 1
        return sample - silent

    def _end_phone(self, sample: int) -> None:
        """The library tells where a phone begins; it lasts until the next event."""
        symbol, start = self._phone
        if symbol:
            first, last = at_rate(start, RATE, SPOKEN_RATE), at_rate(sample, RATE, SPOKEN_RATE)
            self._phones.append(Phone(symbol, first, max(first, last)))
        self._phone = ("", sample)


def replace_soundless(text: str) -> str:
    """The text with a space for each character that has no sound and may confuse the library (control characters, lone
    surrogates); positions stay."""
    return "".join(" " if unicodedata.category(each) in _SOUNDLESS else each for each in text)


def pause_after(text: str) -> int:
    """Milliseconds of silence that follow a clause."""
    return PAUSES.get(text.rstrip().rstrip(_CLOSING)[-1:], 30)


def is_voice(name: str, languages: Collection[str], variants: Collection[str]) -> bool:
    """Whether the library has this voice: a language, and after a plus a variant. It silently accepts many wrong names."""
    language, plus, variant = name.partition("+")
    return _NAME.fullmatch(name) is not None and language in languages and (not plus or variant in variants)


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: voice (the default one). Raises StartFailed without the library, or for an unknown voice."""
    library = espeak_library()

    def start() -> EspeakSpeaker:
        library.open()
        Resampler(RATE, SPOKEN_RATE)  # raises StartFailed without PyAV
        languages, variants = library.languages(), library.variants()
        voice = str(options.get("voice") or VOICES[0].name)
        if not is_voice(voice, languages, variants):
            raise StartFailed(f"espeak has no voice {voice!r}; en-us is one, de+f3 another.")
        return EspeakSpeaker(library, voice, languages, variants)

    return await library.lane.run(start)

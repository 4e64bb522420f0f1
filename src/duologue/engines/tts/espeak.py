"""espeak-ng: a small, clear speaker of many languages that knows exactly when each of its words sounds.

Owns the library's C interface, which `espeakng-loader` brings together with its data, and the times of words. The library
has one state for a whole process: everything goes through one lane of one thread, and nothing else needs a lock. A second
of speech takes about a millisecond. Without the package a sentence says how to get it.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from duologue.engines.contracts import SpeakerEngine, SpeechChunk, SpokenWord
from duologue.engines.tts.word_timestamps import WordTimes
from duologue.errors import EngineFailed, NotFound, StartFailed, TooLarge
from duologue.resampler import Resampler, at_rate
from duologue.threads import Emit, ThreadLane
from duologue.values.audio import SPOKEN_RATE
from duologue.values.speech import Voice

RATE = 22_050
"""Hz of all voices of the library."""
WORDS_PER_MINUTE = 165
SLOWEST, FASTEST = 80, 450
"""Words a minute the library can speak at."""
LONGEST = 12_000
"""Characters of one clause: it is made in one go, and others wait meanwhile."""
PAUSES = {".": 280, "!": 280, "?": 280, "…": 280, "。": 280, "！": 280, "？": 280}
PAUSES |= dict.fromkeys(",;:–—،、，；：", 140)
"""Milliseconds of silence after a clause, by its last character."""
_CLOSING = "\"'”’»)]"
ROOM = LONGEST * 2
"""Pieces that may wait for their listener: all of the longest clause, so that a slow listener never holds the lane."""

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
"""The voices that are offered. Any language of the library, with any variant, can be asked for by its name as well."""

_NAME = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]+)*(?:\+[A-Za-z0-9]{1,16})?")
_UNSOUNDED = {"Cc", "Cf", "Cs", "Co", "Cn"}

_SYNCHRONOUS = 2
_PHONEME_EVENTS = 0x0001
_STAY_ALIVE = 0x8000
_CHARACTERS, _UTF8 = 1, 1
_SPEED = 1
_LIST_ENDS, _WORD, _PHONEME = 0, 1, 7
_GO_ON, _STOP = 0, 1


class _Id(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_void_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("message", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Id),
    )


class _VoiceRecord(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_char_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)
_Heard = Callable[[bytes, list[tuple[int, int, int, bytes]]], bool]
"""Told the next samples and events (type, sample, position, phoneme); answers whether to go on."""


class _Library:
    """espeak-ng as it lies in this process. Every method blocks, and is called in its lane alone."""

    def __init__(self) -> None:
        self.lane = ThreadLane(1)
        self._heard: _Heard | None = None
        self._broken: Exception | None = None
        self._languages: dict[str, str] = {}
        self._api: Any = None

    def open(self) -> None:
        """Load the library, once. Raises StartFailed when it is not there, or cannot start."""
        if self._api is not None:
            return
        try:
            import espeakng_loader
        except ImportError:
            raise StartFailed(
                "The voice espeak needs one more package: pip install 'duologue[voice]'.",
                code="engine_missing",
            ) from None
        try:
            api = ctypes.CDLL(espeakng_loader.get_library_path())
            data = espeakng_loader.get_data_path()
        except (OSError, RuntimeError) as error:
            raise StartFailed(
                f"The voice library espeak-ng cannot be loaded ({error}); pip install --force-reinstall espeakng-loader "
                "brings it back."
            ) from None
        api.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_VoiceRecord))
        api.espeak_Synth.argtypes = (
            *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int, ctypes.c_uint, ctypes.c_uint),
            *(ctypes.c_void_p, ctypes.c_void_p),
        )
        rate = api.espeak_Initialize(_SYNCHRONOUS, 0, data.encode(), _PHONEME_EVENTS | _STAY_ALIVE)
        if rate != RATE:
            raise StartFailed(
                f"The voice library espeak-ng did not start with its data in {data} (answer {rate}). A very long path is "
                "one cause: install duologue in a folder with a shorter one."
            )
        # Kept, for the library keeps only a pointer to it.
        self._callback = _Callback(self._called)
        api.espeak_SetSynthCallback(self._callback)
        self._api = api

    def languages(self) -> dict[str, str]:
        """The names of the library's languages, and its own names for their voices."""
        if not self._languages:
            records, at = self._api.espeak_ListVoices(None), 0
            while records[at]:
                record = records[at][0]
                # A language is a byte of priority and a name; only the first of the list is wanted.
                name = record.languages[1:].decode(errors="replace").lower()
                self._languages.setdefault(name, record.identifier.decode(errors="replace"))
                at += 1
            # The plain names of languages that the library has only under a country's.
            for short, long in (("en", "en-us"), ("fr", "fr-fr"), ("zh", "cmn"), ("no", "nb")):
                if long in self._languages:
                    self._languages.setdefault(short, self._languages[long])
        return self._languages

    def synthesise(self, text: str, voice: str, words_per_minute: int, heard: _Heard) -> None:
        """Speak `text`, telling `heard` of each piece, until it answers False. Raises what `heard` raises, and EngineFailed."""
        language, plus, variant = voice.partition("+")
        own = self._languages.get(language, language) + plus + variant
        if self._api.espeak_SetVoiceByName(own.encode()):
            raise EngineFailed(f"The voice {voice!r} cannot be used.")
        self._api.espeak_SetParameter(_SPEED, words_per_minute, 0)
        data = text.encode()
        self._heard, self._broken = heard, None
        try:
            answer = self._api.espeak_Synth(data, len(data) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
        finally:
            self._heard, broken = None, self._broken
            self._broken = None
        if broken is not None:
            raise broken
        if answer:
            raise EngineFailed(f"The voice engine broke while it spoke (answer {answer}).")

    def _called(self, samples: Any, count: int, events: Any) -> int:
        if self._heard is None:
            return _STOP
        try:
            pcm = ctypes.string_at(samples, count * 2) if samples and count > 0 else b""
            return _GO_ON if self._heard(pcm, _listed(events)) else _STOP
        except Exception as error:  # noqa: BLE001
            # An exception cannot cross C code; it goes on where the synthesis was asked for.
            self._broken = error
            return _STOP


def _listed(events: Any) -> list[tuple[int, int, int, bytes]]:
    found = []
    at = 0
    while events[at].type != _LIST_ENDS:
        event = events[at]
        if event.type in (_WORD, _PHONEME):
            phoneme = event.id.string if event.type == _PHONEME else b""
            found.append((event.type, event.sample, event.text_position - 1, phoneme))
        at += 1
    return found


@cache
def _library() -> _Library:
    return _Library()


class EspeakSpeaker:
    """Fulfils `engines.SpeakerEngine`. Several may be loaded; they share the one library."""

    def __init__(
        self, library: _Library, default: str, languages: Collection[str], variants: Collection[str]
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
        """The sound of the clause, a word at a time, and a pause after it as its punctuation asks. A voice that is named
        wins over the language. `speed` is kept between half and nearly three times the usual one.

        Raises NotFound for an unknown voice, TooLarge for more than LONGEST characters.
        """
        chosen = self._chosen(voice, language)
        if len(clause) > LONGEST:
            raise TooLarge(
                f"A clause to be spoken has at most {LONGEST:,} characters, this one {len(clause):,}."
            )
        text = sounded(clause)
        rate = max(SLOWEST, min(FASTEST, round(WORDS_PER_MINUTE * max(0.1, min(10.0, speed)))))

        def step(emit: Emit[SpeechChunk]) -> None:
            speech = _Speech(text, emit)
            self._library.synthesise(text, chosen, rate, speech.take)
            speech.end(pause_after(text) * WORDS_PER_MINUTE // rate)

        if not any(map(str.isalnum, text)):
            yield _nothing()
            return
        async with self._library.lane.stream(step, ROOM) as pieces:
            yield pieces

    def _chosen(self, voice: str, language: str) -> str:
        """The library's name of the voice that is meant."""
        if voice:
            if not is_voice(voice, self._languages, self._variants):
                names = ", ".join(each.name for each in self._voices)
                raise NotFound(
                    f"There is no voice {voice!r}. These are: {names}.", code="voice_not_found", param="voice"
                )
            return voice
        wanted = language.lower().replace("_", "-")
        main = wanted.partition("-")[0]
        tags = [(each.language.lower(), each.name) for each in self._voices]
        exact = next((name for tag, name in tags if tag == wanted), None)
        near = next((name for tag, name in tags if tag.partition("-")[0] == main), None)
        return (
            exact
            or near
            or next((each for each in (wanted, main) if each in self._languages), self._voices[0].name)
        )

    async def close(self) -> None:
        """The library stays: another engine of this process may speak with it."""


class _Speech:
    """The sound of one clause on its way out, cut where words begin. Lives in the lane's thread."""

    def __init__(self, text: str, emit: Emit[SpeechChunk]) -> None:
        self._emit = emit
        self._times = WordTimes(text, hold=RATE * 3 // 2)
        self._resampler = Resampler(RATE, SPOKEN_RATE)
        self._waiting = bytearray()
        self._made = 0
        """Samples the library has made, of which the last `_waiting` belong to a word that has not ended."""
        self._words: list[SpokenWord] = []
        self._given = 0

    def take(self, pcm: bytes, events: list[tuple[int, int, int, bytes]]) -> bool:
        self._waiting += pcm
        self._made += len(pcm) // 2
        for kind, sample, position, phoneme in events:
            if kind == _WORD:
                self._times.word(sample, position)
            else:
                self._times.sound(sample, pause=phoneme.startswith(b"_"))
        ready = self._times.ready(self._made)
        ahead = self._made - len(self._waiting) // 2
        cut = max(0, min(ready - ahead, len(self._waiting) // 2)) * 2
        return self._give(bytes(self._waiting[:cut]), cut)

    def end(self, pause: int) -> None:
        """The synthesis is over; `pause` is in milliseconds."""
        self._times.end(self._made)
        silence = bytes(RATE * pause // 1000 * 2)
        self._give(bytes(self._waiting) + silence, len(self._waiting), last=True)

    def _give(self, pcm: bytes, used: int, *, last: bool = False) -> bool:
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
        self._given += len(sound) // 2
        begun = [word for word in self._words if word.start < self._given or last]
        self._words = self._words[len(begun) :]
        return self._emit(SpeechChunk(sound, tuple(begun))) if sound or begun else True


def sounded(text: str) -> str:
    """The text without what has no sound and may confuse the library (control characters, halves of characters), each
    replaced by a space: positions stay."""
    return "".join(" " if unicodedata.category(each) in _UNSOUNDED else each for each in text)


def pause_after(text: str) -> int:
    """Milliseconds of silence that follow a clause."""
    return PAUSES.get(text.rstrip().rstrip(_CLOSING)[-1:], 30)


def is_voice(name: str, languages: Collection[str], variants: Collection[str]) -> bool:
    """Whether the library has this voice: a language, and after a plus a variant. It takes many a wrong name in silence."""
    language, plus, variant = name.partition("+")
    return _NAME.fullmatch(name) is not None and language in languages and (not plus or variant in variants)


async def _nothing() -> AsyncIterator[SpeechChunk]:
    return
    yield


def _variants() -> set[str]:
    from pathlib import Path

    import espeakng_loader

    return {path.name for path in Path(espeakng_loader.get_data_path(), "voices", "!v").iterdir()}


async def load(options: dict[str, Any]) -> SpeakerEngine:
    """The engine. Options: voice (the default one). Raises StartFailed without the library, or for an unknown voice."""
    library = _library()

    def start() -> EspeakSpeaker:
        library.open()
        Resampler(RATE, SPOKEN_RATE)
        languages, variants = library.languages(), _variants()
        voice = str(options.get("voice") or VOICES[0].name)
        if not is_voice(voice, languages, variants):
            raise StartFailed(f"espeak has no voice {voice!r}; en-us is one, de+f3 another.")
        return EspeakSpeaker(library, voice, languages, variants)

    return await library.lane.run(start)

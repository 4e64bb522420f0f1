"""espeak-ng's C interface, by ctypes: loading the library, its voices, synthesis with events, and phonemes.

Called by `espeak` and `sherpa_speaker`, always in the library's own lane of one thread: the library has one state for a whole process, so
nothing else needs a lock. The package `espeakng-loader` has the library and its data.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from duologue.errors import EngineFailed, StartFailed
from duologue.threads import ThreadLane

RATE = 22_050
"""Hz of all voices of the library."""

# Constants of speak_lib.h.
_SYNCHRONOUS = 2
_PHONEME_EVENTS = 0x0001
_PHONEME_IPA = 0x0002
_STAY_ALIVE = 0x8000
_EVENTS = _PHONEME_EVENTS | _PHONEME_IPA | _STAY_ALIVE
_CHARACTERS, _UTF8 = 1, 1
_SPEED = 1
_LIST_ENDS, _WORD, _PHONEME = 0, 1, 7
_CONTINUE, _STOP = 0, 1
_IPA = 0x02


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


class SpeechEvent(NamedTuple):
    """The beginning of a word, or of a phoneme: at which sample (22,050 Hz), and at which character of the text. `phoneme`: in letters of
    the International Phonetic Alphabet, with its stress; "" for a pause."""

    is_word: bool
    sample: int
    position: int
    phoneme: str


OnSpeech = Callable[[bytes, list[SpeechEvent]], bool]
"""Called with the next samples and their events; False ends the synthesis."""


class EspeakLibrary:
    """espeak-ng in this process. Every method blocks and is called in `lane` only."""

    def __init__(self) -> None:
        self.lane = ThreadLane(1)
        self._on_speech: OnSpeech | None = None
        self._failure: Exception | None = None
        self._languages: dict[str, str] = {}
        self._api: Any = None

    def open(self) -> None:
        """Load the library, once. Raises StartFailed when it is not installed, or does not start."""
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
                f"The voice library espeak-ng cannot be loaded ({error}). Repair it with: pip install --force-reinstall "
                "espeakng-loader"
            ) from None
        api.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_VoiceRecord))
        api.espeak_Synth.argtypes = (
            *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int, ctypes.c_uint, ctypes.c_uint),
            *(ctypes.c_void_p, ctypes.c_void_p),
        )
        api.espeak_TextToPhonemes.restype = ctypes.c_char_p
        api.espeak_TextToPhonemes.argtypes = (ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_int)
        rate = api.espeak_Initialize(_SYNCHRONOUS, 0, data.encode(), _EVENTS)
        if rate != RATE:
            raise StartFailed(
                f"The voice library espeak-ng did not start with its data in {data} (result {rate}). A very long path is "
                "one cause: install duologue in a folder with a shorter one."
            )
        # The library holds only a pointer to it: without this reference it would be collected.
        self._callback = _Callback(self._receive)
        api.espeak_SetSynthCallback(self._callback)
        self._api = api

    def languages(self) -> dict[str, str]:
        """The codes of the library's languages, and its identifiers of their voices."""
        if not self._languages:
            records, at = self._api.espeak_ListVoices(None), 0
            while records[at]:
                record = records[at][0]
                # Each language is a byte of priority and a code; the first of the list is the voice's main one.
                name = record.languages[1:].decode(errors="replace").lower()
                self._languages.setdefault(name, record.identifier.decode(errors="replace"))
                at += 1
            # The codes without a country, of languages that the library has with a country only.
            for short, long in (("en", "en-us"), ("fr", "fr-fr"), ("zh", "cmn"), ("no", "nb")):
                if long in self._languages:
                    self._languages.setdefault(short, self._languages[long])
        return self._languages

    def variants(self) -> set[str]:
        """The names of the variants that may follow a language after a plus."""
        import espeakng_loader

        return {path.name for path in Path(espeakng_loader.get_data_path(), "voices", "!v").iterdir()}

    def synthesise(self, text: str, voice: str, words_per_minute: int, on_speech: OnSpeech) -> None:
        """Speak `text`, calling `on_speech` with each piece until it returns False. Raises what `on_speech` raises, and
        EngineFailed."""
        self._choose(voice)
        self._api.espeak_SetParameter(_SPEED, words_per_minute, 0)
        data = text.encode()
        self._on_speech, self._failure = on_speech, None
        try:
            status = self._api.espeak_Synth(data, len(data) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
        finally:
            self._on_speech, failure = None, self._failure
            self._failure = None
        if failure is not None:
            raise failure
        if status:
            raise EngineFailed(f"The voice engine failed while it spoke (status {status}).")

    def phonemes(self, text: str, voice: str) -> str:
        """How a voice pronounces `text`, in the letters of the International Phonetic Alphabet. Raises EngineFailed."""
        self._choose(voice)
        rest = ctypes.c_char_p(text.replace("\0", " ").encode())
        spoken = []
        # A clause at a time, which moves `rest` behind it, and to nothing at the end.
        while rest.value is not None:
            clause = self._api.espeak_TextToPhonemes(ctypes.byref(rest), _UTF8, _IPA)
            spoken.append((clause or b"").decode("utf-8", "replace").strip())
        return " ".join(filter(None, spoken))

    def _choose(self, voice: str) -> None:
        """Speak and pronounce with this voice. Raises EngineFailed."""
        language, plus, variant = voice.partition("+")
        identifier = self.languages().get(language, language) + plus + variant
        if self._api.espeak_SetVoiceByName(identifier.encode()):
            raise EngineFailed(f"The voice {voice!r} cannot be used.")

    def _receive(self, samples: Any, count: int, events: Any) -> int:
        if self._on_speech is None:
            return _STOP
        try:
            pcm = ctypes.string_at(samples, count * 2) if samples and count > 0 else b""
            return _CONTINUE if self._on_speech(pcm, _events(events)) else _STOP
        except Exception as error:  # noqa: BLE001
            # An exception cannot cross C code; `synthesise` raises it.
            self._failure = error
            return _STOP


def _events(records: Any) -> list[SpeechEvent]:
    events = []
    at = 0
    while records[at].type != _LIST_ENDS:
        record = records[at]
        if record.type in (_WORD, _PHONEME):
            is_word = record.type == _WORD
            # The field has eight bytes, which may end within a letter.
            phoneme = "" if is_word else record.id.string.decode("utf-8", "ignore")
            # The library counts characters from 1.
            events.append(SpeechEvent(is_word, record.sample, record.text_position - 1, phoneme))
        at += 1
    return events


@cache
def espeak_library() -> EspeakLibrary:
    """The library of this process."""
    return EspeakLibrary()

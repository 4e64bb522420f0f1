"""The voices of a speech model of sherpa-onnx: their names, their languages, and what the library calls each.

Called by `sherpa_speaker`. Kokoro names its speakers in the metadata, Piper in the file beside its network; models that
clone take the voice of a recording; the speakers of all others have numbers. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from duologue.engines.tts.kokoro_voices import LANGUAGES, voice_of
from duologue.engines.tts.sherpa_speech_kinds import SpeechModel
from duologue.values.speech import Voice

SPOKEN_BY_KOKORO = "abefhipz"
"""The languages of Kokoro that can be pronounced: Chinese by the model's lexicon, the others by espeak-ng; not so Japanese,
whose phonemes it writes differently."""
SUPERTONIC_LANGUAGES = frozenset(
    [
        "en",
        "ko",
        "ja",
        "ar",
        "bg",
        "cs",
        "da",
        "de",
        "el",
        "es",
        "et",
        "fi",
        "fr",
        "hi",
        "hr",
        "hu",
        "id",
        "it",
        "lt",
        "lv",
        "nl",
        "pl",
        "pt",
        "ro",
        "ru",
        "sk",
        "sl",
        "sv",
        "tr",
        "uk",
        "vi",
    ]
)
"""The languages each voice of Supertonic speaks."""
_NAMES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "russian": "ru",
    "ukrainian": "uk",
    "polish": "pl",
    "chinese": "zh",
    "cantonese": "yue",
    "japanese": "ja",
    "korean": "ko",
    "arabic": "ar",
    "hindi": "hi",
    "turkish": "tr",
}
"""Languages as the metadata of models spells them; others are tags already, or unknown."""


class SherpaVoice(Struct, frozen=True):
    """A voice: `number` of the speaker, or the `recording` whose voice is cloned; `spoken` is espeak-ng's name of its
    language, where it pronounces the text."""

    voice: Voice
    number: int = 0
    recording: str = ""
    spoken: str = ""


def list_voices(
    model: SpeechModel,
    speakers: int,
    *,
    name: str,
    notes: Mapping[str, object],
    recordings: Sequence[str] = (),
    default: str = "",
) -> tuple[SherpaVoice, ...]:
    """The voices of a model with so many speakers, the `default` one first. `name` is the model's; `notes` is the content
    of Piper's file about it; `recordings` are the sounds that a model can clone."""
    if model.family == "kokoro":
        voices = _kokoro(_speaker_names(model, speakers))
    elif model.clones:
        voices = [
            SherpaVoice(Voice(_stem(file), "en", "Cloned from a recording."), recording=file)
            for file in recordings
        ]
    else:
        tag = _language(model, notes)
        spoken = (model.metadata.get("voice") or tag.lower()) if model.reads_phonemes else ""
        voices = [
            SherpaVoice(Voice(each, tag), number, spoken=spoken)
            for number, each in enumerate(_names(model, speakers, name, notes))
        ]
    first = default or ("af_heart" if model.family == "kokoro" else "")
    return tuple(sorted(voices, key=lambda each: each.voice.name != first))


def _kokoro(names: Sequence[str]) -> list[SherpaVoice]:
    voices = []
    for number, name in enumerate(names):
        letter = name[:1]
        if letter in SPOKEN_BY_KOKORO and (name[1:2] in ("f", "m")) and name[2:3] in ("", "_"):
            spoken = "" if letter == "z" else LANGUAGES[letter].espeak
            voices.append(SherpaVoice(voice_of(name), number, spoken=spoken))
    return voices


def _speaker_names(model: SpeechModel, speakers: int) -> list[str]:
    names = [each.strip() for each in model.metadata.get("speaker_names", "").split(",")]
    # Without names every speaker is an American one: that is what the first of these models were.
    return names if len(names) == speakers else [f"af_{number}" for number in range(speakers)]


def _names(model: SpeechModel, speakers: int, name: str, notes: Mapping[str, object]) -> list[str]:
    """The names of the speakers by their numbers."""
    if speakers <= 1:
        return [name]
    named = [each.strip() for each in model.metadata.get("speaker_names", "").split(",")]
    if len(named) == speakers and all(named):
        return named
    numbers = notes.get("speaker_id_map")
    if isinstance(numbers, Mapping) and sorted(numbers.values()) == list(range(speakers)):
        return sorted(numbers, key=lambda each: numbers[each])
    return [f"speaker_{number + 1}" for number in range(speakers)]


def _language(model: SpeechModel, notes: Mapping[str, object]) -> str:
    """The tag of the model's language; English where nothing says it."""
    language = notes.get("language")
    code = language.get("code") if isinstance(language, Mapping) else None
    if isinstance(code, str) and code:
        return _tag(code)
    spelt = model.metadata.get("language", "").lower()
    named = next((tag for word, tag in _NAMES.items() if word in spelt), "")
    return _tag(model.metadata.get("voice", "")) or named or "en"


def _tag(code: str) -> str:
    """`de_DE` and `en-us` as `de-DE` and `en-US`; "" for anything else."""
    main, _, region = code.replace("_", "-").partition("-")
    if not (main.isascii() and main.isalpha() and len(main) in (2, 3)):
        return ""
    return f"{main.lower()}-{region.upper()}" if len(region) == 2 and region.isalpha() else main.lower()


def _stem(file: str) -> str:
    return file.rpartition("/")[2].rpartition(".")[0]

"""The voices of Kokoro by their names: `af_heart` is American, female.

Owns the table of what the letters mean, and the choice of a voice. Used by both Kokoro engines, and by the remote speaker
for servers that run Kokoro. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from duologue.errors import NotFound
from duologue.values.speech import Voice

DEFAULT = "af_heart"


class KokoroLanguage(Struct, frozen=True):
    """A language of Kokoro: its tag, what espeak-ng calls it, and for people."""

    tag: str
    espeak: str
    name: str


LANGUAGES = {
    "a": KokoroLanguage("en-US", "en-us", "American English"),
    "b": KokoroLanguage("en-GB", "en-gb", "British English"),
    "e": KokoroLanguage("es", "es", "Spanish"),
    "f": KokoroLanguage("fr-FR", "fr-fr", "French"),
    "h": KokoroLanguage("hi", "hi", "Hindi"),
    "i": KokoroLanguage("it", "it", "Italian"),
    "j": KokoroLanguage("ja", "ja", "Japanese"),
    "p": KokoroLanguage("pt-BR", "pt-br", "Brazilian Portuguese"),
    "z": KokoroLanguage("zh", "cmn", "Mandarin Chinese"),
}
"""By the first letter of a voice's name, which is also Kokoro's own code of the language."""
_KINDS = {"f": "female", "m": "male"}


def voices_of(names: Iterable[str], letters: Collection[str], default: str = "") -> tuple[Voice, ...]:
    """The voices of these names whose language is among `letters`, the default one first: `default`, else Kokoro's own,
    else an American one."""
    known = sorted(name for name in names if name[:1] in letters and name[:1] in LANGUAGES)
    first = next((name for name in (default, DEFAULT) if name in known), None)
    if first is not None:
        known.remove(first)
        known.insert(0, first)
    return tuple(map(voice_of, known))


def voice_of(name: str) -> Voice:
    """A voice, by its name."""
    language = LANGUAGES[name[0]]
    kind = _KINDS.get(name[1:2], "")
    return Voice(name, language.tag, f"{language.name}, {kind}." if kind else f"{language.name}.")


def choose_voice(voices: tuple[Voice, ...], name: str, language: str) -> str:
    """The name of the voice to use: `name`, else the first for exactly the tag `language`, else the first for its main
    language, else the first of all. Raises NotFound for an unknown name."""
    if name:
        if all(voice.name != name for voice in voices):
            names = ", ".join(voice.name for voice in voices)
            raise NotFound(
                f"There is no voice {name!r}. These are: {names}.", code="voice_not_found", param="voice"
            )
        return name
    tags = language.lower().replace("_", "-").split("-")
    for length in (None, 1):
        for voice in voices:
            if voice.language.lower().split("-")[:length] == tags[:length]:
                return voice.name
    return voices[0].name

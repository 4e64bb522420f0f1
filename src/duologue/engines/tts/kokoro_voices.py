"""The voices of Kokoro by their names: `af_heart` is American, female.

Owns the table of what the letters mean. Pure. The same names are used by PyTorch's Kokoro and by kokoro-onnx.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from duologue.errors import NotFound
from duologue.values.speech import Voice

DEFAULT = "af_heart"


class Tongue(Struct, frozen=True):
    """A language of Kokoro: its tag, what espeak-ng calls it, and for people."""

    tag: str
    espeak: str
    name: str


TONGUES = {
    "a": Tongue("en-US", "en-us", "American English"),
    "b": Tongue("en-GB", "en-gb", "British English"),
    "e": Tongue("es", "es", "Spanish"),
    "f": Tongue("fr-FR", "fr-fr", "French"),
    "h": Tongue("hi", "hi", "Hindi"),
    "i": Tongue("it", "it", "Italian"),
    "j": Tongue("ja", "ja", "Japanese"),
    "p": Tongue("pt-BR", "pt-br", "Brazilian Portuguese"),
    "z": Tongue("zh", "cmn", "Mandarin Chinese"),
}
"""By the first letter of a voice's name, which is also what Kokoro's own pipeline calls the language."""
_KINDS = {"f": "female", "m": "male"}


def voices_of(names: Iterable[str], letters: Collection[str], default: str = "") -> tuple[Voice, ...]:
    """The voices of these names whose language is among `letters`, the default one first: the one that is wished, Kokoro's
    own, or an American one."""
    known = sorted(name for name in names if name[:1] in letters and name[:1] in TONGUES)
    wished = next((name for name in (default, DEFAULT) if name in known), None)
    if wished is not None:
        known.remove(wished)
        known.insert(0, wished)
    return tuple(map(voice_of, known))


def voice_of(name: str) -> Voice:
    """A voice, by its name."""
    tongue = TONGUES[name[0]]
    kind = _KINDS.get(name[1:2], "")
    return Voice(name, tongue.tag, f"{tongue.name}, {kind}." if kind else f"{tongue.name}.")


def chosen_voice(voices: tuple[Voice, ...], name: str, language: str) -> str:
    """The voice of this name, else the one for a language: of exactly its tag, of its main language, else the first of all.
    Raises NotFound for a name that none has."""
    if name:
        if all(voice.name != name for voice in voices):
            names = ", ".join(voice.name for voice in voices)
            raise NotFound(
                f"There is no voice {name!r}. These are: {names}.", code="voice_not_found", param="voice"
            )
        return name
    wanted = language.lower().replace("_", "-").split("-")
    for length in (None, 1):
        for voice in voices:
            if voice.language.lower().split("-")[:length] == wanted[:length]:
                return voice.name
    return voices[0].name

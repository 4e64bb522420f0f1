"""Which voice speaks a request: one of the loaded speaker, or a recording that it imitates.

Owns where a request has its recording, and the sentence for a speaker that cannot imitate any. Used by the dialects and
the calls, through `SpeechService.choose_voice`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from duologue.values.messages import AudioPart, Message
from duologue.values.requests import ModelCard
from duologue.values.speech import VoiceSample

NOTE = "Duologue-Voice-Note"
"""The header that says why another voice speaks than was asked for."""
CLONED = "The recording that came with the request speaks."


def system_recording(messages: Sequence[Message]) -> AudioPart | None:
    """The sample of a voice in the system message: its first sound."""
    parts = (part for message in messages if message.role == "system" for part in message.parts)
    return next((part for part in parts if isinstance(part, AudioPart)), None)


class VoiceChoice(Struct, frozen=True):
    """`voice`: the loaded voice, which speaks where `sample` cannot be imitated after all; `name`: what clients are told, "" for
    a recording of their own or while the voice is loading; `note`: a sentence where it is not what was asked for."""

    voice: str = ""
    sample: VoiceSample | None = None
    name: str = ""
    note: str = ""


def note_header(choice: VoiceChoice | None) -> dict[str, str]:
    """The header of an answer whose body is sound, or another program's format."""
    if choice is None or not choice.note:
        return {}
    return {NOTE: choice.note.encode("ascii", "replace").decode()}


def spoken_instead(default: str, spoken_by: str) -> VoiceChoice:
    """The choice where the speaker cannot imitate a recording. `default`: the voice for requests that name none; `spoken_by`: the
    name under which it speaks."""
    voice = f"the voice {spoken_by}" if spoken_by else "the default voice"
    return VoiceChoice(
        default,
        None,
        spoken_by,
        f"The speech engine of this server cannot imitate a recording; {voice} speaks instead. GET /v1/audio/voices lists its "
        "voices.",
    )


def model_voice(card: ModelCard, name: str) -> VoiceChoice:
    """The choice among the voices of a model that speaks itself. `name` "": its default one."""
    own = card.voices[0] if card.voices else ""
    if name in ("", "default", *card.voices):
        chosen = "" if name == "default" else name
        return VoiceChoice(chosen, None, chosen or own)
    return VoiceChoice("", None, own, f"The model {card.name} has no voice {name!r}. {_own_voice(card)}")


def no_model_clone(card: ModelCard) -> VoiceChoice:
    """The choice where a model that speaks itself cannot imitate a recording."""
    own = card.voices[0] if card.voices else ""
    return VoiceChoice("", None, own, f"The model {card.name} cannot imitate a recording. {_own_voice(card)}")


def _own_voice(card: ModelCard) -> str:
    if not card.voices:
        return "It speaks with its own voice."
    return f"Its voice {card.voices[0]} speaks instead. Its voices: {', '.join(card.voices)}."


def default_gone(default: str, spoken_by: str) -> VoiceChoice:
    """The choice where the default voice of the settings is gone, or is somebody else's recording."""
    voice = f"The voice {spoken_by}" if spoken_by else "Another voice"
    return VoiceChoice(
        "",
        None,
        spoken_by,
        f"The default voice {default!r} (setting voice.voice) is not available. {voice} speaks instead.",
    )

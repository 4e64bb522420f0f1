"""The three modes of talking to the server, what each needs, and why one cannot be used. Pure; used by `app_registry`.

Ids, names and routes are those of the MiniCPM-o demo, whose front end reads them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

AppId = Literal["turnbased", "omni", "audio_duplex"]
Need = Literal["text", "voice", "image"]


class App(Struct, frozen=True):
    """A mode. `needs` are abilities of the loaded engines, `endpoints` the sockets it governs."""

    id: AppId
    name: str
    description: str
    route: str
    needs: tuple[Need, ...]
    endpoints: tuple[str, ...]


APPS = (
    App(
        "turnbased",
        "Turn-based Chat",
        "Messages with text, pictures, sound and video, each answered in full.",
        "/turnbased",
        ("text",),
        ("/ws/chat",),
    ),
    App(
        "omni",
        "Omni Full-Duplex",
        "A call with a camera: both sides may speak at any time, and pictures are seen.",
        "/omni",
        ("text", "voice", "image"),
        ("/ws/duplex/{session_id}", "/ws/voice"),
    ),
    App(
        "audio_duplex",
        "Audio Full-Duplex",
        "A call: both sides may speak at any time.",
        "/audio_duplex",
        ("text", "voice"),
        ("/ws/voice", "/ws/chat", "/ws/duplex/{session_id}"),
    ),
)


class Abilities(Struct, frozen=True):
    """What the loaded engines can do. A model that is still loading counts as able: nobody knows yet."""

    text: bool = True
    voice: bool = True
    image: bool = True


class Reason(Struct, frozen=True):
    """Why an app cannot be used."""

    code: str
    message: str


SWITCHED_OFF = "app_disabled"
_LACKS: dict[Need, Reason] = {
    "text": Reason("model_empty", "No model is loaded."),
    "voice": Reason("voice_unavailable", "The server has no voice that works."),
    "image": Reason("modality_unsupported", "No loaded model takes pictures."),
}


def disabled_reason(app: App) -> Reason:
    """What somebody is told who wants to use an app that an admin has switched off."""
    return Reason(SWITCHED_OFF, f"An admin has switched off {app.name} on this server.")


def reason(app: App, enabled: bool, abilities: Abilities) -> Reason | None:
    """Why the app cannot be used; None if it can."""
    if not enabled:
        return disabled_reason(app)
    lacking = (need for need in app.needs if not getattr(abilities, need))
    return next((_LACKS[need] for need in lacking), None)

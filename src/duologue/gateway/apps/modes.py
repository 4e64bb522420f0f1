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
    """What the loaded engines can do. A model that is still loading counts as able: nobody knows yet. `duplex`: the names of the models
    that hold a call by themselves, `duplex_image` of those among them that take pictures."""

    text: bool = True
    voice: bool = True
    image: bool = True
    duplex: tuple[str, ...] = ()
    duplex_image: tuple[str, ...] = ()


class Reason(Struct, frozen=True):
    """Why an app cannot be used."""

    code: str
    message: str


class AppStanding(Struct, frozen=True):
    """Whether an app can be used: `reason` is None if it can. A call is held by a model of `native` itself, or by a cascade of recogniser,
    model and voice; each has a reason of its own where there is none of it."""

    reason: Reason | None
    native: tuple[str, ...] = ()
    native_reason: Reason | None = None
    cascade: bool = True
    cascade_reason: Reason | None = None


SWITCHED_OFF = "app_disabled"
_LACKS: dict[Need, Reason] = {
    "text": Reason("model_empty", "No model is loaded."),
    "voice": Reason("voice_unavailable", "The server has no voice that works."),
    "image": Reason("modality_unsupported", "No loaded model takes pictures."),
}
_NO_DUPLEX = Reason("duplex_unavailable", "No loaded model holds a call by itself.")
_BLIND_DUPLEX = Reason("modality_unsupported", "No loaded model that holds a call by itself takes pictures.")


def disabled_reason(app: App) -> Reason:
    """What somebody is told who wants to use an app that an admin has switched off."""
    return Reason(SWITCHED_OFF, f"An admin has switched off {app.name} on this server.")


def standing(app: App, enabled: bool, abilities: Abilities) -> AppStanding:
    """Whether the app can be used, and by which kind of engine."""
    lacking = (need for need in app.needs if not getattr(abilities, need))
    lack = next((_LACKS[need] for need in lacking), None)
    off = None if enabled else disabled_reason(app)
    if "voice" not in app.needs:
        return AppStanding(off or lack, cascade=lack is None, cascade_reason=lack)
    native = abilities.duplex_image if "image" in app.needs else abilities.duplex
    no_native = None if native else _BLIND_DUPLEX if abilities.duplex else _NO_DUPLEX
    return AppStanding(off or (None if native else lack), native, no_native, lack is None, lack)

"""Which calls get video, and of whose face: what the settings allow, what the voice worker can draw, what the client asks for.

`voice_socket.py` and the chat socket ask at the greeting and at the start of a call. The session has the last word, since it alone
knows whether the avatar can be drawn (`VideoState`). Nothing here fails a call: without video there is sound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from duologue.config.sections.video import VideoConfig
from duologue.errors import Problem
from duologue.values.avatars import AvatarSource, VideoMode
from duologue.values.call_events import VideoState
from duologue.values.speech import SpeechCard

SWITCHED_OFF = "This server sends no video in calls (setting video.enabled). Replies are sent as sound."
NOT_READY = "The video engine is not ready. Replies are sent as sound."
NATIVE = "The model of this call speaks by itself, so its replies are sent as sound."
NOT_DRAWN = "The video engine does not draw this kind of avatar. Replies are sent as sound."


class AvatarSources(Protocol):
    """Where avatars are kept: `gateway.avatars.library.AvatarLibrary`."""

    @property
    def looks(self) -> Mapping[str, object]:
        """The drawn ones by name, the default first."""
        ...

    async def source(self, id: str, user: str) -> AvatarSource: ...


class SpeechCards(Protocol):
    """What the voice worker can do; None while it loads, and where there is none."""

    @property
    def card(self) -> SpeechCard | None: ...


class ChosenVideo(Struct, frozen=True):
    """What a call begins with: what its client is told (None: nothing yet, its session will), and what the session is to try."""

    state: VideoState | None
    mode: VideoMode = "off"
    avatar: AvatarSource | None = None


class VideoOffers:
    """The video of calls. Without `avatars` there is none."""

    def __init__(
        self,
        settings: VideoConfig | None = None,
        speech: SpeechCards | None = None,
        avatars: AvatarSources | None = None,
    ) -> None:
        self._settings, self._speech, self._avatars = settings or VideoConfig(), speech, avatars

    @property
    def _enabled(self) -> bool:
        return self._settings.enabled is True and self._avatars is not None and self._speech is not None

    @property
    def rendered(self) -> tuple[str, ...]:
        """The kinds of faces that the server renders in calls at this moment."""
        card = self._speech.card if self._speech is not None else None
        ready = self._enabled and card is not None and card.video.standing == "ready"
        return card.draws if ready and card is not None else ()

    def offer(self) -> VideoState:
        """What a client that says nothing of video gets: clips, as soon as the video engine is ready."""
        card = self._speech.card if self._speech is not None else None
        if not self._enabled or card is None or card.video.standing != "ready":
            return VideoState(0, "off")
        return self._on("clip")

    async def choose(
        self, wanted: VideoMode | None, avatar: str, user: str, *, native: bool = False
    ) -> ChosenVideo:
        """The video of a call that begins. `wanted` None: the client said nothing of it; `native`: the model speaks by itself."""
        mode = wanted or ("clip" if self._enabled else "off")
        if mode == "off":
            return ChosenVideo(VideoState(0, "off"))
        if native or not self._enabled or self._avatars is None or self._speech is None:
            return _off(NATIVE if native else SWITCHED_OFF)
        card = self._speech.card
        if card is not None and card.video.standing in ("absent", "failed"):
            return _off(card.video.detail or NOT_READY)
        name = avatar or self._settings.avatar or next(iter(self._avatars.looks), "")
        try:
            source = await self._avatars.source(name, user)
        except Problem as problem:
            return _off(problem.message)
        if card is not None and card.draws and source.kind not in card.draws:
            return _off(NOT_DRAWN)
        ready = card is not None and card.video.standing == "ready"
        return ChosenVideo(self._on(mode) if ready else None, mode, source)

    def _on(self, mode: VideoMode) -> VideoState:
        settings = self._settings
        return VideoState(0, mode, settings.size, settings.size, settings.rate)


def _off(note: str) -> ChosenVideo:
    return ChosenVideo(VideoState(0, "off", note=note))

"""What the terminal is told: that the server can be talked to, and where; or why its model, or a part of its voice, cannot be
used.

Owns these sentences and that each is said once. Knows the pool only to look at it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from duologue.config import Settings
from duologue.gateway import tls
from duologue.gateway.admin import status
from duologue.gateway.scheduling.pool import Pool


class Herald:
    """Tells the terminal, once, that the server can be talked to, and each reason why something of it cannot be used."""

    def __init__(self, settings: Settings, announce: Callable[[str], None]) -> None:
        self._settings = settings
        self._announce = announce
        self._told: set[str] = set()
        self._begun = False

    def begin(self, pool: Pool, voice: Pool | None = None) -> None:
        """From now on requests are answered."""
        self._begun = True
        self.look(pool, voice)

    def look(self, pool: Pool, voice: Pool | None = None) -> None:
        if not self._begun:
            return
        self._look_at_the_voice(voice)
        state, detail = status.standing(pool)
        if state == "failed":
            self._tell(detail, f"The model cannot be used: {detail}")
        elif state == "ready":
            card = pool.cards()[0]
            room = f", {card.context:,} tokens of context" if card.context else ""
            url = address(self._settings, self._settings.port)
            self._tell(state, f"Duologue is ready at {url} ({card.name}{room}). Ctrl-C ends it.")

    def _look_at_the_voice(self, voice: Pool | None) -> None:
        """Engines of speech that cannot be loaded keep nothing from starting; whoever set them wants to know all the same."""
        for view in () if voice is None else voice.workers.values():
            if view.state == "failed":
                self._tell(view.detail, f"The voice cannot be used: {view.detail}")
            if view.state != "ready" or view.speech is None:
                continue
            for station, lack in (
                (view.speech.detector, "Nobody can call"),
                (view.speech.recogniser, "Nothing is heard"),
                (view.speech.speaker, "Nothing is spoken"),
            ):
                if station.standing == "failed":
                    self._tell(station.detail, f"{lack}: {station.detail}")

    def _tell(self, what: str, line: str) -> None:
        if what in self._told:
            return
        self._told.add(what)
        # A terminal that has gone (or `serve | head -1`) is no reason to stop serving.
        with suppress(OSError):
            self._announce(line)


def address(settings: Settings, port: int) -> str:
    """Where a browser on this machine finds the server that listens on `port`."""
    scheme = "https" if tls.is_on(settings.tls) else "http"
    host = settings.host
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    name = f"[{shown}]" if ":" in shown else shown
    return f"{scheme}://{name}:{port}" + (f"{settings.base_path}/" if settings.base_path else "")

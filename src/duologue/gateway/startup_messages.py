"""The lines for the terminal: that the server is ready and at which URL, or why its model or a part of its voice is unusable.

Owns these sentences, and that each is printed once. The gateway calls `update` whenever a pool changes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from duologue.config import Settings
from duologue.gateway import tls
from duologue.gateway.admin import status
from duologue.gateway.scheduling.pool import Pool


class StartupMessages:
    """Prints, once each, that the server is ready and every reason why something in it cannot be used."""

    def __init__(self, settings: Settings, announce: Callable[[str], None]) -> None:
        self._settings = settings
        self._announce = announce
        self._printed: set[str] = set()
        self._started = False

    def start(self, pool: Pool, voice: Pool | None = None) -> None:
        """From now on requests are answered, so there is something to announce."""
        self._started = True
        self.update(pool, voice)

    def update(self, pool: Pool, voice: Pool | None = None) -> None:
        """Print what has become true since the last time."""
        if not self._started:
            return
        self._update_voice(voice)
        state, detail = status.model_state(pool)
        if state == "failed":
            self._print(detail, f"The model cannot be used: {detail}")
        elif state == "ready":
            card = pool.cards()[0]
            context = f", {card.context:,} tokens of context" if card.context else ""
            url = server_url(self._settings, self._settings.port)
            self._print(state, f"Duologue is ready at {url} ({card.name}{context}). Press Ctrl-C to stop it.")

    def _update_voice(self, voice: Pool | None) -> None:
        """Speech engines that cannot be loaded do not stop the server, but the person who configured them must know."""
        for worker in () if voice is None else voice.workers.values():
            if worker.state == "failed":
                self._print(worker.detail, f"The voice cannot be used: {worker.detail}")
            if worker.state != "ready" or worker.speech is None:
                continue
            for engine, consequence in (
                (worker.speech.detector, "Calls are unavailable"),
                (worker.speech.recogniser, "Speech recognition is unavailable"),
                (worker.speech.speaker, "Speech output is unavailable"),
                (worker.speech.turn_end, "Turns end by their words alone"),
                (worker.speech.video, "Video of avatars is unavailable"),
            ):
                if engine.standing == "failed":
                    self._print(engine.detail, f"{consequence}: {engine.detail}")

    def _print(self, key: str, line: str) -> None:
        if key in self._printed:
            return
        self._printed.add(key)
        # A closed terminal, or `serve | head -1`, is no reason to stop serving.
        with suppress(OSError):
            self._announce(line)


def server_url(settings: Settings, port: int) -> str:
    """The URL under which a browser on this machine reaches the server that listens on `port`."""
    scheme = "https" if tls.is_on(settings.tls) else "http"
    host = settings.host
    local = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
    name = f"[{local}]" if ":" in local else local
    return f"{scheme}://{name}:{port}" + (f"{settings.base_path}/" if settings.base_path else "")

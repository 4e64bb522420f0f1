"""What is said that no model writes: announcements, fillers, apologies.

Owns who waits to be announced, and how often each sentence was said. When the caller speaks it is told to keep quiet.
"""

from __future__ import annotations

from collections import deque

from duologue.turns.facts_and_decisions import Announce
from duologue.turns.patience import due
from duologue.turns.phrases import Kind, phrase
from duologue.turns.reply_state import ReplyState
from duologue.turns.settings import TurnSettings

WAITING = 8
"""Announcements that may wait; more are not taken."""


class Asides:
    """The sentences of one call that are nobody's reply."""

    def __init__(self, settings: TurnSettings, mouth: ReplyState) -> None:
        self._settings = settings
        self._mouth = mouth
        self._said: dict[Kind, int] = {}
        self._waiting: deque[Announce] = deque()

    def announce(self, announcement: Announce) -> None:
        """Say it when nobody speaks."""
        if len(self._waiting) < WAITING:
            self._waiting.append(announcement)

    def say(self, kind: Kind, now: int) -> None:
        """Say the machine's own sentence of this kind."""
        count = self._said.get(kind, 0)
        self._said[kind] = count + 1
        self._mouth.say(phrase(kind, self._settings.language, count), kind, now)

    def finish(self, now: int) -> None:
        """Let go of what was heard to its end; a reply that broke apologises next."""
        mouth = self._mouth
        for saying in (mouth.aside, mouth.main):
            if saying is None or not saying.over(now) or (saying is mouth.main and mouth.aside is not None):
                continue
            mouth.finish(saying, now)
            if saying.apology:
                mouth.say(saying.apology, "apology", now)
        aside = mouth.aside
        if aside is not None and aside.silent and now - aside.progress >= self._settings.slow:
            mouth.give_up(aside, now)

    def go_on(self, now: int) -> None:
        """Nobody speaks: do not let the caller sit in silence."""
        mouth = self._mouth
        main = mouth.main
        if main is not None and main.released and mouth.aside is None and mouth.settled:
            match due(main, now, self._settings):
                case "filler":
                    main.filled = True
                    self.say("filler", now)
                case "slow":
                    main.slow = True
                    self.say("slow", now)
                case "give_up":
                    mouth.give_up(main, now)
                    self.say("gave_up", now)
                case None:
                    pass
        if self._waiting and mouth.free:
            announced = self._waiting.popleft()
            mouth.say(announced.text, "announcement", now, interruptible=announced.interruptible)

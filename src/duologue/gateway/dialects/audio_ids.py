"""Replies that were spoken, by the ids of their sound: clients send the id back in place of the text.

Owns for how long such an id is known, and how many are. Keeps texts and no sound.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping

from duologue.wire.completion import Sounding

LASTS = 3600
"""Seconds an id is known."""
KEPT = 2048
"""Ids that are known at a time, of everybody; the oldest goes first."""
CHARACTERS = 8 * 1024 * 1024
"""Characters that are kept of all of them."""


class SpokenReplies:
    """`clock` gives seconds since 1970. Ids belong to the user whose reply it was."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._texts: OrderedDict[str, tuple[str, int, str]] = OrderedDict()
        self._characters = 0

    def new(self) -> Sounding:
        """The sound of a reply that is about to be made."""
        return Sounding(f"audio_{uuid.uuid4().hex}", int(self._clock()) + LASTS)

    def keep(self, user: str, sounding: Sounding, text: str) -> None:
        """The reply is there; its text is known by its id from now on."""
        self._texts[sounding.id] = (user, sounding.expires, text)
        self._characters += len(text)
        while len(self._texts) > KEPT or self._characters > CHARACTERS:
            self._forget()

    def of(self, user: str) -> Mapping[str, str]:
        """The texts of a user's replies that are still known."""
        now = self._clock()
        while self._texts and next(iter(self._texts.values()))[1] <= now:
            self._forget()
        return {id: text for id, (whose, _, text) in self._texts.items() if whose == user}

    def _forget(self) -> None:
        """The oldest."""
        _, (_, _, text) = self._texts.popitem(last=False)
        self._characters -= len(text)

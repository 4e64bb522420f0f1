"""The texts of spoken replies by the ids of their sound: clients send the id back instead of the text.

Owns how long such an id is known, and how many are. Stores texts, not sound. Used by `chat_completions`.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping

from duologue.wire.completion import AudioId

LIFETIME = 3600
"""Seconds an id is known."""
MAX_IDS = 2048
"""Ids known at a time, over all users; the oldest is dropped first."""
MAX_CHARACTERS = 8 * 1024 * 1024
"""Characters of all stored texts together."""


class AudioIds:
    """`clock` gives seconds since 1970. An id is known only to the user whose reply it was."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # id -> user, expiry, text; oldest first, because all ids live equally long.
        self._texts: OrderedDict[str, tuple[str, int, str]] = OrderedDict()
        self._characters = 0

    def new(self) -> AudioId:
        """The id of a reply that is about to be generated."""
        return AudioId(f"audio_{uuid.uuid4().hex}", int(self._clock()) + LIFETIME)

    def remember(self, user: str, audio_id: AudioId, text: str) -> None:
        """Store the text of a finished reply under its id."""
        self._texts[audio_id.id] = (user, audio_id.expires, text)
        self._characters += len(text)
        while len(self._texts) > MAX_IDS or self._characters > MAX_CHARACTERS:
            self._drop_oldest()

    def texts_of(self, user: str) -> Mapping[str, str]:
        """The user's stored texts by id; expired ones are dropped first."""
        now = self._clock()
        while self._texts and next(iter(self._texts.values()))[1] <= now:
            self._drop_oldest()
        return {id: text for id, (owner, _, text) in self._texts.items() if owner == user}

    def _drop_oldest(self) -> None:
        _, (_, _, text) = self._texts.popitem(last=False)
        self._characters -= len(text)

"""The turns of a call that a model holds by itself, as they go into the history: the caller's written down, replies as far as heard.

Owns their order. What the caller said arrives as sound, and the reply to it may be over before that is written down, so everything waits
in one line. Run by `Call`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from duologue.errors import Problem
from duologue.gateway.calls.history import CallHistory
from duologue.notifier import Notifier
from duologue.values import call_events
from duologue.values.call_events import AssistantSaid, CallEvent, UserSaid, UserSound
from duologue.values.events import ReplyWord
from duologue.values.speech import Transcript

log = logging.getLogger(__name__)

Transcribe = Callable[[bytes, str], Awaitable[Transcript | None]]
"""Writes down sound (16-bit mono, 16 kHz) in a language; None where nobody can. Raises Problem."""
MAX_WAITING = 32
"""Turns that wait to be stored; of the oldest beyond it only that it was spoken is kept."""
TRANSCRIPT_TIMEOUT = 20.0
"""Seconds that a turn may take to be written down."""
LAST_WORDS_TIMEOUT = 5.0
"""Seconds for what still waits when the call is over or goes to another worker."""
SPOKEN = {
    "en": "(spoken, not written down)",
    "de": "(gesprochen, nicht mitgeschrieben)",
    "fr": "(parlé, non transcrit)",
    "es": "(hablado, sin transcribir)",
}
"""What the history has of a turn that nobody wrote down."""


class _NativeReply(Struct):
    """A reply that is not over: its text, and how much of its sound there is and was played, in samples."""

    text: str = ""
    words: list[ReplyWord] = field(default_factory=list)
    sent: int = 0
    played: int = 0

    @property
    def heard(self) -> str:
        """The text that was played: by its timed words, otherwise whole words by the share of its sound."""
        if self.words:
            return self.text[: max((word.to for word in self.words if word.end <= self.played), default=0)]
        if self.played >= self.sent:
            return self.text if self.sent else ""
        heard = self.text[: len(self.text) * self.played // self.sent]
        return heard[: heard.rfind(" ") + 1].rstrip()


class NativeTurns:
    """`tell` is awaited with events for the client that are made here."""

    def __init__(
        self,
        history: CallHistory,
        tell: Callable[[Sequence[CallEvent]], Awaitable[None]],
        transcribe: Transcribe | None = None,
    ) -> None:
        self._history, self._tell, self._transcribe = history, tell, transcribe
        self._waiting: deque[UserSound | UserSaid | AssistantSaid] = deque()
        self._added = Notifier()
        self._replies: dict[int, _NativeReply] = {}
        self.language = "en"
        """Of the words for what was not written down."""
        self.heard_language = ""
        """The language that the caller speaks; "": the recogniser's own."""

    # ---- what happens

    def begun(self, event: call_events.ReplyBegun) -> None:
        """The model begins a reply."""
        self._replies[event.reply] = _NativeReply()

    def user_said(self, event: UserSaid | UserSound) -> None:
        """The caller's turn is over."""
        self._add(event)

    def assistant_said(self, event: AssistantSaid) -> None:
        """A reply is over."""
        self._replies.pop(event.reply, None)
        self._add(event)

    def add_output(
        self, number: int, *, text: str = "", words: Sequence[ReplyWord] = (), samples: int = 0
    ) -> None:
        """Text, words or sound of this reply went to the client."""
        if (reply := self._replies.get(number)) is not None:
            reply.text += text
            reply.words.extend(words)
            reply.sent += samples

    def set_played(self, number: int, samples: int) -> None:
        """The client has played the reply up to this sample."""
        if (reply := self._replies.get(number)) is not None:
            reply.played = max(reply.played, samples)

    def close(self) -> list[AssistantSaid]:
        """The session is over: what was heard of running replies is stored. Gives the end of each, in epoch 0."""
        ends = [
            AssistantSaid(0, number, reply.heard, reply.text[len(reply.heard) :], "interrupted")
            for number, reply in self._replies.items()
        ]
        self._replies.clear()
        for end in ends:
            self._add(end)
        return ends

    def forget(self) -> None:
        """The conversation begins anew: nothing of it is stored any more."""
        self._replies.clear()
        self._waiting.clear()

    # ---- storing

    async def run(self) -> None:
        """Store the turns in order, until cancelled."""
        while True:
            while self._waiting:
                await self._store_first()
            await self._added.wait()

    async def settle(self) -> None:
        """Store what still waits, while `run` does not; what cannot be written down in time, as spoken."""
        with anyio.move_on_after(LAST_WORDS_TIMEOUT, shield=True):
            while self._waiting:
                await self._store_first()
        while self._waiting:
            self._store(self._waiting.popleft(), None)

    def _add(self, event: UserSound | UserSaid | AssistantSaid) -> None:
        self._waiting.append(event)
        if len(self._waiting) > MAX_WAITING:
            # The first may be the one that is being written down.
            for index in range(1, len(self._waiting)):
                if isinstance(sound := self._waiting[index], UserSound) and sound.pcm:
                    self._waiting[index] = replace(sound, pcm=b"")
                    break
        self._added.notify()

    async def _store_first(self) -> None:
        event = self._waiting[0]
        transcript = await self._written_down(event) if isinstance(event, UserSound) else None
        # Cancelled before this, it is still the first; a conversation that began anew has forgotten it.
        if self._waiting and self._waiting[0] is event:
            self._waiting.popleft()
            await self._tell(self._store(event, transcript))

    def _store(
        self, event: UserSound | UserSaid | AssistantSaid, transcript: Transcript | None
    ) -> list[CallEvent]:
        """Add one turn to the history. Gives the events that say what the caller said."""
        if isinstance(event, AssistantSaid):
            self._history.add_reply(event.heard, event.unheard, event.ending)
            return []
        if isinstance(event, UserSaid):
            self._history.add_user_turn(event.text, typed=event.typed)
            return []
        text = transcript.text.strip() if transcript is not None else ""
        stored = text or SPOKEN[self.language]
        self._history.add_user_turn(stored)
        said = UserSaid(event.epoch, event.turn, stored)
        if transcript is None:
            return [said]
        understood = transcript.understood and bool(text)
        return [
            call_events.Transcribed(event.epoch, event.turn, text, final=True, understood=understood),
            said,
        ]

    async def _written_down(self, sound: UserSound) -> Transcript | None:
        if self._transcribe is None or not sound.pcm:
            return None
        try:
            with anyio.move_on_after(TRANSCRIPT_TIMEOUT):
                return await self._transcribe(sound.pcm, self.heard_language)
        except Problem as problem:
            log.info("what a caller said could not be written down: %s", problem.message)
        return None

"""What is said, or is about to be: the reply that was asked for, what is said aside, and what was cut a moment ago.

Owns how far each is made and heard, and the epoch. It is told what to do with them; why, `conversation.py` knows.
Positions are samples at 24 kHz, times samples heard.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.epoch import Epoch
from duologue.turns.facts_and_decisions import (
    Ask,
    Broke,
    CutSound,
    Decision,
    Drop,
    HoldSound,
    KeepReply,
    KeepUser,
    PlayedTo,
    Release,
    ResumeSound,
    Say,
    SoundComplete,
    SoundMade,
    TextCame,
    Worked,
)
from duologue.turns.settings import TurnSettings, seconds
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE
from duologue.values.call_events import Ending
from duologue.values.events import ReplyWord

ReplyFact = TextCame | SoundMade | SoundComplete | PlayedTo | Worked | Broke

REMEMBERS = 6 * SPOKEN_RATE
"""Samples of a reply behind what was heard of which the words are remembered."""
ECHOES = (SPOKEN_RATE // 2, SPOKEN_RATE // 3)
"""What of our own may be an echo: from so much before its onset to so much past what is known to be heard. An answer
often takes up our words; it seldom does so while we say them."""
RINGS = seconds(0.2)
"""How long after a reply's end its echo may begin."""
BROKEN = seconds(0.5)
"""How long the rest of a broken reply's sound is waited for."""


class Saying(Struct):
    """A reply, or a sentence of the machine's own."""

    number: int
    kind: str = "reply"
    turn: CallerTurn | None = None
    interruptible: bool = True
    released: bool = False
    made: int = 0
    played: int = 0
    complete: bool = False
    words: list[ReplyWord] = field(default_factory=list)
    progress: int = 0
    """When there was last something new of it, or something to hear."""
    moved: int = 0
    """When it was last heard to go on."""
    held: int | None = None
    """Since when it is held."""
    waiting: int | None = None
    """Since when it waits for a tool or a person."""
    asks: bool = False
    """The caller was asked something meanwhile."""
    filled: bool = False
    """The wait was filled."""
    slow: bool = False
    """It was said that it takes long."""
    broken: bool = False
    apology: str = ""
    settled: bool = False
    """The caller themself told what they heard."""
    settles: int = 0

    @property
    def sounds(self) -> bool:
        """Whether there is something to hear of it, or was a moment ago."""
        return self.made > 0 and not (self.waiting is not None and self.played >= self.made)

    @property
    def silent(self) -> bool:
        """Whether nothing of it is left to be played."""
        return self.played >= self.made

    def over(self, now: int) -> bool:
        """Whether all there will be of it was heard."""
        rest_lost = self.broken and now - self.progress >= BROKEN
        return self.released and self.silent and (self.complete or rest_lost)


class ReplyState:
    """The replies of one call. At most one is asked for, and one said aside."""

    def __init__(self, settings: TurnSettings, tell: Callable[[Decision], None]) -> None:
        self.main: Saying | None = None
        self.aside: Saying | None = None
        self.epoch = Epoch()
        self._settings = settings
        self._tell = tell
        self._leaving: list[Saying] = []
        self._number = 0
        self._last: Saying | None = None
        self._last_at = 0

    # ---- what there is

    @property
    def foremost(self) -> Saying | None:
        """What sounds now, or will next without further ado."""
        if self.aside is not None:
            return self.aside
        return self.main if self.main is not None and self.main.released else None

    @property
    def asks(self) -> bool:
        """Whether the caller is asked something."""
        return self.main is not None and self.main.asks

    @property
    def settled(self) -> bool:
        """Whether it is known of all that was cut how much was heard."""
        return not self._leaving

    @property
    def free(self) -> bool:
        """Whether a sentence may be said now."""
        if self.aside is not None or self._leaving:
            return False
        return self.main is None or (self.main.waiting is not None and self.main.silent)

    def find(self, number: int) -> Saying | None:
        """The reply with this number, if anything about it still matters."""
        known = (self.main, self.aside, *self._leaving)
        return next((one for one in known if one is not None and one.number == number), None)

    def may_be_interrupted(self, saying: Saying) -> bool:
        """Whether the caller's voice ends it. Before it sounds nobody is interrupted by going on."""
        if saying.kind == "reply":
            return self._settings.interruptible or not saying.made or saying.asks
        return self._settings.interruptible and saying.interruptible

    def may_be_stopped(self, saying: Saying) -> bool:
        """Whether a button, a key or typed text ends it."""
        return saying.kind == "reply" or saying.interruptible

    def audible(self, at: int) -> Saying | None:
        """What could be heard at this time, or come back a moment later."""
        if self.foremost is not None:
            return self.foremost
        return self._last if self._last is not None and at - self._last_at <= RINGS else None

    def own_words(self, number: int, since: int) -> tuple[str, ...]:
        """What this reply said from about sample `since` on, as far as it got."""
        saying = next(
            (one for one in (self.aside, self.main, self._last) if one and one.number == number), None
        )
        if saying is None:
            return ()
        behind, ahead = ECHOES
        start, end = since - behind, saying.played + ahead
        return tuple(word.text for word in saying.words if word.end > start and word.start < end)

    # ---- what comes of it

    def take(self, fact: ReplyFact, now: int) -> None:
        """What is told about a reply. About one that is over, or that nobody knows, it is no news."""
        saying = self.find(fact.reply)
        if saying is None:
            return
        match fact:
            case PlayedTo():
                self.played(saying, fact.samples, now)
                return
            case SoundMade():
                self.made(saying, fact.samples, fact.words, now)
            case SoundComplete():
                self.made(saying, fact.samples, (), now)
                saying.complete = True
            case Broke():
                saying.broken, saying.waiting = True, None
                saying.apology = fact.apology
            case Worked():
                asks = fact.busy and fact.asks
                if saying.asks and not asks and self.aside is not None and self.aside.kind == "announcement":
                    # It was answered before it was asked to its end.
                    self.cut(self.aside, now)
                saying.asks = asks
                if fact.busy != (saying.waiting is not None):
                    saying.waiting = now if fact.busy else None
                    saying.filled = False
            case _:
                pass
        saying.progress = now

    def made(self, saying: Saying, samples: int, words: tuple[ReplyWord, ...], now: int) -> None:
        if saying.silent:
            saying.moved = now
        saying.made = max(saying.made, samples)
        saying.progress = now
        kept = [word for word in saying.words if word.end > saying.played - REMEMBERS]
        saying.words = [*kept, *words]

    def played(self, saying: Saying, samples: int, now: int) -> None:
        samples = min(samples, saying.made)
        if samples > saying.played:
            saying.played = samples
            saying.moved = now
            saying.progress = max(saying.progress, now)

    def tick(self, now: int) -> None:
        """FRAME more samples were heard."""
        saying = self.foremost
        if saying is not None and saying.held is None and not saying.silent:
            saying.progress = now
            rest = (saying.made - saying.played) * HEARD_RATE // SPOKEN_RATE
            # No mark and no reckoning came for all this time: a client that has gone deaf must not hold the call up.
            if now - saying.moved >= rest + self._settings.unplayed:
                saying.played = saying.made
        if self.aside is not None and self.main is not None:
            self.main.moved = now
        for leaving in [one for one in self._leaving if one.settled or now >= one.settles]:
            self._leaving.remove(leaving)
            self._tell(KeepReply(leaving.number, leaving.played, "interrupted"))

    # ---- what is done with it

    def ask(self, turn: CallerTurn, now: int) -> Saying:
        """Have the turn answered."""
        self._number += 1
        self.main = Saying(self._number, turn=turn, progress=now, moved=now)
        self._tell(Ask(self._number, turn.number, turn.revision, turn.said))
        return self.main

    def release(self, now: int) -> None:
        """What was asked for may sound."""
        if self.main is not None and not self.main.released:
            self.main.released = True
            self.main.moved = now
            self._tell(Release(self.main.number))

    def say(self, text: str, kind: str, now: int, *, interruptible: bool = True) -> None:
        """Say this sentence, before whatever else there is to hear."""
        self._number += 1
        self.aside = Saying(self._number, kind=kind, interruptible=interruptible, released=True)
        self.aside.progress = self.aside.moved = now
        self._tell(Say(self._number, text, kind))

    def stop(self, now: int) -> None:
        """End all that a button may end."""
        for saying in (self.aside, self.main):
            if saying is None or not self.may_be_stopped(saying):
                continue
            if saying.released:
                self.cut(saying, now)
            else:
                self.drop(saying, now)

    def hold(self, now: int) -> None:
        """Pause whatever sounds, at a client that can."""
        saying = self.foremost
        if saying is not None and saying.held is None and self._settings.pauses:
            saying.held = now
            self._tell(HoldSound(saying.number))

    def resume(self, now: int) -> None:
        for saying in (self.aside, self.main):
            if saying is not None and saying.held is not None:
                saying.held = None
                saying.moved = now
                self._tell(ResumeSound(saying.number))

    def keep_user(self, turn: CallerTurn | None) -> None:
        """The turn belongs to the conversation; told once."""
        if turn is not None and not turn.kept:
            turn.kept = True
            self._tell(KeepUser(turn.number, turn.said, turn.typed))

    def cut(self, saying: Saying, now: int) -> None:
        """End it where it is. How much of it was heard is known at once, or when the client has told."""
        self.keep_user(saying.turn)
        self._cut_sound(saying)
        self._forget(saying, now)
        held = saying.held if saying.held is not None else now
        saying.settles = held + self._settings.settle if self._settings.marks and saying.made else now
        if saying.settled or now >= saying.settles:
            self._tell(KeepReply(saying.number, saying.played, "interrupted"))
        else:
            self._leaving.append(saying)

    def drop(self, saying: Saying, now: int) -> None:
        """Take it back: nothing of it counts as heard."""
        if saying.released:
            self._cut_sound(saying)
        if saying.turn is not None:
            saying.turn.revision += 1
        self._forget(saying, now)
        self._tell(Drop(saying.number))

    def finish(self, saying: Saying, now: int) -> None:
        """All of it was heard, or all there will be."""
        self._let_go(saying, now)
        self.keep_user(saying.turn)
        self._forget(saying, now)
        ending: Ending = "failed" if saying.broken else "spoken"
        self._tell(KeepReply(saying.number, saying.played, ending))

    def give_up(self, saying: Saying, now: int) -> None:
        """Nothing more comes of it."""
        self.keep_user(saying.turn)
        if not saying.played:
            self.drop(saying, now)
            return
        self._cut_sound(saying)
        self._forget(saying, now)
        self._tell(KeepReply(saying.number, saying.played, "failed"))

    def _cut_sound(self, saying: Saying) -> None:
        self.epoch.rise()
        self._tell(CutSound(saying.number))

    def _let_go(self, saying: Saying, now: int) -> None:
        if saying.held is not None:
            saying.held = None
            self._tell(ResumeSound(saying.number))

    def _forget(self, saying: Saying, now: int) -> None:
        if saying is self.main:
            self.main = None
        if saying is self.aside:
            self.aside = None
        self._last, self._last_at = saying, now

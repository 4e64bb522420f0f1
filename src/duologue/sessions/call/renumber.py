"""The numbers of a call that goes on in another session: its epoch, replies and turns are counted on.

Owns the shift between the numbers everybody sees and those of the machine that decides, which begins at 0, 1 and 1.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from duologue.turns.decisions import Decision
from duologue.turns.facts import Fact
from duologue.values.call_events import CallSetup


class TurnDecider(Protocol):
    """Who decides: `turns/machine.py`, or a script in its place."""

    @property
    def epoch(self) -> int: ...

    def take(self, fact: Fact) -> list[Decision]: ...


class Renumbered:
    """A machine as everybody else sees it."""

    def __init__(self, machine: TurnDecider, setup: CallSetup) -> None:
        self._machine = machine
        self._epoch = setup.epoch
        self._shifts = {"reply": setup.reply - 1, "turn": setup.turn - 1}

    @property
    def epoch(self) -> int:
        """How often a reply of this call was cut."""
        return self._machine.epoch + self._epoch

    def take(self, fact: Fact) -> list[Decision]:
        """What the machine decides on this."""
        if not any(self._shifts.values()):
            return self._machine.take(fact)
        return [self._moved(decision, 1) for decision in self._machine.take(self._moved(fact, -1))]

    def _moved(self, one: Any, sign: int) -> Any:
        moved = {
            name: number + sign * shift
            for name, shift in self._shifts.items()
            if isinstance(number := getattr(one, name, None), int)
        }
        return msgspec.structs.replace(one, **moved) if moved else one

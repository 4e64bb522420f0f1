"""Shifted numbers for a call that continues in a new session: epoch, replies and turns are counted on.

The turn machine always starts at 0, 1 and 1; the client sees the numbers of the whole call.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from duologue.turns.decisions import Decision
from duologue.turns.facts import Fact
from duologue.values.call_events import CallSetup


class TurnDecider(Protocol):
    """Decides on facts: `TurnMachine`, or a script in tests."""

    @property
    def epoch(self) -> int: ...

    def take(self, fact: Fact) -> list[Decision]: ...


class RenumberedMachine:
    """A machine with the numbers that the client sees."""

    def __init__(self, machine: TurnDecider, setup: CallSetup) -> None:
        self._machine = machine
        self._epoch = setup.epoch
        self._shifts = {"reply": setup.reply - 1, "turn": setup.turn - 1}

    @property
    def epoch(self) -> int:
        """How often a reply of this call was cut, in all its sessions."""
        return self._machine.epoch + self._epoch

    def take(self, fact: Fact) -> list[Decision]:
        """The machine's decisions on this fact."""
        if not any(self._shifts.values()):
            return self._machine.take(fact)
        return [self._shift(decision, 1) for decision in self._machine.take(self._shift(fact, -1))]

    def _shift(self, value: Any, sign: int) -> Any:
        changes = {
            name: number + sign * shift
            for name, shift in self._shifts.items()
            if isinstance(number := getattr(value, name, None), int)
        }
        return msgspec.structs.replace(value, **changes) if changes else value

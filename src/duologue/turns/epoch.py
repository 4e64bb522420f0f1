"""The counter that tells what is stale: whatever is produced belongs to an epoch, and an interruption begins the next.

Nothing is ever cancelled by a flag that somebody could clear: an older number stays older. Knows nothing else.
"""

from __future__ import annotations


class Epoch:
    """A counter that only rises."""

    def __init__(self) -> None:
        self._value = 0

    @property
    def value(self) -> int:
        return self._value

    def rise(self) -> int:
        """Begin the next epoch, and tell its number. All that belongs to an earlier one is stale from here."""
        self._value += 1
        return self._value

    def is_stale(self, epoch: int) -> bool:
        """Whether what belongs to `epoch` comes too late."""
        return epoch < self._value

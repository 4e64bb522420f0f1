"""Why a gateway may not write a run: another one has it.

Raised by `store/runs.py`, within the transaction that would have written.
"""

from __future__ import annotations

from duologue.errors import Busy, Problem


class RunTaken(Busy):
    """Another gateway has a run in this conversation."""

    code, status = "run_in_progress", 409

    def __init__(self) -> None:
        super().__init__("A reply is being written in this conversation. Stop it, or wait until it is done.")


class RunLost(Problem):
    """Another gateway took this one for dead and has ended the run."""

    code, status = "run_interrupted", 409

    def __init__(self) -> None:
        super().__init__(
            "This server was cut off from the database, and another one has ended this reply. Continue it."
        )

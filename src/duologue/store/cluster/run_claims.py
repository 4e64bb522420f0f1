"""Why a gateway may not write a run: another one has it, or its message.

Raised by `store/runs.py` and `store/pending.py`, within the transaction that would have written.
"""

from __future__ import annotations

from duologue.errors import BadRequest, Busy, Problem


class RunTaken(Busy):
    """Another gateway has a run in this conversation."""

    code, status = "run_in_progress", 409

    def __init__(self) -> None:
        super().__init__("A reply is being written in this conversation. Stop it, or wait until it is done.")


class MessageTaken(BadRequest):
    """The message to be sent has just been sent, changed or taken back. `run`: the one that has answered it, "" if none has."""

    def __init__(self, run: str = "") -> None:
        super().__init__(
            "A message with this id exists already. Choose another id.", code="id_taken", param="message"
        )
        self.run = run


class RunLost(Problem):
    """Another gateway took this one for dead and has ended the run."""

    code, status = "run_interrupted", 409

    def __init__(self) -> None:
        super().__init__(
            "This server was cut off from the database, and another one has ended this reply. Continue it."
        )

"""The open questions of one run that only its user can answer: a tool call to approve, a form to fill in, a link to open.

Used by `tool_calls.py`, which asks, and by the run or call, which passes answers on. A question is stored before it is
published, can be answered from any device, and closes without an answer when its time is up.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, Protocol

import anyio

from duologue.errors import BadRequest, Problem
from duologue.values.conversations import Approval, Decision
from duologue.values.runs import ApprovalAnswered, ApprovalRequested, RunEvent

log = logging.getLogger(__name__)

ApprovalReply = Decision | Literal["accept", "decline", "cancel"]
"""A decision about a `tool` question; whether a `form` or `link` was accepted."""


class ApprovalStore(Protocol):
    """Where the questions of a run are stored."""

    async def add(self, approval: Approval) -> None: ...

    async def close(self, id: str) -> None:
        """Record that the question ended without an answer."""
        ...


class _OpenApproval:
    def __init__(self, approval: Approval) -> None:
        self.approval = approval
        self.closed = anyio.Event()
        self.is_stored = False
        self.reply: ApprovalReply | None = None
        self.values: dict[str, object] = {}


class OpenApprovals:
    """`publish` reaches the viewers of the run; `now` gives milliseconds since 1970 (UTC)."""

    def __init__(
        self, store: ApprovalStore, *, publish: Callable[[RunEvent], None], now: Callable[[], int]
    ) -> None:
        self._store = store
        self._publish = publish
        self._now = now
        self._open: dict[str, _OpenApproval] = {}

    @property
    def open(self) -> tuple[Approval, ...]:
        return tuple(entry.approval for entry in self._open.values())

    async def ask(self, approval: Approval) -> tuple[ApprovalReply | None, dict[str, object]]:
        """Ask, and wait for the reply and its values. The reply is None when `approval.expires` passed or the question was
        withdrawn. Raises Unavailable when the question cannot be stored."""
        entry = self._open[approval.id] = _OpenApproval(approval)
        try:
            # A cancellation between the write and `is_stored` would leave an open question in the store.
            with anyio.CancelScope(shield=True):
                await self._store.add(approval)
                entry.is_stored = True
                if entry.closed.is_set():
                    # It was withdrawn during the write, before anyone could see it.
                    await self._close(approval.id)
                    return None, {}
            self._publish(ApprovalRequested(approval))
            with anyio.move_on_after(max(0, approval.expires - self._now()) / 1000):
                await entry.closed.wait()
        finally:
            await self.withdraw(approval.id)
        return entry.reply, entry.values

    def answer(self, id: str, reply: ApprovalReply, values: dict[str, object]) -> bool:
        """Answer a question. Whether it was still open."""
        entry = self._open.pop(id, None)
        if entry is None:
            return False
        entry.reply, entry.values = reply, values
        self._publish(ApprovalAnswered(id, _decision(reply)))
        entry.closed.set()
        return True

    async def withdraw(self, id: str) -> None:
        """Close a question without an answer. No effect on one that is not open."""
        entry = self._open.pop(id, None)
        if entry is None:
            return
        entry.closed.set()
        if entry.is_stored:
            self._publish(ApprovalAnswered(id, None))
            await self._close(id)

    async def withdraw_all(self) -> None:
        for id in tuple(self._open):
            await self.withdraw(id)

    async def _close(self, id: str) -> None:
        """Close it in the store. When that fails, recovery closes it at the next start: its run has ended by then."""
        with anyio.CancelScope(shield=True):
            try:
                await self._store.close(id)
            except Problem as problem:
                log.warning("a question could not be closed: %s", problem.message)


def check_reply(approval: Approval, reply: ApprovalReply) -> None:
    """Raises BadRequest when the reply is of the wrong kind for the question."""
    if (reply in ("accept", "decline", "cancel")) == (approval.kind == "tool"):
        raise BadRequest(
            "Answer a question about a tool with a decision, and a form or a link with an action.",
            param="decision" if approval.kind == "tool" else "action",
        )


def _decision(reply: ApprovalReply) -> Decision:
    match reply:
        case "accept":
            return "once"
        case "decline" | "cancel":
            return "deny"
    return reply

"""The questions of one run that only its user can answer: asked, kept, answered from anywhere, or out of time.

Owns the open ones. Knows no tool and no loop; a question is a value, and so is its answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, Protocol

import anyio

from duologue.errors import Problem
from duologue.values.conversations import Approval, Decision
from duologue.values.runs import ApprovalAnswered, ApprovalRequested, RunEvent

log = logging.getLogger(__name__)

ApprovalReply = Decision | Literal["accept", "decline", "cancel"]
"""To a `tool` question a decision; to a `form` or a `link` whether it was accepted."""


class Kept(Protocol):
    """Where questions are kept."""

    async def ask(self, approval: Approval) -> None: ...

    async def close(self, id: str) -> None:
        """Nobody answered it."""
        ...


class _Open:
    def __init__(self, approval: Approval) -> None:
        self.approval = approval
        self.over = anyio.Event()
        self.kept = False
        self.reply: ApprovalReply | None = None
        self.values: dict[str, object] = {}


class OpenApprovals:
    """`say` tells the viewers, `now` gives milliseconds since 1970 (UTC)."""

    def __init__(self, kept: Kept, *, say: Callable[[RunEvent], None], now: Callable[[], int]) -> None:
        self._kept = kept
        self._say = say
        self._now = now
        self._open: dict[str, _Open] = {}

    @property
    def open(self) -> tuple[Approval, ...]:
        return tuple(question.approval for question in self._open.values())

    async def ask(self, approval: Approval) -> tuple[ApprovalReply | None, dict[str, object]]:
        """The reply and the values that came with it; None when nobody replied before `approval.expires`, or it was
        withdrawn. Raises Unavailable when it cannot be kept."""
        question = self._open[approval.id] = _Open(approval)
        try:
            with anyio.CancelScope(shield=True):
                await self._kept.ask(approval)
                question.kept = True
                if question.over.is_set():
                    # It was withdrawn before anybody could see it.
                    await self._close(approval.id)
                    return None, {}
            self._say(ApprovalRequested(approval))
            with anyio.move_on_after(max(0, approval.expires - self._now()) / 1000):
                await question.over.wait()
        finally:
            await self.withdraw(approval.id)
        return question.reply, question.values

    def answered(self, id: str, reply: ApprovalReply, values: dict[str, object]) -> bool:
        """Someone answered; whether the question was still open."""
        question = self._open.pop(id, None)
        if question is None:
            return False
        question.reply, question.values = reply, values
        self._say(ApprovalAnswered(id, _decision(reply)))
        question.over.set()
        return True

    async def withdraw(self, id: str) -> None:
        """The question is open no more; nothing when it was not."""
        question = self._open.pop(id, None)
        if question is None:
            return
        question.over.set()
        if question.kept:
            self._say(ApprovalAnswered(id, None))
            await self._close(id)

    async def withdraw_all(self) -> None:
        for id in tuple(self._open):
            await self.withdraw(id)

    async def _close(self, id: str) -> None:
        """One that cannot be closed now is closed at the next start: it belongs to a run that has ended."""
        with anyio.CancelScope(shield=True):
            try:
                await self._kept.close(id)
            except Problem as problem:
                log.warning("a question could not be closed: %s", problem.message)


def _decision(reply: ApprovalReply) -> Decision:
    match reply:
        case "accept":
            return "once"
        case "decline" | "cancel":
            return "deny"
    return reply

"""The tool calls of one model turn: their rows, their questions, their results.

Owns how one call is made: asked for, run within its time, told to the viewers, ended exactly once. When and which is
`agent`'s. Knows no model and no store.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio
import msgspec

from duologue.config.settings import RunSettings as RunSettings
from duologue.conversations.agent.approvals import ApprovalReply, OpenApprovals
from duologue.conversations.agent.dependencies import RunDependencies, ToolDependencies
from duologue.conversations.agent.loop import Answered, Judged
from duologue.errors import Problem
from duologue.tools.values import ElicitationAnswer, OfferedTool, ToolOutcome, failure
from duologue.values.conversations import (
    CLIENT,
    Approval,
    Content,
    Status,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
    ToolCallState,
)
from duologue.values.runs import RunEvent, ToolOutput, ToolResult, ToolStarted

log = logging.getLogger(__name__)

Client = Callable[[StoredToolCall], Awaitable[ToolOutcome]]
QUIET = 0.1
"""Seconds between two reports of a running tool that are passed on; a tool may report thousands of times."""

_STATUS: dict[ToolCallState, Status] = {"failed": "failed", "skipped": "stopped"}


class ToolCallRun:
    """One call: its row as it stands, the tool if there is one, and what to cancel to end it. `again`: its row is of an
    earlier run, and may have been asked about there."""

    def __init__(
        self, row: StoredMessage, judged: Judged, tool: OfferedTool | None, *, again: bool = False
    ) -> None:
        self.again = again
        self.row = row
        self.judged = judged
        self.tool = tool
        self.scope = anyio.CancelScope()
        self.questions: set[str] = set()
        self.began = math.nan
        self.over = False


class ToolCallBatch:
    """`say` tells the viewers, `put` has a row saved, `client` makes the calls of tools that a client answers itself. Made
    anew for each turn with calls."""

    def __init__(
        self,
        calls: Sequence[ToolCallRun],
        *,
        user: str,
        run: str,
        provisions: RunDependencies | ToolDependencies,
        settings: RunSettings,
        questions: OpenApprovals,
        say: Callable[[RunEvent], None],
        put: Callable[[StoredMessage], None],
        keep: Callable[[bytes, str, str], Awaitable[Content]],
        client: Client | None = None,
    ) -> None:
        self._calls = calls
        self._user = user
        self._run = run
        self._provisions = provisions
        self._settings = settings
        self._questions = questions
        self._say = say
        self._put = put
        self._keep = keep
        self._client = client
        self.tools_ms = 0

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def questions(self) -> OpenApprovals:
        return self._questions

    async def ask(self, number: int) -> Answered | None:
        """Ask the user whether the call may run; None when the question was withdrawn."""
        call = self._calls[number]
        if call.over:
            return None
        now = self._provisions.now()
        expires = now + int(self._settings.approval_s * 1000)
        record = call.row.call
        assert record is not None
        approval = Approval(
            # The page finds a question at the row of the same id.
            id=self._provisions.new_id() if call.again else call.row.id,
            run=self._run,
            conversation=call.row.conversation,
            server=record.server,
            tool=record.tool,
            arguments=record.arguments,
            created=now,
            expires=expires,
        )
        reply: ApprovalReply | None = None
        with call.scope:
            call.questions.add(approval.id)
            self._change(call, "asked", expires=expires)
            reply, _ = await self._questions.ask(approval)
            call.questions.discard(approval.id)
        if call.scope.cancel_called:
            return None
        if reply is None:
            return "expired"
        return "allowed" if reply in ("once", "tool", "server") else "denied"

    async def run(self, number: int) -> bool:
        """Make the call and keep its result; False when it was cancelled, and has ended otherwise."""
        call = self._calls[number]
        if call.over:
            return False
        call.scope = anyio.CancelScope()
        call.began = self._provisions.clock()
        self._change(call, "running")
        self._say(ToolStarted(call.row.id))
        outcome = ToolOutcome(())
        with call.scope:
            outcome = await self._outcome(call)
        if call.scope.cancel_called:
            return False
        self._close(call, "failed" if outcome.failed else "done", outcome.content)
        return True

    async def end(self, number: int, state: ToolCallState, text: str) -> None:
        """End a call that has no result of its own; what runs or is asked of it is cancelled."""
        if number >= len(self._calls):
            return
        call = self._calls[number]
        call.scope.cancel()
        for question in tuple(call.questions):
            await self._questions.withdraw(question)
        self._close(call, state, (TextContent(text),))

    def cut(self, number: int, state: ToolCallState, text: str) -> None:
        """End a call whose task ends too, as `end` does."""
        call = self._calls[number]
        call.scope.cancel()
        self._close(call, state, (TextContent(text),))

    async def _outcome(self, call: ToolCallRun) -> ToolOutcome:
        assert call.tool is not None
        record = call.row.call
        if call.tool.server == CLIENT and self._client is not None and record is not None:
            return await self._client(StoredToolCall(call.row.tool_call_id, record.name, record.arguments))
        assert self._provisions.toolbox is not None
        limit = anyio.CancelScope(deadline=anyio.current_time() + self._settings.tool_s)
        outcome: ToolOutcome | None = None
        try:
            with limit:
                outcome = await self._provisions.toolbox.call(
                    call.tool,
                    call.judged.arguments,
                    user=self._user,
                    conversation=call.row.conversation,
                    report=self._reporter(call),
                    ask=self._asker(call, limit),
                    keep=self._keep,
                )
        except Problem as problem:
            return failure(problem.message)
        except Exception:
            log.exception("the tool %s of %s broke", call.tool.tool, call.tool.server)
            return failure("The tool failed inside the server. Try it differently, or go on without it.")
        if outcome is None:
            seconds = self._settings.tool_s
            return failure(f"The tool did not answer within {seconds:g} seconds, so the call was cancelled.")
        return outcome

    def _reporter(self, call: ToolCallRun) -> Callable[[str, float, float], Awaitable[None]]:
        told = -math.inf

        async def report(text: str, progress: float, total: float) -> None:
            nonlocal told
            now = self._provisions.clock()
            if now - told >= QUIET and not call.scope.cancel_called:
                told = now
                self._say(ToolOutput(call.row.id, text, progress, total))

        return report

    def _asker(
        self, call: ToolCallRun, limit: anyio.CancelScope
    ) -> Callable[[Approval], Awaitable[ElicitationAnswer]]:
        """What a server asks while its tool runs; the tool's time stands still meanwhile."""

        async def ask(approval: Approval) -> ElicitationAnswer:
            now = self._provisions.now()
            left = limit.deadline - anyio.current_time()
            limit.deadline = math.inf
            complete = msgspec.structs.replace(
                approval,
                run=self._run,
                conversation=call.row.conversation,
                created=now,
                expires=now + int(self._settings.approval_s * 1000),
            )
            call.questions.add(approval.id)
            try:
                reply, values = await self._questions.ask(complete)
            finally:
                call.questions.discard(approval.id)
                if not call.questions:
                    limit.deadline = anyio.current_time() + max(left, 0)
            if reply in ("accept", "once"):
                return ElicitationAnswer("accept", values)
            return ElicitationAnswer("decline" if reply in ("decline", "deny") else "cancel")

        return ask

    def _change(self, call: ToolCallRun, state: ToolCallState, *, expires: int = 0) -> None:
        record = call.row.call
        assert record is not None
        call.row = msgspec.structs.replace(
            call.row, call=msgspec.structs.replace(record, state=state, expires=expires)
        )
        self._put(call.row)

    def _close(self, call: ToolCallRun, state: ToolCallState, content: tuple[Content, ...]) -> None:
        call.over = True
        record = call.row.call
        assert record is not None
        took = 0 if math.isnan(call.began) else int((self._provisions.clock() - call.began) * 1000)
        self.tools_ms += took
        call.row = msgspec.structs.replace(
            call.row,
            status=_STATUS.get(state, "done"),
            content=content,
            call=msgspec.structs.replace(record, state=state, expires=0, ms=took),
        )
        self._put(call.row)
        self._say(ToolResult(call.row))


def call_row(
    id: str, conversation: str, parent: str, run: str, call: StoredToolCall, tool: OfferedTool | None
) -> StoredMessage:
    """The row of a call that waits for its turn."""
    record = ToolCallRecord(
        call.name, call.arguments, tool.server if tool else "", tool.tool if tool else "", "waiting"
    )
    return StoredMessage(
        id, conversation, parent, "tool", status="running", tool_call_id=call.id, call=record, run=run
    )


def free_tools(tools: Mapping[str, OfferedTool], allowed: set[tuple[str, str]]) -> dict[str, bool]:
    """The names of tools, and whether each may run without asking: it only reads, or the user has allowed it."""
    return {
        name: tool.read_only or bool({(tool.server, tool.tool), (tool.server, "*")} & allowed)
        for name, tool in tools.items()
    }

"""The tool calls of one model turn: their rows, their approvals, their results.

Used by the driver's hosts. Owns how one tool call runs: asked about, run within its time limit, published, ended exactly
once. `loop.py` decides when and which.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio
import msgspec

from duologue.config.settings import RunSettings
from duologue.conversations.agent.approvals import ApprovalReply, OpenApprovals
from duologue.conversations.agent.dependencies import RunDependencies, ToolDependencies
from duologue.conversations.agent.loop import ApprovalOutcome, ToolCallVerdict
from duologue.errors import Problem
from duologue.tools.values import ElicitationAnswer, Keep, OfferedTool, ToolOutcome, failure
from duologue.tracing import attributes, spans
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

ClientTools = Callable[[StoredToolCall], Awaitable[ToolOutcome]]
"""Runs a tool that the client itself offers."""
REPORT_INTERVAL = 0.1
"""Seconds between two reports of a running tool that are published; a tool may report thousands of times."""

_STATUS: dict[ToolCallState, Status] = {"failed": "failed", "skipped": "stopped"}


class ToolCallRun:
    """One tool call: its row as it is now, and its tool if there is one. `resumed`: the row is from an earlier run, which may
    have asked about it."""

    def __init__(
        self,
        row: StoredMessage,
        verdict: ToolCallVerdict,
        tool: OfferedTool | None,
        *,
        resumed: bool = False,
    ) -> None:
        self.resumed = resumed
        self.row = row
        self.verdict = verdict
        self.tool = tool
        self.scope = anyio.CancelScope()
        """Cancelled to end the question or the run of this tool call."""
        self.approvals: set[str] = set()
        self.started = math.nan
        self.is_over = False


class ToolCallBatch:
    """The tool calls of one turn. `publish` reaches the viewers, `put` receives each changed row, `keep` stores a tool's file,
    `client` runs a client's own tools."""

    def __init__(
        self,
        tool_calls: Sequence[ToolCallRun],
        *,
        user: str,
        run: str,
        dependencies: RunDependencies | ToolDependencies,
        settings: RunSettings,
        approvals: OpenApprovals,
        publish: Callable[[RunEvent], None],
        put: Callable[[StoredMessage], None],
        keep: Keep,
        client: ClientTools | None = None,
    ) -> None:
        self._tool_calls = tool_calls
        self._user = user
        self._run = run
        self._dependencies = dependencies
        self._settings = settings
        self._approvals = approvals
        self._publish = publish
        self._put = put
        self._keep = keep
        self._client = client
        self.tools_ms = 0
        """Milliseconds that tools took."""

    def tool(self, number: int) -> OfferedTool | None:
        """The tool of a tool call; None where the model named one that does not exist."""
        return self._tool_calls[number].tool

    async def ask(self, number: int) -> ApprovalOutcome | None:
        """Ask the user whether the tool call may run; None when the question was withdrawn."""
        tool_call = self._tool_calls[number]
        if tool_call.is_over:
            return None
        now = self._dependencies.now()
        expires = now + int(self._settings.approval_s * 1000)
        record = tool_call.row.call
        assert record is not None
        approval = Approval(
            # The page finds a question by the row of the same id. A resumed row has used its id for an earlier question.
            id=self._dependencies.new_id() if tool_call.resumed else tool_call.row.id,
            run=self._run,
            conversation=tool_call.row.conversation,
            server=record.server,
            tool=record.tool,
            arguments=record.arguments,
            created=now,
            expires=expires,
        )
        reply: ApprovalReply | None = None
        with tool_call.scope:
            tool_call.approvals.add(approval.id)
            self._change(tool_call, "asked", expires=expires)
            reply, _ = await self._approvals.ask(approval)
            tool_call.approvals.discard(approval.id)
        if tool_call.scope.cancel_called:
            return None
        if reply is None:
            return "expired"
        return "allowed" if reply in ("once", "tool", "server") else "denied"

    async def run(self, number: int) -> bool:
        """Run the tool call to its result. False when it was cancelled, and so ended otherwise."""
        tool_call = self._tool_calls[number]
        if tool_call.is_over:
            return False
        tool_call.scope = anyio.CancelScope()
        tool_call.started = self._dependencies.clock()
        self._change(tool_call, "running")
        self._publish(ToolStarted(tool_call.row.id))
        outcome = ToolOutcome(())
        with tool_call.scope, _span(tool_call) as span:
            outcome = await self._outcome(tool_call)
            if outcome.failed:
                span.fail("tool_failed")
        if tool_call.scope.cancel_called:
            return False
        self._close(tool_call, "failed" if outcome.failed else "done", outcome.content)
        return True

    async def end(self, number: int, state: ToolCallState, text: str) -> None:
        """End a tool call that has no result. Its run is cancelled, its questions are withdrawn."""
        if number >= len(self._tool_calls):
            return
        tool_call = self._tool_calls[number]
        tool_call.scope.cancel()
        for approval in tuple(tool_call.approvals):
            await self._approvals.withdraw(approval)
        self._close(tool_call, state, (TextContent(text),))

    def cut(self, number: int, state: ToolCallState, text: str) -> None:
        """As `end`, without awaiting anything: the caller cancels the task that runs the tool call."""
        tool_call = self._tool_calls[number]
        tool_call.scope.cancel()
        self._close(tool_call, state, (TextContent(text),))

    async def _outcome(self, tool_call: ToolCallRun) -> ToolOutcome:
        assert tool_call.tool is not None
        record = tool_call.row.call
        if tool_call.tool.server == CLIENT and self._client is not None and record is not None:
            return await self._client(
                StoredToolCall(tool_call.row.tool_call_id, record.name, record.arguments)
            )
        assert self._dependencies.toolbox is not None
        limit = anyio.CancelScope(deadline=anyio.current_time() + self._settings.tool_s)
        outcome: ToolOutcome | None = None
        try:
            with limit:
                outcome = await self._dependencies.toolbox.call_tool(
                    tool_call.tool,
                    tool_call.verdict.arguments,
                    user=self._user,
                    conversation=tool_call.row.conversation,
                    report=self._reporter(tool_call),
                    ask=self._asker(tool_call, limit),
                    keep=self._keep,
                )
        except Problem as problem:
            return failure(problem.message)
        except Exception:
            log.exception("the tool %s of %s broke", tool_call.tool.tool, tool_call.tool.server)
            return failure("The tool failed inside the server. Try it differently, or go on without it.")
        if outcome is None:
            seconds = self._settings.tool_s
            return failure(f"The tool did not answer within {seconds:g} seconds, so the call was cancelled.")
        return outcome

    def _reporter(self, tool_call: ToolCallRun) -> Callable[[str, float, float], Awaitable[None]]:
        published = -math.inf

        async def report(text: str, progress: float, total: float) -> None:
            nonlocal published
            now = self._dependencies.clock()
            if now - published >= REPORT_INTERVAL and not tool_call.scope.cancel_called:
                published = now
                self._publish(ToolOutput(tool_call.row.id, text, progress, total))

        return report

    def _asker(
        self, tool_call: ToolCallRun, limit: anyio.CancelScope
    ) -> Callable[[Approval], Awaitable[ElicitationAnswer]]:
        """Asks what a server wants to know while its tool runs. The tool's time limit is paused while any question is
        open."""
        left = math.inf

        async def ask(approval: Approval) -> ElicitationAnswer:
            nonlocal left
            now = self._dependencies.now()
            if not tool_call.approvals:
                left = limit.deadline - anyio.current_time()
                limit.deadline = math.inf
            complete = msgspec.structs.replace(
                approval,
                run=self._run,
                conversation=tool_call.row.conversation,
                created=now,
                expires=now + int(self._settings.approval_s * 1000),
            )
            tool_call.approvals.add(approval.id)
            try:
                reply, values = await self._approvals.ask(complete)
            finally:
                tool_call.approvals.discard(approval.id)
                if not tool_call.approvals:
                    limit.deadline = anyio.current_time() + max(left, 0)
            if reply in ("accept", "once"):
                return ElicitationAnswer("accept", values)
            return ElicitationAnswer("decline" if reply in ("decline", "deny") else "cancel")

        return ask

    def _change(self, tool_call: ToolCallRun, state: ToolCallState, *, expires: int = 0) -> None:
        record = tool_call.row.call
        assert record is not None
        tool_call.row = msgspec.structs.replace(
            tool_call.row, call=msgspec.structs.replace(record, state=state, expires=expires)
        )
        self._put(tool_call.row)

    def _close(self, tool_call: ToolCallRun, state: ToolCallState, content: tuple[Content, ...]) -> None:
        tool_call.is_over = True
        record = tool_call.row.call
        assert record is not None
        took = (
            0
            if math.isnan(tool_call.started)
            else int((self._dependencies.clock() - tool_call.started) * 1000)
        )
        self.tools_ms += took
        tool_call.row = msgspec.structs.replace(
            tool_call.row,
            status=_STATUS.get(state, "done"),
            content=content,
            call=msgspec.structs.replace(record, state=state, expires=0, ms=took),
        )
        self._put(tool_call.row)
        self._publish(ToolResult(tool_call.row))


def _span(tool_call: ToolCallRun) -> spans.EnteredSpan:
    """A span around the tool call: its names, never its arguments or its result."""
    if not spans.is_on() or tool_call.tool is None:
        return spans.NOT_ENTERED
    name, server = tool_call.tool.tool, tool_call.tool.server
    asked = attributes.operation("execute_tool") | {
        attributes.TOOL_NAME: name,
        attributes.TOOL_TYPE: "function",
        attributes.TOOL_CALL: tool_call.row.tool_call_id,
        attributes.TOOL_SERVER: server,
    }
    return spans.span(f"execute_tool {name}", attributes=asked)


def tool_call_row(
    id: str, conversation: str, parent: str, run: str, tool_call: StoredToolCall, tool: OfferedTool | None
) -> StoredMessage:
    """The row of a tool call that has not started."""
    record = ToolCallRecord(
        tool_call.name,
        tool_call.arguments,
        tool.server if tool else "",
        tool.tool if tool else "",
        "waiting",
    )
    return StoredMessage(
        id, conversation, parent, "tool", status="running", tool_call_id=tool_call.id, call=record, run=run
    )


def free_tools(tools: Mapping[str, OfferedTool], permissions: set[tuple[str, str]]) -> dict[str, bool]:
    """The names of tools, and whether each may run without asking: it is read-only, or the user has allowed it.
    `permissions`: (server, tool), where tool "*" is every tool of the server."""
    return {
        name: tool.read_only or bool({(tool.server, tool.tool), (tool.server, "*")} & permissions)
        for name, tool in tools.items()
    }

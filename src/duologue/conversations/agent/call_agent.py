"""The tool calls of one spoken reply: run turn by turn, during a call.

Used by `gateway/calls`, which runs the model itself. Rows go into a list instead of a store, so that only what the caller has
heard is stored in the end. A tool call that may have effects waits until the caller's turn is certainly over.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio
import msgspec
from msgspec import Struct

from duologue.config.settings import RunSettings
from duologue.conversations.agent.approvals import ApprovalReply, OpenApprovals, check_reply
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.conversations.agent.driver import AgentDriver, ModelTurnEnded, TurnResult
from duologue.conversations.agent.loop import Agent, ApprovalOutcome, ToolCallVerdict
from duologue.conversations.agent.tool_calls import (
    ClientTools,
    ToolCallBatch,
    ToolCallRun,
    free_tools,
    tool_call_row,
)
from duologue.errors import Problem
from duologue.tools.values import OfferedTool
from duologue.values.conversations import (
    CLIENT,
    Approval,
    Content,
    RowError,
    StoredMessage,
    StoredToolCall,
    TextContent,
)
from duologue.values.messages import Message, TextPart, Tool, ToolCall
from duologue.values.runs import MessageAdded, Outcome, RunEvent, ToolOutput

log = logging.getLogger(__name__)

APPROVAL_SECONDS = 60.0
"""How long a caller may take to answer a question; after that the tool call is not made."""
TOOL_SECONDS = 110.0
"""How long a tool may take while a caller waits. Together with a question before it, less than the longest wait of a call."""


class _NoApprovalStore:
    """The questions of a call end with it, so they are not stored."""

    async def add(self, approval: Approval) -> None:
        pass

    async def close(self, id: str) -> None:
        pass


async def _file_name(data: bytes, name: str, mime: str) -> Content:
    return TextContent(f"[{name or 'a file'}, {mime}]")


async def _no_permissions() -> set[tuple[str, str]]:
    return set()


async def _forget_permission(server: str, tool: str) -> None:
    pass


async def _text_messages(rows: Sequence[StoredMessage]) -> tuple[Message, ...]:
    return text_messages(rows)


class CallContext(Struct, frozen=True, kw_only=True):
    """What the replies of one call share. `permissions` are the user's stored permissions, `allow` stores one more; `keep`
    stores a tool's file; `messages` turns rows into messages for the model."""

    dependencies: ToolDependencies
    tools: Mapping[str, OfferedTool] = {}
    settings: RunSettings = RunSettings()
    user: str = "local"
    conversation: str = ""
    permissions: Callable[[], Awaitable[set[tuple[str, str]]]] = _no_permissions
    allow: Callable[[str, str], Awaitable[None]] = _forget_permission
    keep: Callable[[bytes, str, str], Awaitable[Content]] = _file_name
    messages: Callable[[Sequence[StoredMessage]], Awaitable[tuple[Message, ...]]] = _text_messages


class CallToolLoop:
    """The tool calls of one reply. `publish` receives each tool call's row as it changes (`MessageAdded`), and questions.
    `client` runs the tools that the client itself offers. `earlier`: the rows of an earlier attempt at the same turn."""

    def __init__(
        self,
        context: CallContext,
        *,
        publish: Callable[[RunEvent], None],
        client: ClientTools | None = None,
        earlier: Sequence[StoredMessage] = (),
    ) -> None:
        self._context = context
        self._publish = publish
        self._client = client
        settings = context.settings
        self._settings = settings.model_copy(
            update={
                "approval_s": min(settings.approval_s, APPROVAL_SECONDS),
                "tool_s": min(settings.tool_s, TOOL_SECONDS),
            }
        )
        agent = Agent(max_turns=settings.max_turns, parallel=settings.parallel_calls)
        agent.begin()
        # Questions are spoken, so there can be only one at a time.
        self._driver = AgentDriver(agent, self, name="the tools of a call", one_question=True)
        self._approvals = OpenApprovals(_NoApprovalStore(), publish=publish, now=context.dependencies.now)
        self._turn_is_over = anyio.Event()
        self._tool_calls: tuple[StoredToolCall, ...] = ()
        self._text_lengths: dict[str, tuple[int, int]] = {}
        """By row, the characters of its text, and those with what was sent behind it."""
        self._wants_turn = False
        self.rows: dict[str, StoredMessage] = {row.id: row for row in earlier}
        """The rows of this reply, in the order of the conversation."""
        self.messages: tuple[Message, ...] = text_messages(earlier)
        """The same rows as messages for the model."""
        self.has_acted = bool(earlier)
        """Whether a tool ran that may have had an effect."""

    # ---- what the call reports

    def confirm_turn(self) -> None:
        """The caller's turn is over: tools may have effects now."""
        self._turn_is_over.set()

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The open questions."""
        return self._approvals.open

    async def answer(self, id: str, reply: ApprovalReply, values: dict[str, object] | None = None) -> bool:
        """Answer a question by its id; whether it was open. Raises BadRequest for a reply of the wrong kind."""
        approval = next((approval for approval in self._approvals.open if approval.id == id), None)
        if approval is None:
            return False
        check_reply(approval, reply)
        if reply in ("tool", "server"):
            await self._context.allow(approval.server, approval.tool if reply == "tool" else "*")
        return self._approvals.answer(id, reply, values or {})

    def answer_all(self, agreed: bool) -> None:
        """The caller said yes or no. A yes does not fill in a form or open a link, so those stay open."""
        for approval in self._approvals.open:
            if approval.kind == "tool":
                self._approvals.answer(approval.id, "once" if agreed else "deny", {})
            elif not agreed:
                self._approvals.answer(approval.id, "decline", {})

    # ---- the tool calls of a turn

    async def run(self, text: str, tool_calls: Sequence[ToolCall], *, behind: str = "") -> bool:
        """Run the tool calls of a model turn that wrote `text`; `behind` was sent between it and the next turn's. Whether the model is
        to take another turn."""
        new_id = self._context.dependencies.new_id
        self._tool_calls = tuple(
            StoredToolCall(tool_call.id or new_id(), tool_call.name, tool_call.arguments)
            for tool_call in tool_calls
        )
        row = StoredMessage(
            new_id(),
            self._context.conversation,
            None,
            "assistant",
            (TextContent(text),) if text else (),
            tool_calls=self._tool_calls,
            finish="tool_calls",
        )
        self.rows[row.id] = row
        self._text_lengths[row.id] = (len(text), len(text) + len(behind))
        self._wants_turn = False
        async with anyio.create_task_group() as tasks:
            await self._driver.drive(tasks, ModelTurnEnded(row.id))
            tasks.cancel_scope.cancel()
        rows = tuple(self.rows.values())
        try:
            self.messages = await self._context.messages(rows)
        except Problem as problem:
            log.warning(
                "files of tool results cannot be read, the model gets their text: %s", problem.message
            )
            self.messages = text_messages(rows)
        return self._wants_turn

    def close(self) -> None:
        """End the open tool calls now, with well-formed rows. The caller cancels the task in `run` at the same time."""
        self._driver.stop_now()

    def trim(self, heard: str) -> str:
        """Cut the rows to what the caller has heard since the last `trim`. Returns the part spoken after the tool calls."""
        for id, (length, sent) in self._text_lengths.items():
            row, part = self.rows[id], heard[:length]
            heard = heard[sent:]
            is_cut = len(part) < length
            self.rows[id] = msgspec.structs.replace(
                row, content=(TextContent(part),) if part else (), status="stopped" if is_cut else row.status
            )
        self._text_lengths.clear()
        return heard

    # ---- AgentHost

    async def allowed_tools(self) -> Mapping[str, bool]:
        tools = self._context.tools
        # A client decides by itself whether to ask before it runs its own tools.
        own = {name: True for name, tool in tools.items() if tool.server == CLIENT}
        return free_tools(tools, await self._permissions()) | own

    async def start_turn(self) -> None:
        # The call runs the model itself, when `run` has returned.
        self._wants_turn = True
        self._driver.close()

    async def turn_result(self, message: str) -> TurnResult | None:
        return TurnResult(self._tool_calls)

    def cancel_turn(self) -> None:
        """The call cancels its own model turn."""

    async def add_tool_calls(
        self, tool_calls: Sequence[StoredToolCall], verdicts: Sequence[ToolCallVerdict]
    ) -> ToolCallBatch:
        context, tools = self._context, self._context.tools
        runs = [
            ToolCallRun(
                tool_call_row(
                    context.dependencies.new_id(),
                    context.conversation,
                    "",
                    "",
                    tool_call,
                    tools.get(tool_call.name),
                ),
                verdict,
                tools.get(tool_call.name),
            )
            for tool_call, verdict in zip(tool_calls, verdicts, strict=True)
        ]
        for run in runs:
            self._put(run.row)
        return ToolCallBatch(
            runs,
            user=context.user,
            run="",
            dependencies=context.dependencies,
            settings=self._settings,
            approvals=self._approvals,
            publish=self._publish_output,
            put=self._put,
            keep=context.keep,
            client=self._client,
        )

    async def ask(self, batch: ToolCallBatch, number: int) -> ApprovalOutcome | None:
        await self._turn_is_over.wait()
        tool = batch.tool(number)
        if tool is not None and free_tools({"": tool}, await self._permissions())[""]:
            return "allowed"  # by the answer to the question before
        return await batch.ask(number)

    async def run_tool_call(self, batch: ToolCallBatch, number: int) -> bool:
        tool = batch.tool(number)
        if tool is None or not tool.read_only:
            await self._turn_is_over.wait()
            self.has_acted = True
        return await batch.run(number)

    async def take_steering(self) -> None:
        """A caller steers by speaking, which is a turn of its own."""

    async def finish(self, outcome: Outcome, error: RowError | None) -> None:
        self._driver.close_batch()
        self._driver.close()

    async def _permissions(self) -> set[tuple[str, str]]:
        """The stored permissions. When they cannot be read, everything is asked about."""
        try:
            return await self._context.permissions()
        except Problem as problem:
            log.warning("permissions cannot be read: %s", problem.message)
            return set()

    def _put(self, row: StoredMessage) -> None:
        self.rows[row.id] = row
        self._publish(MessageAdded(row))

    def _publish_output(self, event: RunEvent) -> None:
        """Publish the output of a running tool as its row; its other events are in the row already."""
        if isinstance(event, ToolOutput) and event.text and (row := self.rows.get(event.message)) is not None:
            self._publish(MessageAdded(msgspec.structs.replace(row, content=(TextContent(event.text),))))


def client_tools(tools: Sequence[Tool]) -> dict[str, OfferedTool]:
    """A client's own tools, by name."""
    return {
        tool.name: OfferedTool(
            tool.name, CLIENT, tool.name, description=tool.description, parameters=tool.parameters
        )
        for tool in tools
    }


def text_messages(rows: Sequence[StoredMessage]) -> tuple[Message, ...]:
    """Rows as messages for the model, with their text alone: files are left out."""
    messages = []
    for row in rows:
        tool_calls = tuple(
            ToolCall(tool_call.id, tool_call.name, tool_call.arguments) for tool_call in row.tool_calls
        )
        parts = (TextPart(row.text),) if row.text or row.role == "tool" else ()
        messages.append(
            Message(row.role, parts, tool_calls=tool_calls, tool_call_id=row.tool_call_id or None)
        )
    return tuple(messages)

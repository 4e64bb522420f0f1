"""The tool calls of one reply that is spoken: carried out turn by turn, in a call.

Owns the loop around `agent` where there is no log and no viewer, and what of the reply's text was heard before its calls.
What may have effects waits until the caller's turn is over for sure. Knows no sound, no socket and no store.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio
import anyio.abc
import msgspec
from msgspec import Struct

from duologue.config.settings import RunSettings as RunSettings
from duologue.conversations.agent import loop as loop
from duologue.conversations.agent.approvals import ApprovalReply, OpenApprovals
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.conversations.agent.loop import Action, Agent, judge
from duologue.conversations.agent.tool_calls import Client, ToolCallBatch, ToolCallRun, call_row, free_tools
from duologue.errors import BadRequest, Problem
from duologue.tools.values import OfferedTool
from duologue.values.conversations import (
    CLIENT,
    Approval,
    Content,
    StoredMessage,
    StoredToolCall,
    TextContent,
)
from duologue.values.messages import Message, TextPart, Tool, ToolCall
from duologue.values.runs import MessageAdded, RunEvent, ToolOutput

log = logging.getLogger(__name__)

ANSWER_SECONDS = 60.0
"""How long a caller may think about a question; then it is a no."""
TOOL_SECONDS = 110.0
"""How long a tool may take while somebody holds the line: with a question before it, less than a call waits at most."""


class _Unkept:
    """Questions of a call live as long as it does."""

    async def ask(self, approval: Approval) -> None:
        """There is nowhere to keep it."""

    async def close(self, id: str) -> None:
        """Nothing was kept."""


async def _kept_nowhere(data: bytes, name: str, mime: str) -> Content:
    return TextContent(f"[{name or 'a file'}, {mime}]")


async def _nothing() -> set[tuple[str, str]]:
    return set()


async def _nobody(server: str, tool: str) -> None:
    """There is nobody whose permissions could be kept."""


async def _plain(rows: Sequence[StoredMessage]) -> tuple[Message, ...]:
    return told(rows)


class CallContext(Struct, frozen=True, kw_only=True):
    """What the errands of one call share. `permissions` are what the user has allowed for good, `allow` adds to them;
    `messages` makes of rows what a model is told."""

    means: ToolDependencies
    tools: Mapping[str, OfferedTool] = {}
    settings: RunSettings = RunSettings()
    user: str = "local"
    conversation: str = ""
    permissions: Callable[[], Awaitable[set[tuple[str, str]]]] = _nothing
    allow: Callable[[str, str], Awaitable[None]] = _nobody
    keep: Callable[[bytes, str, str], Awaitable[Content]] = _kept_nowhere
    messages: Callable[[Sequence[StoredMessage]], Awaitable[tuple[Message, ...]]] = _plain


class CallToolLoop:
    """The calls of one reply. `say` is told of every call as it stands (`MessageAdded`) and of questions; `client` makes
    the calls of tools that the client answers itself. `before`: what an earlier try at the same turn has done."""

    def __init__(
        self,
        around: CallContext,
        *,
        say: Callable[[RunEvent], None],
        client: Client | None = None,
        before: Sequence[StoredMessage] = (),
    ) -> None:
        self._around = around
        self._say = say
        self._client = client
        settings = around.settings
        self._settings = settings.model_copy(
            update={
                "approval_s": min(settings.approval_s, ANSWER_SECONDS),
                "tool_s": min(settings.tool_s, TOOL_SECONDS),
            }
        )
        self._agent = Agent(max_turns=settings.max_turns, parallel=settings.parallel_calls)
        self._agent.begin()
        self._questions = OpenApprovals(_Unkept(), say=say, now=around.means.now)
        self._unasked: deque[int] = deque()
        self._sure = anyio.Event()
        self._calls: ToolCallBatch | None = None
        self._stored: tuple[StoredToolCall, ...] = ()
        self._judged: list[loop.Judged] = []
        self._texts: dict[str, int] = {}
        self._tasks: anyio.abc.TaskGroup | None = None
        self._over = anyio.Event()
        self._again = False
        self.rows: dict[str, StoredMessage] = {row.id: row for row in before}
        """What came of it, in the order in which it belongs into the conversation."""
        self.messages: tuple[Message, ...] = told(before)
        """The same as the model is told it."""
        self.acted = bool(before)
        """Whether anything was done that may have had an effect."""

    # ---- what others tell it

    def sure(self) -> None:
        """The turn that it answers is over: effects are wanted."""
        self._sure.set()

    @property
    def questions(self) -> tuple[Approval, ...]:
        """What it waits for an answer to."""
        return self._questions.open

    async def answer(self, id: str, reply: ApprovalReply, values: dict[str, object] | None = None) -> bool:
        """Whether the question was open. Raises BadRequest for a reply of the other kind."""
        approval = next((one for one in self._questions.open if one.id == id), None)
        if approval is None:
            return False
        if (reply in ("accept", "decline", "cancel")) == (approval.kind == "tool"):
            raise BadRequest(
                "A tool is answered with a decision, a form or a link with an action.",
                param="decision" if approval.kind == "tool" else "action",
            )
        if reply in ("tool", "server"):
            await self._around.allow(approval.server, approval.tool if reply == "tool" else "*")
        return self._questions.answered(id, reply, values or {})

    def assent(self, agreed: bool) -> None:
        """The caller has said yes or no to whatever is asked."""
        for approval in self._questions.open:
            if approval.kind == "tool":
                self._questions.answered(approval.id, "once" if agreed else "deny", {})
            elif not agreed:
                self._questions.answered(approval.id, "decline", {})

    # ---- the calls of a turn

    async def carry_out(self, text: str, calls: Sequence[ToolCall]) -> bool:
        """Make the calls of a model turn that said `text`. Whether the model is asked again."""
        new_id = self._around.means.new_id
        self._stored = tuple(StoredToolCall(call.id or new_id(), call.name, call.arguments) for call in calls)
        free = free_tools(self._around.tools, await self._allowed())
        # A client decides itself whom it asks about its tools.
        free |= {name: True for name, tool in self._around.tools.items() if tool.server == CLIENT}
        self._judged = [judge(call, free) for call in self._stored]
        row = StoredMessage(
            new_id(),
            self._around.conversation,
            None,
            "assistant",
            (TextContent(text),) if text else (),
            tool_calls=self._stored,
            finish="tool_calls",
        )
        self.rows[row.id] = row
        self._texts[row.id] = len(text)
        self._over = anyio.Event()
        self._unasked.clear()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await self._do(self._agent.turn_ended(self._judged))
            await self._over.wait()
            tasks.cancel_scope.cancel()
        self._calls = None
        rows = tuple(self.rows.values())
        try:
            self.messages = await self._around.messages(rows)
        except Problem as problem:
            log.warning("what tools gave cannot be read, but for its text: %s", problem.message)
            self.messages = told(rows)
        return self._again

    def close(self) -> None:
        """Whatever is open ends here: its task is to be cancelled with this. Its rows are well formed then."""
        for action in self._agent.end("stopped"):
            if isinstance(action, loop.EndToolCall) and self._calls is not None:
                self._calls.cut(action.call, action.state, action.text)
        self._calls = None

    def settle(self, heard: str) -> str:
        """So much of its text was heard since this was asked last: its rows hold that and no more. The rest is whatever
        was said behind its calls."""
        for id, length in self._texts.items():
            row, part = self.rows[id], heard[:length]
            heard = heard[length:]
            cut = len(part) < length
            self.rows[id] = msgspec.structs.replace(
                row, content=(TextContent(part),) if part else (), status="stopped" if cut else row.status
            )
        self._texts.clear()
        return heard

    async def _allowed(self) -> set[tuple[str, str]]:
        """What needs no question; while that cannot be read, everything does."""
        try:
            return await self._around.permissions()
        except Problem as problem:
            log.warning("permissions cannot be read: %s", problem.message)
            return set()

    async def _do(self, actions: Sequence[Action]) -> None:
        assert self._tasks is not None
        for action in actions:
            match action:
                case loop.AddToolCalls():
                    self._add()
                case loop.AskApproval(number):
                    self._unasked.append(number)
                    if len(self._unasked) == 1:
                        self._tasks.start_soon(self._ask_all)
                case loop.RunToolCall(number):
                    self._tasks.start_soon(self._run, number)
                case loop.EndToolCall(number, state, text):
                    assert self._calls is not None
                    await self._calls.end(number, state, text)
                case loop.StartTurn():
                    self._again = True
                    self._over.set()
                case loop.Finish():
                    self._again = False
                    self._over.set()

    def _add(self) -> None:
        around, tools = self._around, self._around.tools
        rows = [
            call_row(around.means.new_id(), around.conversation, "", "", call, tools.get(call.name))
            for call in self._stored
        ]
        self._calls = ToolCallBatch(
            [
                ToolCallRun(row, judged, tools.get(call.name))
                for row, judged, call in zip(rows, self._judged, self._stored, strict=True)
            ],
            user=around.user,
            run="",
            provisions=around.means,
            settings=self._settings,
            questions=self._questions,
            say=self._heard,
            put=self._put,
            keep=around.keep,
            client=self._client,
        )
        for row in rows:
            self._put(row)

    async def _ask_all(self) -> None:
        """One question at a time: they are said aloud."""
        await self._sure.wait()
        while self._unasked:
            number = self._unasked[0]
            answer = await self._ask(number)
            if answer is not None:
                await self._do(self._agent.answered(number, answer))
            self._unasked.popleft()

    async def _ask(self, number: int) -> loop.Answered | None:
        calls = self._calls
        assert calls is not None
        tool = self._around.tools[self._stored[number].name]
        if {(tool.server, tool.tool), (tool.server, "*")} & await self._allowed():
            return "allowed"  # by the answer to the question before
        return await calls.ask(number)

    async def _run(self, number: int) -> None:
        calls = self._calls
        assert calls is not None
        tool = self._around.tools[self._stored[number].name]
        if not tool.read_only:
            await self._sure.wait()
            self.acted = True
        if await calls.run(number):
            await self._do(self._agent.call_ended(number))

    def _put(self, row: StoredMessage) -> None:
        self.rows[row.id] = row
        self._say(MessageAdded(row))

    def _heard(self, event: RunEvent) -> None:
        """What a running tool says of itself; how it stands otherwise is in its row."""
        if isinstance(event, ToolOutput) and event.text and (row := self.rows.get(event.message)) is not None:
            self._say(MessageAdded(msgspec.structs.replace(row, content=(TextContent(event.text),))))


def client_tools(tools: Sequence[Tool]) -> dict[str, OfferedTool]:
    """A client's own tools, by their names."""
    return {
        tool.name: OfferedTool(
            tool.name, CLIENT, tool.name, description=tool.description, parameters=tool.parameters
        )
        for tool in tools
    }


def told(rows: Sequence[StoredMessage]) -> tuple[Message, ...]:
    """Rows of an errand as a model is told them, where they hold nothing but text."""
    messages = []
    for row in rows:
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in row.tool_calls)
        parts = (TextPart(row.text),) if row.text or row.role == "tool" else ()
        messages.append(Message(row.role, parts, tool_calls=calls, tool_call_id=row.tool_call_id or None))
    return tuple(messages)

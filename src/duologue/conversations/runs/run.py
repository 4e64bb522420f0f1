"""One run of a typed conversation, from its first row to its end.

Used by `service.py`. The loop itself is the driver's (`agent/driver.py`): one task handles facts in order, while model turns,
tool calls and autosave are tasks of their own that only post facts. Stopping is a fact too; events of a turn that was cut are
dropped, because it is no longer the current turn.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import anyio
import msgspec

from duologue.config.settings import RunSettings
from duologue.conversations.agent.approvals import ApprovalReply, OpenApprovals
from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.agent.driver import (
    AgentDriver,
    AgentStarted,
    EndRequested,
    ModelTurnEnded,
    SteeringRequested,
    TurnResult,
)
from duologue.conversations.agent.loop import Agent, ApprovalOutcome, ToolCallVerdict
from duologue.conversations.agent.tool_calls import (
    ToolCallBatch,
    ToolCallRun,
    free_tools,
    tool_call_row,
)
from duologue.conversations.agent.turn import INTERNAL_ERROR, ModelTurn, row_error
from duologue.conversations.runs.model_turns import ModelTurns
from duologue.conversations.runs.plan import RunPlan, assistant_row
from duologue.conversations.runs.prompt import PromptBuilder
from duologue.conversations.runs.record import RunRecord
from duologue.conversations.runs.recovery import interrupted
from duologue.conversations.runs.repository import RunRepository, StoredApprovals
from duologue.conversations.runs.saving.autosave import INTERVAL, RETRY
from duologue.errors import Problem
from duologue.values.conversations import (
    Approval,
    Content,
    GenerationOptions,
    RowError,
    Status,
    StoredMessage,
    StoredToolCall,
)
from duologue.values.model_choice import ModelChoice
from duologue.values.runs import (
    ListRun,
    Logged,
    MessageAdded,
    Outcome,
    Run,
    RunDone,
    RunEvent,
    RunProgress,
    RunStarted,
    Waiting,
)

log = logging.getLogger(__name__)

Permissions = Callable[[str], Awaitable[set[tuple[str, str]]]]
"""The stored permissions of a user: (server, tool or "*")."""

_CUT_STATUS: dict[Outcome, Status] = {"stopped": "stopped", "interrupted": "interrupted"}


class ActiveRun:
    """A run that is in the store already; `run` takes it to its end. `view` is the run as it is now, `choice` how its model was
    found.

    It is the `AgentHost` of its driver."""

    def __init__(
        self,
        run: Run,
        user: str,
        plan: RunPlan,
        options: GenerationOptions,
        *,
        choice: ModelChoice,
        repository: RunRepository,
        permissions: Permissions,
        dependencies: RunDependencies,
        settings: RunSettings,
        interval: float = INTERVAL,
        retry: float = RETRY,
    ) -> None:
        self.view = run
        self.user = user
        self._plan = plan
        self._options = options
        self._choice = choice
        self._repository = repository
        self._permissions = permissions
        self._dependencies = dependencies
        self._settings = settings
        self._driver = AgentDriver(
            Agent(max_turns=options.max_turns or settings.max_turns, parallel=settings.parallel_calls),
            self,
            name=f"run {run.id}",
            after_fact=self._publish_waiting,
        )
        self._record = RunRecord(run.id, repository, on_deleted=self.fail, interval=interval, retry=retry)
        self._approvals = OpenApprovals(
            StoredApprovals(repository, user), publish=self._publish_approval, now=dependencies.now
        )
        self._prompts = PromptBuilder(user, run.conversation, options, repository, dependencies)
        self._turns = ModelTurns(
            run.id,
            user,
            self._record,
            self._prompts,
            dependencies,
            loads=choice.load,
            silence_s=settings.model_silence_s,
            spawn=self._driver.spawn,
            on_end=lambda turn: self._driver.post(ModelTurnEnded(turn.id)),
            on_events=self._publish_waiting,
        )
        self._leaf = plan.leaf
        self._first_row = plan.continued or next((row for row in plan.added if row.role == "assistant"), None)
        self.ended = anyio.Event()
        """Set when everything is stored, or was given up."""

    # ---- for the service

    @property
    def over(self) -> bool:
        """Whether the loop has ended. Viewers may still be reading."""
        return self._driver.closed

    def stop(self) -> None:
        """The user stops the run."""
        self._driver.post(EndRequested("stopped"))

    def interrupt(self) -> None:
        """The server shuts down: end at once, and do not wait for a store that fails."""
        self._record.hurry()
        self._driver.post(EndRequested("interrupted"))

    def fail(self, problem: Problem) -> None:
        """End at once, with this error."""
        self._driver.post(EndRequested("failed", row_error(problem.code, problem.message)))

    def quicken(self) -> None:
        """Somebody follows this run at another gateway, which reads what is stored."""
        self._record.quicken()

    @property
    def lost(self) -> bool:
        """Whether another gateway has ended this run."""
        return self._record.lost

    def steer(self) -> None:
        """A message waits to steer this run."""
        self._driver.post(SteeringRequested())

    def answer(self, id: str, reply: ApprovalReply, values: dict[str, object]) -> bool:
        """Answer a question; whether it was open in this run."""
        return self._approvals.answer(id, reply, values)

    @property
    def questions(self) -> tuple[Approval, ...]:
        """The open questions of this run."""
        return self._approvals.open

    def open_approvals(self, server: str, tool: str) -> list[str]:
        """The ids of the open questions whether this tool may run; "*" for every tool of the server."""
        return [
            approval.id
            for approval in self._approvals.open
            if approval.kind == "tool" and approval.server == server and tool in ("*", approval.tool)
        ]

    @property
    def rows(self) -> tuple[StoredMessage, ...]:
        """The rows of this run as they are now, ahead of the store while text arrives."""
        return tuple(self._record.row(id) for id in self._record.rows)

    def viewer(self, after: int) -> AsyncIterator[Logged]:
        """Every event beyond number `after`, then those to come, to the end."""
        return self._record.viewer(after)

    async def run(self) -> None:
        """The whole run. Raises nothing but cancellation."""
        self._dependencies.publish(self.user, ListRun(self.view.conversation, self.view.id))
        try:
            async with anyio.create_task_group() as tasks:
                await tasks.start(self._record.keep)
                self._publish_plan()
                caller = self._plan.caller
                await self._driver.drive(tasks, AgentStarted(caller.tool_calls if caller is not None else ()))
                tasks.cancel_scope.cancel()
        except Exception:
            # One broken run must not take the others with it.
            log.exception("run %s broke", self.view.id)
            await self._driver.fail(INTERNAL_ERROR)
        finally:
            self._driver.close()
            self._record.close()
            self.ended.set()

    def _publish_plan(self) -> None:
        plan, record = self._plan, self._record
        choice, model = self._choice, self._options.model
        record.publish(
            RunStarted(
                self.view.id, self.view.conversation, plan.answers, model, choice.wanted, choice.reason
            )
        )
        continued = (plan.continued,) if plan.continued is not None else ()
        for row in (*plan.added, *continued, *plan.call_rows):
            record.rows[row.id] = row
            record.publish(MessageAdded(row))

    # ---- AgentHost: model turns

    async def start_turn(self) -> None:
        row, self._first_row = self._first_row, None
        continues = row is not None and row is self._plan.continued and bool(row.text or row.reasoning)
        if row is None:
            new = assistant_row(
                self._dependencies.new_id(),
                self.view.conversation,
                self._leaf,
                self.view.id,
                self._options.model,
            )
            (row,) = await self._record.add([new])
        self._leaf = row.id
        self._turns.begin(ModelTurn(row, continues=continues))

    async def turn_result(self, message: str) -> TurnResult | None:
        turn = self._record.turn
        row = self._turns.finish(turn) if turn is not None and turn.id == message else None
        if row is None:
            return None
        if row.error is not None:
            return TurnResult(error=row.error)
        if row.tool_calls:
            # A tool may have effects, so what led to them is stored first.
            await self._record.flush()
        if self._record.lost:
            return None
        return TurnResult(row.tool_calls, steering=await self._is_steered())

    def cancel_turn(self) -> None:
        self._turns.cut()

    # ---- AgentHost: tool calls

    async def allowed_tools(self) -> Mapping[str, bool]:
        if self._prompts.card is None:
            # A run that resumes with tool calls has had no model turn that would have prepared the tools.
            await self._prompts.prepare()
        return free_tools(self._prompts.tools, await self._permissions(self.user))

    async def add_tool_calls(
        self, tool_calls: Sequence[StoredToolCall], verdicts: Sequence[ToolCallVerdict]
    ) -> ToolCallBatch:
        """A row for each tool call, chained in their order. Rows of a turn that was left open exist already."""
        tools = self._prompts.tools
        rows = list(self._plan.call_rows) if self._driver.agent.turns == 0 else []
        new: list[StoredMessage] = []
        for tool_call in tool_calls[len(rows) :]:
            above = new[-1].id if new else rows[-1].id if rows else self._leaf
            id, tool = self._dependencies.new_id(), tools.get(tool_call.name)
            new.append(tool_call_row(id, self.view.conversation, above, self.view.id, tool_call, tool))
        if new:
            rows += await self._record.add(new)
        self._leaf = rows[-1].id
        return ToolCallBatch(
            [
                ToolCallRun(row, verdict, tools.get(tool_call.name), resumed=row in self._plan.call_rows)
                for row, verdict, tool_call in zip(rows, verdicts, tool_calls, strict=True)
            ],
            user=self.user,
            run=self.view.id,
            dependencies=self._dependencies,
            settings=self._settings,
            approvals=self._approvals,
            publish=self._record.publish,
            put=self._record.put,
            keep=self._keep,
        )

    async def ask(self, batch: ToolCallBatch, number: int) -> ApprovalOutcome | None:
        return await batch.ask(number)

    async def run_tool_call(self, batch: ToolCallBatch, number: int) -> bool:
        return await batch.run(number)

    async def _keep(self, data: bytes, name: str, mime: str) -> Content:
        attachments = self._dependencies.attachments(self.view.conversation)
        return await attachments.keep(self.user, data, name, mime, self._prompts.card)

    # ---- AgentHost: steering

    async def take_steering(self) -> None:
        rows: list[StoredMessage] = []
        for message in await self._repository.store.pending.of(self.view.conversation):
            if message.how == "steer":
                above = rows[-1].id if rows else self._leaf
                conversation, run = self.view.conversation, self.view.id
                rows.append(StoredMessage(message.id, conversation, above, "user", message.content, run=run))
        if rows:
            await self._record.add(rows)
            self._leaf = rows[-1].id

    async def _is_steered(self) -> bool:
        """Whether a message waits to steer. False while the store fails: that must not spoil a complete reply."""
        try:
            waiting = await self._repository.store.pending.of(self.view.conversation)
        except Problem:
            return False
        return any(message.how == "steer" for message in waiting)

    # ---- AgentHost: the end

    async def finish(self, outcome: Outcome, error: RowError | None) -> None:
        if self._record.ended:
            return
        driver = self._driver
        self._turns.end_cut(_CUT_STATUS.get(outcome, "failed"), error)
        driver.close_batch()
        await self._approvals.withdraw_all()
        for row in tuple(self._record.rows.values()):
            if row.status == "running":
                # Only a bug leaves one. Nothing of a run may be running after its end.
                self._record.put(interrupted(row))
        driver.close()
        turns, tool_calls = driver.agent.turns, driver.agent.tool_calls
        self.view = msgspec.structs.replace(
            self.view,
            ended=self._dependencies.now(),
            outcome=outcome,
            waiting="",
            error=error,
            turns=turns,
        )
        done = RunDone(outcome, error, turns, tool_calls, driver.tools_ms, self._turns.usage)
        await self._record.end(self.view, done)

    # ---- what it waits for

    def _publish_approval(self, event: RunEvent) -> None:
        self._record.publish(event)
        self._publish_waiting()

    def _publish_waiting(self) -> None:
        """Publish what the run waits for now, to viewers and lists, if it has changed."""
        waiting: Waiting = ""
        if self._record.turn is not None:
            waiting = self._record.turn.waiting
        elif self._driver.batch is not None:
            waiting = "approval" if self._approvals.open else "tool"
        if waiting == self.view.waiting or self.over:
            return
        self.view = msgspec.structs.replace(self.view, waiting=waiting, turns=self._driver.agent.turns)
        if self._record.turn is None:
            self._record.publish(RunProgress(waiting))
        self._dependencies.publish(self.user, ListRun(self.view.conversation, self.view.id, waiting))

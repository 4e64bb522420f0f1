"""One running reply: the loop around `agent`, from its first row to its end.

Owns the order of things: one task takes facts one by one, feeds the agent, and carries out what it says; a turn, each
call and the saving are tasks of their own that only report. Stopping is a fact like any other, and what comes from a
turn that was cut is dropped, because that turn is not the current one any more. Knows no HTTP and no other run.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any

import anyio
import anyio.abc
import msgspec

from duologue.config.settings import RunSettings as RunSettings
from duologue.conversations.agent import loop as loop
from duologue.conversations.agent.approvals import ApprovalReply, OpenApprovals
from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.agent.loop import Action, Agent, Judged, judge
from duologue.conversations.agent.tool_calls import ToolCallBatch, ToolCallRun, call_row, free_tools
from duologue.conversations.agent.turn import ModelTurn, row_error
from duologue.conversations.runs.autosave import EVERY, RETRY
from duologue.conversations.runs.model_turns import BROKEN, ModelTurns
from duologue.conversations.runs.plan import RunPlan, assistant_row
from duologue.conversations.runs.prompt import PromptBuilder
from duologue.conversations.runs.record import RunRecord
from duologue.conversations.runs.recovery import interrupted
from duologue.conversations.runs.repository import RunRepository, StoredApprovals
from duologue.errors import Problem
from duologue.values.conversations import (
    Content,
    GenerationOptions,
    RowError,
    Status,
    StoredMessage,
    StoredToolCall,
)
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

Fact = Callable[[], Awaitable[list[Action]]]
Permissions = Callable[[str], Awaitable[set[tuple[str, str]]]]
"""What a user has allowed for good: (server, tool or "*")."""

_CUT: dict[Outcome, Status] = {"stopped": "stopped", "interrupted": "interrupted"}


class ActiveRun:
    """A run that was begun in the store; `run` takes it to its end. `view` is the run as it stands."""

    def __init__(
        self,
        run: Run,
        user: str,
        opening: RunPlan,
        options: GenerationOptions,
        *,
        keeping: RunRepository,
        permissions: Permissions,
        provisions: RunDependencies,
        settings: RunSettings,
        every: float = EVERY,
        retry: float = RETRY,
    ) -> None:
        self.view = run
        self.user = user
        self._opening = opening
        self._options = options
        self._keeping = keeping
        self._permissions = permissions
        self._provisions = provisions
        self._settings = settings
        self._agent = Agent(
            max_turns=options.max_turns or settings.max_turns, parallel=settings.parallel_calls
        )
        self._record = RunRecord(run.id, keeping, gone=self._gone, every=every, retry=retry)
        self._questions = OpenApprovals(
            StoredApprovals(keeping, user), say=self._say_question, now=provisions.now
        )
        self._prompting = PromptBuilder(user, run.conversation, options, keeping, provisions)
        self._turns = ModelTurns(
            run.id,
            user,
            self._record,
            self._prompting,
            provisions,
            silence_s=settings.model_silence_s,
            spawn=self._spawn,
            over=self._over,
            heard=self._tell_waiting,
        )
        self._tasks: anyio.abc.TaskGroup | None = None
        self._facts: deque[Fact] = deque()
        self._posted = anyio.Event()
        self._leaf = opening.leaf
        self._first = opening.goes_on or next((row for row in opening.added if row.role == "assistant"), None)
        self._called: tuple[StoredToolCall, ...] = ()
        self._judged: list[Judged] = []
        self._calls: ToolCallBatch | None = None
        self._tools_ms = 0
        self.over = False
        """Whether the loop has ended; viewers may still read."""
        self.ended = anyio.Event()
        """Set when everything is kept, or was given up."""

    # ---- for others

    def stop(self) -> None:
        self._post(self._stopped)

    def interrupt(self) -> None:
        """The server goes down: end at once, and do not wait for a store that fails."""
        self._record.hurry()
        self._post(self._interrupted)

    def steer(self) -> None:
        """A message waits to steer this run."""
        self._post(self._steered)

    def answer(self, id: str, reply: ApprovalReply, values: dict[str, object]) -> bool:
        """Whether the question was open here."""
        return self._questions.answered(id, reply, values)

    def asked_of(self, server: str, tool: str) -> list[str]:
        """The open questions whether this tool may run; "*" for every tool of the server."""
        return [
            asked.id
            for asked in self._questions.open
            if asked.kind == "tool" and asked.server == server and tool in ("*", asked.tool)
        ]

    @property
    def rows(self) -> tuple[StoredMessage, ...]:
        """The rows of this run as they stand, ahead of the store where text is coming."""
        return tuple(self._record.row(id) for id in self._record.rows)

    def viewer(self, after: int) -> AsyncIterator[Logged]:
        """Everything beyond number `after`, then everything that comes, to the end."""
        return self._record.viewer(after)

    # ---- the loop

    async def run(self) -> None:
        """The whole run. Raises nothing but cancellation."""
        self._provisions.feed(self.user, ListRun(self.view.conversation, self.view.id))
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                await tasks.start(self._record.keep)
                await self._take(self._begin)
                while not self.over:
                    await self._take(await self._fact())
                tasks.cancel_scope.cancel()
        except Exception:
            # One broken run must not take the others with it.
            log.exception("run %s broke", self.view.id)
            await self._break(BROKEN)
        finally:
            self.over = True
            self._record.close()
            self.ended.set()

    async def _fact(self) -> Fact:
        while not self._facts:
            await self._posted.wait()
            self._posted = anyio.Event()
        return self._facts.popleft()

    async def _take(self, fact: Fact) -> None:
        """One fact and what follows from it. What goes wrong on the way ends the run; nothing leaves it."""
        try:
            await self._carry_out(await fact())
        except Problem as problem:
            await self._break(row_error(problem.code, problem.message))
        except Exception:
            log.exception("run %s broke", self.view.id)
            await self._break(BROKEN)
        self._tell_waiting()

    async def _break(self, error: RowError) -> None:
        try:
            await self._carry_out(self._agent.end("failed", error))
        except Exception:
            log.exception("run %s could not be ended in order", self.view.id)
        if not self._record.ended:
            await self._finish("failed", error)

    def _post(self, fact: Fact) -> None:
        """Facts are few: a turn, its calls, and what the user says. Said again before it was heard it is one: while a
        store hangs, a button that is pressed again and again must not fill a queue."""
        if not self.over and fact not in self._facts:
            self._facts.append(fact)
            self._posted.set()

    async def _stopped(self) -> list[Action]:
        return self._agent.end("stopped")

    async def _interrupted(self) -> list[Action]:
        return self._agent.end("interrupted")

    async def _steered(self) -> list[Action]:
        return self._agent.steered()

    def _failed(self, error: RowError) -> Fact:
        async def failed() -> list[Action]:
            return self._agent.end("failed", error)

        return failed

    def _gone(self, problem: Problem) -> None:
        self._post(self._failed(row_error(problem.code, problem.message)))

    async def _begin(self) -> list[Action]:
        opening, record = self._opening, self._record
        record.say(RunStarted(self.view.id, self.view.conversation, opening.answers, self._options.model))
        going = (opening.goes_on,) if opening.goes_on is not None else ()
        for row in (*opening.added, *going, *opening.call_rows):
            record.rows[row.id] = row
            record.say(MessageAdded(row))
        if opening.calls_of is None:
            return self._agent.begin()
        await self._prompting.prepare()
        return self._agent.resume(await self._judge(opening.calls_of.tool_calls))

    async def _carry_out(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case loop.StartTurn():
                    await self._start_turn()
                case loop.AddToolCalls():
                    await self._add_calls()
                case loop.AskApproval(call):
                    self._spawn(self._ask, self._calls, call)
                case loop.RunToolCall(call):
                    self._spawn(self._call, self._calls, call)
                case loop.EndToolCall(call, state, text):
                    if self._calls is not None:
                        await self._calls.end(call, state, text)
                case loop.TakeSteering():
                    await self._take_steering()
                case loop.CancelTurn():
                    self._turns.cut()
                case loop.Finish(outcome, error):
                    await self._finish(outcome, error)

    def _spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        assert self._tasks is not None
        self._tasks.start_soon(work, *arguments)

    # ---- a model turn

    async def _start_turn(self) -> None:
        row, self._first = self._first, None
        goes_on = row is not None and row is self._opening.goes_on and bool(row.text or row.reasoning)
        if row is None:
            conversation, model = self.view.conversation, self._options.model
            new = assistant_row(self._provisions.new_id(), conversation, self._leaf, self.view.id, model)
            (row,) = await self._record.add([new])
        self._leaf = row.id
        self._close_calls()
        self._turns.begin(ModelTurn(row, goes_on=goes_on))

    def _over(self, turn: ModelTurn) -> None:
        async def over() -> list[Action]:
            row = self._turns.settled(turn)
            if row is None:
                return []
            if row.error is not None:
                return self._agent.turn_failed(row.error)
            judged = await self._judge(row.tool_calls)
            if judged:
                await self._record.flush()
            if await self._steering():
                self._agent.steered()
            else:
                self._agent.unsteered()
            return self._agent.turn_ended(judged)

        self._post(over)

    # ---- calls

    async def _judge(self, calls: tuple[StoredToolCall, ...]) -> list[Judged]:
        self._called, self._judged = calls, []
        if calls:
            free = free_tools(self._prompting.tools, await self._permissions(self.user))
            self._judged = [judge(call, free) for call in calls]
        return self._judged

    async def _add_calls(self) -> None:
        """A row for each call, chained in the order of the calls; rows of a turn that was left open are there."""
        tools = self._prompting.tools
        rows = list(self._opening.call_rows) if self._agent.turns == 0 else []
        new: list[StoredMessage] = []
        for call in self._called[len(rows) :]:
            above = new[-1].id if new else rows[-1].id if rows else self._leaf
            id, tool = self._provisions.new_id(), tools.get(call.name)
            new.append(call_row(id, self.view.conversation, above, self.view.id, call, tool))
        if new:
            rows += await self._record.add(new)
        self._leaf = rows[-1].id
        self._calls = ToolCallBatch(
            [
                ToolCallRun(row, judged, tools.get(call.name), again=row in self._opening.call_rows)
                for row, judged, call in zip(rows, self._judged, self._called, strict=True)
            ],
            user=self.user,
            run=self.view.id,
            provisions=self._provisions,
            settings=self._settings,
            questions=self._questions,
            say=self._record.say,
            put=self._record.put,
            keep=self._keep,
        )

    def _close_calls(self) -> None:
        if self._calls is not None:
            self._tools_ms += self._calls.tools_ms
            self._calls = None

    async def _ask(self, calls: ToolCallBatch, number: int) -> None:
        try:
            answer = await calls.ask(number)
        except Problem as problem:
            self._post(self._failed(row_error(problem.code, problem.message)))
            return
        if answer is None:
            return

        async def answered() -> list[Action]:
            return self._agent.answered(number, answer) if calls is self._calls else []

        self._post(answered)

    async def _call(self, calls: ToolCallBatch, number: int) -> None:
        if not await calls.run(number):
            return

        async def ended() -> list[Action]:
            return self._agent.call_ended(number) if calls is self._calls else []

        self._post(ended)

    async def _keep(self, data: bytes, name: str, mime: str) -> Content:
        attachments = self._provisions.attachments(self.view.conversation)
        return await attachments.keep(self.user, data, name, mime, self._prompting.card)

    # ---- steering

    async def _steering(self) -> bool:
        """Whether a message waits to steer. A store that cannot say must not spoil a reply that is complete."""
        try:
            waiting = await self._keeping.store.pending.of(self.view.conversation)
        except Problem:
            return False
        return any(message.how == "steer" for message in waiting)

    async def _take_steering(self) -> None:
        rows: list[StoredMessage] = []
        for message in await self._keeping.store.pending.of(self.view.conversation):
            if message.how == "steer":
                above = rows[-1].id if rows else self._leaf
                conversation, run = self.view.conversation, self.view.id
                rows.append(StoredMessage(message.id, conversation, above, "user", message.content, run=run))
        if rows:
            await self._record.add(rows)
            self._leaf = rows[-1].id

    # ---- what it waits for, and the end

    def _say_question(self, event: RunEvent) -> None:
        self._record.say(event)
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        """What the run waits for now, to viewers and lists, when it is something else than before."""
        waiting: Waiting = ""
        if self._record.turn is not None:
            waiting = self._record.turn.waiting
        elif self._calls is not None:
            waiting = "approval" if self._questions.open else "tool"
        if waiting == self.view.waiting or self.over:
            return
        self.view = msgspec.structs.replace(self.view, waiting=waiting, turns=self._agent.turns)
        if self._record.turn is None:
            self._record.say(RunProgress(waiting))
        self._provisions.feed(self.user, ListRun(self.view.conversation, self.view.id, waiting))

    async def _finish(self, outcome: Outcome, error: RowError | None) -> None:
        self._turns.end_cut(_CUT.get(outcome, "failed"), error)
        self._close_calls()
        await self._questions.withdraw_all()
        for row in tuple(self._record.rows.values()):
            if row.status == "running":
                # Only a bug leaves one; nothing of a run may run after its end.
                self._record.put(interrupted(row))
        self.over = True
        turns, calls = self._agent.turns, self._agent.calls
        self.view = msgspec.structs.replace(
            self.view, ended=self._provisions.now(), outcome=outcome, waiting="", error=error, turns=turns
        )
        done = RunDone(outcome, error, turns, calls, self._tools_ms, self._turns.usage)
        await self._record.end(self.view, done)

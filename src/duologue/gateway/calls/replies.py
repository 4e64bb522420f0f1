"""The replies of one call: each is made by turns of a model, with tools and questions in between.

Owns what is being answered, what of it was heard, and what becomes of it when the caller speaks over it: tools end with
their reply, but a question stays open for as long as what the caller says may be its answer. Knows no seat and no socket.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import anyio
import anyio.abc
import msgspec

from duologue.conversations.agent.approvals import ApprovalReply as Decided
from duologue.conversations.agent.call_agent import CallToolLoop
from duologue.errors import ContextExceeded, Problem
from duologue.gateway.calls.context_window import nearly_full
from duologue.gateway.calls.dialect import Dialect, Write
from duologue.gateway.calls.history import CallHistory
from duologue.gateway.calls.prefill_ahead import PrefillAhead, ReadAhead
from duologue.gateway.calls.spoken_approvals import SORRY, assent, question
from duologue.gateway.scheduling.generate import CALL
from duologue.tools.values import ToolOutcome, failure
from duologue.values import call_events
from duologue.values.call_events import CallControl
from duologue.values.conversations import StoredMessage, StoredToolCall, TextContent
from duologue.values.events import Done, Event, Failed, ReplyWord, TextDelta, ToolCallDelta
from duologue.values.failures import WORKER_LOST
from duologue.values.generate import Generate
from duologue.values.messages import ImagePart, ToolCall
from duologue.values.requests import ChatRequest
from duologue.values.runs import ApprovalAnswered, ApprovalRequested, MessageAdded, RunEvent
from duologue.wire import voice
from duologue.wire.collected_reply import CollectedReply

log = logging.getLogger(__name__)

TOOL_PATIENCE = 60.0
"""Seconds a client has to answer a call of its own tool."""
UNSENT = 256
"""Messages about tools that wait for the client, the oldest forgotten first."""


class CallReply:
    """One reply, from what it answers to its end."""

    def __init__(self, reply: int, turn: int, asked: str, errand: CallToolLoop, request: ChatRequest) -> None:
        self.reply: int | None = reply
        """Its number; None while nobody listens to it."""
        self.turn, self.asked, self.errand = turn, asked, errand
        self.request = request
        """What the model is asked, but for what came of its tools."""
        self.scope = anyio.CancelScope()
        self.agreed: bool | None = None
        """What the caller has said to its question, as long as they may still say more."""
        self.spoken_to: int | None = None
        """The turn that was no turn of its own, but the answer to its question."""
        self.hushed = False
        """The caller wants silence, and no question either."""
        self.is_cut = False
        """The caller has spoken over it; what was heard of it is still to be told."""
        self.text = ""
        self.words: list[ReplyWord] = []
        self.played = 0
        self.kept = False
        """Whether the turn it answers is kept already."""

    @property
    def heard(self) -> str:
        """What was heard of it under its present number."""
        return self.text[: max((word.to for word in self.words if word.end <= self.played), default=0)]

    @property
    def asks(self) -> bool:
        return bool(self.errand.approvals) and not self.hushed

    def take_over(self, reply: int, turn: int) -> None:
        """It goes on as this reply."""
        self.reply, self.spoken_to = reply, turn
        self.text, self.words, self.played = "", [], 0


class CallReplies:
    """`tell` reaches the session, `write` the client; `context_of` says how many tokens a model has, 0 where nobody knows."""

    def __init__(
        self,
        generate: Generate,
        history: CallHistory,
        encoder: Dialect,
        write: Write,
        tell: Callable[[CallControl], None],
        *,
        user: str,
        request_id: str,
        read_ahead: ReadAhead | None = None,
        context_of: Callable[[str], int] = lambda model: 0,
    ) -> None:
        self._context_of = context_of
        self._generate, self._history = generate, history
        self._encoder, self._write, self._tell = encoder, write, tell
        self._user, self._request_id = user, request_id
        self._ahead = PrefillAhead(read_ahead)
        self._answers: dict[int, CallReply] = {}
        self._asking: CallReply | None = None
        self._before: dict[int, tuple[StoredMessage, ...]] = {}
        self._kept_turn = 0
        self._withheld: call_events.UserSaid | None = None
        self._questions: deque[str] = deque(maxlen=8)
        self._awaited: dict[str, _Awaited] = {}
        self._unsent: deque[str | bytes] = deque(maxlen=UNSENT)
        self._news = anyio.Event()
        self._images: list[ImagePart] = []
        self.language = "en"

    async def run(self) -> None:
        """Tell the client what becomes of tools, until cancelled."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            while self._unsent:
                await self._write([self._unsent.popleft()])

    # ---- what the client says

    def see(self, image: ImagePart) -> None:
        """A picture for the turn it falls in: the newest one counts."""
        self._images = [image]

    def played(self, reply: int, samples: int) -> None:
        if (answer := self._answers.get(reply)) is not None:
            answer.played = max(answer.played, samples)

    def hush(self) -> None:
        """The caller wants silence: nothing that is asked stays open."""
        for answer in self._answers.values():
            answer.hushed = True

    def tool_result(self, result: voice.ClientToolResult) -> bool:
        """The client's tool has answered. False: nobody waits for it."""
        if (awaited := self._awaited.get(result.call_id)) is None:
            return False
        awaited.result = result
        awaited.arrived.set()
        return True

    async def approve(self, id: str, decided: Decided, values: dict[str, object]) -> bool:
        """A question was answered on the screen. False: it is not open. Raises Problem."""
        for answer in (*self._answers.values(), self._asking):
            if answer is not None and await answer.errand.answer(id, decided, values):
                return True
        return False

    # ---- what the session says

    def foresee(self, text: str, tasks: anyio.abc.TaskGroup) -> None:
        """The caller has said so much of a turn; or nothing yet, but there is what was said before."""
        if self._asking is None:
            self._ahead.foresee(self._history.request(text), tasks)

    def wanted(self, event: call_events.ReplyRequested, tasks: anyio.abc.TaskGroup) -> None:
        """Begin a reply; or go on with the one whose question this answers."""
        asking = self._asking
        if asking is not None and asking.errand.approvals and (agreed := assent(event.text)) is not None:
            self._asking, self._withheld, asking.agreed = None, None, agreed
            asking.take_over(event.reply, event.turn)
            self._answers[event.reply] = asking
            self._tell(call_events.ToolsRunning(event.reply))
            return
        self._let_go()
        self._drop_the_cut()
        done = self._before.pop(event.turn, ())
        errand = CallToolLoop(
            self._history.surroundings,
            publish=lambda event: self._said(answer, event),
            client=lambda call: self._ask_client(answer, call),
            earlier=done,
        )
        if self._withheld is not None:
            self._remember(self._withheld)
        kept = event.turn == self._kept_turn
        request = self._history.again() if kept else self._history.request(event.text, self._images)
        answer = self._answers[event.reply] = CallReply(event.reply, event.turn, event.text, errand, request)
        answer.kept = kept
        tasks.start_soon(self._make, answer)

    def released(self, reply: int) -> None:
        """The turn it answers is over for sure."""
        if (answer := self._answers.get(reply)) is None:
            return
        answer.errand.confirm_turn()
        if answer.agreed is not None:
            agreed, answer.agreed = answer.agreed, None
            answer.errand.answer_all(agreed)

    def unwanted(self, reply: int) -> None:
        """Nothing more of it will be heard."""
        answer = self._answers.get(reply)
        if answer is not None and not answer.is_cut:
            self._drop(reply, answer)

    def _drop_the_cut(self) -> None:
        """What was heard of a reply that was cut is told before the next one is wanted: else nothing was."""
        for reply, answer in list(self._answers.items()):
            if answer.is_cut:
                self._drop(reply, answer)

    def _drop(self, reply: int, answer: CallReply) -> None:
        del self._answers[reply]
        if answer.agreed is not None:
            # The caller goes on speaking, so that was no answer yet.
            answer.reply = answer.agreed = answer.spoken_to = None
            self._asking = answer
            return
        self._stop(answer)
        if not answer.errand.has_acted and answer.spoken_to is None:
            return
        answer.errand.trim("")
        rows = tuple(answer.errand.rows.values())
        if answer.kept or answer.spoken_to is not None:
            self._history.assistant_said("", "", "failed", rows)
        else:
            self._before = {answer.turn: rows}

    def cut(self, reply: int) -> None:
        """The caller has spoken over it. What it asks stays open: they may be answering."""
        if (answer := self._answers.get(reply)) is None:
            return
        answer.is_cut = True
        if not answer.asks:
            self._stop(answer)

    def user_said(self, event: call_events.UserSaid) -> None:
        """A turn belongs to the conversation, unless it only answered a question about a tool."""
        if any(answer.spoken_to == event.turn for answer in self._answers.values()):
            return
        if event.typed and self._asking is not None and assent(event.text) is not None:
            self._withheld = event  # whether it is one is known when its reply is wanted
            return
        self._remember(event)

    def _remember(self, event: call_events.UserSaid) -> None:
        self._kept_turn, self._withheld = event.turn, None
        self._history.user_said(event.text, self._images, typed=event.typed)
        self._images = []
        for answer in self._answers.values():
            answer.kept = answer.kept or answer.turn == event.turn

    def assistant_said(self, event: call_events.AssistantSaid) -> None:
        """A reply is over, or an announcement."""
        answer = self._answers.pop(event.reply, None)
        if answer is None:
            said = (event.heard + event.unheard).strip()
            if said not in self._questions:
                self._history.assistant_said(event.heard, event.unheard, event.ending)
            return
        if answer.asks and event.ending == "interrupted":
            answer.errand.trim(event.heard)
            answer.reply, answer.is_cut, self._asking = None, False, answer
            return
        self._stop(answer)
        self._keep(answer, event.heard, event.unheard, event.ending)

    def sounded(self, reply: int, *, text: str = "", words: Sequence[ReplyWord] = ()) -> None:
        """More of it went out."""
        if (answer := self._answers.get(reply)) is not None:
            answer.text += text
            answer.words.extend(words)

    def ended(self) -> list[call_events.AssistantSaid]:
        """The session is over, or the call: what was heard is kept. What became of each reply, in the epoch 0."""
        ends: list[call_events.AssistantSaid] = []
        self._let_go()
        for reply, answer in self._answers.items():
            self._stop(answer)
            if answer.spoken_to is None and not answer.kept:
                self._history.user_said(answer.asked, self._images)
                self._images = []
            heard, unheard = answer.heard, answer.text[len(answer.heard) :]
            self._keep(answer, heard, unheard, "interrupted")
            ends.append(call_events.AssistantSaid(0, reply, heard, unheard, "interrupted"))
        self._answers.clear()
        return ends

    # ---- their ends

    def _stop(self, answer: CallReply) -> None:
        """Whoever makes it stops, and its tools; what they did so far stands."""
        answer.errand.close()
        answer.scope.cancel()

    def _keep(self, answer: CallReply, heard: str, unheard: str, ending: call_events.Ending) -> None:
        rest = answer.errand.trim(heard)
        self._history.assistant_said(rest, unheard, ending, tuple(answer.errand.rows.values()))

    def _let_go(self) -> None:
        """Nobody has answered the question that was left open: it is not done."""
        answer, self._asking = self._asking, None
        if answer is not None:
            self._stop(answer)
            self._keep(answer, "", "", "interrupted")

    # ---- how they are made

    async def _make(self, answer: CallReply) -> None:
        """Have the reply made, and tell the session its text. Tools run in between."""
        with answer.scope:
            await self._ahead.settled(answer.request)
            while (turn := await self._turn(answer)) is not None:
                if not turn.tool_calls:
                    self._end(answer, turn.text)
                    return
                self._working(answer, busy=True)
                again = await answer.errand.run(turn.text, turn.tool_calls)
                self._working(answer, busy=False)
                if not again:
                    self._broken(answer)
                    return

    def _end(self, answer: CallReply, text: str) -> None:
        if answer.reply is not None:
            self._tell(call_events.Text(answer.reply, "", last=True))
        elif answer is self._asking:
            # Its question was answered on the screen, or by nobody: what comes of it is news to the caller.
            self._let_go()
            if text.strip():
                self._tell(call_events.Speak(text))

    def _working(self, answer: CallReply, *, busy: bool) -> None:
        if answer.reply is not None:
            self._tell(call_events.ToolsRunning(answer.reply, busy))

    def _broken(self, answer: CallReply) -> None:
        if answer.reply is not None:
            self._tell(call_events.ReplyFailed(answer.reply, SORRY[self.language]))

    async def _turn(self, answer: CallReply) -> CollectedReply | None:
        """One model turn, told as it comes; None where it failed, which was said. What fails before it has said anything is
        asked once more where that helps: a worker that is lost comes back, a prompt that is too long is shortened."""
        lost = False
        while True:
            turn, failed = await self._tried(answer)
            if failed is None:
                if nearly_full(turn.usage, self._context_of(answer.request.model)):
                    # Else the next reply would be cut short where the context ends.
                    self._shorten(answer)
                return turn
            silent = not turn.text and not turn.tool_calls
            if silent and failed.code == WORKER_LOST.code and not lost:
                lost = True
                continue
            if silent and failed.code == ContextExceeded.code and self._shorten(answer):
                continue
            await self._write(self._encoder.trouble(Problem(failed.message, code=failed.code)))
            self._broken(answer)
            return None

    async def _tried(self, answer: CallReply) -> tuple[CollectedReply, Failed | None]:
        turn, failed = CollectedReply(), None
        messages = (*answer.request.messages, *answer.errand.messages)
        request = msgspec.structs.replace(answer.request, messages=messages)
        async with self._generate(
            request, kind=CALL, request_id=self._request_id, user=self._user
        ) as batches:
            async for batch in batches:
                failed = self._say(answer, turn, (event for _, event in batch)) or failed
        return turn, failed

    def _shorten(self, answer: CallReply) -> bool:
        """Leave out the oldest turns, of this prompt and of those to come. False: there is but one."""
        shorter = self._history.shortened(answer.request)
        if shorter is None:
            return False
        left_out = len(answer.request.messages) - len(shorter.messages)
        log.info("call %s outgrows its model: %d messages are left out", self._request_id, left_out)
        answer.request = shorter
        return True

    def _say(self, answer: CallReply, turn: CollectedReply, events: Iterable[Event]) -> Failed | None:
        text: list[str] = []
        failed: Failed | None = None
        for event in events:
            if isinstance(event, Failed):
                failed = event
            elif isinstance(event, TextDelta | ToolCallDelta | Done):
                turn.add(event)
                if isinstance(event, TextDelta):
                    text.append(event.text)
        if text and answer.reply is not None:
            self._tell(call_events.Text(answer.reply, "".join(text)))
        return failed

    # ---- tools

    def _said(self, answer: CallReply, event: RunEvent) -> None:
        """What becomes of its tools, for the client; questions are said aloud too."""
        reply = answer.reply or 0
        match event:
            case MessageAdded(row):
                self._post(self._encoder.tool(reply, row))
            case ApprovalRequested(approval):
                aloud = question(approval, self.language)
                self._questions.append(aloud)
                self._post(self._encoder.asked(reply, approval, aloud))
                if answer.reply is not None:
                    self._tell(call_events.ToolsRunning(answer.reply, question=aloud))
            case ApprovalAnswered(id, decision):
                self._post(self._encoder.answered(reply, id, decision))
                self._working(answer, busy=True)

    def _post(self, messages: Sequence[str | bytes]) -> None:
        self._unsent.extend(messages)
        self._news.set()

    async def _ask_client(self, answer: CallReply, call: StoredToolCall) -> ToolOutcome:
        """A tool of the client's own; one that does not answer is said to have been silent."""
        awaited = self._awaited[call.id] = _Awaited()
        try:
            asked = ToolCall(call.id, call.name, call.arguments)
            await self._write(self._encoder.tool_calls(answer.reply or 0, [asked]))
            with anyio.move_on_after(TOOL_PATIENCE):
                await awaited.arrived.wait()
        finally:
            self._awaited.pop(call.id, None)
        if awaited.result is None:
            return failure(f"The tool has not answered within {TOOL_PATIENCE:.0f} seconds.")
        return ToolOutcome((TextContent(awaited.result.content),), awaited.result.is_error)


class _Awaited:
    """A call of the client's tool, and its answer once there is one."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.result: voice.ClientToolResult | None = None

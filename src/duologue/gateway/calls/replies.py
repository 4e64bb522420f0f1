"""The replies of one call: each is made of model turns, with tool calls and approval questions in between.

Owns the running replies, what was heard of each, and what happens to one when the caller speaks over it: its tools end with
it, but its question stays open as long as the caller's words may be the answer. Called by `Call` with the session's events.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import anyio.abc
import msgspec

from duologue.conversations.agent.approvals import ApprovalReply
from duologue.conversations.agent.call_agent import CallToolLoop
from duologue.errors import ContextExceeded, Problem
from duologue.gateway.calls.call_reply import CallReply
from duologue.gateway.calls.client_tools import ClientTools
from duologue.gateway.calls.context_window import nearly_full
from duologue.gateway.calls.dialect import Dialect, Write
from duologue.gateway.calls.history import CallHistory
from duologue.gateway.calls.prefill_ahead import PrefillAhead, ReadAhead
from duologue.gateway.calls.spoken_approvals import SORRY, parse_consent, question
from duologue.gateway.scheduling.generate import CALL
from duologue.notifier import Notifier
from duologue.values import call_events
from duologue.values.call_events import CallControl
from duologue.values.conversations import StoredMessage
from duologue.values.events import WORKER_LOST, Done, Event, Failed, ReplyWord, TextDelta, ToolCallDelta
from duologue.values.generate import Generate
from duologue.values.messages import ImagePart
from duologue.values.runs import ApprovalAnswered, ApprovalRequested, MessageAdded, RunEvent
from duologue.wire.collected_reply import CollectedReply

log = logging.getLogger(__name__)

MAX_UNSENT = 256
"""Messages about tools that wait for the client; the oldest are dropped."""
BETWEEN_TURNS = "\n\n"
"""What stands between the texts of two model turns that end and begin without a blank: they are one text to who listens."""


class CallReplies:
    """`send` reaches the session, `write` the client; `context_of` gives a model's context in tokens, 0 where unknown."""

    def __init__(
        self,
        generate: Generate,
        history: CallHistory,
        encoder: Dialect,
        write: Write,
        send: Callable[[CallControl], None],
        *,
        user: str,
        request_id: str,
        read_ahead: ReadAhead | None = None,
        context_of: Callable[[str], int] = lambda model: 0,
    ) -> None:
        self._context_of = context_of
        self._generate, self._history = generate, history
        self._encoder, self._write, self._send = encoder, write, send
        self._user, self._request_id = user, request_id
        self._prefill_ahead = PrefillAhead(read_ahead, user)
        self._replies: dict[int, CallReply] = {}
        # A reply that was interrupted with its question open: the caller's next words may be the answer.
        self._unanswered: CallReply | None = None
        # Rows of a cancelled try at a turn, by that turn: its tools may have had effects, so the next try must know them.
        self._earlier_rows: dict[int, tuple[StoredMessage, ...]] = {}
        self._stored_turn = 0
        self._deferred: call_events.UserSaid | None = None
        self._spoken_questions: deque[str] = deque(maxlen=8)
        self._unsent: deque[str | bytes] = deque(maxlen=MAX_UNSENT)
        self._unsent_added = Notifier()
        self._images: list[ImagePart] = []
        self.client_tools = ClientTools(encoder, write)
        self.language = "en"

    async def run(self) -> None:
        """Send messages about tools to the client, until cancelled. They are queued, because tools report from tasks that a
        slow client must not hold up."""
        while True:
            while self._unsent:
                await self._write([self._unsent.popleft()])
            await self._unsent_added.wait()

    # ---- from the client

    def add_image(self, image: ImagePart) -> None:
        """A picture for the turn during which it arrives; only the newest counts."""
        self._images = [image]

    def set_played(self, number: int, samples: int) -> None:
        """The client has played the reply up to this sample."""
        if (reply := self._replies.get(number)) is not None:
            reply.played = max(reply.played, samples)

    def silence(self) -> None:
        """The caller wants silence: open questions are closed too."""
        for reply in self._replies.values():
            reply.silenced = True

    async def answer_approval(self, id: str, answer: ApprovalReply, values: dict[str, object]) -> bool:
        """Answer a question from the screen. False: it is not open. Raises Problem."""
        for reply in (*self._replies.values(), self._unanswered):
            if reply is not None and await reply.tool_loop.answer(id, answer, values):
                return True
        return False

    # ---- from the session

    def prefill(self, text: str, tasks: anyio.abc.TaskGroup) -> None:
        """Prefill the prompt with the caller's words so far; with no words, what precedes them."""
        if self._unanswered is None:
            self._prefill_ahead.start(self._history.request(text), tasks)

    def begin(self, event: call_events.ReplyRequested, tasks: anyio.abc.TaskGroup) -> None:
        """Begin a reply, or resume the one whose question the caller has answered."""
        unanswered = self._unanswered
        consent = parse_consent(event.text)
        if unanswered is not None and unanswered.tool_loop.approvals and consent is not None:
            self._unanswered, self._deferred, unanswered.consent = None, None, consent
            unanswered.resume_as(event.reply, event.turn)
            self._replies[event.reply] = unanswered
            self._send(call_events.ToolsRunning(event.reply))
            return
        self._abandon_question()
        self._drop_interrupted()
        tool_loop = CallToolLoop(
            self._history.context,
            publish=lambda event: self._on_run_event(reply, event),
            client=lambda tool_call: self.client_tools.call(reply.number or 0, tool_call),
            earlier=self._earlier_rows.pop(event.turn, ()),
        )
        if self._deferred is not None:
            self._store_turn(self._deferred)
        stored = event.turn == self._stored_turn
        request = self._history.request_again() if stored else self._history.request(event.text, self._images)
        reply = self._replies[event.reply] = CallReply(
            event.reply, event.turn, event.text, tool_loop, request
        )
        reply.turn_stored = stored
        tasks.start_soon(self._run_reply, reply)

    def confirm(self, number: int) -> None:
        """The turn that this reply answers has ended: its tools may have effects now."""
        if (reply := self._replies.get(number)) is None:
            return
        reply.tool_loop.confirm_turn()
        if reply.consent is not None:
            consent, reply.consent = reply.consent, None
            reply.tool_loop.answer_all(consent)

    def cancel(self, number: int) -> None:
        """The session needs no more of this reply."""
        reply = self._replies.get(number)
        if reply is not None and not reply.interrupted:
            self._drop(number, reply)

    def _drop_interrupted(self) -> None:
        """The session reports what was heard of an interrupted reply before it asks for the next one: without that report
        nothing was heard of it."""
        for number, reply in list(self._replies.items()):
            if reply.interrupted:
                self._drop(number, reply)

    def _drop(self, number: int, reply: CallReply) -> None:
        del self._replies[number]
        if reply.consent is not None:
            # The caller is still speaking, so this was not the answer yet: the question is open again.
            reply.number = reply.consent = reply.answer_turn = None
            self._unanswered = reply
            return
        self._stop(reply)
        if not reply.tool_loop.has_acted and reply.answer_turn is None:
            return
        reply.tool_loop.trim("")
        rows = tuple(reply.tool_loop.rows.values())
        if reply.turn_stored or reply.answer_turn is not None:
            self._history.add_reply("", "", "failed", rows)
        else:
            self._earlier_rows = {reply.turn: rows}

    def interrupt(self, number: int) -> None:
        """The caller speaks over this reply. It runs on while its question is open: they may be answering."""
        if (reply := self._replies.get(number)) is None:
            return
        reply.interrupted = True
        if not reply.has_open_question:
            self._stop(reply)

    def user_said(self, event: call_events.UserSaid) -> None:
        """Store the caller's turn, unless it only answered a question about a tool."""
        if any(reply.answer_turn == event.turn for reply in self._replies.values()):
            return
        if event.typed and self._unanswered is not None and parse_consent(event.text) is not None:
            # A typed turn is reported before its reply is requested; only `begin` can tell whether it was the answer.
            self._deferred = event
            return
        self._store_turn(event)

    def _store_turn(self, event: call_events.UserSaid) -> None:
        self._stored_turn, self._deferred = event.turn, None
        self._history.add_user_turn(event.text, self._images, typed=event.typed)
        self._images = []
        for reply in self._replies.values():
            reply.turn_stored = reply.turn_stored or reply.turn == event.turn

    def assistant_said(self, event: call_events.AssistantSaid) -> None:
        """Store what was heard of a reply that is over, or of an announcement."""
        reply = self._replies.pop(event.reply, None)
        if reply is None:
            # The spoken question of an approval is an announcement too, and does not belong to the history.
            text = (event.heard + event.unheard).strip()
            if text not in self._spoken_questions:
                self._history.add_reply(event.heard, event.unheard, event.ending)
            return
        if reply.has_open_question and event.ending == "interrupted":
            reply.tool_loop.trim(event.heard)
            reply.number, reply.interrupted, self._unanswered = None, False, reply
            return
        self._stop(reply)
        self._store(reply, event.heard, event.unheard, event.ending)

    def add_output(
        self, number: int, *, text: str = "", words: Sequence[ReplyWord] = (), samples: int = 0
    ) -> None:
        """Text or words of this reply went to the client."""
        if (reply := self._replies.get(number)) is not None:
            reply.text += text
            reply.words.extend(words)

    def close(self) -> list[call_events.AssistantSaid]:
        """The session or the call is over: store what was heard. Gives the end of each running reply, in epoch 0."""
        ends: list[call_events.AssistantSaid] = []
        self._abandon_question()
        for number, reply in self._replies.items():
            self._stop(reply)
            if reply.answer_turn is None and not reply.turn_stored:
                self._history.add_user_turn(reply.user_text, self._images)
                self._images = []
            heard, unheard = reply.heard, reply.text[len(reply.heard) :]
            self._store(reply, heard, unheard, "interrupted")
            ends.append(call_events.AssistantSaid(0, number, heard, unheard, "interrupted"))
        self._replies.clear()
        return ends

    # ---- the end of a reply

    def _stop(self, reply: CallReply) -> None:
        """Stop the model and the tools; what they did so far stands."""
        reply.tool_loop.close()
        reply.scope.cancel()

    def _store(self, reply: CallReply, heard: str, unheard: str, ending: call_events.Ending) -> None:
        heard = reply.tool_loop.trim(heard)
        self._history.add_reply(heard, unheard, ending, tuple(reply.tool_loop.rows.values()))

    def _abandon_question(self) -> None:
        """The open question was not answered: its tool does not run, and its reply ends."""
        reply, self._unanswered = self._unanswered, None
        if reply is not None:
            self._stop(reply)
            self._store(reply, "", "", "interrupted")

    # ---- the making of a reply

    async def _run_reply(self, reply: CallReply) -> None:
        """Alternate between model turns, whose text goes to the session, and their tool calls."""
        with reply.scope:
            await self._prefill_ahead.finish(reply.request)
            while (turn := await self._model_turn(reply)) is not None:
                if not turn.tool_calls:
                    self._end(reply, turn.text)
                    return
                behind = "" if not turn.text or turn.text[-1].isspace() else BETWEEN_TURNS
                if behind and reply.number is not None:
                    self._send(call_events.Text(reply.number, behind))
                self._set_busy(reply, busy=True)
                again = await reply.tool_loop.run(turn.text, turn.tool_calls, behind=behind)
                self._set_busy(reply, busy=False)
                if not again:
                    self._fail(reply)
                    return

    def _end(self, reply: CallReply, text: str) -> None:
        if reply.number is not None:
            self._send(call_events.Text(reply.number, "", last=True))
        elif reply is self._unanswered:
            # Its question was answered on the screen or expired; the caller is told the outcome as an announcement.
            self._abandon_question()
            if text.strip():
                self._send(call_events.Speak(text))

    def _set_busy(self, reply: CallReply, *, busy: bool) -> None:
        if reply.number is not None:
            self._send(call_events.ToolsRunning(reply.number, busy))

    def _fail(self, reply: CallReply) -> None:
        if reply.number is not None:
            self._send(call_events.ReplyFailed(reply.number, SORRY[self.language]))

    async def _model_turn(self, reply: CallReply) -> CollectedReply | None:
        """One model turn; None where it failed, after the client and the caller were told.

        A turn that fails before its first text or tool call is tried again where that helps: once after a lost worker, which
        comes back, and with a shorter prompt after one that was too long.
        """
        retried = False
        while True:
            turn, failed = await self._attempt(reply)
            if failed is None:
                if nearly_full(turn.usage, self._context_of(reply.request.model)):
                    # Otherwise the next reply would be cut off where the context ends.
                    self._shorten(reply)
                return turn
            empty = not turn.text and not turn.tool_calls
            if empty and failed.code == WORKER_LOST.code and not retried:
                retried = True
                continue
            if empty and failed.code == ContextExceeded.code and self._shorten(reply):
                continue
            await self._write(self._encoder.problem(Problem(failed.message, code=failed.code)))
            self._fail(reply)
            return None

    async def _attempt(self, reply: CallReply) -> tuple[CollectedReply, Failed | None]:
        turn, failed = CollectedReply(), None
        messages = (*reply.request.messages, *reply.tool_loop.messages)
        request = msgspec.structs.replace(reply.request, messages=messages)
        async with self._generate(
            request, kind=CALL, request_id=self._request_id, user=self._user
        ) as batches:
            async for batch in batches:
                failed = self._collect(reply, turn, (event for _, event in batch)) or failed
        return turn, failed

    def _shorten(self, reply: CallReply) -> bool:
        """Drop the oldest turns from this prompt and from later ones. False: there is only one turn."""
        shorter = self._history.shorten(reply.request)
        if shorter is None:
            return False
        dropped = len(reply.request.messages) - len(shorter.messages)
        log.info("call %s outgrows its model's context: %d messages dropped", self._request_id, dropped)
        reply.request = shorter
        return True

    def _collect(self, reply: CallReply, turn: CollectedReply, events: Iterable[Event]) -> Failed | None:
        """Add events to the turn and send their text to the session. Gives the failure among them."""
        text: list[str] = []
        failed: Failed | None = None
        for event in events:
            if isinstance(event, Failed):
                failed = event
            elif isinstance(event, TextDelta | ToolCallDelta | Done):
                turn.add(event)
                if isinstance(event, TextDelta):
                    text.append(event.text)
        if text and reply.number is not None:
            self._send(call_events.Text(reply.number, "".join(text)))
        return failed

    # ---- tools

    def _on_run_event(self, reply: CallReply, event: RunEvent) -> None:
        """Send the state of tool calls and approvals to the client; questions are spoken too."""
        number = reply.number or 0
        match event:
            case MessageAdded(row):
                self._queue(self._encoder.tool_state(number, row))
            case ApprovalRequested(approval):
                spoken = question(approval, self.language)
                self._spoken_questions.append(spoken)
                self._queue(self._encoder.approval_requested(number, approval, spoken))
                if reply.number is not None:
                    self._send(call_events.ToolsRunning(reply.number, question=spoken))
            case ApprovalAnswered(id, decision):
                self._queue(self._encoder.approval_answered(number, id, decision))
                self._set_busy(reply, busy=True)

    def _queue(self, messages: Sequence[str | bytes]) -> None:
        self._unsent.extend(messages)
        self._unsent_added.notify()

"""The plan of a run: from a command and the existing rows to the new rows and the row at which the run starts.

Pure; used by `service.py`, which carries the plan out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from duologue.conversations.history.tree import Tree
from duologue.conversations.runs.commands import Continue, Edit, Regenerate, RunCommand, Send
from duologue.errors import BadRequest, NotFound, Unsupported
from duologue.values.conversations import Content, Conversation, StoredMessage
from duologue.values.requests import ModelCard

ENDED_CALLS = ("done", "failed", "denied", "expired", "skipped")


class RunPlan(Struct, frozen=True):
    """`added`: new rows; `leaf`: the conversation's new leaf. The first model turn writes into the last of `added`, or into
    `continued`, an existing row. With neither, the run starts with the tool calls of `caller`, whose existing rows are
    `call_rows`. `answers`: the row that the run replies to or continues."""

    answers: str | None
    leaf: str
    added: tuple[StoredMessage, ...] = ()
    continued: StoredMessage | None = None
    caller: StoredMessage | None = None
    call_rows: tuple[StoredMessage, ...] = ()


def plan_run(
    command: RunCommand,
    conversation: Conversation,
    rows: Sequence[StoredMessage],
    *,
    card: ModelCard,
    content: tuple[Content, ...],
    new_id: Callable[[], str],
) -> RunPlan:
    """`rows`: those of the conversation (not needed for `Send`). `content`: the user's new message, as it is stored.

    Raises NotFound for a row that does not exist, BadRequest for one the command cannot be used on, Unsupported when the
    model cannot do it."""
    return _Planner(conversation, rows, card, content, new_id).plan(command)


class _Planner:
    def __init__(
        self,
        conversation: Conversation,
        rows: Sequence[StoredMessage],
        card: ModelCard,
        content: tuple[Content, ...],
        new_id: Callable[[], str],
    ) -> None:
        self._conversation = conversation
        self._rows = {row.id: row for row in rows}
        self._tree = Tree(rows)
        self._card = card
        self._content = content
        self._new_id = new_id

    def plan(self, command: RunCommand) -> RunPlan:
        match command:
            case Send():
                parent = self._conversation.leaf if command.parent == "" else command.parent
                return self._reply_to(command, self._user_row(command, command.message.id, parent))
            case Edit():
                old = self._row(command.message)
                if old.role != "user":
                    raise BadRequest(
                        "Only a message of the user can be edited and answered again.", param="message"
                    )
                return self._reply_to(command, self._user_row(command, command.new.id, old.parent))
            case Regenerate():
                return self._regenerate(command, self._row(command.message))
            case Continue():
                return self._continue(command, self._row(command.message))

    def _regenerate(self, command: Regenerate, row: StoredMessage) -> RunPlan:
        if row.role == "user":
            return self._below(command, row.id, row.id)
        if row.role != "assistant":
            raise BadRequest("Only a reply can be regenerated.", param="message")
        return self._below(command, row.parent, row.parent)

    def _continue(self, command: Continue, row: StoredMessage) -> RunPlan:
        if row.role == "user":
            return self._below(command, row.id, row.id)
        if row.role == "system":
            raise BadRequest("There is no reply to continue here.", param="message")
        if row.role == "tool":
            return self._resume_tool_calls(command, self._caller(row))
        if row.tool_calls:
            return self._resume_tool_calls(command, row)
        if row.status == "done" and row.finish != "length":
            raise BadRequest(
                "This reply is complete. Send a message, or regenerate the reply.",
                code="nothing_to_continue",
                param="message",
            )
        if (row.text or row.reasoning) and self._card.context and "continue" not in self._card.verbs:
            raise Unsupported(
                f"The model {self._card.name} cannot continue a reply. Regenerate it, or choose another model.",
                param="message",
            )
        continued = msgspec.structs.replace(
            row,
            status="running",
            finish=None,
            error=None,
            run=command.run,
            model=row.model or self._card.name,
        )
        return RunPlan(row.id, row.id, continued=continued)

    def _resume_tool_calls(self, command: Continue, caller: StoredMessage) -> RunPlan:
        """Run the tool calls of `caller` that have no result yet; if all have one, take the next turn."""
        rows = self._call_rows(caller)
        if len(rows) == len(caller.tool_calls) and all(_has_ended(row) for row in rows):
            return self._below(command, rows[-1].id, caller.id)
        running = tuple(
            row if _has_ended(row) else msgspec.structs.replace(row, status="running", run=command.run)
            for row in rows
        )
        return RunPlan(caller.id, (rows[-1] if rows else caller).id, caller=caller, call_rows=running)

    def _call_rows(self, caller: StoredMessage) -> tuple[StoredMessage, ...]:
        """The chain of tool rows below a row with tool calls, in the order of the tool calls."""
        chain: list[StoredMessage] = []
        parent = caller.id
        for tool_call in caller.tool_calls:
            children = [self._rows[node.id] for node in self._tree.children(parent)]
            row = next((row for row in reversed(children) if row.tool_call_id == tool_call.id), None)
            if row is None:
                break
            chain.append(row)
            parent = row.id
        return tuple(chain)

    def _caller(self, row: StoredMessage) -> StoredMessage:
        for node in reversed(self._tree.path(row.id)):
            if node.role == "assistant":
                return self._rows[node.id]
        raise BadRequest("No reply made this tool call.", param="message")

    def _reply_to(self, command: Send | Edit, user_row: StoredMessage) -> RunPlan:
        answer = self._assistant_row(command, user_row.id)
        return RunPlan(user_row.id, answer.id, (user_row, answer))

    def _below(self, command: RunCommand, parent: str | None, answers: str | None) -> RunPlan:
        answer = self._assistant_row(command, parent)
        return RunPlan(answers, answer.id, (answer,))

    def _user_row(self, command: RunCommand, id: str, parent: str | None) -> StoredMessage:
        return StoredMessage(
            id, self._conversation.id, parent, "user", self._content, run=command.run, status="done"
        )

    def _assistant_row(self, command: RunCommand, parent: str | None) -> StoredMessage:
        return assistant_row(self._new_id(), self._conversation.id, parent, command.run, self._card.name)

    def _row(self, id: str) -> StoredMessage:
        if id not in self._rows:
            raise NotFound("There is no such message in this conversation.", param="message")
        return self._rows[id]


def assistant_row(id: str, conversation: str, parent: str | None, run: str, model: str) -> StoredMessage:
    """An empty row for a model turn to write into."""
    return StoredMessage(id, conversation, parent, "assistant", status="running", run=run, model=model)


def _has_ended(row: StoredMessage) -> bool:
    return row.call is None or row.call.state in ENDED_CALLS

"""How a run begins: a verb and the rows there are, to the rows that come and where the run takes up.

Decides and does nothing: no store, no model. Refusals are Problems with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from duologue.conversations.history.tree import Tree
from duologue.conversations.runs.commands import Continue, Edit, Regenerate, Send, Verb
from duologue.errors import BadRequest, NotFound, Unsupported
from duologue.values.conversations import Content, Conversation, StoredMessage
from duologue.values.requests import ModelCard

ENDED_CALLS = ("done", "failed", "denied", "expired", "skipped")


class RunPlan(Struct, frozen=True):
    """`added` rows come to the tree, the last of them or `goes_on` is the assistant's row of the first turn. `goes_on` is
    there already and is written on, or written anew where nothing is in it. With neither the run takes up the calls of
    `calls_of`, whose rows are `call_rows` where they exist. `answers` is the row the run answers or continues."""

    answers: str | None
    leaf: str
    added: tuple[StoredMessage, ...] = ()
    goes_on: StoredMessage | None = None
    calls_of: StoredMessage | None = None
    call_rows: tuple[StoredMessage, ...] = ()


class RunPlanner:
    """The verbs of one conversation: `rows` are those there are (for `send` none are needed), `content` is what the user
    wrote, as it is kept."""

    def __init__(
        self,
        conversation: Conversation,
        rows: Sequence[StoredMessage],
        *,
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

    def opening(self, verb: Verb) -> RunPlan:
        """Raises NotFound for a row that is not there, BadRequest for one the verb cannot be used on, Unsupported where
        the model cannot do it."""
        match verb:
            case Send():
                parent = self._conversation.leaf if verb.parent == "" else verb.parent
                return self._answered(verb, self._user_row(verb, verb.message.id, parent))
            case Edit():
                old = self._row(verb.message)
                if old.role != "user":
                    raise BadRequest(
                        "Only what the user wrote can be edited and answered again.", param="message"
                    )
                return self._answered(verb, self._user_row(verb, verb.new.id, old.parent))
            case Regenerate():
                return self._regenerated(verb, self._row(verb.message))
            case Continue():
                return self._continued(verb, self._row(verb.message))

    def _regenerated(self, verb: Regenerate, row: StoredMessage) -> RunPlan:
        if row.role == "user":
            return self._below(verb, row.id, row.id)
        if row.role != "assistant":
            raise BadRequest("Only a reply can be made again.", param="message")
        return self._below(verb, row.parent, row.parent)

    def _continued(self, verb: Continue, row: StoredMessage) -> RunPlan:
        if row.role == "user":
            return self._below(verb, row.id, row.id)
        if row.role == "system":
            raise BadRequest("There is no reply to go on with here.", param="message")
        if row.role == "tool":
            return self._after_calls(verb, self._caller(row))
        if row.tool_calls:
            return self._after_calls(verb, row)
        if row.status == "done" and row.finish != "length":
            raise BadRequest(
                "This reply is complete. Send a message, or make the reply again.",
                code="nothing_to_continue",
                param="message",
            )
        if (row.text or row.reasoning) and self._card.context and "continue" not in self._card.verbs:
            raise Unsupported(
                f"The model {self._card.name} cannot go on with a reply it is given. Make the reply again, or "
                "choose another model.",
                param="message",
            )
        going = msgspec.structs.replace(
            row, status="running", finish=None, error=None, run=verb.run, model=row.model or self._card.name
        )
        return RunPlan(row.id, row.id, goes_on=going)

    def _after_calls(self, verb: Continue, caller: StoredMessage) -> RunPlan:
        """The calls of `caller` that have no result yet, else the next turn."""
        rows = self._call_rows(caller)
        if len(rows) == len(caller.tool_calls) and all(_has_ended(row) for row in rows):
            return self._below(verb, rows[-1].id, caller.id)
        running = tuple(
            row if _has_ended(row) else msgspec.structs.replace(row, status="running", run=verb.run)
            for row in rows
        )
        return RunPlan(caller.id, (rows[-1] if rows else caller).id, calls_of=caller, call_rows=running)

    def _call_rows(self, caller: StoredMessage) -> tuple[StoredMessage, ...]:
        """The chain of tool rows below a row with calls, in the order of the calls."""
        found: list[StoredMessage] = []
        at = caller.id
        for call in caller.tool_calls:
            below = [self._rows[node.id] for node in self._tree.children(at)]
            row = next((row for row in reversed(below) if row.tool_call_id == call.id), None)
            if row is None:
                break
            found.append(row)
            at = row.id
        return tuple(found)

    def _caller(self, row: StoredMessage) -> StoredMessage:
        for node in reversed(self._tree.path(row.id)):
            if node.role == "assistant":
                return self._rows[node.id]
        raise BadRequest("No reply made this call.", param="message")

    def _answered(self, verb: Send | Edit, user_row: StoredMessage) -> RunPlan:
        answer = self._assistant_row(verb, user_row.id)
        return RunPlan(user_row.id, answer.id, (user_row, answer))

    def _below(self, verb: Verb, parent: str | None, answers: str | None) -> RunPlan:
        answer = self._assistant_row(verb, parent)
        return RunPlan(answers, answer.id, (answer,))

    def _user_row(self, verb: Verb, id: str, parent: str | None) -> StoredMessage:
        return StoredMessage(
            id, self._conversation.id, parent, "user", self._content, run=verb.run, status="done"
        )

    def _assistant_row(self, verb: Verb, parent: str | None) -> StoredMessage:
        return assistant_row(self._new_id(), self._conversation.id, parent, verb.run, self._card.name)

    def _row(self, id: str) -> StoredMessage:
        if id not in self._rows:
            raise NotFound("There is no such message in this conversation.", param="message")
        return self._rows[id]


def assistant_row(id: str, conversation: str, parent: str | None, run: str, model: str) -> StoredMessage:
    """An empty row that a turn writes into."""
    return StoredMessage(id, conversation, parent, "assistant", status="running", run=run, model=model)


def _has_ended(row: StoredMessage) -> bool:
    return row.call is None or row.call.state in ENDED_CALLS

"""One reply of a call, from what it answers to its end. Owned by `CallReplies`."""

from __future__ import annotations

import anyio

from duologue.conversations.agent.call_agent import CallToolLoop
from duologue.values.events import ReplyWord
from duologue.values.requests import ChatRequest


class CallReply:
    """`number` and `turn` are the session's; `user_text` is what the reply answers. `request` is its prompt, without the
    results of its tools."""

    def __init__(
        self, number: int, turn: int, user_text: str, tool_loop: CallToolLoop, request: ChatRequest
    ) -> None:
        self.number: int | None = number
        """None while the session has dropped it and its question is still open."""
        self.turn, self.user_text, self.tool_loop = turn, user_text, tool_loop
        self.request = request
        self.scope = anyio.CancelScope()
        self.consent: bool | None = None
        """The caller's yes or no to its question, until their turn is confirmed: they may say more."""
        self.answer_turn: int | None = None
        """The turn that only answered its question, and is not a turn of the conversation."""
        self.silenced = False
        """The caller asked for silence: its question is closed too."""
        self.interrupted = False
        """The caller spoke over it; the session will still report what was heard of it."""
        self.text = ""
        self.words: list[ReplyWord] = []
        self.played = 0
        """Samples the client has played."""
        self.turn_stored = False
        """Whether the turn it answers is in the history already."""

    @property
    def heard(self) -> str:
        """The text that was played under its present number."""
        return self.text[: max((word.to for word in self.words if word.end <= self.played), default=0)]

    @property
    def has_open_question(self) -> bool:
        return bool(self.tool_loop.approvals) and not self.silenced

    def resume_as(self, number: int, turn: int) -> None:
        """Continue under a new number: `turn` has answered its question."""
        self.number, self.answer_turn = number, turn
        self.text, self.words, self.played = "", [], 0

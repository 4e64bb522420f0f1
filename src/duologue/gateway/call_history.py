"""What a call remembers: what was said before it, and what was said and heard since.

Owns the messages its prompts are made of. A call of a conversation hands what it remembers on to be kept there, in order and
behind the talking. Knows no socket, no worker and no store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
from msgspec.structs import replace

from duologue.errors import Problem
from duologue.values.calls import Ending
from duologue.values.messages import ImagePart, Message, Part, TextPart, Tool, assistant, system, user
from duologue.values.requests import ChatRequest, Sampling

CUT = "…"
"""Stands in the history where a reply was interrupted, so that the model knows it was."""
MOST_LEFT = 1000
"""Turns that wait to be kept while the database cannot."""
CLOSING = 5.0
"""Seconds the last turns of a call may take to be kept."""
FULL = "What is said in this call cannot be kept: the database does not answer. The call itself goes on."


class CallHistory(Protocol):
    """What a call asks, and tells, about the conversation it belongs to."""

    def request(self, text: str, images: Sequence[ImagePart] = ()) -> ChatRequest:
        """The prompt of a reply to `text`, said after everything before it."""
        ...

    def user_said(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None: ...

    def called(self, messages: Sequence[Message]) -> None:
        """A reply called tools, and this is what came of it. It belongs before what the reply then says."""
        ...

    def assistant_said(self, heard: str, unheard: str, ending: Ending) -> None:
        """A reply is over, and `heard` is what was heard of it."""
        ...

    async def keeping(self) -> None:
        """Keep what is remembered as it comes, until cancelled."""
        ...

    async def close(self) -> None:
        """The call is over: keep what is left to keep."""
        ...


class LooseHistory:
    """A call's own, in memory, gone with it."""

    def __init__(self, instructions: str, model: str, tools: Sequence[Tool]) -> None:
        first = (system(instructions),) if instructions else ()
        self._request = ChatRequest(first, model=model, tools=tuple(tools), thinking=False, spoken=True)
        self._messages = list(first)

    def request(self, text: str, images: Sequence[ImagePart] = ()) -> ChatRequest:
        return replace(self._request, messages=(*self._messages, _user(text, images)))

    def user_said(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None:
        self._messages.append(_user(text, images))

    def called(self, messages: Sequence[Message]) -> None:
        self._messages.extend(messages)

    def assistant_said(self, heard: str, unheard: str, ending: Ending) -> None:
        if heard:
            self._messages.append(assistant(said(heard, ending)))

    async def keeping(self) -> None:
        """There is nowhere to keep it."""

    async def close(self) -> None:
        """Nothing is left to keep."""

    def restart(self, instructions: str, model: str, sampling: Sampling) -> None:
        """Begin again, with these instructions and nothing said."""
        self._messages = [system(instructions)] if instructions else []
        self._request = replace(self._request, model=model, sampling=sampling)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything so far."""
        return tuple(self._messages)


class Turns(Protocol):
    """Where the turns of a conversation are kept. Raises Problem."""

    async def user_said(self, text: str) -> None: ...

    async def assistant_said(self, heard: str, ending: Ending) -> None: ...


class KeptHistory(LooseHistory):
    """That of a call that goes on with a conversation. `begun` is the request of everything said before; `broken` is told, once,
    why something could not be kept."""

    def __init__(
        self, turns: Turns, begun: ChatRequest, tools: Sequence[Tool], broken: Callable[[Problem], None]
    ) -> None:
        super().__init__("", begun.model, ())
        self._request = replace(begun, tools=tuple(tools), thinking=False, spoken=True)
        self._messages = list(begun.messages)
        self._turns, self._broken = turns, broken
        self._left: deque[tuple[str, Ending | None]] = deque()
        self._came = anyio.Event()
        self._told = False

    def user_said(self, text: str, images: Sequence[ImagePart] = (), *, typed: bool = False) -> None:
        super().user_said(text, images, typed=typed)
        self._keep(text, None)

    def assistant_said(self, heard: str, unheard: str, ending: Ending) -> None:
        super().assistant_said(heard, unheard, ending)
        self._keep(heard, ending)

    def _keep(self, text: str, ending: Ending | None) -> None:
        if len(self._left) < MOST_LEFT:
            self._left.append((text, ending))
            self._came.set()
        else:
            self._tell(Problem(FULL, code="storage_unavailable", status=503))

    async def keeping(self) -> None:
        while True:
            await self._came.wait()
            self._came = anyio.Event()
            await self._flush()

    async def close(self) -> None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSING):
            await self._flush()

    async def _flush(self) -> None:
        """Keep what is left, in order. What cannot be kept now is tried again with the next: only what was kept is let go."""
        while self._left:
            text, ending = self._left[0]
            try:
                with anyio.CancelScope(shield=True):  # half of it would be kept twice
                    if ending is None:
                        await self._turns.user_said(text)
                    else:
                        await self._turns.assistant_said(text, ending)
            except Problem as problem:
                self._tell(problem)
                return
            self._left.popleft()
            self._told = False

    def _tell(self, problem: Problem) -> None:
        if not self._told:
            self._told = True
            self._broken(problem)


def said(heard: str, ending: Ending) -> str:
    """What the history keeps of a reply: what was heard, and a mark where it was cut off."""
    return heard.rstrip() + CUT if ending == "interrupted" else heard


def _user(text: str, images: Sequence[ImagePart]) -> Message:
    parts: tuple[Part, ...] = (*images, TextPart(text))
    return Message("user", parts) if images else user(text)

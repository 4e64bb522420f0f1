"""A conversation over the public surface, with the verbs of a person, for tests that run real servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import anyio
import httpx

from duologue.client.http import Client

PATIENCE = 20.0
"""Seconds a test waits for a reply."""
Json = dict[str, Any]
Event = tuple[int, Json]


def new_id() -> str:
    return uuid4().hex


def content(said: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": said}] if isinstance(said, str) else said


def text_of(row: Json) -> str:
    """The text of a message, of all its parts."""
    return "".join(part["text"] for part in row.get("content", []) if part["type"] == "text")


def calling(*calls: Json | str, say: str = "") -> str:
    """A script that makes these tool calls in one turn; of the next turn it would make the same again."""
    written = [call if isinstance(call, str) else json.dumps(call) for call in calls]
    return "/say " + say + "".join(f"<tool_call>{call}</tool_call>" for call in written)


def got(url: str, **more: Any) -> httpx.Response:
    """What is at an address, headers and all."""
    return httpx.get(url, timeout=PATIENCE, **more)


class Talk:
    """One conversation as one client sees it. `begin` it, then use the verbs; each names a new run unless told one."""

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.id = id
        self.path = f"/api/conversations/{id}"

    @classmethod
    async def begin(cls, client: Client, **body: Any) -> Talk:
        return cls(client, (await client.api("POST", "/api/conversations", {"id": new_id(), **body}))["id"])

    async def start(self, verb: str, *, run: str = "", **body: Any) -> str:
        """Begin a run; its id."""
        asked = {"verb": verb, "run": run or new_id(), **body}
        answer: Json = await self.client.api("POST", f"{self.path}/runs", asked)
        return str(answer["id"])

    async def say(self, said: str | list[Json], **more: Any) -> str:
        """Send a message; the id of the run that answers it."""
        return await self.start("send", message={"id": new_id(), "content": content(said)}, **more)

    async def wait(self, said: str, busy: str, id: str = "") -> Json:
        """Send a message while a reply is running; what waits then."""
        message = {"id": id or new_id(), "content": content(said)}
        asked = {"verb": "send", "run": new_id(), "message": message, "busy": busy}
        answer: Json = await self.client.api("POST", f"{self.path}/runs", asked)
        return answer

    async def ask(self, said: str | list[Json], **more: Any) -> str:
        """Send a message, wait for the whole answer; its text."""
        events = await self.heard(await self.say(said, **more))
        assert events[-1][1]["outcome"] == "done", events[-1]
        return text_of(await self.last())

    async def heard(self, run: str, after: int = 0) -> list[Event]:
        """Every event of a run beyond number `after`, to its end."""
        with anyio.fail_after(PATIENCE):
            return [event async for event in self.client.follow(run, after)]

    async def until(self, run: str, true: Callable[[Json], bool], after: int = 0) -> list[Event]:
        """The events of a run up to the first for which this is true; then the stream is left."""
        events: list[Event] = []
        following = self.client.follow(run, after)
        try:
            with anyio.fail_after(PATIENCE):
                async for event in following:
                    events.append(event)
                    if true(event[1]):
                        return events
        finally:
            await following.aclose()
        raise AssertionError(f"it never came: {[said['type'] for _, said in events]}")

    async def until_text(self, run: str, text: str) -> list[Event]:
        """Follow a run until the text that has come holds this."""
        said: list[str] = []

        def come(event: Json) -> bool:
            if event["type"] == "delta" and event["kind"] == "text":
                said.append(event["text"])
            return text in "".join(said)

        return await self.until(run, come)

    async def asked(self, run: str) -> Json:
        """The first question of a run."""
        events = await self.until(run, lambda event: event["type"] == "approval_asked")
        approval: Json = events[-1][1]["approval"]
        return approval

    async def answer(self, approval: Json, decision: str) -> Json:
        return await self.client.api("POST", f"/api/approvals/{approval['id']}", {"decision": decision})

    async def stop(self, run: str) -> Json:
        return await self.client.api("POST", f"/api/runs/{run}/stop")

    async def whole(self) -> Json:
        """Everything a viewer needs."""
        return await self.client.api("GET", self.path)

    async def rows(self) -> list[Json]:
        found: list[Json] = (await self.whole())["messages"]
        return found

    async def shown(self) -> list[Json]:
        """The rows of the branch looked at, the first one first."""
        whole = await self.whole()
        rows, path = {row["id"]: row for row in whole["messages"]}, []
        row = rows.get(whole["conversation"].get("leaf"))
        while row is not None:
            path.insert(0, row)
            row = rows.get(row["parent"])
        return path

    async def last(self, role: str = "assistant") -> Json:
        return next(row for row in reversed(await self.shown()) if row["role"] == role)

    async def texts(self) -> list[str]:
        """What is shown, message by message."""
        return [text_of(row) for row in await self.shown()]


def seen(events: list[Event], rows: dict[str, Json] | None = None) -> dict[str, str]:
    """What a viewer shows who has had these events: the text of each row, which it only ever appends to. `rows` are
    those it had before."""
    shown = {} if rows is None else {id: text_of(row) for id, row in rows.items()}
    for _, event in events:
        if event["type"] == "message_added":
            shown[event["message"]["id"]] = text_of(event["message"])
        elif event["type"] == "delta" and event["kind"] == "text":
            shown[event["message"]] = shown.get(event["message"], "") + event["text"]
    return shown


def kinds(events: list[Event]) -> list[str]:
    return [event["type"] for _, event in events]

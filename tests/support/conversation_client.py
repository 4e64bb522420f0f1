"""A client of one conversation over the public API, for tests that run real servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import anyio
import httpx

from duologue.client.http import Client

PATIENCE = 60.0
"""Seconds a test waits for a reply."""
Json = dict[str, Any]
Event = tuple[int, Json]


def new_id() -> str:
    return uuid4().hex


def content(message: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": message}] if isinstance(message, str) else message


def text_of(row: Json) -> str:
    """The text of a message, of all its parts."""
    return "".join(part["text"] for part in row.get("content", []) if part["type"] == "text")


def tool_call_script(*calls: Json | str, say: str = "") -> str:
    """A script for the scripted engine that makes these tool calls in one turn, and the same ones in the next turn."""
    scripts = [call if isinstance(call, str) else json.dumps(call) for call in calls]
    return "/say " + say + "".join(f"<tool_call>{call}</tool_call>" for call in scripts)


def fetch(url: str, **more: Any) -> httpx.Response:
    """The response at an address."""
    return httpx.get(url, timeout=PATIENCE, **more)


class ConversationClient:
    """One conversation as one client sees it. `begin` it, then use the verbs; each starts a new run unless given an id."""

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.id = id
        self.path = f"/api/conversations/{id}"

    @classmethod
    async def begin(cls, client: Client, **body: Any) -> ConversationClient:
        return cls(client, (await client.api("POST", "/api/conversations", {"id": new_id(), **body}))["id"])

    async def start(self, verb: str, *, run: str = "", **fields: Any) -> str:
        """Start a run; returns its id."""
        body = {"verb": verb, "run": run or new_id(), **fields}
        answer: Json = await self.client.api("POST", f"{self.path}/runs", body)
        return str(answer["id"])

    async def say(self, message: str | list[Json], **more: Any) -> str:
        """Send a message; returns the id of the run that answers it."""
        return await self.start("send", message={"id": new_id(), "content": content(message)}, **more)

    async def wait(self, text: str, busy: str, id: str = "") -> Json:
        """Send a message while a reply is running; returns what is queued."""
        message = {"id": id or new_id(), "content": content(text)}
        body = {"verb": "send", "run": new_id(), "message": message, "busy": busy}
        answer: Json = await self.client.api("POST", f"{self.path}/runs", body)
        return answer

    async def ask(self, message: str | list[Json], **more: Any) -> str:
        """Send a message and wait for the complete answer; returns its text."""
        events = await self.events(await self.say(message, **more))
        assert events[-1][1]["outcome"] == "done", events[-1]
        return text_of(await self.last())

    async def events(self, run: str, after: int = 0) -> list[Event]:
        """The events of a run after number `after`, to its end."""
        with anyio.fail_after(PATIENCE):
            return [event async for event in self.client.follow(run, after)]

    async def until(self, run: str, condition: Callable[[Json], bool], after: int = 0) -> list[Event]:
        """The events of a run up to the first that meets the condition; then the stream is closed."""
        events: list[Event] = []
        following = self.client.follow(run, after)
        try:
            with anyio.fail_after(PATIENCE):
                async for event in following:
                    events.append(event)
                    if condition(event[1]):
                        return events
        finally:
            await following.aclose()
        raise AssertionError(f"the event never came: {[event['type'] for _, event in events]}")

    async def until_text(self, run: str, text: str) -> list[Event]:
        """Follow a run until its text contains this."""
        pieces: list[str] = []

        def contains(event: Json) -> bool:
            if event["type"] == "delta" and event["kind"] == "text":
                pieces.append(event["text"])
            return text in "".join(pieces)

        return await self.until(run, contains)

    async def first_approval(self, run: str) -> Json:
        """The first approval that a run asks for."""
        events = await self.until(run, lambda event: event["type"] == "approval_asked")
        approval: Json = events[-1][1]["approval"]
        return approval

    async def answer(self, approval: Json, decision: str) -> Json:
        return await self.client.api("POST", f"/api/approvals/{approval['id']}", {"decision": decision})

    async def stop(self, run: str) -> Json:
        return await self.client.api("POST", f"/api/runs/{run}/stop")

    async def load(self) -> Json:
        """The conversation with its messages."""
        return await self.client.api("GET", self.path)

    async def messages(self) -> list[Json]:
        rows: list[Json] = (await self.load())["messages"]
        return rows

    async def branch(self) -> list[Json]:
        """The messages of the current branch, the first one first."""
        whole = await self.load()
        rows = {row["id"]: row for row in whole["messages"]}
        path: list[Json] = []
        row = rows.get(whole["conversation"].get("leaf"))
        while row is not None:
            path.insert(0, row)
            row = rows.get(row["parent"])
        return path

    async def last(self, role: str = "assistant") -> Json:
        return next(row for row in reversed(await self.branch()) if row["role"] == role)

    async def texts(self) -> list[str]:
        """The texts of the current branch."""
        return [text_of(row) for row in await self.branch()]


def displayed_texts(events: list[Event], rows: dict[str, Json] | None = None) -> dict[str, str]:
    """What a viewer displays after these events: the text of each message, by id. `rows` are the messages it had before."""
    shown = {} if rows is None else {id: text_of(row) for id, row in rows.items()}
    for _, event in events:
        if event["type"] == "message_added":
            shown[event["message"]["id"]] = text_of(event["message"])
        elif event["type"] == "delta" and event["kind"] == "text":
            shown[event["message"]] = shown.get(event["message"], "") + event["text"]
    return shown


def event_types(events: list[Event]) -> list[str]:
    return [event["type"] for _, event in events]

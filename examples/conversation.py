"""A conversation the server keeps, from its first message to its export: everything a page does, without a page.

    python examples/conversation.py ["What time is it in Oslo?" ["Tell me a short story about a fox."]]

Sends, follows the stream, leaves and joins again, stops in mid-reply and goes on, asks again, edits, attaches a file,
lets a tool run after saying yes to it, branches, searches and takes the whole out as Markdown. The server is the one
at http://127.0.0.1:8006, or the one named by DUOLOGUE_SERVER; DUOLOGUE_KEY is the key where it needs one. A tool that
asks is there when the server knows an MCP server, as in examples/mcp_servers.yaml.
"""

import asyncio
import os
import sys
from typing import Any
from uuid import uuid4

from duologue.client.http import Client
from duologue.errors import Problem

SERVER = os.environ.get("DUOLOGUE_SERVER", "http://127.0.0.1:8006")
Json = dict[str, Any]


def new_id() -> str:
    """Ids are the client's, so that a command sent twice, for want of an answer, happens once."""
    return uuid4().hex


def said(text: str, *files: Json) -> Json:
    return {"id": new_id(), "content": [{"type": "text", "text": text}, *files]}


class Chat:
    """One conversation, as this program sees it."""

    def __init__(self, client: Client, conversation: str) -> None:
        self.client = client
        self.path = f"/api/conversations/{conversation}"
        self.rows: dict[str, Json] = {}

    async def run(self, verb: str, *, leave_after: int = 0, stop_after: int = 0, **body: Any) -> Json:
        """Start a run and follow it to its end; its `run_done`. `leave_after` so many pieces of text the stream is
        left and joined again where it was; `stop_after` so many the run is stopped."""
        run = new_id()
        await self.client.api("POST", f"{self.path}/runs", {"verb": verb, "run": run, **body})
        last, pieces, text = 0, 0, ""
        while True:
            async for number, event in self.client.follow(run, last):
                last = number
                match event["type"]:
                    case "message_added" | "message_done" | "tool_result":
                        self.rows[event["message"]["id"]] = event["message"]
                    case "delta" if event["kind"] == "text":
                        pieces, text = pieces + 1, text + event["text"]
                        if pieces == stop_after:
                            await self.client.api("POST", f"/api/runs/{run}/stop")
                        if pieces == leave_after:
                            break
                    case "approval_asked":
                        await self.allow(event["approval"])
                    case "run_done":
                        print(f"{verb:<10}  {event['outcome']:<11}  {text.strip()[:60]!r}")
                        return event

    async def allow(self, approval: Json) -> None:
        print(f"{'':<10}  asked        may {approval['server']} run {approval['tool']}? Yes, once.")
        await self.client.api("POST", f"/api/approvals/{approval['id']}", {"decision": "once"})

    async def path_shown(self) -> list[Json]:
        """The rows of the branch last looked at, the first one first."""
        shown = await self.client.api("GET", self.path)
        rows = {row["id"]: row for row in shown["messages"]}
        row, path = rows.get(shown["conversation"].get("leaf")), []
        while row is not None:
            path.insert(0, row)
            row = rows.get(row["parent"])
        return path

    async def last(self, role: str) -> Json:
        return next(row for row in reversed(await self.path_shown()) if row["role"] == role)


async def talk(client: Client, question: str, story: str) -> None:
    made = await client.api(
        "POST", "/api/conversations", {"id": new_id(), "system": "You are a helpful assistant."}
    )
    chat = Chat(client, made["id"])

    await chat.run("send", message=said("Hello! My name is Ada."), leave_after=2)
    ended = await chat.run("send", message=said(story), stop_after=3)
    told = await chat.last("assistant")
    if ended["outcome"] == "stopped":  # a quick model may have been at its end already
        await chat.run("continue", message=told["id"])
    await chat.run("regenerate", message=told["id"])
    asked = await chat.last("user")
    await chat.run("edit", message=asked["id"], new=said("Tell me a short story about a bear."))

    note = await client.upload(b"The boat is called Maria and it is red.", "boat.txt")
    file = {"type": "file", "blob": note["hash"], "name": "boat.txt"}
    await chat.run("send", message=said("What is the boat called?", file))

    done = await chat.run("send", message=said(question))
    print(f"{'':<10}  tools        {done.get('calls', 0)} called in {done.get('turns', 0)} turns")

    hits = (await client.api("GET", "/api/search?q=boat"))["hits"]
    print(f"{'search':<10}  {len(hits)} found     {hits[0]['snippet'][:60]!r}")
    branches = len((await client.api("GET", chat.path))["messages"]) - len(await chat.path_shown())
    print(f"{'tree':<10}  {len(await chat.path_shown())} rows shown, {branches} on other branches")
    await client.api("PATCH", chat.path, {"title": "Ada, a bear and a boat", "pinned": True})


async def main(
    question: str = "What time is it in Oslo?", story: str = "Tell me a short story about a fox."
) -> None:
    async with Client(SERVER, os.environ.get("DUOLOGUE_KEY")) as client:
        await talk(client, question, story)


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:3]))
    except Problem as problem:
        sys.exit(f"{problem.code}: {problem.message}")

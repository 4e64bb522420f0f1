"""A conversation stored on the server, from its first message to search: what the page does, as a script.

    python examples/conversation.py ["What time is it in Oslo?" ["Tell me a short story about a fox."]]

Sends a message, follows the stream, disconnects and rejoins, stops a reply and continues it, regenerates, edits, attaches a
file, approves a tool call, counts branches and searches. DUOLOGUE_SERVER is the server's address (default:
http://127.0.0.1:8006), DUOLOGUE_KEY its key, if it needs one. The built-in tools need no approval; to see one, configure an
MCP server as in examples/mcp_servers.yaml.
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
    """Clients choose ids, so that a command repeated after a lost answer takes effect once."""
    return uuid4().hex


def user_message(text: str, *files: Json) -> Json:
    return {"id": new_id(), "content": [{"type": "text", "text": text}, *files]}


class Chat:
    """One conversation, as this program sees it."""

    def __init__(self, client: Client, conversation: str) -> None:
        self.client = client
        self.path = f"/api/conversations/{conversation}"
        self.rows: dict[str, Json] = {}

    async def run(self, verb: str, *, leave_after: int = 0, stop_after: int = 0, **body: Any) -> Json:
        """Start a run, follow it to its end and return its `run_done` event. After `leave_after` pieces of text the
        stream is left and rejoined at the same place; after `stop_after` pieces the run is stopped."""
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

    async def current_path(self) -> list[Json]:
        """The messages of the current branch, oldest first."""
        view = await self.client.api("GET", self.path)
        rows = {row["id"]: row for row in view["messages"]}
        row, path = rows.get(view["conversation"].get("leaf")), []
        while row is not None:
            path.insert(0, row)
            row = rows.get(row["parent"])
        return path

    async def last(self, role: str) -> Json:
        return next(row for row in reversed(await self.current_path()) if row["role"] == role)


async def talk(client: Client, question: str, story: str) -> None:
    conversation = await client.api(
        "POST", "/api/conversations", {"id": new_id(), "system": "You are a helpful assistant."}
    )
    chat = Chat(client, conversation["id"])

    await chat.run("send", message=user_message("Hello! My name is Ada."), leave_after=2)
    result = await chat.run("send", message=user_message(story), stop_after=3)
    reply = await chat.last("assistant")
    if result["outcome"] == "stopped":  # a fast model may have finished before the stop
        await chat.run("continue", message=reply["id"])
    await chat.run("regenerate", message=reply["id"])
    request = await chat.last("user")
    await chat.run("edit", message=request["id"], new=user_message("Tell me a short story about a bear."))

    note = await client.upload(b"The boat is called Maria and it is red.", "boat.txt")
    file = {"type": "file", "blob": note["hash"], "name": "boat.txt"}
    await chat.run("send", message=user_message("What is the boat called?", file))

    result = await chat.run("send", message=user_message(question))
    print(f"{'':<10}  tools        {result.get('calls', 0)} called in {result.get('turns', 0)} turns")

    hits = (await client.api("GET", "/api/search?q=boat"))["hits"]
    print(f"{'search':<10}  {len(hits)} found     {hits[0]['snippet'][:60]!r}")
    branches = len((await client.api("GET", chat.path))["messages"]) - len(await chat.current_path())
    print(f"{'tree':<10}  {len(await chat.current_path())} messages shown, {branches} on other branches")
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

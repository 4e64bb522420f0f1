"""Raw replies of model families in a call: the caller hears the answer, never a thought, a marker or a sign of Markdown, and the tool
that was called is used."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx
import pytest
from tests.e2e.test_recorded_replies import SHOWN, script, some_families, written
from tests.e2e.test_speech import SCRIPTED, voiced
from tests.support.conversation_client import ConversationClient, text_of
from tests.support.tool_call_families import Call, Family

from duologue.client.http import Client
from duologue.text.output.reply_format import named_format

pytestmark = pytest.mark.system

PATIENCE = 60.0
THOUGHT = "SECRET **six** times seven"
BEFORE = "**Let** me `look`.\n\n"
AFTER = "# Result\n\nIt is *forty two*, [here](http://x.test)."
SPOKEN_BEFORE = ("Let", "me", "look.")
SPOKEN_AFTER = ("Result.", "It", "is", "forty", "two,", "here.")


@dataclass
class Heard:
    """What a caller got until the reply's end: the spoken words, the states of the tool and the last message of the reply."""

    words: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    done: dict[str, Any] = field(default_factory=dict)
    conversation: str = ""


def asking(family: Family) -> str:
    """A turn as the family writes it: a thought, text with Markdown where text may come first, and a call of the calculator."""
    marks = named_format(family.format).reasoning
    thought = f"{marks.start}{THOUGHT}{marks.end}" if marks else ""
    before = f"{family.lead}{BEFORE}" if family.before else ""
    return thought + before + family.write([Call("calculator", {"expression": "6*7"})])


async def listen(socket: Any, heard: Heard) -> None:
    """Gather what comes until the reply has been spoken; sound is played at once."""
    while not heard.done:
        frame = await socket.recv()
        if isinstance(frame, bytes):
            continue
        message = json.loads(frame)
        match message["type"]:
            case "caption":
                heard.words += [word["text"] for word in message["words"]]
            case "tool":
                heard.tools.append(message["state"])
            case "audio_end":
                told = {"reply_id": message["reply_id"], "samples": message["samples"]}
                await socket.send(json.dumps({"type": "played", **told}))
            case "reply_done" | "error":
                heard.done = message


async def call(url: str, family: Family, heard: Heard) -> None:
    """One call in which the family's reply is asked for."""
    async with Client(url) as client:
        talk = await ConversationClient.begin(client)
        socket = await client.connect("/ws/voice")
        text = script(family.format, asking(family), "/then", f"/raw {written(AFTER)}")
        start = {"type": "start", "conversation_id": talk.id, "features": ["played"]}
        for message in (start, {"type": "text", "text": text}):
            await socket.send(json.dumps(message))
        await listen(socket, heard)
        heard.conversation = talk.id


@pytest.fixture(scope="module")
def speaking(lasting: Callable[..., Any]) -> Any:
    return voiced(lasting("--engine", "scripted", **SCRIPTED))


@pytest.fixture(scope="module")
def calls(speaking: Any) -> dict[str, Heard]:
    """A call with each family, all at the same time, since speech takes its time."""
    heard = {family.format: Heard() for family in SHOWN}

    async def all_of_them() -> None:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                for family in SHOWN:
                    tasks.start_soon(call, speaking.url, family, heard[family.format])

    anyio.run(all_of_them)
    return heard


@some_families
def test_the_caller_hears_the_answer_and_neither_thoughts_nor_markers_nor_markdown(
    calls: dict[str, Heard], family: Family
) -> None:
    heard = calls[family.format]
    assert heard.words == [*(SPOKEN_BEFORE if family.before else ()), *SPOKEN_AFTER]
    assert heard.done["ending"] == "spoken"
    assert "SECRET" not in heard.done["text"]


@some_families
def test_the_tool_is_used_and_each_part_is_kept(
    speaking: Any, calls: dict[str, Heard], family: Family
) -> None:
    heard = calls[family.format]
    assert heard.tools == ["waiting", "running", "done"]
    address = f"{speaking.url}/api/conversations/{heard.conversation}"
    # They are stored once the end of the reply was told.
    speaking.until(lambda: len(httpx.get(address).json()["messages"]) == 4)
    _, asked, result, answer = httpx.get(address).json()["messages"]
    assert [made["name"] for made in asked["tool_calls"]] == ["calculator"]
    assert [text_of(row) for row in (asked, result, answer)] == [
        BEFORE.strip() if family.before else "",
        "42",
        AFTER,
    ]

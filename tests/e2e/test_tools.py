"""Replies that use tools, with real tool servers of their own processes, answered and watched over the public surface."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from msgspec import convert
from tests.support.conversation_client import (
    ConversationClient,
    content,
    event_types,
    fetch,
    new_id,
    text_of,
    tool_call_script,
)

from duologue.client.http import Client
from duologue.errors import Problem
from duologue.values.conversations import StoredMessage

pytestmark = [pytest.mark.system, pytest.mark.anyio]

SERVERS = Path(__file__).parent.parent / "tools" / "servers"
TIME = {"name": "get_current_time", "arguments": {"timezone": "Asia/Tokyo"}}
ONCE = {"max_turns": 1}
"""The scripted engine makes its calls again in every turn; one turn is enough."""


def written(text: str) -> dict:
    return {"name": "write", "arguments": {"text": text}}


def looked(at: str, after: str = "") -> dict:
    return {"name": "look", "arguments": {"at": at, "after": after}}


def settings(folder: Path, **runs: object) -> list[str]:
    """The arguments of a server with tool servers."""
    plain: dict[str, Any] = {"command": sys.executable, "args": [str(SERVERS / "plain.py")]}
    plain["env"] = {"PLAIN_NOTES": str(folder / "notes")}
    servers = {
        "time": {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]},
        "plain": plain,
        "odd": {"command": sys.executable, "args": [str(SERVERS / "odd.py")]},
    }
    file = folder / "settings.yaml"
    file.write_text(json.dumps({"mcp": {"servers": servers}, "runs": {"tool_s": 6.0, **runs}}))
    return ["--engine", "scripted", "--config", str(file)]


def connected(server):
    """The server, when its tool servers have said what they offer."""
    server.ready()

    def ready() -> bool:
        rows = httpx.get(f"{server.url}/api/mcp").json()["servers"]
        return len(rows) == 4 and all(row["phase"] == "ready" for row in rows)

    server.until(ready, 60)
    return server


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("tools")


@pytest.fixture(scope="module")
def with_tools(lasting, folder):
    return connected(lasting(*settings(folder)))


@pytest.fixture
async def client(with_tools):
    async with Client(with_tools.url) as client:
        yield client
        await client.api("DELETE", "/api/permissions")


@pytest.fixture
async def talk(client):
    return await ConversationClient.begin(client, options=ONCE)


async def tools_of(talk: ConversationClient) -> list[dict]:
    return [row for row in await talk.branch() if row["role"] == "tool"]


async def states(talk: ConversationClient) -> list[str]:
    return [row["call"]["state"] for row in await tools_of(talk)]


# ---- calls


async def test_a_real_server_from_pypi_tells_the_time_in_a_reply(talk):
    run = await talk.say(tool_call_script(TIME, say="Let me look. "))
    events = await talk.events(run)
    # It says of itself that it only reads, so nobody was asked.
    assert "approval_asked" not in event_types(events)
    done = events[-1][1]
    assert (done["outcome"], done["calls"]) == ("limit", 1)
    _, asking, tool = await talk.branch()
    assert (text_of(asking).strip(), asking["tool_calls"][0]["name"]) == ("Let me look.", "get_current_time")
    assert (tool["tool_call_id"], tool["parent"]) == (asking["tool_calls"][0]["id"], asking["id"])
    assert json.loads(text_of(tool))["timezone"] == "Asia/Tokyo"
    assert (tool["call"]["server"], tool["call"]["state"]) == ("time", "done")


async def test_a_tool_that_only_reads_runs_without_asking_and_so_do_the_built_in_ones(talk):
    run = await talk.say(
        tool_call_script(looked("it"), {"name": "calculator", "arguments": {"expression": "6*7"}})
    )
    events = await talk.events(run)
    assert "approval_asked" not in event_types(events)
    seen, sum = await tools_of(talk)
    assert (text_of(seen), "42" in text_of(sum)) == ("saw it", True)


async def test_calls_of_one_turn_run_beside_each_other_and_answer_in_their_order(talk):
    run = await talk.say(tool_call_script(looked("slow", after="fast"), looked("fast")))
    events = await talk.events(run)
    ended = [text_of(event["message"]) for _, event in events if event["type"] == "tool_result"]
    assert ended == ["saw fast", "saw slow"]
    slow, fast = await tools_of(talk)
    assert (text_of(slow), text_of(fast), fast["parent"]) == ("saw slow", "saw fast", slow["id"])


async def test_the_turns_of_a_reply_are_rows_of_their_own_and_its_usage_is_their_sum(client):
    talk = await ConversationClient.begin(client, options={"max_turns": 2})
    run = await talk.say(tool_call_script(looked("it")))
    events = await talk.events(run)
    rows = await talk.branch()
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "assistant", "tool"]
    told = {
        event["message"]["id"]: event["message"] for _, event in events if "id" in event.get("message", "")
    }
    for row in rows[1:]:
        # What has its usual value may be left out.
        assert convert(told[row["id"]], StoredMessage) == convert(row, StoredMessage)
    usage = [row["usage"] for row in rows if row["role"] == "assistant"]
    done = events[-1][1]
    assert done["usage"]["input"] == sum(one["input"] for one in usage)
    assert done["usage"]["output"] == sum(one["output"] for one in usage)
    assert (done["turns"], done["calls"]) == (2, 2)


async def test_a_reply_at_its_limit_asks_and_continuing_it_takes_the_next_turn(talk):
    run = await talk.say(tool_call_script(looked("it")))
    assert (await talk.events(run))[-1][1]["outcome"] == "limit"
    events = await talk.events(await talk.start("continue", message=(await talk.last())["id"]))
    assert events[-1][1]["outcome"] == "limit"
    roles = [row["role"] for row in await talk.branch()]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"name": "sing", "arguments": {}}, "There is no tool called 'sing'"),
        ({"name": "look", "arguments": {"at": 5}}, "at"),
        ({"name": "fail", "arguments": {}}, "Error executing tool fail"),
        ('{"name": "look", "arguments": {"at": it}}', "The arguments of look are not valid JSON"),
    ],
    ids=["no such tool", "arguments that do not fit", "a tool that fails", "no JSON"],
)
async def test_what_is_wrong_with_a_call_is_told_to_the_model_and_the_reply_goes_on(client, call, words):
    talk = await ConversationClient.begin(client, options={"max_turns": 2})
    events = await talk.events(await talk.say(tool_call_script(call)))
    assert events[-1][1]["outcome"] == "limit"
    tools = await tools_of(talk)
    assert [row["call"]["state"] for row in tools] == ["failed", "failed"]
    assert words in text_of(tools[0])


async def test_a_tool_that_never_answers_is_given_up_and_the_reply_goes_on(client):
    talk = await ConversationClient.begin(client, options={"max_turns": 1})
    done = (await talk.events(await talk.say(tool_call_script({"name": "hang", "arguments": {}}))))[-1][1]
    assert done["outcome"] == "limit"
    [tool] = await tools_of(talk)
    assert (tool["call"]["state"], "6 seconds" in text_of(tool)) == ("failed", True)


async def test_a_tool_server_that_dies_fails_the_call_and_is_there_again(talk, with_tools):
    await talk.events(await talk.say(tool_call_script({"name": "end", "arguments": {}})))
    assert await states(talk) == ["failed"]
    health = await talk.client.api("POST", "/api/mcp/servers/plain/reconnect")
    assert health["phase"] == "ready"
    await talk.events(await talk.say(tool_call_script(looked("again"))))
    assert text_of((await tools_of(talk))[-1]) == "saw again"


async def test_a_picture_of_a_tool_is_a_file_that_is_kept(talk, with_tools):
    await talk.events(await talk.say(tool_call_script({"name": "draw", "arguments": {}})))
    [tool] = await tools_of(talk)
    [picture] = [part for part in tool["content"] if part["type"] == "image"]
    assert (picture["width"], picture["height"]) == (8, 6)
    answer = fetch(f"{with_tools.url}/api/blobs/{picture['blob']}")
    assert (answer.headers["content-type"], answer.content[:4]) == ("image/png", b"\x89PNG")


async def test_a_resource_is_read_once_and_goes_with_the_message(talk):
    found = await talk.client.api("GET", "/api/mcp/resources")
    assert "note://today" in json.dumps(found)
    read = await talk.client.api(
        "POST", "/api/mcp/resources/read", {"server": "plain", "uri": "note://today"}
    )
    [part] = read["content"]
    before = (await talk.client.api("GET", f"{talk.path}/context"))["tokens"]
    await talk.ask([*content("/say thanks"), part])
    row = (await talk.branch())[0]
    assert row["content"][1]["text"] == "Water the plants."
    after = (await talk.client.api("GET", f"{talk.path}/context"))["tokens"]
    assert after - before > len("/say thanksthanksWater the plants.")


async def test_a_server_switched_off_for_a_conversation_is_not_offered(client):
    talk = await ConversationClient.begin(client, options={"max_turns": 1, "servers": {"plain": False}})
    await talk.events(await talk.say(tool_call_script(looked("it"))))
    [tool] = await tools_of(talk)
    assert "There is no tool called 'look'" in text_of(tool)


# ---- approvals


async def test_a_question_is_answered_from_another_device_and_remembered_for_the_tool(
    talk, with_tools, folder
):
    text = new_id()
    run = await talk.say(tool_call_script(written(text)))
    asked = await talk.first_approval(run)
    async with Client(with_tools.url) as phone:
        [waiting] = (await phone.api("GET", "/api/approvals"))["approvals"]
        assert (waiting["id"], waiting["arguments"]) == (asked["id"], asked["arguments"])
        assert (await phone.api("GET", f"/api/runs/{run}"))["waiting"] == "approval"
        assert (await phone.api("GET", talk.path))["approvals"] == [waiting]
        answer = await phone.api("POST", f"/api/approvals/{waiting['id']}", {"decision": "tool"})
        assert answer["decision"] == "tool"
    await talk.events(run)
    assert text in (folder / "notes").read_text()
    # The first answer counts, and is what everybody hears.
    assert (await talk.answer(asked, "deny"))["decision"] == "tool"
    assert (await talk.client.api("GET", "/api/permissions"))["permissions"] == [
        {"server": "plain", "tool": "write"}
    ]
    other = await ConversationClient.begin(talk.client, options=ONCE)
    assert "approval_asked" not in event_types(
        await other.events(await other.say(tool_call_script(written("more"))))
    )
    await talk.client.api("DELETE", "/api/permissions?server=plain&tool=write")
    run = await other.say(tool_call_script(written("even more")))
    await other.first_approval(run)
    await other.stop(run)


async def test_allowing_a_server_answers_its_other_questions_too(talk):
    run = await talk.say(
        tool_call_script(written("one"), written("two"), {"name": "whoami", "arguments": {}})
    )
    events = await talk.until(run, lambda event: event.get("approval", {}).get("server") == "odd")
    first = next(event["approval"] for _, event in events if event["type"] == "approval_asked")
    await talk.answer(first, "server")
    left = (await talk.load())["approvals"]
    assert [one["server"] for one in left] == ["odd"]
    await talk.answer(left[0], "deny")
    await talk.events(run)
    assert await states(talk) == ["done", "done", "denied"]


async def test_a_denied_call_is_not_made_and_the_model_is_told(client, folder):
    talk = await ConversationClient.begin(client, options={"max_turns": 2})
    text = new_id()
    run = await talk.say(tool_call_script(written(text)))
    await talk.answer(await talk.first_approval(run), "deny")
    again: list[dict] = []
    while not again:
        again = (await talk.load())["approvals"]
    await talk.answer(again[0], "deny")
    assert (await talk.events(run))[-1][1]["outcome"] == "limit"
    assert await states(talk) == ["denied", "denied"]
    assert "denied" in text_of((await tools_of(talk))[0])
    assert not (folder / "notes").exists() or text not in (folder / "notes").read_text()


async def test_stopping_a_reply_that_asks_closes_the_question_and_leaves_a_whole_history(talk):
    run = await talk.say(tool_call_script(written("never"), looked("it")))
    asked = await talk.first_approval(run)
    assert (await talk.stop(run))["outcome"] == "stopped"
    assert (await talk.load())["approvals"] == []
    assert (await states(talk))[0] == "skipped"
    assert (await talk.answer(asked, "once"))["decision"] is None
    assert await talk.ask("/say and now") == "and now"


async def test_what_the_user_says_meanwhile_goes_before_a_call_that_was_not_made(talk):
    run = await talk.say(tool_call_script(written("never")))
    await talk.first_approval(run)
    await talk.client.api(
        "POST", f"/api/runs/{run}/steer", {"id": new_id(), "content": content("/say as you like")}
    )
    assert (await talk.events(run))[-1][1]["outcome"] == "done"
    assert await states(talk) == ["skipped"]
    assert (await talk.texts())[-2:] == ["/say as you like", "as you like"]


async def test_a_server_that_asks_for_something_gets_what_the_user_says(talk):
    run = await talk.say(tool_call_script({"name": "book", "arguments": {}}))
    await talk.answer(await talk.first_approval(run), "once")
    events = await talk.until(
        run, lambda event: event["type"] == "approval_asked" and event["approval"].get("kind") == "form"
    )
    form = events[-1][1]["approval"]
    assert form["message"] == "Who is it for?"
    with pytest.raises(Problem, match="an action"):
        await talk.answer(form, "once")
    await talk.client.api(
        "POST", f"/api/approvals/{form['id']}", {"action": "accept", "values": {"name": "Ada"}}
    )
    await talk.events(run)
    assert text_of((await tools_of(talk))[0]) == "booked for Ada"


async def test_what_nobody_answers_in_time_is_a_no_and_a_silent_model_is_given_up(serve, tmp_path):
    server = connected(serve(*settings(tmp_path, approval_s=0.5, model_silence_s=0.5)))
    async with Client(server.url) as client:
        silent = await ConversationClient.begin(client)
        done = (await silent.events(await silent.say("/say so far\n/hang")))[-1][1]
        assert (done["outcome"], done["error"]["kind"]) == ("failed", "timeout")
        assert text_of(await silent.last()) == "so far"
        talk = await ConversationClient.begin(client, options=ONCE)
        events = await talk.events(await talk.say(tool_call_script(written("never"))))
        answered = next(event for _, event in events if event["type"] == "approval_answered")
        assert answered["decision"] is None
        assert events[-1][1]["outcome"] == "limit"
        assert await states(talk) == ["expired"]
        assert (await client.api("GET", "/api/approvals"))["approvals"] == []
        assert not (tmp_path / "notes").exists()


async def test_a_server_killed_while_it_asks_asks_again_when_the_reply_is_continued(serve, tmp_path):
    arguments = [*settings(tmp_path), "--data", str(tmp_path / "data")]
    server = connected(serve(*arguments))
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, options=ONCE)
        run = await talk.say(tool_call_script(written("once")))
        asked = await talk.first_approval(run)
    server.stop(signal.SIGKILL)
    server = connected(serve(*arguments))
    async with Client(server.url) as client:
        talk.client = client
        assert (await client.api("GET", "/api/approvals"))["approvals"] == []
        assert (await talk.events(run))[-1][1]["outcome"] == "interrupted"
        assert await states(talk) == ["failed"]
        assert (await talk.answer(asked, "once"))["decision"] is None
        with anyio.fail_after(60):
            rest = await talk.start("continue", message=(await talk.last())["id"])
            await talk.answer(await talk.first_approval(rest), "once")
            await talk.events(rest)
        assert (tmp_path / "notes").read_text() == "once\n"

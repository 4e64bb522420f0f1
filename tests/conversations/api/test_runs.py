"""Running replies over HTTP: begun once, followed by anyone of the user's, stopped, steered, answered."""

from typing import Any

import anyio
import pytest
from tests.support.conversation_service import Site, opened_site

from duologue.values.conversations import Approval
from duologue.values.runs import Run

pytestmark = pytest.mark.anyio

TEXT = [{"type": "text", "text": "more"}]


def error(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def text_of(events: list[tuple[int, dict[str, Any]]]) -> str:
    return "".join(event["text"] for _, event in events if event["type"] == "delta")


async def held(site: Site, number: int = 1) -> None:
    """A reply that is silent after its first word."""
    site.model.hold = anyio.Event()
    assert (await site.send("hello", number)).status_code == 202
    with anyio.fail_after(60):
        while not site.model.asked:
            await anyio.lowlevel.checkpoint()


async def test_a_message_is_sent_and_its_answer_followed_to_the_end(site: Site) -> None:
    await site.conversation()
    begun = await site.send("hello", 1)
    assert begun.status_code == 202
    assert (begun.json()["id"], begun.json()["conversation"]) == ("r1", "c")
    events = await site.events("r1")
    assert events[0][1]["type"] == "run_started"
    assert text_of(events) == "You said: hello"
    assert (events[-1][1]["type"], events[-1][1]["outcome"]) == ("run_done", "done")
    assert (await site.ann.get("/api/runs/r1")).json()["outcome"] == "done"


async def test_the_same_verb_again_is_the_run_that_is_there(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    again = await site.send("hello", 1)
    assert (again.status_code, again.json()["id"]) == (200, "r1")
    assert await site.texts() == ["hello", "You said: hello"]


async def test_a_runs_id_is_of_one_conversation(site: Site) -> None:
    await site.conversation()
    await site.conversation("d")
    await site.say("hello", 1)
    assert error(await site.send("hello", 1, "d")) == (400, "id_taken")


async def test_a_viewer_comes_back_exactly_where_it_was(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    everything = await site.events("r1")
    for number, _ in everything:
        rest = await site.events("r1", after=number)
        before = [event for event in everything if event[0] <= number]
        assert text_of(before) + text_of(rest) == "You said: hello"
        assert all(seq > number for seq, _ in rest)


async def test_another_users_run_does_not_exist(site: Site) -> None:
    await site.conversation()
    await held(site)
    body = {"verb": "send", "run": "r9", "message": {"id": "m9", "content": TEXT}}
    for attempt in (
        site.bob.get("/api/runs/r1"),
        site.bob.get("/api/runs/r1/events"),
        site.bob.post("/api/runs/r1/stop"),
        site.bob.post("/api/runs/r1/steer", json={"id": "s", "content": TEXT}),
        site.bob.post("/api/conversations/c/runs", json=body),
        site.bob.get("/api/conversations/c/pending"),
        site.bob.get("/api/conversations/c/pending/p"),
        site.bob.patch("/api/conversations/c/pending/p", json={"how": "steer"}),
        site.bob.delete("/api/conversations/c/pending/p"),
    ):
        assert error(await attempt) == (404, "not_found")
    assert (await site.ann.get("/api/runs/r1")).json().get("outcome") is None
    assert site.model.hold is not None
    site.model.hold.set()


async def test_stopping_keeps_what_was_said_and_can_be_repeated(site: Site) -> None:
    await site.conversation()
    await held(site)
    for _ in range(2):
        assert (await site.ann.post("/api/runs/r1/stop")).json()["outcome"] == "stopped"
    rows = (await site.whole())["messages"]
    assert rows[-1]["status"] == "stopped"


async def test_a_reply_goes_on_where_it_was_stopped(site: Site) -> None:
    await site.conversation()
    await held(site)
    await site.ann.post("/api/runs/r1/stop")
    site.model.hold = None
    site.model.says = lambda request: "and more"
    row = (await site.whole())["messages"][-1]
    body = {"verb": "continue", "run": "r2", "message": row["id"]}
    assert (await site.ann.post("/api/conversations/c/runs", json=body)).status_code == 202
    await site.events("r2")
    rows = (await site.whole())["messages"]
    assert [one["id"] for one in rows] == ["m1", row["id"]]
    assert (await site.texts())[-1].endswith("and more")


async def test_an_edit_is_a_branch_of_its_own(site: Site) -> None:
    await site.conversation()
    await site.say("one", 1)
    new = {"id": "m2", "content": [{"type": "text", "text": "two"}]}
    body = {"verb": "edit", "run": "r2", "message": "m1", "new": new}
    assert (await site.ann.post("/api/conversations/c/runs", json=body)).status_code == 202
    await site.events("r2")
    rows = {row["id"]: row for row in (await site.whole())["messages"]}
    assert rows["m1"]["parent"] == rows["m2"]["parent"]
    assert sorted(await site.texts()) == ["You said: one", "You said: two", "one", "two"]


async def test_a_parent_may_be_named_and_null_is_the_beginning(site: Site) -> None:
    await site.conversation()
    await site.say("one", 1)
    await site.send("two", 2, parent=None)
    await site.events("r2")
    await site.send("three", 3, parent="m1")
    await site.events("r3")
    rows = {row["id"]: row["parent"] for row in (await site.whole())["messages"]}
    assert (rows["m2"], rows["m3"]) == (None, "m1")


async def test_the_beginning_is_below_the_system_message(site: Site) -> None:
    await site.conversation(system="Be kind.")
    await site.say("one", 1)
    await site.send("two", 2, parent=None)
    await site.events("r2")
    rows = {row["id"]: row["parent"] for row in (await site.whole())["messages"]}
    assert rows["m2"] == rows["m1"] is not None
    assert [message.role for message in site.model.asked[-1].messages] == ["system", "user"]


async def test_whoever_opens_a_conversation_sees_the_running_reply_as_it_is_now(site: Site) -> None:
    await site.conversation()
    await held(site)
    await anyio.wait_all_tasks_blocked()
    whole = await site.whole()
    assert whole["run"]["id"] == whole["conversation"]["running"] == "r1"
    assert (whole["messages"][-1]["status"], (await site.texts())[-1]) == ("running", "You ")
    assert site.model.hold is not None
    site.model.hold.set()
    await site.events("r1")
    whole = await site.whole()
    assert (whole["run"], (await site.texts())[-1]) == (None, "You said: hello")


async def test_while_a_reply_is_running_a_message_is_refused_or_waits(site: Site) -> None:
    await site.conversation()
    await held(site)
    assert error(await site.send("no", 2)) == (409, "run_in_progress")
    waiting = await site.send("later", 3, busy="queue")
    assert (waiting.status_code, waiting.json()["pending"]["id"]) == (202, "m3")
    listed = (await site.ann.get("/api/conversations/c/pending")).json()["pending"]
    assert [one["id"] for one in listed] == ["m3"]
    assert [one["id"] for one in (await site.whole())["pending"]] == ["m3"]
    changed = await site.ann.patch("/api/conversations/c/pending/m3", json={"content": TEXT})
    assert changed.json()["content"] == TEXT
    assert (await site.ann.get("/api/conversations/c/pending/m3")).json()["content"] == TEXT
    for _ in range(2):
        assert (await site.ann.delete("/api/conversations/c/pending/m3")).status_code == 204
    assert error(await site.ann.get("/api/conversations/c/pending/m3")) == (404, "not_found")
    assert site.model.hold is not None
    site.model.hold.set()


async def test_a_running_reply_is_steered(site: Site) -> None:
    await site.conversation()
    await held(site)
    for _ in range(2):
        steered = await site.ann.post("/api/runs/r1/steer", json={"id": "s1", "content": TEXT})
        assert (steered.status_code, steered.json()["pending"]["how"]) == (202, "steer")
    assert site.model.hold is not None
    site.model.hold.set()
    await site.events("r1")
    rows = {row["id"]: row for row in (await site.whole())["messages"]}
    assert rows["s1"]["role"] == "user"
    assert error(await site.ann.post("/api/runs/r1/steer", json={"id": "s2", "content": TEXT}))[0] == 409


async def test_a_message_that_waits_can_be_made_to_steer(site: Site) -> None:
    await site.conversation()
    await held(site)
    await site.send("later", 3, busy="queue")
    changed = await site.ann.patch("/api/conversations/c/pending/m3", json={"how": "steer"})
    assert changed.json()["how"] == "steer"
    assert site.model.hold is not None
    site.model.hold.set()
    events = await site.events("r1")
    added = [event["message"]["id"] for _, event in events if event["type"] == "message_added"]
    assert "m3" in added


async def test_a_question_is_answered_once_by_its_user(site: Site) -> None:
    await site.conversation()
    store = site.service.stores.durable
    await store.runs.begin(Run("r1", "c", 1), "ann", b"{}")
    await store.approvals.ask("ann", Approval("q1", "r1", "c", "tool", "files", "write"))
    assert [one["id"] for one in (await site.ann.get("/api/approvals")).json()["approvals"]] == ["q1"]
    assert (await site.bob.get("/api/approvals")).json() == {"approvals": []}
    assert error(await site.bob.post("/api/approvals/q1", json={"decision": "once"})) == (404, "not_found")
    assert error(await site.ann.post("/api/approvals/q1", json={}))[0] == 400
    both = {"decision": "once", "action": "accept"}
    assert error(await site.ann.post("/api/approvals/q1", json=both))[0] == 400
    assert error(await site.ann.post("/api/approvals/q1", json={"action": "accept"}))[0] == 400
    first = await site.ann.post("/api/approvals/q1", json={"decision": "tool"})
    assert first.json() == {"id": "q1", "decision": "tool"}
    later = await site.ann.post("/api/approvals/q1", json={"decision": "deny"})
    assert later.json() == first.json()
    allowed = {"permissions": [{"server": "files", "tool": "write"}]}
    assert (await site.ann.get("/api/permissions")).json() == allowed


async def test_what_is_wrong_with_a_verb_is_said_by_its_field(site: Site) -> None:
    await site.conversation()
    for body, param in (
        ({}, "verb"),
        ({"verb": "sing"}, "verb"),
        ({"verb": "continue", "run": "r"}, "message"),
        ({"verb": "continue", "run": "r", "message": "m", "nonsense": 1}, "nonsense"),
        (
            {"verb": "continue", "run": "r", "message": "m", "options": {"sampling": {"top_p": 7}}},
            "options.sampling.top_p",
        ),
    ):
        refused = await site.ann.post("/api/conversations/c/runs", json=body)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)
    assert error(await site.ann.get("/api/runs/r1/events?after=x"))[0] == 400
    assert error(await site.ann.get("/api/runs/r1/events"))[0] == 404


async def test_a_message_with_somebody_elses_file_is_refused(site: Site) -> None:
    await site.conversation()
    kept = (await site.bob.post("/api/blobs?name=note.txt", content=b"bob's secret")).json()["hash"]
    for part in (
        {"type": "file", "blob": kept},
        {"type": "resource", "server": "s", "uri": "u", "blob": kept},
    ):
        body = {"verb": "send", "run": "r1", "message": {"id": "m1", "content": [part]}}
        refused = await site.ann.post("/api/conversations/c/runs", json=body)
        assert refused.status_code == 404
    assert await site.texts() == []


async def test_an_attached_text_is_read_by_the_model(site: Site) -> None:
    await site.conversation()
    kept = (await site.ann.post("/api/blobs?name=note.txt", content=b"the boat is red")).json()["hash"]
    content = [{"type": "text", "text": "what colour?"}, {"type": "file", "blob": kept}]
    body = {"verb": "send", "run": "r1", "message": {"id": "m1", "content": content}}
    assert (await site.ann.post("/api/conversations/c/runs", json=body)).status_code == 202
    await site.events("r1")
    assert "the boat is red" in site.model.asked[-1].messages[-1].text


async def test_a_reply_that_was_cut_off_by_a_restart_is_interrupted_and_goes_on(tmp_path: Any) -> None:
    async with opened_site(tmp_path) as site:
        await site.conversation()
        await held(site)
    async with opened_site(tmp_path) as site:
        events = await site.events("r1")
        assert events[-1][1]["outcome"] == "interrupted"
        rows = (await site.whole())["messages"]
        assert rows[-1]["status"] == "interrupted"
        again = await site.send("hello", 1)
        assert (again.status_code, again.json()["outcome"]) == (200, "interrupted")


async def test_a_message_that_waited_and_was_sent_is_not_sent_again(site: Site) -> None:
    await site.conversation()
    await held(site)
    waiting = await site.send("later", 3, busy="queue")
    assert (await site.send("later", 3, busy="queue")).json()["pending"]["id"] == "m3"
    assert waiting.status_code == 202
    assert site.model.hold is not None
    site.model.hold.set()
    await site.events("r1")
    with anyio.fail_after(60):
        while (await site.whole())["pending"]:
            await anyio.lowlevel.checkpoint()
        while (await site.whole())["conversation"].get("running"):
            await anyio.lowlevel.checkpoint()
    again = await site.send("later", 3, busy="queue")
    assert again.status_code == 200
    assert again.json()["outcome"] == "done"
    assert await site.texts() == ["hello", "You said: hello", "later", "You said: later"]

"""The list of conversations and one conversation, over HTTP."""

from typing import Any

import anyio
import pytest
from tests.support.conversation_service import Site, opened_site

pytestmark = pytest.mark.anyio


def error(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_conversation_is_begun_once(site: Site) -> None:
    body = {"id": "c", "title": "Bread", "system": "Be kind.", "tags": ["a", " a ", "b"]}
    first = await site.ann.post("/api/conversations", json=body)
    again = await site.ann.post("/api/conversations", json=body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert first.json()["tags"] == ["a", "b"]
    assert await site.texts() == ["Be kind."]


async def test_an_id_is_made_where_none_was_sent(site: Site) -> None:
    made = await site.ann.post("/api/conversations")
    assert made.status_code == 201
    assert len(made.json()["id"]) == 32


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/conversations/c", None),
        ("PATCH", "/api/conversations/c", {"title": "mine"}),
        ("DELETE", "/api/conversations/c", None),
        ("POST", "/api/conversations/c/restore", None),
    ],
)
async def test_another_users_conversation_does_not_exist(
    site: Site, method: str, path: str, body: dict[str, Any] | None
) -> None:
    await site.conversation()
    assert error(await site.bob.request(method, path, json=body)) == (404, "not_found")
    assert error(await site.bob.post("/api/conversations", json={"id": "c"})) == (400, "id_taken")
    assert (await site.bob.get("/api/conversations")).json()["conversations"] == []
    bulk = await site.bob.post("/api/conversations/bulk", json={"ids": ["c"], "do": "delete"})
    assert bulk.json() == {"done": [], "missing": ["c"]}
    assert (await site.ann.get("/api/conversations/c")).status_code == 200


async def test_the_list_comes_in_pages_the_pinned_first(site: Site) -> None:
    for number in range(5):
        await site.conversation(f"c{number}")
    await site.ann.patch("/api/conversations/c0", json={"pinned": True})
    seen: list[list[str]] = []
    cursor = ""
    while True:
        page = (await site.ann.get(f"/api/conversations?limit=2&before={cursor}")).json()
        seen.append([one["id"] for one in page["conversations"]])
        if (cursor := page["next"]) is None:
            break
    assert seen == [["c0", "c4", "c3"], ["c2", "c1"], []]


async def test_the_list_is_narrowed_by_archive_folder_and_tag(site: Site) -> None:
    await site.ann.put("/api/folders/f", json={"name": "Kitchen"})
    await site.conversation("a", folder="f")
    await site.conversation("b", tags=["red"])
    await site.ann.patch("/api/conversations/b", json={"archived": True})

    async def ids(query: str) -> list[str]:
        page = (await site.ann.get(f"/api/conversations?{query}")).json()
        return [one["id"] for one in page["conversations"]]

    assert await ids("") == ["a"]
    assert await ids("archived=true") == ["b"]
    assert await ids("folder=f") == ["a"]
    assert await ids("tag=red&archived=1") == ["b"]


@pytest.mark.parametrize(
    ("query", "param"),
    [("limit=0", "limit"), ("limit=201", "limit"), ("archived=x", "archived"), ("before=x", "before")],
)
async def test_a_query_that_makes_no_sense_is_refused(site: Site, query: str, param: str) -> None:
    refused = await site.ann.get(f"/api/conversations?{query}")
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == param


async def test_opening_one_gives_all_a_viewer_needs(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    await site.ann.put("/api/drafts/c", json={"text": "half a"})
    whole = await site.whole()
    assert whole["conversation"]["title"] == "hello"
    assert [row["role"] for row in whole["messages"]] == ["user", "assistant"]
    assert (whole["run"], whole["pending"], whole["approvals"]) == (None, [], [])
    assert whole["draft"]["text"] == "half a"


async def test_opening_one_branch_gives_its_path_alone(site: Site) -> None:
    await site.conversation()
    await site.say("one", 1)
    await site.say("two", 2)
    found = (await site.ann.get("/api/conversations/c?leaf=m1")).json()
    assert [row["id"] for row in found["messages"]] == ["m1"]
    assert error(await site.ann.get("/api/conversations/c?leaf=zz")) == (404, "not_found")


async def test_a_page_that_asks_for_one_that_may_be_gone_gets_nothing_instead_of_an_error(site: Site) -> None:
    await site.conversation()
    there = await site.ann.get("/api/conversations/c?if_exists=true")
    assert (there.status_code, there.json()["conversation"]["id"]) == (200, "c")
    gone = await site.ann.get("/api/conversations/gone?if_exists=true")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await site.bob.get("/api/conversations/c?if_exists=true")).status_code == 204
    assert error(await site.ann.get("/api/conversations/gone?if_exists=false")) == (404, "not_found")


async def test_a_change_says_only_what_changes(site: Site) -> None:
    await site.conversation(title="Bread")
    changed = await site.ann.patch(
        "/api/conversations/c", json={"pinned": True, "options": {"sampling": {"temperature": 0.5}}}
    )
    assert changed.json()["title"] == "Bread"
    assert changed.json()["options"] == {"sampling": {"temperature": 0.5}}
    named = await site.ann.patch("/api/conversations/c", json={"title": "Cake"})
    assert (named.json()["title"], named.json()["title_source"]) == ("Cake", "user")
    refused = await site.ann.patch("/api/conversations/c", json={"pinned": None})
    assert "must not be null" in refused.json()["error"]["message"]


async def test_a_branch_is_switched_to_its_newest_message(site: Site) -> None:
    await site.conversation()
    await site.say("one", 1)
    first = (await site.whole())["conversation"]["leaf"]
    again = {"verb": "regenerate", "run": "r2", "message": first}
    assert (await site.ann.post("/api/conversations/c/runs", json=again)).status_code == 202
    await site.events("r2")
    assert (await site.whole())["conversation"]["leaf"] != first
    assert (await site.ann.patch("/api/conversations/c", json={"leaf": first})).json()["leaf"] == first


async def test_a_deleted_one_can_be_brought_back_for_an_hour(site: Site) -> None:
    await site.conversation()
    for _ in range(2):
        assert (await site.ann.delete("/api/conversations/c")).status_code == 204
    assert error(await site.ann.get("/api/conversations/c")) == (404, "not_found")
    for _ in range(2):
        assert (await site.ann.post("/api/conversations/c/restore")).status_code == 200
    await site.ann.delete("/api/conversations/c")
    site.clock.at += 3_700_000
    await site.service.retention.round()
    assert error(await site.ann.post("/api/conversations/c/restore")) == (404, "not_found")


async def test_many_are_changed_at_once_and_the_missing_are_named(site: Site) -> None:
    for id in ("a", "b"):
        await site.conversation(id)
    await site.ann.put("/api/folders/f", json={"name": "Kitchen"})
    for do, more in (
        ("archive", {}),
        ("unarchive", {}),
        ("pin", {}),
        ("unpin", {}),
        ("move", {"folder": "f"}),
        ("delete", {}),
    ):
        done = await site.ann.post(
            "/api/conversations/bulk", json={"ids": ["a", "b", "zz"], "do": do, **more}
        )
        assert done.json() == {"done": ["a", "b"], "missing": ["zz"]}, do
    assert (await site.ann.get("/api/conversations")).json()["conversations"] == []
    await site.ann.post("/api/conversations/bulk", json={"ids": ["a", "b"], "do": "restore"})
    assert {one["folder"] for one in (await site.ann.get("/api/conversations")).json()["conversations"]} == {
        "f"
    }


async def test_a_temporary_conversation_leaves_no_trace(site: Site) -> None:
    await site.conversation("t", temporary=True, system="Be secret.")
    await site.say("the password is swordfish", 1, "t")
    assert len(await site.texts("t")) == 3
    assert (await site.ann.get("/api/conversations")).json()["conversations"] == []
    assert (await site.ann.get("/api/search?q=swordfish")).json() == {"hits": []}
    assert await site.service.stores.durable.conversations.owner("t") is None


async def test_a_temporary_conversation_is_in_no_folder(site: Site) -> None:
    await site.ann.put("/api/folders/f", json={"name": "Kitchen"})
    refused = await site.ann.post("/api/conversations", json={"temporary": True, "folder": "f"})
    assert refused.json()["error"]["param"] == "folder"


async def test_deleting_stops_the_reply_that_is_running(site: Site) -> None:
    await site.conversation()
    site.model.hold = anyio.Event()
    await site.send("hello", 1)
    assert (await site.ann.delete("/api/conversations/c")).status_code == 204
    assert (await site.ann.get("/api/runs/r1")).json()["outcome"] == "stopped"


async def test_everything_is_there_after_a_restart(tmp_path: Any) -> None:
    async with opened_site(tmp_path) as site:
        await site.conversation(system="Be kind.")
        await site.say("hello", 1)
        before = await site.whole()
    async with opened_site(tmp_path) as site:
        assert await site.whole() == before
        assert (await site.ann.post("/api/conversations", json={"id": "c"})).status_code == 200

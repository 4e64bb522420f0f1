"""Search, folders, tags, drafts, settings and permissions, over HTTP."""

from typing import Any

import pytest
from tests.support.conversation_service import Site, opened_site

from duologue.values.conversations import GenerationOptions
from duologue.values.requests import Sampling
from duologue.values.runs import ListDraft

pytestmark = pytest.mark.anyio


def error(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_a_search_finds_ones_own_words_and_nobody_elses(site: Site) -> None:
    await site.conversation()
    await site.say("the quick brown fox", 1)
    (first, *_) = (await site.ann.get("/api/search?q=quick bro")).json()["hits"]
    start, end = first["marks"][0]
    assert (first["conversation"], first["snippet"][start:end]) == ("c", "quick")
    assert (await site.bob.get("/api/search?q=quick")).json() == {"hits": []}
    assert (await site.ann.get("/api/search")).json() == {"hits": []}
    assert len((await site.ann.get("/api/search?q=fox&limit=1")).json()["hits"]) == 1


async def test_a_search_that_makes_no_sense_is_refused(site: Site) -> None:
    assert error(await site.ann.get("/api/search?q=" + "x" * 1001))[0] == 400
    assert error(await site.ann.get("/api/search?q=x&limit=1001"))[0] == 400
    for query in ('"', "AND OR NOT", "a*b", "'; DROP TABLE messages", "(((", "\x00"):
        assert (await site.ann.get("/api/search", params={"q": query})).status_code == 200


async def test_folders_are_made_changed_and_removed(site: Site) -> None:
    for _ in range(2):
        made = await site.ann.put("/api/folders/f", json={"name": "Kitchen"})
        assert (made.status_code, made.json()["name"]) == (200, "Kitchen")
    await site.ann.put("/api/folders/g", json={"name": "Bread", "parent": "f"})
    assert [one["id"] for one in (await site.ann.get("/api/folders")).json()["folders"]] == ["g", "f"]
    await site.conversation(folder="g")
    for _ in range(2):
        assert (await site.ann.delete("/api/folders/g")).status_code == 204
    assert (await site.whole())["conversation"]["folder"] == "f"
    assert error(await site.ann.post("/api/conversations", json={"id": "x", "folder": "zz"})) == (
        400,
        "unknown_folder",
    )


async def test_folders_are_ones_own(site: Site) -> None:
    await site.ann.put("/api/folders/f", json={"name": "Kitchen"})
    assert (await site.bob.get("/api/folders")).json() == {"folders": []}
    assert error(await site.bob.put("/api/folders/f", json={"name": "Mine"})) == (400, "id_taken")
    assert (await site.bob.delete("/api/folders/f")).status_code == 204
    assert len((await site.ann.get("/api/folders")).json()["folders"]) == 1
    assert error(await site.bob.post("/api/conversations", json={"folder": "f"})) == (400, "unknown_folder")


async def test_tags_are_counted(site: Site) -> None:
    await site.conversation("a", tags=["red", "blue"])
    await site.conversation("b", tags=["red"])
    assert (await site.ann.get("/api/tags")).json() == {"tags": {"blue": 1, "red": 2}}
    assert (await site.bob.get("/api/tags")).json() == {"tags": {}}


async def test_a_draft_is_kept_until_it_is_thrown_away(site: Site) -> None:
    await site.conversation()
    for place in ("new", "c"):
        assert (await site.ann.get(f"/api/drafts/{place}")).json() == {}
        for _ in range(2):
            put = await site.ann.put(f"/api/drafts/{place}", json={"text": "half a"})
            assert put.status_code == 200
        kept = (await site.ann.get(f"/api/drafts/{place}")).json()
        assert kept == put.json() == {"text": "half a", "updated": kept["updated"]}
        assert (await site.bob.get(f"/api/drafts/{place}")).json() == {}
        for _ in range(2):
            assert (await site.ann.delete(f"/api/drafts/{place}")).status_code == 204
        assert (await site.ann.get(f"/api/drafts/{place}")).json() == {}


async def test_a_draft_is_of_a_conversation_that_is_there_and_not_endless(site: Site) -> None:
    assert error(await site.ann.put("/api/drafts/c", json={"text": "x"})) == (404, "not_found")
    too_long = await site.ann.put("/api/drafts/new", json={"text": "x" * 2**20})
    assert error(too_long) == (413, "too_large")
    too_many = await site.ann.put("/api/drafts/new", json={"files": [{"blob": "0"}] * 33})
    assert error(too_many) == (413, "too_large")
    for wrong in ({"text": 5}, {"files": "x"}):
        assert error(await site.ann.put("/api/drafts/new", json=wrong)) == (400, "invalid_request")


async def test_a_draft_holds_files_and_what_the_page_wants_and_says_when_it_was_kept(site: Site) -> None:
    draft = {"text": "see", "files": [{"blob": "0" * 64, "name": "a.png"}], "caret": 3, "updated": 7}
    before = site.clock.at
    kept = (await site.ann.put("/api/drafts/new", json=draft)).json()
    assert kept == draft | {"updated": kept["updated"]}
    assert kept["updated"] > before, "the server's time, not the device's"


async def test_other_tabs_hear_of_a_draft_and_of_its_end(site: Site) -> None:
    start = site.service.feed.number
    for text in ("h", "ha", "half"):
        kept = (await site.ann.put("/api/drafts/new", json={"text": text})).json()
    await site.ann.put("/api/drafts/new", json={"text": "mine"})
    for _ in range(2):
        await site.ann.delete("/api/drafts/new")
    await site.bob.put("/api/drafts/new", json={"text": "bob's"})
    events = site.service.feed.events("ann", start)
    assert (await anext(events)).event == ListDraft("new", 0)
    await events.aclose()
    assert kept["updated"] > 0


async def test_a_temporary_conversations_draft_is_not_written(site: Site) -> None:
    await site.conversation("t", temporary=True)
    await site.ann.put("/api/drafts/t", json={"text": "secret"})
    assert (await site.ann.get("/api/drafts/t")).json()["text"] == "secret"
    assert await site.service.stores.durable.drafts.get("ann", "t") is None


async def test_settings_are_merged_and_null_removes(site: Site) -> None:
    await site.ann.patch("/api/settings", json={"theme": "dark", "list": {"a": 1, "b": 2}})
    merged = await site.ann.patch("/api/settings", json={"list": {"a": None, "c": 3}, "theme": None})
    assert merged.json() == {"list": {"b": 2, "c": 3}}
    assert (await site.ann.get("/api/settings")).json() == merged.json()
    assert (await site.bob.get("/api/settings")).json() == {}


async def test_the_options_among_the_settings_are_the_defaults_of_every_reply(site: Site) -> None:
    options = {"sampling": {"temperature": 0.1}, "thinking": False}
    await site.ann.patch("/api/settings", json={"options": options})
    await site.conversation()
    await site.say("hello", 1)
    asked = site.model.asked[-1]
    assert (asked.sampling, asked.thinking) == (Sampling(temperature=0.1), False)
    refused = await site.ann.patch("/api/settings", json={"options": {"sampling": {"temperature": -1}}})
    assert refused.json()["error"]["param"] == "options.sampling.temperature"
    nulls = await site.ann.patch("/api/settings", json={"options": {"sampling": {"temperature": None}}})
    assert nulls.json() == {"options": {"sampling": {}, "thinking": False}}


async def test_options_nobody_understands_any_more_say_nothing(site: Site) -> None:
    await site.service.stores.durable.settings.merge("ann", {"options": {"from": "another version"}})
    assert await site.service.defaults("ann") == GenerationOptions()
    await site.service.stores.durable.settings.merge("bob", {"options": "none"})
    assert await site.service.defaults("bob") == GenerationOptions()


async def test_settings_have_an_end(site: Site) -> None:
    large = {"a": "x" * 200_000}
    assert (await site.ann.patch("/api/settings", json=large)).status_code == 200
    assert error(await site.ann.patch("/api/settings", json={"b": "x" * 200_000})) == (413, "too_large")


async def test_what_was_allowed_can_be_taken_back(site: Site) -> None:
    approvals = site.service.stores.durable.approvals
    for server, tool in (("files", "read"), ("files", "write"), ("web", "*")):
        await approvals.allow("ann", server, tool)
    await approvals.allow("bob", "files", "read")

    async def allowed() -> list[tuple[str, str]]:
        found = (await site.ann.get("/api/permissions")).json()["permissions"]
        return [(one["server"], one["tool"]) for one in found]

    assert await allowed() == [("files", "read"), ("files", "write"), ("web", "*")]
    for _ in range(2):
        assert (await site.ann.delete("/api/permissions?server=files&tool=read")).status_code == 204
    assert await allowed() == [("files", "write"), ("web", "*")]
    assert error(await site.ann.delete("/api/permissions?tool=read"))[0] == 400
    assert (await site.ann.delete("/api/permissions")).status_code == 204
    assert await allowed() == []
    assert await approvals.permissions("bob") == {("files", "read")}


@pytest.mark.parametrize("path", ["/api/folders/a b", "/api/drafts/a.b"])
async def test_what_cannot_be_an_id_is_refused(site: Site, path: str) -> None:
    refused = await site.ann.put(path, json={"name": "x"})
    assert "must be 1 to 64 characters" in refused.json()["error"]["message"]


async def test_all_of_it_survives_a_restart(tmp_path: Any) -> None:
    async with opened_site(tmp_path) as site:
        await site.ann.put("/api/folders/f", json={"name": "Kitchen"})
        await site.ann.put("/api/drafts/new", json={"text": "half a"})
        await site.ann.patch("/api/settings", json={"theme": "dark"})
    async with opened_site(tmp_path) as site:
        assert len((await site.ann.get("/api/folders")).json()["folders"]) == 1
        assert (await site.ann.get("/api/drafts/new")).json()["text"] == "half a"
        assert (await site.ann.get("/api/settings")).json() == {"theme": "dark"}


async def test_the_storage_of_a_user_is_told_and_what_does_not_fit_is_refused(tmp_path: Any) -> None:
    async with opened_site(tmp_path, limits={"storage_gb": 1e-6, "temporary_mb": 1}) as site:
        assert (await site.ann.post("/api/blobs", content=b"x" * 1000)).status_code == 201
        expected = {"used": 1000, "limit": 1000, "temporary_used": 0, "temporary_limit": 10**6}
        assert (await site.ann.get("/api/storage")).json() == expected
        assert error(await site.ann.post("/api/blobs", content=b"y" * 100)) == (413, "storage_full")
        large = await site.ann.post("/api/blobs?temporary=true", content=b"z" * (10**6 + 1))
        assert error(large) == (413, "storage_full")
        assert (await site.bob.get("/api/storage")).json()["used"] == 0

"""What is done to messages without a reply, over HTTP."""

from typing import Any

import pytest
from tests.support.conversation_service import Site

from duologue.values.events import Failed

pytestmark = pytest.mark.anyio

TEXT = [{"type": "text", "text": "better"}]


def error(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/fork", {"id": "f", "message": "m1"}),
        ("PUT", "/system", {"text": "x"}),
        ("PATCH", "/messages/m1", {"content": TEXT}),
        ("GET", "/messages/m1/deletion", None),
        ("DELETE", "/messages/m1", None),
        ("GET", "/context", None),
        ("POST", "/compact", {}),
        ("POST", "/title", None),
        ("GET", "/export", None),
    ],
)
async def test_another_users_messages_do_not_exist(
    site: Site, method: str, path: str, body: dict[str, Any] | None
) -> None:
    await site.conversation()
    await site.say("hello", 1)
    before = await site.whole()
    refused = await site.bob.request(method, f"/api/conversations/c{path}", json=body)
    assert error(refused) == (404, "not_found")
    assert await site.whole() == before


async def test_a_message_is_edited_in_its_place_and_found_by_its_new_words(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    for _ in range(2):
        edited = await site.ann.patch("/api/conversations/c/messages/m1", json={"content": TEXT})
        assert edited.json()["edited"] > 0
    assert (await site.texts())[0] == "better"
    assert [hit["message"] for hit in (await site.ann.get("/api/search?q=better")).json()["hits"]] == ["m1"]


async def test_an_edit_that_is_none_is_refused_by_its_field(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    refused = await site.ann.patch("/api/conversations/c/messages/m1", json={"content": []})
    assert refused.json()["error"]["param"] == "content"
    missing = await site.ann.patch("/api/conversations/c/messages/m1")
    assert missing.json()["error"]["message"] == "content is missing."
    assert error(await site.ann.patch("/api/conversations/c/messages/zz", json={"content": TEXT})) == (
        404,
        "not_found",
    )


async def test_the_system_message_comes_and_goes_and_is_told_to_the_model(site: Site) -> None:
    await site.conversation()
    written = await site.ann.put("/api/conversations/c/system", json={"id": "s1", "text": "Be kind."})
    assert written.json()["id"] == "s1"
    await site.say("hello", 1)
    assert [message.role for message in site.model.asked[-1].messages] == ["system", "user"]
    for _ in range(2):
        assert (await site.ann.put("/api/conversations/c/system", json={"text": ""})).status_code == 204
    await site.say("again", 2)
    assert site.model.asked[-1].messages[0].role == "user"


async def test_deleting_is_counted_first_and_takes_all_below(site: Site) -> None:
    await site.conversation()
    await site.say("one", 1)
    await site.say("two", 2)
    counts = await site.ann.get("/api/conversations/c/messages/m2/deletion")
    assert counts.json() == {"messages": 2, "user": 1, "assistant": 1, "tool": 0}
    gone = (await site.ann.delete("/api/conversations/c/messages/m2")).json()
    whole = await site.whole()
    assert len(gone["deleted"]) == 2
    assert gone["leaf"] == whole["conversation"]["leaf"] == whole["messages"][-1]["id"]
    assert (await site.ann.delete("/api/conversations/c/messages/m2")).json()["deleted"] == []


async def test_a_fork_is_a_conversation_of_its_own(site: Site) -> None:
    await site.conversation()
    await site.say("one", 1)
    await site.say("two", 2)
    body = {"id": "f", "message": "m2", "title": "Other"}
    forks = [await site.ann.post("/api/conversations/c/fork", json=body) for _ in range(2)]
    assert [fork.status_code for fork in forks] == [201, 201]
    assert forks[0].json() == forks[1].json()
    assert await site.texts("f") == ["one", "You said: one", "two"]
    await site.say("three", 3, "f")
    assert len(await site.texts("c")) == 4


async def test_the_gauge_tells_how_full_the_context_is(site: Site) -> None:
    await site.conversation(system="Be kind.")
    await site.say("hello " * 50, 1)
    gauge = (await site.ann.get("/api/conversations/c/context")).json()
    assert gauge["context"] == 4096
    assert gauge["tokens"] + gauge["reply_room"] == 4096
    assert sum(part["tokens"] for part in gauge["parts"]) == gauge["tokens"]
    assert {"system", "user", "assistant"} <= {part["what"] for part in gauge["parts"]}
    assert not gauge["estimated"]
    shorter = (await site.ann.get("/api/conversations/c/context?leaf=m1")).json()
    assert shorter["tokens"] < gauge["tokens"]


async def test_compaction_is_visible_and_undone_by_deleting_it(site: Site) -> None:
    await site.conversation(system="Be kind.")
    for number in range(1, 4):
        await site.say(f"question {number}", number)
    site.model.says = lambda request: "They asked three questions."
    made = await site.ann.post("/api/conversations/c/compact", json={"id": "sum"})
    assert made.json()["kind"] == "summary"
    assert "They asked three questions." in made.json()["content"][0]["text"]
    again = (await site.ann.post("/api/conversations/c/compact", json={"id": "sum"})).json()
    assert (again["id"], again["sequence"]) == ("sum", made.json()["sequence"])
    site.model.says = lambda request: "Fine."
    await site.say("go on", 4)
    told = " | ".join(message.text for message in site.model.asked[-1].messages)
    assert "They asked three questions." in told
    assert "question 1" not in told
    assert "Be kind." in told
    assert "go on" in told
    gone = await site.ann.delete("/api/conversations/c/messages/sum")
    assert gone.json()["deleted"] == ["sum"]
    await site.say("and on", 5)
    assert "question 1" in " | ".join(message.text for message in site.model.asked[-1].messages)


async def test_one_turn_cannot_be_folded(site: Site) -> None:
    await site.conversation()
    await site.say("hello", 1)
    assert error(await site.ann.post("/api/conversations/c/compact")) == (400, "nothing_to_fold")


async def test_a_title_is_written_by_the_model_when_asked_for(site: Site) -> None:
    await site.conversation()
    assert error(await site.ann.post("/api/conversations/c/title")) == (400, "nothing_said")
    await site.say("how do I bake bread?", 1)
    site.model.says = lambda request: '"Baking Bread."'
    titled = (await site.ann.post("/api/conversations/c/title")).json()
    assert (titled["title"], titled["title_source"]) == ("Baking Bread", "model")
    site.model.says = lambda request: "I'm sorry, I cannot do that."
    assert error(await site.ann.post("/api/conversations/c/title")) == (502, "title_unusable")
    site.model.says = lambda request: Failed("queue_full", "No room.", 503)
    assert error(await site.ann.post("/api/conversations/c/title")) == (503, "queue_full")
    assert (await site.whole())["conversation"]["title"] == "Baking Bread"

"""`/v1/conversations` with the official client."""

from __future__ import annotations

import base64
from typing import Any

import openai
import pytest
from tests.gateway.responses.conftest import NOW, Bench
from tests.support.sample_files import drawing, encoded

pytestmark = pytest.mark.anyio

HELLO: Any = {"role": "user", "content": "I am Ann."}


async def texts(bench: Bench, id: str) -> list[str]:
    items = await bench.ann.conversations.items.list(id, order="asc")
    return [item.content[0].text async for item in items if item.type == "message"]


async def test_a_conversation_is_made_changed_and_deleted(bench: Bench) -> None:
    made = await bench.ann.conversations.create(metadata={"a": "b"}, items=[HELLO])
    assert (made.object, made.created_at, made.metadata) == ("conversation", NOW, {"a": "b"})
    assert (await bench.ann.conversations.retrieve(made.id)) == made
    changed = await bench.ann.conversations.update(made.id, metadata={"a": "c"})
    assert changed.metadata == {"a": "c"}
    deleted = await bench.ann.conversations.delete(made.id)
    assert (deleted.id, deleted.deleted, deleted.object) == (made.id, True, "conversation.deleted")
    with pytest.raises(openai.NotFoundError) as gone:
        await bench.ann.conversations.retrieve(made.id)
    assert gone.value.code == "conversation_not_found"


async def test_a_response_reads_the_conversation_and_joins_it(bench: Bench) -> None:
    made = await bench.ann.conversations.create(items=[HELLO])
    response = await bench.ann.responses.create(model="mini", input="Who am I?", conversation=made.id)
    assert response.conversation is not None
    assert response.conversation.id == made.id
    assert [text for _, text in bench.asked()] == ["I am Ann.", "Who am I?"]
    assert await texts(bench, made.id) == ["I am Ann.", "Who am I?", "Hello"]
    await bench.ann.responses.create(model="mini", input="Sure?", conversation={"id": made.id})
    assert [text for _, text in bench.asked()] == ["I am Ann.", "Who am I?", "Hello", "Sure?"]
    await bench.ann.conversations.delete(made.id)
    assert (await bench.ann.responses.retrieve(response.id)).output_text == "Hello"


async def test_a_response_that_streams_or_runs_in_the_background_joins_too(bench: Bench) -> None:
    made = await bench.ann.conversations.create()
    for background in (False, True):
        stream = await bench.ann.responses.create(
            model="mini", input="Hi", conversation=made.id, stream=True, background=background
        )
        async for _ in stream:
            pass
    assert await texts(bench, made.id) == ["Hi", "Hello", "Hi", "Hello"]


async def test_items_are_added_read_listed_and_deleted(bench: Bench) -> None:
    made = await bench.ann.conversations.create()
    added = await bench.ann.conversations.items.create(
        made.id, items=[HELLO, {"role": "assistant", "content": "Hello, Ann."}]
    )
    assert (added.first_id, added.has_more) == (added.data[0].id, False)
    first, second = (str(item.id) for item in added.data)
    read: Any = await bench.ann.conversations.items.retrieve(first, conversation_id=made.id)
    assert (read.role, read.status, read.content[0].text) == ("user", "completed", "I am Ann.")
    newest = await bench.ann.conversations.items.list(made.id, limit=1)
    assert ([item.id for item in newest.data], newest.has_more) == ([second], True)
    left = await bench.ann.conversations.items.delete(first, conversation_id=made.id)
    assert left.id == made.id
    assert await texts(bench, made.id) == ["Hello, Ann."]
    with pytest.raises(openai.NotFoundError) as gone:
        await bench.ann.conversations.items.retrieve(first, conversation_id=made.id)
    assert gone.value.code == "item_not_found"


async def test_an_item_of_a_response_is_added_by_its_id(bench: Bench) -> None:
    response = await bench.ann.responses.create(model="mini", input="Hi")
    reference: Any = {"type": "item_reference", "id": response.output[0].id}
    made = await bench.ann.conversations.create(items=[reference])
    assert await texts(bench, made.id) == ["Hello"]
    with pytest.raises(openai.BadRequestError) as unknown:
        await bench.bob.conversations.create(items=[reference])
    assert unknown.value.code == "item_not_found"


async def test_pictures_are_kept_as_files(bench: Bench) -> None:
    url = f"data:image/png;base64,{base64.b64encode(encoded(drawing(8, 8), 'PNG')).decode()}"
    item: Any = {"role": "user", "content": [{"type": "input_image", "image_url": url}]}
    made = await bench.ann.conversations.create(items=[item])
    shown: Any = (await bench.ann.conversations.items.list(made.id)).data[0]
    assert shown.content[0].image_url is None
    include: Any = ["message.input_image.image_url"]
    full: Any = await bench.ann.conversations.items.retrieve(
        shown.id, conversation_id=made.id, include=include
    )
    assert full.content[0].image_url == url


async def test_another_users_conversation_does_not_exist(bench: Bench) -> None:
    made = await bench.ann.conversations.create(items=[HELLO])
    for attempt in (
        bench.bob.conversations.retrieve(made.id),
        bench.bob.conversations.update(made.id, metadata={}),
        bench.bob.conversations.delete(made.id),
        bench.bob.conversations.items.create(made.id, items=[HELLO]),
        bench.bob.conversations.items.list(made.id),
        bench.bob.responses.create(model="mini", input="Hi", conversation=made.id),
    ):
        with pytest.raises(openai.NotFoundError):
            await attempt


async def test_what_is_wrong_is_refused_with_its_name(bench: Bench) -> None:
    made = await bench.ann.conversations.create()
    many = [{"role": "user", "content": "x"}] * 21
    for path, body, param in (
        ("/conversations", {"items": many}, "items"),
        ("/conversations", {"metadata": {"a": 1}}, "metadata.a"),
        (f"/conversations/{made.id}/items", {}, "items"),
        (f"/conversations/{made.id}/items", {"items": [{"role": "robot", "content": "x"}]}, "items[0].role"),
    ):
        answer = await bench.plain.post(path, json=body)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)

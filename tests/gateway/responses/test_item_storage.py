"""Items and their media: kept, given back, bounded."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.gateway.responses.conftest import Bench
from tests.support.sample_files import drawing, encoded

from duologue.errors import BadRequest, Busy, TooLarge, Unavailable
from duologue.gateway.middleware.byte_ledger import ByteLedger, counted_by
from duologue.gateway.responses.item_storage import ItemStorage, output_items
from duologue.wire.responses.item_bodies import stored_items

pytestmark = pytest.mark.anyio

PICTURE = encoded(drawing(16, 16), "PNG")
URL = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"


def item(url: str = URL) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "user",
        "content": [{"type": "input_image", "image_url": url}],
    }


async def test_the_same_picture_is_one_file(bench: Bench) -> None:
    storage = bench.service.storage
    kept = await storage.keep("ann", [item(), item()])
    assert kept[0].files == kept[1].files
    assert await bench.blobs.read(kept[0].files[0]) == PICTURE
    assert await storage.with_media("ann", kept) == [item(), item()]


async def test_addresses_are_not_fetched_to_be_stored(bench: Bench) -> None:
    (kept,) = await bench.service.storage.keep("ann", [item("https://host/a.png")])
    assert (kept.files, kept.item) == ((), item("https://host/a.png"))


async def test_the_media_of_a_chain_are_bounded(bench: Bench) -> None:
    storage = ItemStorage(0, 100)
    storage.use(bench.store, bench.blobs)
    kept = await storage.keep("ann", [item()])
    with pytest.raises(TooLarge):
        await storage.with_media("ann", kept)


async def test_the_media_of_a_chain_count_for_what_their_user_has_in_flight(bench: Bench) -> None:
    storage = bench.service.storage
    kept = await storage.keep("ann", [item()])
    text = len(URL.partition(",")[2])
    ledger = ByteLedger(text)
    with counted_by(ledger.open("ann")):
        await storage.with_media("ann", kept)
        assert ledger.held("ann") == text
        with pytest.raises(Busy):
            await storage.with_media("ann", kept)


async def test_a_file_that_is_gone_leaves_its_item_readable(bench: Bench) -> None:
    storage = bench.service.storage
    kept = await storage.keep("ann", [item()])
    shown = await storage.shown("bob", kept, with_images=True)
    assert shown[0]["content"][0]["image_url"] is None


async def test_what_is_no_base64_is_refused(bench: Bench) -> None:
    with pytest.raises(BadRequest):
        await bench.service.storage.keep("ann", [item("duologue-blob:00:")])


async def test_references_keep_their_place(bench: Bench) -> None:
    storage = bench.service.storage
    given = stored_items([{"role": "user", "content": "Hi"}, {"id": "unknown"}])
    assert await storage.resolved("ann", given[:1], "input") == given[:1]
    with pytest.raises(BadRequest) as refused:
        await storage.resolved("ann", given, "input")
    assert refused.value.param == "input[1].id"


def test_before_the_database_is_there_nothing_is_stored() -> None:
    with pytest.raises(Unavailable):
        _ = ItemStorage(1, 100).responses
    with pytest.raises(Unavailable):
        _ = ItemStorage(1, 100).conversations
    assert output_items([{"id": "a"}])[0].side == "output"

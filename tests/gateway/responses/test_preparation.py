"""What a response needs before it is written."""

from __future__ import annotations

from typing import Any

import pytest
from tests.gateway.responses.conftest import SEER, Bench

from duologue.config.settings import LimitSettings
from duologue.errors import Busy, NotFound, Problem, TooLarge, Unsupported
from duologue.gateway.middleware.byte_ledger import ByteLedger, counted_by
from duologue.gateway.responses.preparation import AskedResponse
from duologue.store.responses import item_rows
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.validation import validate

pytestmark = pytest.mark.anyio


def asked(**fields: Any) -> AskedResponse:
    body = validate(ResponseBody, {"input": "Hi"} | fields)
    return AskedResponse(body, 100, SEER, "ann", "r1", "resp_new", 1)


async def test_a_request_is_planned_and_its_items_are_ready_to_be_stored(bench: Bench) -> None:
    prepared = await bench.service.preparation.prepare(asked())
    assert (prepared.plan.request_id, prepared.plan.user) == ("r1", "ann")
    assert [item.id for item in prepared.given] == ["msg_newi0"]
    assert prepared.fixed["id"] == "resp_new"
    assert (await bench.service.preparation.prepare(asked(store=False))).given == ()


async def test_what_it_continues_must_be_there(bench: Bench) -> None:
    for fields in ({"previous_response_id": "resp_none"}, {"conversation": "conv_none"}):
        with pytest.raises(NotFound):
            await bench.service.preparation.prepare(asked(**fields))


async def test_turns_and_input_together_are_bounded(bench: Bench) -> None:
    bench.limits = LimitSettings(messages=3)
    service = bench.new_service()
    service.storage.use(bench.store, bench.blobs)
    first = await bench.ann.responses.create(model="mini", input="One")
    two: Any = [{"role": "user", "content": "Two"}, {"role": "user", "content": "Three"}]
    with pytest.raises(TooLarge):
        await service.preparation.prepare(asked(input=two, previous_response_id=first.id))


async def test_a_chain_that_is_too_long_is_not_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.limits = LimitSettings(messages=3)
    service = bench.new_service()
    service.storage.use(bench.store, bench.blobs)
    id, conversation = None, await bench.ann.conversations.create()
    for text in ("One", "Two"):
        id = (await bench.ann.responses.create(model="mini", input=text, previous_response_id=id)).id
        await bench.ann.responses.create(model="mini", input=text, conversation=conversation.id)
    monkeypatch.setattr(item_rows, "_items", lambda rows: pytest.fail("the items were read"))
    for fields in ({"previous_response_id": id}, {"conversation": conversation.id}):
        with pytest.raises(TooLarge, match=r"limits\.messages"):
            await service.preparation.prepare(asked(**fields))


async def test_the_turns_before_count_for_what_their_user_has_in_flight(bench: Bench) -> None:
    first = await bench.ann.responses.create(model="mini", input="x" * 1000)
    ledger = ByteLedger(2900)
    with counted_by(ledger.open("ann")):
        await bench.service.preparation.prepare(asked(previous_response_id=first.id))
        assert 1000 < ledger.held("ann") < 1450
        await bench.service.preparation.prepare(asked(previous_response_id=first.id))
        with pytest.raises(Busy):
            await bench.service.preparation.prepare(asked(previous_response_id=first.id))


async def test_media_at_addresses_are_fetched_where_that_is_allowed(bench: Bench) -> None:
    picture = [{"type": "input_image", "image_url": "https://host/a.png"}]
    with pytest.raises(Problem) as refused:
        await bench.service.preparation.prepare(asked(input=[{"role": "user", "content": picture}]))
    assert (refused.value.code, refused.value.param) == ("unsupported", "input[0].content[0]")


async def test_a_conversation_without_room_takes_no_more(bench: Bench) -> None:
    made = await bench.ann.conversations.create(items=[{"role": "user", "content": "x" * 2**19}])
    bench.settings = bench.settings.model_copy(update={"user_mb": 0})
    service = bench.new_service()
    service.storage.use(bench.store, bench.blobs)
    with pytest.raises(TooLarge) as full:
        await service.preparation.prepare(asked(conversation=made.id))
    assert full.value.code == "responses_full"


async def test_tools_that_run_elsewhere_are_left_out_or_refused_as_the_operator_says(bench: Bench) -> None:
    tools: Any = [{"type": "web_search"}]
    service = bench.new_service()
    service.storage.use(bench.store, bench.blobs)
    prepared = await service.preparation.prepare(asked(tools=tools))
    assert prepared.plan.request.unapplied == ("tools[0].web_search",)
    bench.settings = bench.settings.model_copy(update={"hosted_tools": "refuse"})
    service = bench.new_service()
    service.storage.use(bench.store, bench.blobs)
    with pytest.raises(Unsupported) as refused:
        await service.preparation.prepare(asked(tools=tools))
    assert refused.value.param == "tools[0]"

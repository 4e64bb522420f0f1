"""`/v1/responses` with the official client: whole and streamed, stored, continued, listed, deleted."""

from __future__ import annotations

import base64
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from tests.gateway.responses.conftest import NOW, Bench
from tests.support.sample_files import drawing, encoded

from duologue.values.events import (
    Done,
    Failed,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
)
from duologue.values.messages import ImagePart

pytestmark = pytest.mark.anyio

WEATHER: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}


async def test_a_whole_response(bench: Bench) -> None:
    response = await bench.ann.responses.create(model="mini", input="Hi", metadata={"a": "b"})
    assert response.id.startswith("resp_")
    assert (response.object, response.model, response.created_at) == ("response", "mini", NOW)
    assert (response.status, response.output_text, response.metadata) == ("completed", "Hello", {"a": "b"})
    assert response.usage is not None
    assert response.usage.total_tokens == 9
    assert bench.script.asked[0]["user"] == "ann"
    assert bench.script.running == 0


async def test_a_streamed_response(bench: Bench) -> None:
    async with bench.ann.responses.stream(model="mini", input="Hi") as stream:
        kinds = [event.type async for event in stream]
        response = await stream.get_final_response()
    assert kinds == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
        "response.output_text.delta", "response.output_text.delta", "response.output_text.done",
        "response.content_part.done", "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert response.output_text == "Hello"


async def test_a_stream_has_named_events_and_no_other_end(bench: Bench) -> None:
    answer = await bench.plain.post("/responses", json={"input": "Hi", "stream": True})
    frames = answer.text.split("\n\n")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert frames[0].startswith("event: response.created\ndata: {")
    assert frames[-2].startswith("event: response.completed\n")
    assert frames[-1] == ""


async def test_structured_output_is_parsed(bench: Bench) -> None:
    class Sum(BaseModel):
        total: int

    bench.says('{"total": 5}')
    response = await bench.ann.responses.parse(model="mini", input="2+3", text_format=Sum)
    assert response.output_parsed == Sum(total=5)
    asked = bench.script.requests[0].format
    assert (asked.kind, asked.strict, asked.schema["title"]) == ("json_schema", True, "Sum")


async def test_a_tool_is_called_and_answered_by_the_earlier_response(bench: Bench) -> None:
    bench.script.plays(
        Prefilled(7), ReasoningDelta("Hm"), ToolCallDelta(0, '{"city":"Rome"}', "call_1", "weather"), Done("tool_calls")
    )  # fmt: skip
    first = await bench.ann.responses.create(
        model="mini", input="Weather?", tools=[WEATHER], instructions="Be brief."
    )
    call = first.output[-1]
    assert (call.type, call.arguments) == ("function_call", '{"city":"Rome"}')
    bench.says("Sunny.")
    second = await bench.ann.responses.create(
        model="mini",
        previous_response_id=first.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
        tools=[WEATHER],
    )
    assert second.output_text == "Sunny."
    # The instructions of the earlier response are not carried over.
    assert bench.asked() == [("user", "Weather?"), ("assistant", ""), ("tool", "sunny")]
    assistant = bench.script.requests[-1].messages[1]
    assert (assistant.reasoning, assistant.tool_calls[0].id) == ("Hm", "call_1")


async def test_a_chain_goes_on_and_forks(bench: Bench) -> None:
    first = await bench.ann.responses.create(model="mini", input="One")
    second = await bench.ann.responses.create(model="mini", input="Two", previous_response_id=first.id)
    await bench.ann.responses.create(model="mini", input="Three", previous_response_id=second.id)
    assert [text for _, text in bench.asked()] == ["One", "Hello", "Two", "Hello", "Three"]
    await bench.ann.responses.create(model="mini", input="Other", previous_response_id=first.id)
    assert [text for _, text in bench.asked()] == ["One", "Hello", "Other"]


async def test_what_is_stored_is_its_users_alone(bench: Bench) -> None:
    made = await bench.ann.responses.create(model="mini", input="Secret")
    read = await bench.ann.responses.retrieve(made.id)
    assert (read.output_text, read.status, read.usage) == ("Hello", "completed", made.usage)
    item = made.output[0].id
    for attempt in (
        bench.bob.responses.retrieve(made.id),
        bench.bob.responses.delete(made.id),
        bench.bob.responses.cancel(made.id),
        bench.bob.responses.input_items.list(made.id),
        bench.bob.responses.create(model="mini", input="Go on", previous_response_id=made.id),
    ):
        with pytest.raises(openai.NotFoundError) as missing:
            await attempt
        assert missing.value.code == "response_not_found"
    with pytest.raises(openai.BadRequestError) as unknown:
        await bench.bob.responses.create(model="mini", input=[{"type": "item_reference", "id": str(item)}])
    assert unknown.value.param == "input[0].id"
    await bench.ann.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        await bench.ann.responses.retrieve(made.id)


async def test_without_store_nothing_is_kept(bench: Bench) -> None:
    made = await bench.ann.responses.create(model="mini", input="Hi", store=False)
    with pytest.raises(openai.NotFoundError):
        await bench.ann.responses.retrieve(made.id)


async def test_an_item_is_referred_to_by_its_id(bench: Bench) -> None:
    made = await bench.ann.responses.create(model="mini", input="Hi")
    reference: Any = {"type": "item_reference", "id": made.output[0].id}
    await bench.ann.responses.create(model="mini", input=[reference, {"role": "user", "content": "And?"}])
    assert bench.asked() == [("assistant", "Hello"), ("user", "And?")]


async def test_input_items_are_listed_in_pages(bench: Bench) -> None:
    items: Any = [{"role": "user", "content": str(number)} for number in range(5)]
    made = await bench.ann.responses.create(model="mini", input=items)
    pages = await bench.ann.responses.input_items.list(made.id, limit=2)
    assert [item.content[0].text async for item in pages] == ["4", "3", "2", "1", "0"]
    first = await bench.ann.responses.input_items.list(made.id, limit=2, order="asc")
    assert [item.content[0].text for item in first.data] == ["0", "1"]
    assert first.has_more
    for query in ({"order": "up"}, {"limit": "0"}, {"limit": "101"}):
        assert (await bench.plain.get(f"/responses/{made.id}/input_items", params=query)).status_code == 400


async def test_pictures_are_kept_as_files_and_come_back(bench: Bench) -> None:
    picture = encoded(drawing(8, 8), "PNG")
    url = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    content: Any = [{"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": url}]
    made = await bench.ann.responses.create(model="mini", input=[{"role": "user", "content": content}])
    (stored,) = [item for item in await bench.store.responses.items("ann", made.id) if item.side == "input"]
    assert url not in str(stored.item)
    await bench.ann.responses.create(model="mini", input="And now?", previous_response_id=made.id)
    assert ImagePart(picture, "image/png") in bench.script.requests[-1].messages[0].parts
    plain = (await bench.ann.responses.input_items.list(made.id)).data[0]
    assert plain.content[1].image_url is None
    full = await bench.ann.responses.input_items.list(made.id, include=["message.input_image.image_url"])
    assert full.data[0].content[1].image_url == url


async def test_thoughts_and_logprobs_where_they_were_asked_for(bench: Bench) -> None:
    token = TokenLogprob("Hi", -0.5, b"Hi")
    bench.script.plays(Prefilled(7), ReasoningDelta("Hm"), TextDelta("Hi", (token,)), Done("stop"))
    made = await bench.ann.responses.create(
        model="mini",
        input="Hi",
        reasoning={"effort": "low", "summary": "auto"},
        include=["message.output_text.logprobs", "reasoning.encrypted_content"],
        store=False,
    )
    thought, message = made.output
    assert thought.summary[0].text == thought.content[0].text == "Hm"
    assert message.content[0].logprobs[0].token == "Hi"
    sent_back: Any = [{"role": "user", "content": "Hi"}, *(item.to_dict() for item in made.output)]
    sent_back[1] |= {"content": None, "summary": []}
    await bench.ann.responses.create(model="mini", input=[*sent_back, {"role": "user", "content": "And?"}])
    assert bench.script.requests[-1].messages[1].reasoning == "Hm"


async def test_tokens_are_counted(bench: Bench) -> None:
    counted = await bench.ann.responses.input_tokens.count(model="mini", input="Hi", instructions="Be brief.")
    assert (counted.input_tokens, counted.object) == (20, "response.input_tokens")
    assert bench.script.requests == []
    with pytest.raises(openai.BadRequestError) as refused:
        await bench.ann.responses.input_tokens.count(model="plain", input="Hi")
    assert refused.value.param == "model"


async def test_errors_have_openais_shape_and_their_status(bench: Bench) -> None:
    answer = await bench.plain.post("/responses", json={"input": "Hi", "truncation": "maybe"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == (
        "invalid_request_error", "truncation", "invalid_request",
    )  # fmt: skip
    assert (await bench.plain.post("/responses", json={"model": "none", "input": "Hi"})).status_code == 404
    assert (await bench.plain.post("/responses", content=b"{")).status_code == 400
    assert (await bench.plain.post("/responses", json={})).json()["error"]["param"] == "input"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_that_fails_at_once_has_its_status(bench: Bench, stream: bool) -> None:
    bench.script.plays(Failed("context_length_exceeded", "Too long.", 400))
    with pytest.raises(openai.BadRequestError) as refused:
        await bench.ann.responses.create(model="mini", input="Hi", stream=stream)
    assert refused.value.code == "context_length_exceeded"


async def test_a_whole_reply_that_fails_later_has_its_status_too(bench: Bench) -> None:
    bench.script.plays(Prefilled(7), TextDelta("Hel"), Failed("worker_lost", "It is gone.", 503))
    with pytest.raises(openai.InternalServerError) as failed:
        await bench.ann.responses.create(model="mini", input="Hi")
    assert (failed.value.status_code, failed.value.code) == (503, "worker_lost")


async def test_a_stream_that_fails_later_says_so_and_is_stored(bench: Bench) -> None:
    bench.script.plays(Prefilled(7), TextDelta("Hel"), Failed("worker_lost", "It is gone.", 503))
    stream = await bench.ann.responses.create(model="mini", input="Hi", stream=True)
    events = [event async for event in stream]
    assert events[-1].type == "response.failed"
    stored = await bench.ann.responses.retrieve(events[-1].response.id)
    assert (stored.status, stored.output_text) == ("failed", "Hel")
    assert stored.error is not None
    assert stored.error.code == "worker_lost"


async def test_truncation_leaves_out_the_oldest_turns(bench: Bench) -> None:
    turns: Any = [
        {"role": role, "content": f"{role} {number}"} for number in range(6) for role in ("user", "assistant")
    ]
    await bench.ann.responses.create(
        model="mini", instructions="Be brief.", input=[*turns, {"role": "user", "content": "Last"}],
        truncation="auto",
    )  # fmt: skip
    texts = [text for _, text in bench.asked()]
    assert (texts[0], texts[1], texts[-1]) == ("Be brief.", "user 4", "Last")
    with pytest.raises(openai.BadRequestError) as refused:
        await bench.ann.responses.create(model="plain", input="Hi", truncation="auto")
    assert refused.value.param == "truncation"

"""openai-python against a server: every endpoint of its client that a chat server has."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import time
import wave
from enum import Enum
from typing import Any

import openai
from features import KEY, MODEL, URL, feature, run
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel, Field

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0, timeout=120)
HELLO: Any = [{"role": "user", "content": "Hello, who are you?"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
FORCED: Any = {"type": "function", "function": {"name": "weather"}}
FLAT: Any = {"type": "function", "strict": False, **WEATHER["function"]}


class Colour(Enum):
    red = "red"
    blue = "blue"


class Answer(BaseModel):
    colour: Colour
    number: int = Field(ge=0, le=9)


@feature("models.list and retrieve")
def _() -> None:
    names = [model.id for model in client.models.list()]
    assert MODEL in names, names
    assert client.models.retrieve(MODEL).id == MODEL


@feature("chat")
def _() -> None:
    reply = client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=40)
    assert reply.choices[0].message.role == "assistant"
    assert reply.usage is not None
    assert reply.usage.completion_tokens > 0


@feature("chat, streamed with usage")
def _() -> None:
    chunks = list(
        client.chat.completions.create(
            model=MODEL, messages=HELLO, max_tokens=40, stream=True, stream_options={"include_usage": True}
        )
    )
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens > 0
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] in ("stop", "length")


@feature("chat, asynchronous")
def _() -> None:
    async def ask() -> int:
        async with AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0) as other:
            stream = await other.chat.completions.create(
                model=MODEL, messages=HELLO, max_tokens=10, stream=True
            )
            return len([chunk async for chunk in stream])

    assert asyncio.run(ask()) > 1


@feature("n choices")
def _() -> None:
    reply = client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=5, n=2, temperature=1)
    assert [choice.index for choice in reply.choices] == [0, 1]


@feature("stop strings")
def _() -> None:
    whole = client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=60, temperature=0)
    text = whole.choices[0].message.content or ""
    word = text.split()[2]
    cut = client.chat.completions.create(
        model=MODEL, messages=HELLO, max_tokens=60, temperature=0, stop=[word]
    )
    assert word not in (cut.choices[0].message.content or "")
    assert cut.choices[0].finish_reason == "stop"


@feature("max_tokens ends with length")
def _() -> None:
    reply = client.chat.completions.create(model=MODEL, messages=HELLO, max_tokens=2)
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 2


@feature("seed")
def _() -> None:
    def text() -> str | None:
        reply = client.chat.completions.create(
            model=MODEL, messages=HELLO, max_tokens=12, temperature=1.5, seed=7
        )
        return reply.choices[0].message.content

    text()  # afterwards the prompt is cached
    assert text() == text()


@feature("logprobs")
def _() -> None:
    reply = client.chat.completions.create(
        model=MODEL, messages=HELLO, max_tokens=200, logprobs=True, top_logprobs=3, temperature=0
    )
    logprobs = reply.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.content
    assert all(len(token.top_logprobs) == 3 for token in logprobs.content)
    assert "".join(token.token for token in logprobs.content).strip() in (
        reply.choices[0].message.content or ""
    )


@feature("logit_bias")
def _() -> None:
    reply = client.chat.completions.create(
        model=MODEL, messages=HELLO, max_tokens=3, logit_bias={"100": -100}, temperature=0
    )
    assert reply.choices[0].message is not None


@feature("json_schema")
def _() -> None:
    reply = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "A colour and a number, please."}],
        max_tokens=400,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": Answer.model_json_schema()},
        },
    )
    Answer.model_validate_json(reply.choices[0].message.content or "")


@feature("json_object")
def _() -> None:
    reply = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": "Answer in JSON: your name."}],
        max_tokens=400,
        response_format={"type": "json_object"},
    )
    text = reply.choices[0].message.content or ""
    assert text.lstrip().startswith("{")
    if reply.choices[0].finish_reason == "stop":
        json.loads(text)


@feature("chat.completions.parse")
def _() -> None:
    reply = client.chat.completions.parse(
        model=MODEL,
        messages=[{"role": "user", "content": "A colour and a number, please."}],
        max_tokens=400,
        response_format=Answer,
    )
    assert isinstance(reply.choices[0].message.parsed, Answer)


@feature("chat.completions.stream")
def _() -> None:
    with client.chat.completions.stream(model=MODEL, messages=HELLO, max_tokens=400) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert {"chunk", "content.delta", "content.done"} <= kinds
    assert final.choices[0].message.content


@feature("a forced tool call and its result")
def _() -> None:
    messages: Any = [{"role": "user", "content": "The weather in Oslo?"}]
    reply = client.chat.completions.create(
        model=MODEL, messages=messages, tools=[WEATHER], tool_choice=FORCED, max_tokens=400
    )
    message = reply.choices[0].message
    assert message.tool_calls
    call: Any = message.tool_calls[0]
    assert call.function.name == "weather"
    assert isinstance(json.loads(call.function.arguments)["city"], str)
    messages += [
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "sunny"},
    ]
    answer = client.chat.completions.create(
        model=MODEL, messages=messages, tools=[WEATHER], tool_choice="none", max_tokens=60
    )
    assert answer.choices[0].message.content


@feature("a tool call, streamed")
def _() -> None:
    with client.chat.completions.stream(
        model=MODEL,
        messages=[{"role": "user", "content": "The weather in Oslo?"}],
        tools=[{**WEATHER, "function": {**WEATHER["function"], "strict": True}}],
        tool_choice="required",
        max_tokens=400,
    ) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert "tool_calls.function.arguments.delta" in kinds
    assert final.choices[0].finish_reason == "tool_calls"


@feature("errors have their types")
def _() -> None:
    try:
        client.chat.completions.create(model="no-such-model", messages=HELLO)
    except openai.NotFoundError as error:
        assert error.code == "model_not_found"  # noqa: PT017
    else:
        raise AssertionError("an unknown model was answered")
    try:
        client.chat.completions.create(model=MODEL, messages=HELLO, temperature=-1)
    except openai.BadRequestError as error:
        assert error.param == "temperature"  # noqa: PT017
    else:
        raise AssertionError("a temperature of -1 was taken")


@feature("reasoning_effort none")
def _() -> None:
    reply = client.chat.completions.create(
        model=MODEL, messages=HELLO, max_tokens=40, reasoning_effort="none"
    )
    assert reply.choices[0].message.content


@feature("completions")
def _() -> None:
    reply = client.completions.create(model=MODEL, prompt=["Once upon", "One, two,"], max_tokens=6)
    assert [choice.index for choice in reply.choices] == [0, 1]
    chunks = list(client.completions.create(model=MODEL, prompt="Once upon", max_tokens=6, stream=True))
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] in ("stop", "length")


@feature("responses")
def _() -> None:
    reply = client.responses.create(
        model=MODEL, input="Hello, who are you?", max_output_tokens=200, reasoning={"effort": "none"}
    )
    assert reply.status == "completed"
    assert reply.output_text
    again = client.responses.create(
        model=MODEL, input="And again?", previous_response_id=reply.id, max_output_tokens=200
    )
    assert again.previous_response_id == reply.id
    assert client.responses.retrieve(reply.id).output_text == reply.output_text
    client.responses.delete(reply.id)


@feature("responses.stream")
def _() -> None:
    with client.responses.stream(
        model=MODEL, input="Hello", max_output_tokens=200, reasoning={"effort": "none"}
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_text.delta" in kinds
    assert final.output_text


@feature("responses.parse")
def _() -> None:
    reply = client.responses.parse(
        model=MODEL, input="A colour and a number, please.", text_format=Answer, max_output_tokens=200
    )
    assert isinstance(reply.output_parsed, Answer)


@feature("responses with a tool")
def _() -> None:
    reply = client.responses.create(
        model=MODEL,
        input="The weather in Oslo?",
        tools=[FLAT],
        tool_choice={"type": "function", "name": "weather"},
        max_output_tokens=100,
    )
    call: Any = next(item for item in reply.output if item.type == "function_call")
    answer = client.responses.create(
        model=MODEL,
        previous_response_id=reply.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
        max_output_tokens=200,
    )
    assert answer.status in ("completed", "incomplete")


@feature("responses in the background")
def _() -> None:
    reply = client.responses.create(model=MODEL, input="Hello", background=True, max_output_tokens=50)
    assert reply.status in ("queued", "in_progress", "completed", "incomplete")
    events = list(client.responses.retrieve(reply.id, stream=True))
    assert events[-1].type in ("response.completed", "response.incomplete")


@feature("conversations")
def _() -> None:
    conversation = client.conversations.create(metadata={"a": "b"})
    client.responses.create(model=MODEL, input="Hello", conversation=conversation.id, max_output_tokens=50)
    assert len(list(client.conversations.items.list(conversation.id))) >= 2
    client.conversations.delete(conversation.id)


@feature("files and batches")
def _() -> None:
    line = {
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": MODEL, "messages": HELLO, "max_tokens": 5},
    }
    file = client.files.create(file=("in.jsonl", json.dumps(line).encode()), purpose="batch")
    batch = client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    while batch.status in ("validating", "in_progress", "finalizing"):
        time.sleep(0.05)  # without a pause this loop alone would keep a busy server busy
        batch = client.batches.retrieve(batch.id)
    assert batch.status == "completed", batch
    assert batch.output_file_id is not None
    result = json.loads(client.files.content(batch.output_file_id).text)
    assert result["response"]["status_code"] == 200
    client.files.delete(file.id)


@feature("a PDF file part")
def _() -> None:
    text = b"BT /F 12 Tf 20 100 Td (Hello from PDF) Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(text), text),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    document, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(document))
        document += b"%d 0 obj%bendobj\n" % (number, body)
    table = len(document)
    document += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % at for at in offsets)
    document += b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % table
    data = "data:application/pdf;base64," + base64.b64encode(document).decode()
    content: Any = [
        {"type": "text", "text": "What does it say?"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": data}},
    ]
    reply = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": content}], max_tokens=10
    )
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 10


@feature("audio.speech and transcriptions")
def _() -> None:
    sound = client.audio.speech.create(model="tts-1", voice="alloy", input="Hello", response_format="wav")
    with wave.open(io.BytesIO(sound.read())) as file:
        assert file.getframerate() == 24_000
    text = client.audio.transcriptions.create(model="whisper-1", file=("a.wav", sound.content))
    assert isinstance(text.text, str)


if __name__ == "__main__":
    run("openai-python", openai.__version__)

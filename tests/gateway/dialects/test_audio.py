"""The speech endpoints, with the official client over real sockets and with plain HTTP."""

import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import httpx
import openai
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openai import AsyncOpenAI
from tests.gateway.fake_voice_worker import WORD, Seats
from tests.support.sample_files import tone

from duologue.config.settings import LimitSettings
from duologue.errors import Problem, QueueFull
from duologue.gateway.dialects.audio import router
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import problem_body, problem_status
from duologue.media import recordings, sniff, wav
from duologue.media.encoder import TYPES, encode_file
from duologue.values.audio import wav_header

pytestmark = pytest.mark.anyio

FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
COMPRESSED = FORMATS[:4]
SPEECH = "/v1/audio/speech"
WRITTEN = "/v1/audio/transcriptions"
RECORDING = encode_file("wav", tone(16_000, 1.5), 16_000)


def application(seats: Seats | None, limits: LimitSettings | None = None) -> FastAPI:
    app = FastAPI()
    speech = SpeechService(seats)
    app.include_router(router(speech, limits=limits or LimitSettings(), clock=lambda: 1700000000.5))

    async def answer(request: Request, problem: Exception) -> JSONResponse:
        return JSONResponse(problem_body(problem, request.url.path), problem_status(problem))

    app.add_exception_handler(Problem, answer)
    return app


Connect = Callable[..., AbstractAsyncContextManager[AsyncOpenAI]]


@pytest.fixture
def connect(serve: Any) -> Connect:
    """The official client, connected to a real server."""

    @asynccontextmanager
    async def connected(seats: Seats | None, **options: Any) -> AsyncIterator[AsyncOpenAI]:
        async with serve(application(seats, **options)) as address:
            url = f"http://{address}/v1"
            async with AsyncOpenAI(base_url=url, api_key="any", max_retries=0, timeout=60) as client:
                yield client

    return connected


@asynccontextmanager
async def plain_http(seats: Seats | None, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(application(seats, **options))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def needs_av(form: str) -> None:
    if form in COMPRESSED:
        pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")


# Speaking


@pytest.mark.parametrize("form", FORMATS)
async def test_a_text_is_spoken_in_every_format(connect: Connect, form: Any) -> None:
    needs_av(form)
    seats = Seats()
    async with connect(seats) as client:
        answer = await client.audio.speech.create(
            model="tts-1", voice="nova", input="one two three", response_format=form, speed=1.5
        )
    data = answer.content
    assert answer.response.headers["content-type"] == TYPES[form]
    if form == "pcm":
        assert len(data) == 2 * 3 * WORD
    else:
        mime = sniff.kind(data[: sniff.HEAD])
        heard = wav.read_wav(data) if form == "wav" else recordings.read_recording(data, mime)
        assert heard.duration == pytest.approx(600, abs=120)
    [request] = seats.requests
    assert (request.text, request.voice, request.speed) == ("one two three", "high", 1.5)
    assert seats.lent == 0


@pytest.mark.parametrize("form", FORMATS)
async def test_its_beginning_comes_before_the_whole_is_made(serve: Any, form: str) -> None:
    needs_av(form)
    seats = Seats()
    seats.hold = anyio.Event()
    body = {"input": "one two three four five six", "response_format": form}
    with anyio.fail_after(60):
        async with (
            serve(application(seats)) as address,
            httpx.AsyncClient() as client,
            client.stream("POST", f"http://{address}{SPEECH}", json=body) as answer,
        ):
            pieces = answer.aiter_bytes()
            assert await anext(pieces)
            assert seats.lent == 1
            seats.hold.set()
            assert b"".join([piece async for piece in pieces])


async def test_a_stream_of_events_has_the_sound_and_the_usage(connect: Connect) -> None:
    async with plain_http(Seats()) as client:
        body = {"input": "one two", "response_format": "pcm", "stream_format": "sse", "instructions": "Sing."}
        answer = await client.post(SPEECH, json=body)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line]
    assert [event["type"] for event in events] == ["speech.audio.delta"] * 2 + ["speech.audio.done"]
    assert events[-1]["usage"]["output_tokens"] == 8
    assert answer.headers["duologue-ignored"] == "instructions"


async def test_the_events_have_the_keys_of_a_mouth_where_they_are_asked_for(connect: Connect) -> None:
    body = {"input": "one two", "response_format": "pcm", "mouth": True}
    async with plain_http(Seats()) as client:
        answer = await client.post(SPEECH, json=body | {"stream_format": "sse"})
        whole = await client.post(SPEECH, json=body)
    events = [json.loads(line[6:]) for line in answer.text.splitlines() if line]
    assert [key[:2] for event in events for key in event.get("mouth", ())] == [[0, 80], [WORD, 80]]
    assert "duologue-ignored" not in answer.headers
    assert whole.headers["duologue-ignored"] == "mouth"
    assert len(whole.content) == 2 * 2 * WORD


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"model": "whisper-1"}, "model_not_found", "model"),
        ({"voice": "hal"}, "voice_not_found", "voice"),
        ({"input": " "}, "invalid_request", "input"),
        ({"speed": 9}, "invalid_request", "speed"),
        ({"response_format": "midi"}, "invalid_request", "response_format"),
    ],
)
async def test_a_wrong_request_is_refused_before_a_seat_is_taken(
    fields: dict[str, Any], code: str, param: str
) -> None:
    seats = Seats()
    async with plain_http(seats) as client:
        answer = await client.post(SPEECH, json={"input": "Hello."} | fields)
    error = answer.json()["error"]
    assert (error["code"], error["param"]) == (code, param)
    assert seats.kinds == []


async def test_a_failure_before_the_first_sound_has_its_status(connect: Connect) -> None:
    async with connect(Seats(refuses=QueueFull("The line is full."))) as client:
        with pytest.raises(openai.InternalServerError, match="The line is full") as caught:
            await client.audio.speech.create(model="tts", voice="low", input="one")
    assert (caught.value.status_code, caught.value.code) == (503, "queue_full")


async def test_half_a_file_is_never_taken_for_a_whole_one(serve: Any) -> None:
    seats = Seats(fails=Problem("It broke."))
    async with serve(application(seats)) as address, httpx.AsyncClient() as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(
                f"http://{address}{SPEECH}", json={"input": "one two", "response_format": "pcm"}
            )
    assert seats.lent == 0


async def test_a_failure_in_a_stream_of_events_is_its_last_event() -> None:
    async with plain_http(Seats(fails=Problem("It broke.", code="engine_failed"))) as client:
        body = {"input": "one two", "response_format": "pcm", "stream_format": "sse"}
        answer = await client.post(SPEECH, json=body)
    *_, error, done = [line for line in answer.text.splitlines() if line]
    assert json.loads(error[6:])["error"]["code"] == "engine_failed"
    assert done == "data: [DONE]"


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
async def test_a_client_that_leaves_frees_the_seat(serve: Any, stream_format: str) -> None:
    seats = Seats()
    seats.hold = anyio.Event()
    body = {"input": "one two three", "response_format": "pcm", "stream_format": stream_format}
    with anyio.fail_after(60):
        async with serve(application(seats)) as address:
            async with (
                httpx.AsyncClient() as client,
                client.stream("POST", f"http://{address}{SPEECH}", json=body) as answer,
            ):
                await anext(answer.aiter_bytes())
                assert seats.lent == 1
            await seats.given_back.wait()
    assert seats.lent == 0


async def test_without_a_voice_the_answer_says_how_to_get_one(connect: Connect) -> None:
    async with connect(None) as client:
        with pytest.raises(openai.BadRequestError, match=r"duologue\[voice\]") as caught:
            await client.audio.speech.create(model="tts-1", voice="alloy", input="Hello.")
        with pytest.raises(openai.BadRequestError, match=r"duologue\[voice\]"):
            await client.audio.transcriptions.create(model="whisper-1", file=("a.wav", RECORDING))
    assert caught.value.code == "voice_unavailable"


# Writing down


async def test_a_recording_is_written_down(connect: Connect) -> None:
    seats = Seats("hello there")
    async with connect(seats) as client:
        said = await client.audio.transcriptions.create(
            model="whisper-1",
            file=("a.wav", RECORDING),
            language="en",
            prompt="Ada",
            temperature=0.2,
            chunking_strategy="auto",
        )
    assert said.text == "hello there"
    assert said.usage is not None
    assert (said.usage.type, said.usage.seconds) == ("duration", 1.5)
    [request] = seats.requests
    assert (request.language, request.hint, request.words) == ("en", "Ada", False)
    assert len(request.pcm) == 2 * 24_000
    assert (seats.kinds, seats.lent) == (["transcription"], 0)


async def test_every_format_of_a_transcription(connect: Connect) -> None:
    seats = Seats(*["hello there"] * 4)
    async with connect(seats) as client:
        verbose = await client.audio.transcriptions.create(
            model="asr",
            file=("a.wav", RECORDING),
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        )
        text = await client.audio.transcriptions.create(
            model="asr", file=("a.wav", RECORDING), response_format="text"
        )
        srt = await client.audio.transcriptions.create(
            model="asr", file=("a.wav", RECORDING), response_format="srt"
        )
        vtt = await client.audio.transcriptions.create(
            model="asr", file=("a.wav", RECORDING), response_format="vtt"
        )
    assert (verbose.text, verbose.duration, verbose.language) == ("hello there", 1.5, "en")
    assert verbose.words is not None
    assert [(word.word, word.start) for word in verbose.words] == [("hello", 0.0), ("there", 1.0)]
    assert verbose.segments is not None
    assert verbose.segments[0].text == "hello there"
    assert text.strip() == "hello there"
    assert srt.startswith("1\n00:00:00,000 --> 00:00:01,500\nhello there")
    assert vtt.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nhello there")


async def test_a_streamed_transcription(connect: Connect) -> None:
    async with connect(Seats("hello there")) as client:
        stream = await client.audio.transcriptions.create(
            model="gpt-4o-transcribe", file=("a.wav", RECORDING), stream=True
        )
        events = [event async for event in stream]
    assert [event.type for event in events] == ["transcript.text.delta", "transcript.text.done"]
    assert events[0].delta == events[-1].text == "hello there"


@pytest.mark.parametrize("form", COMPRESSED)
async def test_compressed_sound_is_written_down_too(form: Any) -> None:
    needs_av(form)
    seats = Seats("hello")
    file = encode_file(form, tone(24_000, 1.0), 24_000)
    async with plain_http(seats) as client:
        answer = await client.post(WRITTEN, files={"file": ("a", file)}, data={"model": "asr"})
    assert answer.json()["text"] == "hello"
    assert answer.json()["usage"]["seconds"] == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(
    ("data", "file", "status", "code", "param"),
    [
        ({"response_format": "diarized_json"}, RECORDING, 400, "unsupported", "response_format"),
        ({"language": "de"}, RECORDING, 400, "unsupported", "language"),
        ({"model": "tts-1"}, RECORDING, 404, "model_not_found", "model"),
        ({}, b"no sound at all", 400, "sound_unsupported", None),
        ({}, wav_header(16_000, 0), 400, "sound_unreadable", None),
        ({}, b"", 400, "invalid_request", "file"),
        ({}, RECORDING + bytes(2**20), 413, "too_large", "file"),
        ({}, encode_file("wav", bytes(2 * 16_000 * 8), 16_000), 413, "sound_too_long", "file"),
    ],
)
async def test_a_wrong_form_is_refused_by_name_before_a_seat_is_taken(
    data: dict[str, Any], file: bytes, status: int, code: str, param: str | None
) -> None:
    seats = Seats()
    async with plain_http(seats, limits=LimitSettings(audio_mb=1, audio_minutes=0.1)) as client:
        answer = await client.post(WRITTEN, files={"file": ("a.wav", file)}, data=data)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    if status == 413:
        assert "limits.audio_" in error["message"]
    assert seats.kinds == []


async def test_what_is_no_form_is_told_what_to_send() -> None:
    async with plain_http(Seats()) as client:
        for content, head in (
            ({"json": {"file": "x"}}, "Send the recording as a form"),
            ({"data": {"model": "asr"}, "files": {"other": ("a", b"x")}}, "The form has no file"),
            (
                {"content": b"x", "headers": {"content-type": "multipart/form-data"}},
                "The form is invalid",
            ),
        ):
            answer = await client.post(WRITTEN, **content)
            assert answer.status_code == 400
            assert answer.json()["error"]["message"].startswith(head)


async def test_fields_that_change_nothing_are_named_in_a_header() -> None:
    async with plain_http(Seats("hello")) as client:
        data = {
            "temperature": "0.3",
            "chunking_strategy[type]": "server_vad",
            "colour": "red",
            "ünknown": "x",
        }
        answer = await client.post(WRITTEN, files={"file": ("a.wav", RECORDING)}, data=data)
    assert answer.headers["duologue-ignored"] == "temperature, chunking_strategy, colour"


@pytest.mark.parametrize("stream", ["false", "true"])
async def test_a_client_that_leaves_ends_the_writing(serve: Any, stream: str) -> None:
    seats = Seats("hello there")
    seats.hold = anyio.Event()
    with anyio.fail_after(60):
        async with serve(application(seats)) as address:
            async with anyio.create_task_group() as tasks:

                async def ask() -> None:
                    async with httpx.AsyncClient() as client:
                        await client.post(
                            f"http://{address}{WRITTEN}",
                            files={"file": ("a.wav", io.BytesIO(RECORDING))},
                            data={"stream": stream},
                        )

                tasks.start_soon(ask)
                while not seats.lent:
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            await seats.given_back.wait()
    assert seats.lent == 0


async def test_translations_are_refused_with_a_way_out(connect: Connect) -> None:
    async with connect(Seats()) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.audio.translations.create(model="whisper-1", file=("a.wav", RECORDING))
    said = caught.value.message
    assert "scripted transcribes speech but does not translate it" in said
    assert "Use /v1/audio/transcriptions, and a chat model for the translation." in said


# Lists


async def test_the_voices_and_models_are_listed() -> None:
    async with plain_http(Seats()) as client:
        voices = (await client.get("/v1/audio/voices")).json()
        assert (await client.get("/v1/voices")).json() == voices
        models = (await client.get("/v1/audio/models")).json()
    assert [voice["id"] for voice in voices["voices"]] == ["low", "high"]
    assert voices["default"] == "low"
    assert {"tts-1", "whisper-1", "scripted"} <= {model["id"] for model in models["models"]}


async def test_the_docs_show_the_form_and_the_body() -> None:
    async with plain_http(Seats()) as client:
        described = (await client.get("/openapi.json")).json()["paths"]
    form = described[WRITTEN]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert {"file", "response_format"} <= set(form["properties"])
    assert "application/json" in described[SPEECH]["post"]["requestBody"]["content"]


def test_every_media_type_of_an_answer_is_described():
    app = FastAPI()
    app.include_router(router(SpeechService(None), limits=LimitSettings()))
    paths = app.openapi()["paths"]
    described = {
        path: set(paths[f"/v1/audio/{path}"]["post"]["responses"]["200"]["content"])
        for path in ("speech", "transcriptions")
    }
    assert {*TYPES.values(), "text/event-stream"} <= described["speech"]
    assert {"text/plain; charset=utf-8", "text/vtt; charset=utf-8"} <= described["transcriptions"]

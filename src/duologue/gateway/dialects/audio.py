"""OpenAI's audio endpoints: `/v1/audio/speech`, `/v1/audio/transcriptions`, `/v1/audio/voices`, `/v1/audio/models`.

Owns reading the forms, and streaming audio files while they are synthesised. The shapes are in `wire.speech` and
`wire.transcripts`, the work in `SpeechService`; errors leave as `Problem`s, which the application turns into responses.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, Protocol

import anyio
from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from duologue.errors import BadRequest, Problem, TooLarge, Unsupported
from duologue.gateway.speech.service import SpeechService
from duologue.http.error_responses import refuse, request_id_of
from duologue.http.openapi import form_body, json_body
from duologue.http.sse import EventStream, watch_disconnect, while_connected
from duologue.media import sniff
from duologue.media.chunks import AudioChunks
from duologue.media.decoding import decode, encode
from duologue.media.encoder import TYPES, AudioEncoder, make_encoder
from duologue.values.audio import SPOKEN_RATE, samples
from duologue.values.call_events import ReplyAudio
from duologue.values.speech import SpeechRequest, Transcript, TranscriptionRequest
from duologue.wire import transcripts
from duologue.wire.speech import SpeechBody, SpeechFinished, SpeechStream, check_model, model_list, voice_list
from duologue.wire.transcripts import LISTS, RecordingTranscript, TranscriptionFields, TranscriptStream
from duologue.wire.validation import MEGABYTE, RequestLimits, decode_json, validate

log = logging.getLogger(__name__)

IGNORED = "Duologue-Ignored"
"""The header that names the request's fields that were not applied."""
MAX_FIELDS = 64
"""Fields a form may have."""
MAX_IGNORED, MAX_IGNORED_NAME = 32, 64
"""Fields that the header names, and characters of a name."""


class AudioLimits(RequestLimits, Protocol):
    """Size limits of a request. Each is a setting, and its error names it."""

    @property
    def audio_mb(self) -> int: ...

    @property
    def audio_minutes(self) -> float: ...


def router(
    speech: SpeechService, *, limits: AudioLimits, clock: Callable[[], float] = time.time
) -> APIRouter:
    """The endpoints. `clock` gives seconds since 1970."""
    routes = APIRouter(prefix="/v1", tags=["Speech"])
    started = int(clock())

    @routes.post("/audio/speech", openapi_extra=json_body(SpeechBody, "audio/mpeg"), summary="Speak a text")
    async def create_speech(request: Request) -> Response:
        """The audio is streamed while it is synthesised; with `stream_format: "sse"` as server-sent events."""
        try:
            fields = decode_json(await request.body())
        except ClientDisconnect:
            return Response(status_code=400)
        body = validate(SpeechBody, fields)
        speech.require_speaker()
        check_model(body.model, "speaker", speech.card)
        speech_request = body.request(speech.resolve_voice(body.voice), limits)
        source = _audio_file(
            speech,
            speech_request,
            make_encoder(body.response_format, SPOKEN_RATE),
            request_id_of(request.scope),
        )
        ignored = _ignored_header(body.ignored())
        if body.stream_format == "sse":
            stream: Response = EventStream(source, SpeechStream(body.input))
            stream.headers.update(ignored)
            return stream
        return AudioFileStream(source, TYPES[body.response_format], ignored)

    @routes.post(
        "/audio/transcriptions",
        openapi_extra=form_body(TranscriptionFields),
        summary="Transcribe a recording",
    )
    async def create_transcription(request: Request) -> Response:
        """A form with the `file`. With `stream` the text arrives in server-sent events, as it is transcribed."""
        speech.require_recogniser()
        data, fields = await _form(request, limits)
        check_model(fields.model, "recogniser", speech.card)
        fields.check(speech.card, limits)
        chunks = await decode(_open, data, limits.audio_minutes)
        transcription = TranscriptionRequest(
            b"", fields.language or speech.settings.language, fields.prompt, fields.needs_timestamps
        )
        source = _transcript(speech, chunks, transcription, request_id_of(request.scope))
        if fields.stream:
            stream = EventStream(source, TranscriptStream())
            stream.headers.update(_ignored_header(fields.ignored()))
            return stream
        return WholeTranscript(source, fields)

    @routes.post(
        "/audio/translations",
        openapi_extra=form_body(TranscriptionFields),
        summary="Not supported by any engine",
    )
    async def create_translation(request: Request) -> Response:
        """Always refused: recordings are transcribed in the language they are spoken in."""
        engine = speech.card.recogniser.engine if speech.card is not None else ""
        raise Unsupported(
            f"{engine or 'The recogniser'} transcribes speech but does not translate it. Use /v1/audio/transcriptions, and a chat "
            "model for the translation."
        )

    @routes.get("/voices", include_in_schema=False)
    @routes.get("/audio/voices", summary="List the voices")
    async def list_voices() -> Response:
        """Every loaded voice, and which of them OpenAI's names stand for."""
        return _json(voice_list(speech.card, speech.settings.voice))

    @routes.get("/audio/models", summary="List the speech and transcription models")
    async def list_models() -> Response:
        return _json(model_list(speech.card, started))

    return routes


class AudioFileStream(Response):
    """Sends the pieces of a file as they are made. A problem before the first piece has its HTTP status; after that the connection
    is closed without the last chunk, so that clients do not take half a file for a whole one."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[bytes | SpeechFinished]],
        media_type: str,
        headers: dict[str, str],
    ) -> None:
        super().__init__(
            media_type=media_type,
            headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no", **headers},
        )
        del self.headers["content-length"]  # not known yet
        self._source = source
        self._opened = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(watch_disconnect, receive, group.cancel_scope)
            try:
                async with self._source as pieces:
                    async for piece in pieces:
                        if isinstance(piece, bytes) and piece:
                            await self._write(send, piece, more=True)
                await self._write(send, b"", more=False)
            except OSError:  # some servers raise this when the client disconnects
                pass
            except Exception as error:
                if not isinstance(error, Problem):
                    log.exception("speech of request %s failed", request_id_of(scope))
                if self._opened:
                    log.warning("speech of request %s broke off: %s", request_id_of(scope), error)
                else:
                    await refuse(scope, receive, send, error)
            group.cancel_scope.cancel()

    async def _write(self, send: Send, data: bytes, *, more: bool) -> None:
        if not self._opened:
            self._opened = True
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
        message: Message = {"type": "http.response.body", "body": data, "more_body": more}
        await send(message)


class WholeTranscript(Response):
    """Answers when the recording is transcribed; a client that disconnects earlier cancels it."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[str | RecordingTranscript]],
        fields: TranscriptionFields,
    ) -> None:
        super().__init__()
        self._source, self._fields = source, fields

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outcome = await while_connected(receive, self._outcome)
        if isinstance(outcome, RecordingTranscript):
            body, media_type = transcripts.body(self._fields, outcome)
            headers = {"Cache-Control": "no-store", **_ignored_header(self._fields.ignored())}
            await Response(body, media_type=media_type, headers=headers)(scope, receive, send)
        elif outcome is not None:
            if not isinstance(outcome, Problem):
                log.error("request %s failed", request_id_of(scope), exc_info=outcome)
            await refuse(scope, receive, send, outcome)

    async def _outcome(self) -> RecordingTranscript | Exception:
        try:
            async with self._source as pieces:
                async for piece in pieces:
                    if isinstance(piece, RecordingTranscript):
                        return piece
            return Problem("The transcription broke off before its end. Try again.", code="reply_incomplete")
        except Exception as error:  # noqa: BLE001 (the caller sends it to the client and logs it)
            return error


# Speech


@asynccontextmanager
async def _audio_file(
    speech: SpeechService, request: SpeechRequest, file: AudioEncoder, request_id: str
) -> AsyncIterator[AsyncIterator[bytes | SpeechFinished]]:
    async with (
        speech.speak(request, request_id) as open_speech,
        aclosing(_pieces(open_speech.sounds(), file)) as pieces,
    ):
        yield pieces


async def _pieces(
    sounds: AsyncGenerator[ReplyAudio], file: AudioEncoder
) -> AsyncGenerator[bytes | SpeechFinished]:
    """The pieces of the file as the audio is synthesised, then its length."""
    count = 0
    async with aclosing(sounds):
        async for sound in sounds:
            count += samples(sound.pcm)
            yield await encode(file.feed, sound.pcm)
    yield await encode(file.finish)
    yield SpeechFinished(count / SPOKEN_RATE)


# Transcription


@asynccontextmanager
async def _transcript(
    speech: SpeechService, chunks: AudioChunks, request: TranscriptionRequest, request_id: str
) -> AsyncIterator[AsyncIterator[str | RecordingTranscript]]:
    async with (
        speech.transcribe_recording(chunks, request, request_id) as pieces,
        aclosing(_with_length(pieces, chunks)) as pieces_and_length,
    ):
        yield pieces_and_length


async def _with_length(
    pieces: AsyncIterator[str | Transcript], chunks: AudioChunks
) -> AsyncGenerator[str | RecordingTranscript]:
    async for piece in pieces:
        yield piece if isinstance(piece, str) else RecordingTranscript(piece, chunks.seconds)


def _open(data: bytes, minutes: float) -> AudioChunks:
    return AudioChunks(data, sniff.kind(data[: sniff.HEAD]), minutes=minutes)


async def _form(request: Request, limits: AudioLimits) -> tuple[bytes, TranscriptionFields]:
    """The file and the fields of a form. Raises BadRequest, TooLarge; each names its field."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadRequest(
            "Send the recording as a form (multipart/form-data) with the field file.", param="file"
        )
    try:
        async with request.form(max_files=4, max_fields=MAX_FIELDS, max_part_size=MEGABYTE) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadRequest("The form has no file.", param="file")
            data = await file.read()
            fields = validate(TranscriptionFields, _values(form))
    except HTTPException as error:
        raise BadRequest(f"The form is invalid: {error.detail}") from None
    except ClientDisconnect:
        raise BadRequest("The form is incomplete.") from None
    if len(data) > limits.audio_mb * MEGABYTE:
        raise TooLarge(
            f"The recording is larger than {limits.audio_mb} MB; raise the setting limits.audio_mb to allow it.",
            param="file",
        )
    if not data:
        raise BadRequest("The recording is empty.", param="file")
    return data, fields


def _values(form: FormData) -> dict[str, Any]:
    """The fields as they would be in JSON: repeatable ones as lists."""
    values: dict[str, Any] = {}
    for name, value in form.multi_items():
        if not isinstance(value, str) or name == "file":
            continue
        list_name = name.removesuffix("[]")
        if list_name in LISTS:
            values.setdefault(list_name, []).append(value)
        elif name.startswith("chunking_strategy["):
            values["chunking_strategy"] = "server_vad"
        else:
            values[name] = value
    return values


def _ignored_header(names: tuple[str, ...]) -> dict[str, str]:
    """The header for ignored fields. Names come from the client: those that a header cannot hold are left out."""
    safe = [name for name in names if name.isascii() and name.isprintable() and len(name) <= MAX_IGNORED_NAME]
    return {IGNORED: ", ".join(safe[:MAX_IGNORED])} if safe else {}


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})

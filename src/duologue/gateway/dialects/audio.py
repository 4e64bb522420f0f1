"""OpenAI's audio endpoints: `/v1/audio/speech`, `/v1/audio/transcriptions`, `/v1/audio/voices`, `/v1/audio/models`.

Owns reading the forms, and streaming audio files while they are synthesised. The shapes are in `wire.speech` and
`wire.transcripts`, the work in `SpeechService`; errors leave as `Problem`s, which the application turns into responses.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, Protocol

import anyio
from fastapi import APIRouter, Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from duologue.decoder.service import decode_stream
from duologue.errors import BadRequest, Problem, TooLarge, Unsupported
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_choice import note_header
from duologue.http.error_responses import refuse, request_id_of
from duologue.http.json_api import user_of
from duologue.http.openapi import form_body, json_body
from duologue.http.sse import EventStream, watch_disconnect, while_connected
from duologue.media.chunks import read_chunks
from duologue.media.encoder import TYPES, AudioEncoder, make_encoder
from duologue.queue_ticket import QueueTicket, watched_queue
from duologue.request_parsing import parsing
from duologue.threads import encoding
from duologue.values.audio import SPOKEN_RATE, samples
from duologue.values.call_events import ReplyAudio
from duologue.values.requests import ModelCard
from duologue.values.speech import SpeechRequest, TranscriptionRequest
from duologue.wire import transcripts
from duologue.wire.speech import (
    SpeechBody,
    SpeechFinished,
    SpeechPiece,
    SpeechStream,
    check_model,
    model_list,
    voice_list,
)
from duologue.wire.transcripts import LISTS, RecordingTranscript, TranscriptionFields, TranscriptStream
from duologue.wire.validation import MEGABYTE, RequestLimits, decode_json, validate

log = logging.getLogger(__name__)

IGNORED = "Duologue-Ignored"
"""The header that names the request's fields that were not applied."""
MAX_FIELDS = 64
"""Fields a form may have."""
MAX_IGNORED, MAX_IGNORED_NAME = 32, 64
"""Fields that the header names, and characters of a name."""


SPOKEN_TYPES = (*sorted(set(TYPES.values()), key=lambda media: media != TYPES["mp3"]), "text/event-stream")
"""What `/v1/audio/speech` answers with, the default first."""
WRITTEN_TYPES = (
    *("application/json", "text/event-stream", "text/plain; charset=utf-8"),
    *("application/x-subrip; charset=utf-8", "text/vtt; charset=utf-8"),
)
"""What transcriptions are answered with."""


class AudioLimits(RequestLimits, Protocol):
    """Size limits of a request. Each is a setting, and its error names it."""

    @property
    def audio_mb(self) -> int: ...

    @property
    def audio_minutes(self) -> float: ...


def router(
    speech: SpeechService,
    *,
    limits: AudioLimits,
    clock: Callable[[], float] = time.time,
    models: Callable[[], Sequence[ModelCard]] = tuple,
) -> APIRouter:
    """The endpoints. `clock` gives seconds since 1970; `models` gives those that are loaded, of which some speak themselves."""
    routes = APIRouter(prefix="/v1", tags=["Speech"])

    spoken_as = json_body(
        SpeechBody, *SPOKEN_TYPES, description="The audio, or with `stream_format` its events."
    )

    @routes.post("/audio/speech", openapi_extra=spoken_as, summary="Speak a text")
    async def create_speech(request: Request) -> Response:
        """The audio is streamed while it is synthesised; with `stream_format: "sse"` as server-sent events."""
        try:
            data = await request.body()
        except ClientDisconnect:
            return Response(status_code=400)
        fields = await parsing(len(data), decode_json, data, user=user_of(request))
        body = validate(SpeechBody, fields)
        speech.require_speaker()
        check_model(body.model, "speaker", speech.card)
        spoken = body.request(body.voice, limits)
        speech_request, choice = await speech.choose_voice(spoken, user_of(request))
        source = _audio_file(
            speech,
            speech_request,
            make_encoder(body.response_format, SPOKEN_RATE),
            request_id_of(request.scope),
            user_of(request),
        )
        ignored = _ignored_header(body.ignored()) | note_header(choice)
        if body.stream_format == "sse":
            stream: Response = EventStream(source, SpeechStream(body.input))
            stream.headers.update(ignored)
            return stream
        return AudioFileStream(source, TYPES[body.response_format], ignored)

    @routes.post(
        "/audio/transcriptions",
        openapi_extra=form_body(TranscriptionFields, *WRITTEN_TYPES),
        summary="Transcribe a recording",
    )
    async def create_transcription(request: Request) -> Response:
        """A form with the `file`. With `stream` the text arrives in server-sent events, as it is transcribed."""
        speech.require_recogniser()
        data, fields = await _form(request, limits)
        check_model(fields.model, "recogniser", speech.card)
        fields.check(speech.card, limits)
        transcription = TranscriptionRequest(
            b"", fields.language or speech.settings.language, fields.prompt, fields.needs_timestamps
        )
        about = request_id_of(request.scope), user_of(request)
        source = _transcript(speech, data, limits.audio_minutes, transcription, *about)
        if fields.stream:
            stream = EventStream(source, TranscriptStream())
            stream.headers.update(_ignored_header(fields.ignored()))
            return stream
        return WholeTranscript(source, fields)

    @routes.post(
        "/audio/translations",
        openapi_extra=form_body(TranscriptionFields, *WRITTEN_TYPES),
        summary="Not supported by any engine",
    )
    async def create_translation(request: Request) -> Response:
        """Always refused: recordings are transcribed in the language they are spoken in."""
        engine = speech.card.recogniser.engine if speech.card is not None else ""
        raise Unsupported(
            f"{engine or 'The recogniser'} transcribes speech but does not translate it. Use /v1/audio/transcriptions, and a chat "
            "model for the translation."
        )

    _add_lists(routes, speech, models, int(clock()))
    return routes


def _add_lists(
    routes: APIRouter, speech: SpeechService, models: Callable[[], Sequence[ModelCard]], started: int
) -> None:
    @routes.get("/voices", include_in_schema=False)
    @routes.get("/audio/voices", summary="List the voices")
    async def list_voices(request: Request) -> Response:
        """Every loaded voice, those of models that speak themselves, which of them OpenAI's names stand for, and the recorded voices that the user may speak with."""
        custom = [] if speech.library is None else await speech.library.visible(user_of(request))
        return _json(voice_list(speech.card, speech.settings.voice, custom, models()))

    @routes.get("/audio/models", summary="List the speech and transcription models")
    async def list_models() -> Response:
        return _json(model_list(speech.card, started))


class AudioFileStream(Response):
    """Sends the pieces of a file as they are made. A problem before the first piece has its HTTP status; after that the connection
    is closed without the last chunk, so that clients do not take half a file for a whole one."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[SpeechPiece | SpeechFinished]],
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
        self._queue = QueueTicket()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with watched_queue() as self._queue:
            await self._send_file(scope, receive, send)

    async def _send_file(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(watch_disconnect, receive, group.cancel_scope)
            try:
                async with self._source as pieces:
                    async for piece in pieces:
                        if isinstance(piece, SpeechPiece) and piece.data:
                            await self._write(send, piece.data, more=True)
                await self._write(send, b"", more=False)
            except OSError:  # some servers raise this when the client disconnects
                pass
            except Exception as error:
                if not isinstance(error, Problem):
                    log.exception("speech of request %s failed", request_id_of(scope))
                if self._opened:
                    log.warning("speech of request %s broke off: %s", request_id_of(scope), error)
                else:
                    await refuse(scope, receive, send, error, self._queue.headers)
            group.cancel_scope.cancel()

    async def _write(self, send: Send, data: bytes, *, more: bool) -> None:
        if not self._opened:
            self._opened = True
            self.headers.update(self._queue.headers)
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
        with watched_queue() as queue:
            outcome = await while_connected(receive, self._outcome)
        if isinstance(outcome, RecordingTranscript):
            body, media_type = transcripts.body(self._fields, outcome)
            headers = {
                "Cache-Control": "no-store",
                **queue.headers,
                **_ignored_header(self._fields.ignored()),
            }
            await Response(body, media_type=media_type, headers=headers)(scope, receive, send)
        elif outcome is not None:
            if not isinstance(outcome, Problem):
                log.error("request %s failed", request_id_of(scope), exc_info=outcome)
            await refuse(scope, receive, send, outcome, queue.headers)

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
    speech: SpeechService, request: SpeechRequest, file: AudioEncoder, request_id: str, user: str
) -> AsyncIterator[AsyncIterator[SpeechPiece | SpeechFinished]]:
    async with (
        speech.speak(request, request_id, user=user, part=False) as open_speech,
        aclosing(_pieces(open_speech.sounds(), file)) as pieces,
    ):
        yield pieces


async def _pieces(
    sounds: AsyncGenerator[ReplyAudio], file: AudioEncoder
) -> AsyncGenerator[SpeechPiece | SpeechFinished]:
    """The pieces of the file as the audio is synthesised, then its length."""
    count = 0
    async with aclosing(sounds):
        async for sound in sounds:
            count += samples(sound.pcm)
            data = await encoding(file.feed, sound.pcm) if sound.pcm else b""
            yield SpeechPiece(data, sound.mouth)
    yield SpeechPiece(await encoding(file.finish))
    yield SpeechFinished(count / SPOKEN_RATE)


# Transcription


@asynccontextmanager
async def _transcript(
    speech: SpeechService,
    data: bytes,
    minutes: float,
    request: TranscriptionRequest,
    request_id: str,
    user: str,
) -> AsyncIterator[AsyncIterator[str | RecordingTranscript]]:
    async with decode_stream(read_chunks, data, minutes, user=user) as chunks:
        # A file that cannot be read is refused before it takes a seat.
        first = await anext(chunks, b"")
        async with (
            aclosing(_continued(first, chunks)) as sound,
            speech.transcribe_recording(sound, request, request_id, user=user) as pieces,
        ):
            yield pieces


async def _continued(first: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


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

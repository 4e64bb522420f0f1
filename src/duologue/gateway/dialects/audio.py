"""OpenAI's speech endpoints: `/v1/audio/speech`, `/v1/audio/transcriptions`, `/v1/audio/voices`, `/v1/audio/models`.

Owns the reading of forms, and the way of sound out of the door while it is made. The shapes are in `wire.speech` and
`wire.transcripts`, the seats in `speech`; errors leave as `Problem`s, which the application answers.
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
from duologue.values.speech import SpeechRequest, Transcript, TranscriptionRequest
from duologue.wire import transcripts
from duologue.wire.speech import SpeechBody, SpeechFinished, SpeechStream, check_model, model_list, voice_list
from duologue.wire.transcripts import LISTS, Heard, TranscriptionFields, TranscriptStream
from duologue.wire.validation import MEGABYTE, RequestLimits, decode_json, validate

log = logging.getLogger(__name__)

IGNORED = "Duologue-Ignored"
"""The header that names the fields of a request that changed nothing."""
FIELDS = 64
"""Fields a form may have."""


class AudioLimits(RequestLimits, Protocol):
    """What one request may bring; each is a setting, named in its error."""

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
        """The sound comes while it is made, in chunks; with `stream_format: "sse"` as server-sent events."""
        try:
            body = decode_json(await request.body())
        except ClientDisconnect:
            return Response(status_code=400)
        asked = validate(SpeechBody, body)
        speech.require_speaker()
        check_model(asked.model, "speaker", speech.card)
        turn = asked.request(speech.resolve_voice(asked.voice), limits)
        made = make_encoder(asked.response_format, SPOKEN_RATE)
        source = _spoken(speech, turn, made, request_id_of(request.scope))
        ignored = _ignored(asked.ignored())
        if asked.stream_format == "sse":
            stream: Response = EventStream(source, SpeechStream(asked.input))
            stream.headers.update(ignored)
            return stream
        return SoundStream(source, TYPES[asked.response_format], ignored)

    @routes.post(
        "/audio/transcriptions",
        openapi_extra=form_body(TranscriptionFields),
        summary="Write down a recording",
    )
    async def create_transcription(request: Request) -> Response:
        """A form with the `file`. With `stream` the text comes in server-sent events, as it is written down."""
        speech.require_recogniser()
        data, fields = await _form(request, limits)
        check_model(fields.model, "recogniser", speech.card)
        fields.check(speech.card, limits)
        passages = await decode(_opened, data, limits.audio_minutes)
        asked = TranscriptionRequest(
            b"", fields.language or speech.settings.language, fields.prompt, fields.wants_words
        )
        id = request_id_of(request.scope)
        source = _heard(speech, passages, asked, id)
        if fields.stream:
            stream = EventStream(source, TranscriptStream())
            stream.headers.update(_ignored(fields.ignored()))
            return stream
        return WholeTranscript(source, fields)

    @routes.post(
        "/audio/translations",
        openapi_extra=form_body(TranscriptionFields),
        summary="Not offered by any engine here",
    )
    async def create_translation(request: Request) -> Response:
        """Always refused: what is said is written down in its own language."""
        engine = speech.card.recogniser.engine if speech.card is not None else ""
        raise Unsupported(
            f"{engine or 'The recogniser'} writes down what is said in its own language and translates nothing. Ask "
            "/v1/audio/transcriptions, and a chat model for the translation."
        )

    @routes.get("/voices", include_in_schema=False)
    @routes.get("/audio/voices", summary="List the voices")
    async def list_voices() -> Response:
        """Every voice that replies may have, and which of them OpenAI's names stand for."""
        return _json(voice_list(speech.card, speech.settings.voice))

    @routes.get("/audio/models", summary="List what speaks and what writes down speech")
    async def list_models() -> Response:
        return _json(model_list(speech.card, started))

    return routes


class SoundStream(Response):
    """Sends the pieces of a file as they come. A problem before the first is a refusal with its HTTP status; after it the
    connection ends without the mark of its end, so that half a file is never taken for a whole one."""

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
        del self.headers["content-length"]  # nobody knows how long it will be
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
            except OSError:  # how some servers say that the client has left
                pass
            except Exception as error:
                if not isinstance(error, Problem):
                    log.exception("the sound of request %s failed", request_id_of(scope))
                if self._opened:
                    log.warning("the sound of request %s broke off: %s", request_id_of(scope), error)
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
    """Answers when all is written down; a client that leaves before ends the work."""

    def __init__(
        self, source: AbstractAsyncContextManager[AsyncIterator[str | Heard]], fields: TranscriptionFields
    ) -> None:
        super().__init__()
        self._source, self._fields = source, fields

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outcome = await while_connected(receive, self._outcome)
        if isinstance(outcome, Heard):
            body, media_type = transcripts.body(self._fields, outcome)
            headers = {"Cache-Control": "no-store", **_ignored(self._fields.ignored())}
            await Response(body, media_type=media_type, headers=headers)(scope, receive, send)
        elif outcome is not None:
            if not isinstance(outcome, Problem):
                log.error("request %s failed", request_id_of(scope), exc_info=outcome)
            await refuse(scope, receive, send, outcome)

    async def _outcome(self) -> Heard | Exception:
        try:
            async with self._source as pieces:
                async for piece in pieces:
                    if isinstance(piece, Heard):
                        return piece
            return Problem("The transcription broke off before its end. Try again.", code="reply_incomplete")
        except Exception as error:  # noqa: BLE001 (told to the client and logged by the caller)
            return error


# Speaking


@asynccontextmanager
async def _spoken(
    speech: SpeechService, request: SpeechRequest, made: AudioEncoder, request_id: str
) -> AsyncIterator[AsyncIterator[bytes | SpeechFinished]]:
    async with (
        speech.speak(request, request_id) as speaking,
        aclosing(_file(speaking.sounds(), made)) as pieces,
    ):
        yield pieces


async def _file(sounds: AsyncGenerator[Any], made: AudioEncoder) -> AsyncGenerator[bytes | SpeechFinished]:
    """The pieces of the file, as its sound comes, and how much it was."""
    count = 0
    async with aclosing(sounds) as heard:
        async for sound in heard:
            count += samples(sound.pcm)
            yield await encode(made.feed, sound.pcm)
    yield await encode(made.finish)
    yield SpeechFinished(count / SPOKEN_RATE)


# Writing down


@asynccontextmanager
async def _heard(
    speech: SpeechService, passages: AudioChunks, request: TranscriptionRequest, request_id: str
) -> AsyncIterator[AsyncIterator[str | Heard]]:
    async with (
        speech.transcribe_recording(passages, request, request_id) as pieces,
        aclosing(_with_length(pieces, passages)) as told,
    ):
        yield told


async def _with_length(
    pieces: AsyncIterator[str | Transcript], passages: AudioChunks
) -> AsyncGenerator[str | Heard]:
    async for piece in pieces:
        yield piece if isinstance(piece, str) else Heard(piece, passages.seconds)


def _opened(data: bytes, minutes: float) -> AudioChunks:
    return AudioChunks(data, sniff.kind(data[: sniff.HEAD]), minutes=minutes)


async def _form(request: Request, limits: AudioLimits) -> tuple[bytes, TranscriptionFields]:
    """The file of a form and its fields. Raises BadRequest, TooLarge; each names its field."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadRequest(
            "Send the recording as a form (multipart/form-data) with the field file.", param="file"
        )
    try:
        async with request.form(max_files=4, max_fields=FIELDS, max_part_size=MEGABYTE) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadRequest("The form has no file.", param="file")
            data = await file.read()
            fields = validate(TranscriptionFields, _values(form))
    except HTTPException as error:
        raise BadRequest(f"The form cannot be read: {error.detail}") from None
    except ClientDisconnect:
        raise BadRequest("The form ended before its end.") from None
    if len(data) > limits.audio_mb * MEGABYTE:
        raise TooLarge(
            f"The recording is larger than {limits.audio_mb} MB; the setting limits.audio_mb raises the limit.",
            param="file",
        )
    if not data:
        raise BadRequest("The recording is empty.", param="file")
    return data, fields


def _values(form: FormData) -> dict[str, Any]:
    """The fields as they would stand in JSON: those that may come several times as lists."""
    values: dict[str, Any] = {}
    for name, value in form.multi_items():
        if not isinstance(value, str) or name == "file":
            continue
        plain = name.removesuffix("[]")
        if plain in LISTS:
            values.setdefault(plain, []).append(value)
        elif name.startswith("chunking_strategy["):
            values["chunking_strategy"] = "server_vad"
        else:
            values[name] = value
    return values


def _ignored(names: tuple[str, ...]) -> dict[str, str]:
    """The header for these fields; a name that no header can hold is left out, for names are the callers' to invent."""
    plain = [name for name in names if name.isascii() and name.isprintable() and len(name) <= 64][:32]
    return {IGNORED: ", ".join(plain)} if plain else {}


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})

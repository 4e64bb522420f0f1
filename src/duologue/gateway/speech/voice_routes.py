"""`/api/assets/ref_audio`: the voices that people recorded, as recordings for a cloning speaker to imitate.

Owns the bodies and the field names of the rows: those of the MiniCPM-o demo, and ours beside them. The rules are in
`VoiceLibrary`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import fastapi
from fastapi import APIRouter, Request
from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from duologue.errors import BadRequest
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_library import STATEMENT, VoiceLibrary
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import answer, read_body, user_of
from duologue.http.openapi import json_body
from duologue.request_parsing import parsing
from duologue.values.audio import HEARD_RATE, wav_header
from duologue.values.custom_voice import CustomVoice
from duologue.wire.api import RequestBody, read
from duologue.wire.media_parts import from_base64
from duologue.wire.validation import MEGABYTE

VoiceId = Annotated[str, fastapi.Path(max_length=64)]
NAME, TEXT, WORDING = 80, 1000, 500
BASE64 = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
"""What `from_base64` reads, for /docs."""
"""Characters of a name, of what is said in a recording, and of what its owner agreed to."""
NAMELESS = "My voice"


def _consent(value: object) -> object:
    """What was agreed to: the wording, or true (in a form: "true", "on", "1") for the usual one."""
    if value is True or (isinstance(value, str) and value.strip().lower() in ("true", "on", "1", "yes")):
        return STATEMENT
    if (
        value is False
        or value is None
        or (isinstance(value, str) and value.strip().lower() in ("false", "off", "0", "no"))
    ):
        return ""
    return value


class VoiceFields(RequestBody):
    """What is known of a voice, beside its recording."""

    name: str = Field(default=NAMELESS, min_length=1, max_length=NAME, description="Its name.")
    consent: Annotated[str, BeforeValidator(_consent)] = Field(
        default="",
        max_length=WORDING,
        json_schema_extra={"pattern": r"\S"},
        description=f"What was agreed to, in words; `true` stands for: {STATEMENT} Nothing is kept without it.",
    )
    text: str = Field(default="", max_length=TEXT, description="What is said in the recording.")


class NewVoice(VoiceFields):
    """A voice to keep; or a form with the file in `file` and the same fields."""

    model_config = ConfigDict(json_schema_extra={"required": ["audio_base64", "consent"]})

    audio_base64: str = Field(
        min_length=1,
        validation_alias=AliasChoices("audio_base64", "audio_data"),
        json_schema_extra={"pattern": BASE64, "contentEncoding": "base64"},
        description="A sound file of any common format, as base64.",
    )


class VoiceChange(RequestBody):
    """Changes of a voice; absent fields stay as they are."""

    name: str | None = Field(default=None, min_length=1, max_length=NAME, description="Another name.")
    text: str | None = Field(default=None, max_length=TEXT, description="What is said in the recording.")
    shared: bool | None = Field(default=None, description="For admins: whether everyone may speak with it.")


def router(library: VoiceLibrary, speech: SpeechService) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/api/assets/ref_audio", tags=["voice"])

    @routes.get("", summary="Voices of one's own, and shared ones")
    async def list_voices(request: Request) -> Response:
        """The voices that the user may speak with: `id` is accepted wherever a request has a `voice`."""
        user = user_of(request)
        rows = [_row(voice, user) for voice in await library.visible(user)]
        card = speech.card
        clones = None if card is None else card.clones
        return answer({"total": len(rows), "ref_audios": rows, "clones": clones, "statement": STATEMENT})

    @routes.post(
        "",
        summary="Keep a voice",
        status_code=201,
        openapi_extra=json_body(NewVoice, description="The voice.", status=201),
    )
    async def add_voice(request: Request) -> Response:
        """A recording of 1 to 30 seconds, of somebody who agreed to it."""
        data, fields = await _upload(request)
        user = user_of(request)
        voice = await library.add(user, data, name=fields.name, statement=fields.consent, text=fields.text)
        message = f"The voice {voice.name} was added."
        return answer({"success": True, "message": message} | _row(voice, user), 201)

    @routes.get("/{id}", summary="A voice")
    async def read_voice(request: Request, id: VoiceId) -> Response:
        user = user_of(request)
        return answer(_row(await library.get(user, id), user))

    @routes.get("/{id}/audio", summary="The recording of a voice")
    async def read_recording(request: Request, id: VoiceId) -> Response:
        """A WAV file, 16-bit mono at 16 kHz; for its owner, and for admins where it is shared."""
        pcm = await library.recording(user_of(request), id, admin=_is_admin(request))
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return Response(wav_header(HEARD_RATE, len(pcm)) + pcm, media_type="audio/wav", headers=headers)

    @routes.patch(
        "/{id}",
        summary="Rename or share a voice, or correct its text",
        openapi_extra=json_body(VoiceChange, description="The voice."),
    )
    async def change_voice(request: Request, id: VoiceId) -> Response:
        change = await read_body(request, VoiceChange)
        user = user_of(request)
        voice = await library.change(
            user, id, admin=_is_admin(request), name=change.name, text=change.text, shared=change.shared
        )
        return answer(_row(voice, user))

    @routes.post("/{id}/transcript", summary="Have the recogniser write down what is said in a recording")
    async def transcribe_voice(request: Request, id: VoiceId) -> Response:
        """Replaces the text of the voice, which can be corrected after that."""
        user, admin = user_of(request), _is_admin(request)
        pcm = await library.recording(user, id, admin=admin)
        transcript = await speech.transcribe(pcm, request_id_of(request.scope), user=user)
        voice = await library.change(user, id, admin=admin, text=transcript.text[:TEXT])
        return answer(_row(voice, user))

    @routes.delete("/{id}", summary="Delete a voice and its recording")
    async def delete_voice(request: Request, id: VoiceId) -> Response:
        await library.delete(user_of(request), id, admin=_is_admin(request))
        return answer({"success": True, "id": id, "message": "The voice was deleted."})

    return routes


def _row(voice: CustomVoice, user: str) -> dict[str, Any]:
    """A voice as clients see it. What is said in it and what was agreed to are its owner's business."""
    own = voice.user == user
    row: dict[str, Any] = {
        "id": voice.id,
        "name": voice.name,
        "filename": f"{voice.id}.wav",
        "source_type": "upload",
        "duration_ms": voice.duration,
        "sample_rate": HEARD_RATE,
        "created_at": datetime.fromtimestamp(voice.created / 1000, UTC).isoformat(timespec="seconds"),
        "created": voice.created,
        "own": own,
        "shared": voice.shared,
    }
    if own:
        row |= {"text": voice.text, "consent": {"statement": voice.statement, "agreed": voice.agreed}}
    return row


def _is_admin(request: Request) -> bool:
    return bool(request.scope.get("state", {}).get("role") == "admin")


async def _upload(request: Request) -> tuple[bytes, VoiceFields]:
    """The file and the fields of a JSON body or a form. Raises BadRequest; the middleware has refused larger bodies."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        body = await read_body(request, NewVoice)
        size = len(body.audio_base64)
        data = await parsing(size, from_base64, body.audio_base64, "audio_base64", user=user_of(request))
        return data, body
    try:
        async with request.form(max_files=1, max_fields=8, max_part_size=MEGABYTE) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadRequest("The form has no file.", param="file")
            data = await file.read()
            values = {name: value for name, value in form.multi_items() if name != "file"}
    except HTTPException as error:
        raise BadRequest(f"The form is invalid: {error.detail}") from None
    except ClientDisconnect:
        raise BadRequest("The form is incomplete.") from None
    return data, read(VoiceFields, values)

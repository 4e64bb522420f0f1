"""How large the body of a request and the message of a socket may be, by its path. `app` passes this to the middleware."""

from __future__ import annotations

from duologue.config import Settings
from duologue.gateway.auth import middleware, sessions

MEGABYTE = 1024 * 1024
EXTRA_BYTES = 64 * 1024
"""What a body may have besides the text or the file in it."""
_MEDIA_PATHS = (
    *("/chat/completions", "/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens"),
    "/v1/chat/completions/input_tokens",
    *("/v1/responses", "/v1/responses/input_tokens", "/v1/conversations", "/v1/conversations/{id}/items"),
    # The prompts of chats, which have the body of a chat.
    *("/apply-template", "/tokenize", "/v1/token/encode"),
)
"""Requests that have files within their JSON."""

_RECORDING_PATHS = ("/v1/audio/transcriptions", "/v1/audio/translations", "/api/avatars/{id}/clips")
"""Forms with a recording."""


def json_limit(settings: Settings) -> tuple[int, str]:
    """The size of a body that is text and some fields: JSON writes a character of one byte with up to six."""
    return 6 * settings.limits.text_mb * MEGABYTE + EXTRA_BYTES, "limits.text_mb"


def body_limits(settings: Settings) -> dict[str, tuple[int, str]]:
    """The paths that take files, or files within JSON. A form has boundaries, which need some extra bytes."""
    form = EXTRA_BYTES
    recording = settings.limits.audio_mb * MEGABYTE + form, "limits.audio_mb"
    return {
        **dict.fromkeys(_MEDIA_PATHS, (settings.limits.body_mb * MEGABYTE, "limits.body_mb")),
        middleware.LOGIN_PATH: (sessions.BODY_BYTES, ""),
        "/api/blobs": (settings.limits.blob_mb * MEGABYTE + form, "limits.blob_mb"),
        "/v1/files": (settings.limits.blob_mb * MEGABYTE + form, "limits.blob_mb"),
        "/api/import": (settings.limits.import_mb * MEGABYTE + form, "limits.import_mb"),
        "/api/avatars": (settings.limits.avatar_mb * MEGABYTE + form, "limits.avatar_mb"),
        # As JSON a recording is base64, a third longer.
        "/api/assets/ref_audio": (settings.limits.audio_mb * MEGABYTE * 4 // 3 + form, "limits.audio_mb"),
        **dict.fromkeys(_RECORDING_PATHS, recording),
    }


def message_limits(settings: Settings) -> dict[str, int]:
    """The paths of sockets that take smaller messages than a chat with its files."""
    size = min(settings.voice.message_mb, settings.limits.body_mb) * MEGABYTE
    return {"/ws/voice": size, "/ws/duplex/": size}

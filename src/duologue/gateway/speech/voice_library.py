"""The voices that people recorded: who may speak with which, who may change them, and how many there may be.

Owns the rules and their sentences; rows are in `store.sound.custom_voices`, recordings are read in a decoder process. Used by
`voice_routes`, and by `SpeechService` when a request names a voice by its id.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import msgspec

from duologue.decoder.service import decode
from duologue.errors import BadRequest, Forbidden, NotFound, Problem, Unavailable
from duologue.media.voice_sample import read_voice_sample
from duologue.values.custom_voice import PREFIX, CustomVoice
from duologue.values.speech import VoiceSample
from duologue.wire.validation_errors import shortened

if TYPE_CHECKING:
    from duologue.store.sound.custom_voices import CustomVoices

STATEMENT = "This is my voice, or its speaker agreed that it is used here."
"""What a client agrees to that sends no wording of its own."""
NO_CONSENT = (
    "A voice is kept only with the consent of its speaker. Send `consent` with what was agreed to, such as: "
    + STATEMENT
)
ID_BYTES = 16


class VoiceLibrary:
    """`most`: the voices that one user may have. Until `use`, every method raises Unavailable."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rows: CustomVoices | None = None

    def use(self, rows: CustomVoices) -> None:
        """The database is open."""
        self._rows = rows

    async def visible(self, user: str) -> list[CustomVoice]:
        """The voices this user may speak with, their own first."""
        return await self._stored.visible(user)

    async def get(self, user: str, id: str) -> CustomVoice:
        """A voice this user may speak with. Raises NotFound."""
        voice = await self._stored.get(user, id)
        if voice is None:
            raise _not_found(id)
        return voice

    async def sample(self, user: str, id: str) -> VoiceSample:
        """The recording to speak like. Raises NotFound."""
        voice = await self.get(user, id)
        return VoiceSample(await self._sound(id), voice.text)

    async def recording(self, user: str, id: str, *, admin: bool) -> bytes:
        """The recording to listen to, for its owner and, where it is shared, for admins: 16-bit mono PCM at 16 kHz. Raises
        NotFound, Forbidden."""
        await self._own(user, id, admin=admin)
        return await self._sound(id)

    async def add(self, user: str, data: bytes, *, name: str, statement: str, text: str = "") -> CustomVoice:
        """Store a recording, a file of any known format. `statement` is what its owner agreed to. Raises BadRequest without
        one, for too many voices, and as `read_voice_sample`."""
        rows = self._stored
        if not statement.strip():
            raise BadRequest(NO_CONSENT, code="voice_consent_missing", param="consent")
        pcm = await decode(read_voice_sample, data, user=user)
        voice = CustomVoice(
            PREFIX + secrets.token_hex(ID_BYTES), user, name, len(pcm) // 32, statement.strip(), text.strip()
        )
        stored = await rows.add(voice, pcm, self._most)
        if stored is None:
            raise BadRequest(
                f"You have {self._most} voices, the most allowed (setting limits.voices). Delete one of them first.",
                code="too_many_voices",
            )
        return stored

    async def change(
        self,
        user: str,
        id: str,
        *,
        admin: bool,
        name: str | None = None,
        text: str | None = None,
        shared: bool | None = None,
    ) -> CustomVoice:
        """Change what is not None. Its owner may rename it and correct its text; sharing needs an admin. Raises NotFound,
        Forbidden."""
        voice = await self._own(user, id, admin=admin)
        if shared is not None and shared != voice.shared and not admin:
            raise Forbidden("Only an admin can share a voice with everyone.", code="admin_needed")
        changed = msgspec.structs.replace(
            voice,
            name=voice.name if name is None else name,
            text=voice.text if text is None else text.strip(),
            shared=voice.shared if shared is None else shared,
        )
        if not await self._stored.change(changed):
            raise _not_found(id)
        return changed

    async def delete(self, user: str, id: str, *, admin: bool) -> None:
        """Delete a voice with its recording. Raises NotFound, Forbidden."""
        await self._own(user, id, admin=admin)
        await self._stored.delete(id)

    async def _own(self, user: str, id: str, *, admin: bool) -> CustomVoice:
        voice = await self.get(user, id)
        if voice.user != user and not admin:
            raise Forbidden(
                "This voice is shared with you. Only its owner can do this.", code="voice_not_yours"
            )
        return voice

    async def _sound(self, id: str) -> bytes:
        sound = await self._stored.sound(id)
        if sound is None:
            raise _not_found(id)
        return sound

    @property
    def _stored(self) -> CustomVoices:
        if self._rows is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        return self._rows


def _not_found(id: str) -> Problem:
    return NotFound(
        f"There is no voice {shortened(id)!r}, or it is not yours. GET /api/assets/ref_audio lists yours.",
        code="voice_not_found",
        param="voice",
    )

"""The voice of a duplex session: chosen when it is prepared, fixed while it runs, and chosen again when it moves to another worker.

Used by `DuplexSession`.
"""

from __future__ import annotations

import logging

from duologue.errors import Problem
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.speech.voice_choice import VoiceChoice
from duologue.values.requests import ModelCard
from duologue.wire.calls.duplex import Prepare

log = logging.getLogger(__name__)


def fixed_fields(prepare: Prepare, before: Prepare | None) -> list[str]:
    """The fields that differ from those that the voice worker's session has begun with, and cannot change."""
    if before is None:
        return []
    names = ("voice", "speed", "language", "recording", "mouth")
    differing = [name for name in names if getattr(prepare, name) != getattr(before, name)]
    return ["ref_audio_base64" if name == "recording" else name for name in differing]


async def voice_of(
    services: CallServices, prepare: Prepare, card: ModelCard, user: str, *, native: bool
) -> VoiceChoice:
    """The voice that `prepare` asks for: one of the model's own where that holds the session (`native`). Raises BadRequest or TooLarge for a
    recording that cannot be used."""
    asked = (prepare.voice, prepare.language, user, prepare.recording)
    return await (services.choose_model_voice(card, *asked) if native else services.choose_voice(*asked))


async def voice_after_move(
    services: CallServices, prepare: Prepare, card: ModelCard, user: str, request_id: str, seat: Lease
) -> VoiceChoice | None:
    """The voice of a cascade in another worker, which may not have the one before; None where that stays."""
    try:
        choice = await voice_of(services, prepare, card, user, native=False)
        return await services.with_text(choice, prepare.language, request_id, seat)
    except Problem as problem:
        log.info("session %s keeps its voice: %s", request_id, problem.message)
        return None

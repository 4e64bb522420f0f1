"""The voice of a duplex session: what it is by what was asked for, and after a move to another worker."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.errors import TooLarge
from duologue.gateway.duplex.duplex_voice import fixed_fields, voice_after_move, voice_of
from duologue.gateway.speech.voice_choice import VoiceChoice
from duologue.values.requests import ModelCard
from duologue.wire.calls.duplex import Prepare

pytestmark = pytest.mark.anyio
OMNI = ModelCard("omni", "qwen_omni", 4096)
ASKED = Prepare("Be kind.", voice="low")


class Services:
    """Voices of this worker; the model has its own."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails

    async def choose_voice(self, voice: str, language: str, user: str, recording: Any) -> VoiceChoice:
        if self.fails:
            raise TooLarge("The recording is too long.")
        return VoiceChoice(f"{voice} here")

    async def choose_model_voice(self, card: ModelCard, voice: str, *more: Any) -> VoiceChoice:
        return VoiceChoice(f"{voice} of {card.name}")

    async def with_text(self, choice: VoiceChoice, *more: Any) -> VoiceChoice:
        return choice


async def test_a_model_that_holds_the_session_speaks_with_its_own() -> None:
    services: Any = Services()
    assert (await voice_of(services, ASKED, OMNI, "ann", native=True)).voice == "low of omni"
    assert (await voice_of(services, ASKED, OMNI, "ann", native=False)).voice == "low here"


async def test_in_another_worker_the_voice_is_chosen_anew_and_stays_where_it_cannot_be() -> None:
    services: Any = Services()
    seat: Any = None
    moved = await voice_after_move(services, ASKED, OMNI, "ann", "r1", seat)
    assert moved is not None
    assert moved.voice == "low here"
    services.fails = True
    assert await voice_after_move(services, ASKED, OMNI, "ann", "r1", seat) is None


def test_what_a_running_session_cannot_change_is_named() -> None:
    assert fixed_fields(Prepare("x", voice="high", speed=2.0), ASKED) == ["voice", "speed"]
    assert fixed_fields(ASKED, None) == []

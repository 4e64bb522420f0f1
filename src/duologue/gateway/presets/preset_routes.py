"""`/api/presets`, `/api/default_ref_audio` and `/api/frontend_defaults`: what the MiniCPM-o demo's pages fetch when they open.

Owns these bodies. Sound is base64 of float32 mono at 16 kHz, as those pages send it back.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from duologue.errors import NotFound
from duologue.gateway.presets.preset_list import find, preset_lists, sample_name
from duologue.gateway.presets.voice_samples import VoiceSamples
from duologue.values.audio import HEARD_RATE, samples, to_float32
from duologue.wire.media_parts import to_base64

PLAYBACK_DELAY_MS = 200
"""How long a page waits before it plays the first sound of a reply: what the results of `/ws/duplex` reckon with."""

Name = Annotated[str, Path(max_length=100)]


def router(voices: VoiceSamples) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/api", tags=["apps"])

    @routes.get("/presets", summary="Presets of each mode")
    async def list_presets() -> dict[str, Any]:
        """By mode: `system_content` or `system_prompt`, and what to show. Samples of the voice are without their sound."""
        return preset_lists(voices.has)

    @routes.get("/presets/{mode}/{id}/audio", summary="The sound of a preset")
    async def preset_audio(mode: Name, id: Name) -> dict[str, Any]:
        """The sample of the voice, for each place in the preset that has one. An empty object: it has none."""
        if (preset := find(mode, id)) is None:
            raise NotFound(
                f"There is no preset {mode[:40]}/{id[:40]}. GET /api/presets lists them.",
                code="preset_not_found",
            )
        if not voices.has(preset.language):
            return {}
        sample = _sample(preset.language, await voices.sample(preset.language))
        return {"system_content_audio": [sample]} if mode == "turnbased" else {"ref_audio": sample}

    @routes.get("/default_ref_audio", summary="A sample of the server's voice")
    async def default_ref_audio() -> dict[str, Any]:
        """The default voice. `voice_unavailable` without one."""
        pcm = await voices.sample()
        sample = _sample("", pcm)
        return {
            "name": sample["name"],
            "duration": sample["duration"],
            "sample_rate": HEARD_RATE,
            "samples": samples(pcm),
            "base64": sample["data"],
        }

    @routes.get("/frontend_defaults", summary="Defaults for a front end")
    async def frontend_defaults() -> dict[str, Any]:
        """`playback_delay_ms`: how long to wait before the first sound of a reply is played."""
        return {"playback_delay_ms": PLAYBACK_DELAY_MS}

    return routes


def _sample(language: str, pcm: bytes) -> dict[str, Any]:
    return {
        "data": to_base64(to_float32(pcm)),
        "name": sample_name(language) if language else "Duologue",
        "duration": round(samples(pcm) / HEARD_RATE, 1),
    }

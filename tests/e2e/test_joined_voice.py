"""The voice of another machine: a server with a voice of its own, and a `duologue worker --voice` that adds its seats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.test_speech import SCRIPTED, WORD
from tests.support.joined_processes import joining

from duologue.media import wav

pytestmark = pytest.mark.system

KEY = "the-key-of-the-admin-of-this-test"


def states(client: httpx.Client) -> dict[str, str]:
    """The workers that have joined."""
    machines = client.get("/api/machines").raise_for_status().json()["machines"]
    return {row["worker"]: row["state"] for machine in machines[1:] for row in machine["workers"]}


def test_the_voice_of_another_machine_speaks_and_writes_down(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(KEY)
    home = serve(
        *("--engine", "scripted", "--key-file", str(tmp_path / "key")),
        DUOLOGUE_MACHINES__JOIN="true",
        **SCRIPTED,
    ).ready()
    with httpx.Client(base_url=home.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as client:
        key = client.post("/api/keys", json={"name": "attic", "role": "worker"}).json()["key"]
        (tmp_path / "attic").mkdir()
        with joining(home.url, key, tmp_path / "attic", "--voice", environment=SCRIPTED) as attic:
            home.until(lambda: states(client).get("attic/voice") == "ready")
            home.until(lambda: client.get("/api/capabilities").json()["voice"]["state"] == "ready")
            # Drained, the server's own voice leaves its work to the other machine.
            client.post("/api/admin/workers/voice/drain").raise_for_status()
            body = {"input": "One two three four.", "response_format": "wav"}
            spoken = client.post("/v1/audio/speech", json=body).raise_for_status()
            assert wav.read_wav(spoken.content).duration == pytest.approx(4 * WORD * 1000, abs=120)
            heard = client.post(
                "/v1/audio/transcriptions",
                data={"model": "whisper-1"},
                files={"file": ("said.wav", spoken.content)},
            ).raise_for_status()
            assert heard.json()["text"]
        home.until(lambda: states(client).get("attic/voice") != "ready")
        assert attic.returncode == 0

"""The official clients of OpenAI's and Anthropic's APIs, as they are installed here, against a real server with the bundled model.

The scripts are those of `make test-clients`, which runs them and many more with pinned versions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.e2e.conftest import Server

pytestmark = pytest.mark.system

CHECKS = Path(__file__).parents[1] / "clients"


@pytest.fixture(scope="module")
def speaking_server(lasting) -> Server:
    server: Server = lasting(DUOLOGUE_VOICE__ENABLED="true").ready()
    # Requests for speech wait for the voice, but no longer than `loading.answer_s`, and these clients do not try again.
    server.until(lambda: httpx.get(f"{server.url}/api/capabilities").json()["voice"]["state"] == "ready")
    return server


@pytest.mark.parametrize("client", ["openai_python", "anthropic_python"])
def test_every_feature_of_the_client_works(speaking_server: Server, client: str) -> None:
    environment = os.environ | {"SERVER_URL": speaking_server.url, "SERVER_MODEL": "duologue-mini"}
    command = [sys.executable, str(CHECKS / f"check_{client}.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) > 10, done.stderr
    failed = {row["feature"]: row["detail"] for row in rows if not row["works"]}
    assert not failed, done.stderr

"""A damaged database, a restart, and the command that the sentence names."""

from __future__ import annotations

import shlex
import subprocess
import sys

import httpx
import pytest
from tests.store.backup.damage import PAGE, overwrite

from duologue.store.backup import daily_copies
from duologue.store.backup.integrity import always

pytestmark = pytest.mark.system


def test_a_server_with_a_damaged_database_does_not_start_until_its_own_command_has_restored_a_backup(serve):
    server = serve("--engine", "scripted").ready()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        id = client.post("/api/conversations", json={"title": "Kept"}).json()["id"]
    file = server.data / "duologue.db"
    copy = daily_copies.make(file, server.data / daily_copies.FOLDER, 1_800_000_000_000, always)
    assert copy is not None
    daily_copies.keep(copy, 7)
    assert server.stop() == 0
    overwrite(file, 0, bytes(PAGE))

    # Under its parent too the sentence comes once, and nothing is tried again.
    again = serve("--engine", "scripted", "--data", str(server.data), DUOLOGUE_SUPERVISE="true")
    assert again.process.wait(60) == 1
    sentence = again.wait_for("is damaged")
    assert again.output.count("is damaged") == 1
    assert "Traceback" not in again.output
    program, *arguments = shlex.split(sentence.rpartition(": ")[2])
    assert program == "duologue"
    restored = subprocess.run(
        [sys.executable, "-m", "duologue", *arguments], capture_output=True, text=True, check=False
    )
    assert (restored.returncode, restored.stderr) == (0, "")
    assert "now holds 1 conversations" in restored.stdout

    last = serve("--engine", "scripted", "--data", str(server.data)).ready()
    assert httpx.get(f"{last.url}/api/conversations/{id}", timeout=60).status_code == 200

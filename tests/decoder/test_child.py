"""What a child may not do."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from tests.support import decoder_jobs as jobs

from duologue import landlock
from duologue.decoder.service import decode, decode_stream
from duologue.errors import BadRequest

pytestmark = pytest.mark.anyio


async def test_a_job_writes_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        await decode(jobs.write_a_file, b"data", str(tmp_path / "file"))


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
async def test_a_job_reads_no_file() -> None:
    assert await decode(jobs.read_a_file, b"", "/etc/passwd") == "PermissionError"


@pytest.mark.skipif(
    landlock.version() < landlock.NETWORK_VERSION, reason="this kernel's Landlock has no network rules"
)
async def test_a_job_connects_to_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert await decode(jobs.connect, b"", server.getsockname()[1]) == "PermissionError"


@pytest.mark.skipif(sys.platform != "linux", reason="the setting is Linux's")
async def test_the_kernel_ends_a_decoder_first_when_memory_runs_out() -> None:
    async with decode_stream(jobs.own_process, b"") as items:
        assert oom_score(await anext(items)) == 1000


def oom_score(process: int) -> int:
    return int(Path(f"/proc/{process}/oom_score_adj").read_text())

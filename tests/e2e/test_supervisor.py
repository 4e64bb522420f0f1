"""The gateway falls under its parent: it comes back on the same port, says why, and what it was writing can be continued."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.system

SAID = " ".join(f"word{number}" for number in range(300))
WATCHED = {"DUOLOGUE_SUPERVISE": "true"}


def gateway_of(server) -> int:
    """The process id of the gateway that the parent has started."""
    parent = server.process.pid
    return int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])


def events(client: httpx.Client, run: str):
    """The events of a run, until the stream ends or breaks."""
    try:
        with client.stream("GET", f"/api/runs/{run}/events") as answer:
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])
    except httpx.HTTPError:
        return


def reply_of(client: httpx.Client, conversation: str) -> dict[str, Any]:
    [_, reply] = client.get(f"/api/conversations/{conversation}").json()["messages"]
    return reply


def test_a_reply_that_ran_when_the_gateway_fell_is_interrupted_and_can_be_continued(serve):
    server = serve("--engine", "scripted", **WATCHED).ready()
    with httpx.Client(base_url=server.url, timeout=60) as client:
        id = client.post("/api/conversations", json={}).json()["id"]
        text = {"type": "text", "text": f"/pace 10\n/say {SAID}"}
        send = {"verb": "send", "run": "first", "message": {"id": "asked", "content": [text]}}
        client.post(f"/api/conversations/{id}/runs", json=send).raise_for_status()
        gateway = gateway_of(server)
        resource.prlimit(gateway, resource.RLIMIT_CORE, (0, 0))
        for number, _ in enumerate(events(client, "first")):
            if number == 60:
                os.kill(gateway, signal.SIGSEGV)
        # Without a retry: the parent has the port, and the connection waits for the next gateway.
        run = client.get("/api/runs/first").json()
        assert run["outcome"] == "interrupted"
        kept = reply_of(client, id)
        assert kept["status"] == "interrupted"
        assert SAID.startswith(kept["content"][0]["text"].rstrip())
        go_on = {"verb": "continue", "run": "second", "message": kept["id"]}
        client.post(f"/api/conversations/{id}/runs", json=go_on).raise_for_status()
        assert list(events(client, "second"))[-1]["type"] == "run_done"
        whole = reply_of(client, id)
        assert (whole["id"], whole.get("status", "done"), whole["content"][0]["text"]) == (
            kept["id"],
            "done",
            SAID,
        )

        status = client.get("/status").json()
        assert (status["gateway_restarts"], status["gateway_last_end"]) == (
            1,
            "signal 11, Segmentation fault",
        )
        assert status["gateway_last_end_at"] > 0
        assert "duologue_gateway_restarts 1.0" in client.get("/metrics").text
    server.wait_for("The gateway ended: signal 11, Segmentation fault. It is started again.")
    assert server.stop() == 0
    assert len([line for line in server.lines if line.startswith("Duologue is ready")]) == 1


def test_when_the_parent_is_killed_the_gateway_and_its_workers_end(serve):
    server = serve("--engine", "scripted", **WATCHED).ready()
    left = [os.pidfd_open(gateway_of(server)), os.pidfd_open(server.worker()["process"])]
    server.process.kill()
    for descriptor in left:
        assert select.select([descriptor], [], [], 30)[0]
        os.close(descriptor)


@pytest.mark.long
def test_a_gateway_on_any_port_comes_back_on_the_same_and_a_second_server_names_the_parent(serve):
    server = serve("--engine", "scripted", "--port", "0", **WATCHED)
    url = server.wait_for("Duologue is ready").split("ready at ")[1].split()[0]
    for number in (1, 2):
        os.kill(gateway_of(server), signal.SIGKILL)
        assert httpx.get(f"{url}/status", timeout=60).json()["gateway_restarts"] == number
    second = serve("--engine", "scripted", "--port", url.rpartition(":")[2], **WATCHED)
    assert second.process.wait(30) == 1
    second.wait_for(f"is in use by process {server.process.pid} ")
    assert len(second.output.splitlines()) == 1
    third = serve("--engine", "scripted", "--data", str(server.data), **WATCHED)
    assert third.process.wait(30) == 1
    third.wait_for(f"in use by a Duologue server: process {server.process.pid}, at {url}")


@pytest.mark.parametrize("how", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_watched_server_stops_as_cleanly_as_one_that_is_not(serve, how):
    server = serve("--engine", "scripted", **WATCHED).ready()
    assert server.stop(how) == 0
    assert "started again" not in server.output


@pytest.mark.parametrize("how", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.long)])
def test_a_gateway_that_is_still_starting_stops_when_it_has_started(tmp_path, how):
    program = f"""
import os, signal
from contextlib import asynccontextmanager
from duologue.config import load
from duologue.gateway.app import Gateway
from duologue.gateway.server import serve

running = Gateway.running

@asynccontextmanager
async def interrupted(self):
    os.kill(os.getpid(), signal.{how})
    async with running(self):
        yield

Gateway.running = interrupted
flags = {{"data": {str(tmp_path)!r}, "engine": "scripted", "port": 0}}
serve(load(None, {{"DUOLOGUE_VOICE__ENABLED": "false"}}, flags), announce=print)
"""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", program], stdin=subprocess.DEVNULL, timeout=120, check=False
    )
    assert ended.returncode == 0


def test_a_settings_file_can_switch_the_parent_off(serve, tmp_path):
    settings = tmp_path / "settings.yaml"
    settings.write_text("supervise: false\n")
    server = serve("--engine", "scripted", "--config", str(settings), DUOLOGUE_SUPERVISE="").ready()
    os.kill(gateway_of(server), signal.SIGKILL)
    assert server.process.wait(30) == 128 + signal.SIGKILL
    server.wait_for("It is not started again")

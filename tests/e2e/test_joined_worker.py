"""A worker on another machine: a real gateway with TLS, a real `duologue worker --join` at another address, and what breaks between them."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.support import joined_processes
from tests.support.cutting_proxy import CuttingProxy

from duologue.wire.machines.fingerprint import fingerprint

pytestmark = pytest.mark.system

LONG = "".join(f"word{number} " for number in range(400))
ADMIN = "the-key-of-the-admin-of-this-test"


class Home(NamedTuple):
    """A gateway with one key for people and one for workers, and what is between it and the other machine."""

    client: httpx.Client
    key: str
    fingerprint: str
    proxy: CuttingProxy
    server: Any

    @property
    def address(self) -> str:
        return f"https://{self.proxy.address}"

    def workers(self) -> dict[str, dict[str, Any]]:
        """The workers of other machines, by their names."""
        machines = self.client.get("/api/machines").raise_for_status().json()["machines"]
        return {row["worker"]: row for machine in machines[1:] for row in machine["workers"]}

    def reach(self, name: str, *reaches: str) -> None:
        """Wait until the worker is so."""
        self.server.until(lambda: self.workers().get(name, {}).get("reach") in reaches)

    def reply(self, text: str) -> Iterator[str]:
        """The pieces of a reply; the code of its error as the last one, after a dash."""
        body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": text}]}
        with self.client.stream("POST", "/v1/chat/completions", json=body) as response:
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    event = json.loads(line[6:])
                    if "error" in event:
                        yield "-" + event["error"]["code"]
                    elif event["choices"] and (piece := event["choices"][0]["delta"].get("content")):
                        yield piece


@pytest.fixture(scope="module")
def home(lasting: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    key_file = tmp_path_factory.mktemp("key") / "key"
    key_file.write_text(ADMIN)
    settings = {"DUOLOGUE_MACHINES__JOIN": "true", "DUOLOGUE_MACHINES__LEASE_S": "60"}
    server = lasting("--engine", "scripted", "--tls", "--key-file", str(key_file), **settings).ready()
    pem = (server.data / "tls" / "ca.pem").read_text()
    certificate = re.search(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", pem, re.DOTALL)
    assert certificate
    context = ssl.create_default_context(cadata=certificate[0])
    url = f"https://127.0.0.1:{server.port}"
    headers = {"Authorization": f"Bearer {ADMIN}"}
    with (
        CuttingProxy(server.port) as proxy,
        httpx.Client(base_url=url, verify=context, headers=headers, timeout=90) as client,
    ):
        made = client.post("/api/keys", json={"name": "attic", "role": "worker"}).raise_for_status()
        yield Home(
            client, made.json()["key"], fingerprint(ssl.PEM_cert_to_DER_cert(certificate[0])), proxy, server
        )


@contextmanager
def joining(home: Home, folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`duologue worker --join` on another machine, with a model that only it has."""
    with joined_processes.joining(
        *(home.address, home.key, folder),
        *("--fingerprint", home.fingerprint, "--name", name, "--engine", "scripted", *arguments),
        stderr=subprocess.PIPE,
        environment={"DUOLOGUE_LIFECYCLE__DRAIN_S": "60"},
    ) as process:
        yield process


def child_of(process: int) -> int:
    return int(Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


@pytest.fixture(scope="module")
def attic(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """A worker that several tests share."""
    # Drained, the gateway's own worker leaves the model to the other machine.
    own = next(row["worker_id"] for row in home.client.get("/workers").json()["workers"])
    home.client.post(f"/api/admin/workers/{own}/drain").raise_for_status()
    with joining(home, tmp_path_factory.mktemp("attic"), "shared") as process:
        home.reach("attic/shared", "joined")
        yield process


def test_a_reply_of_another_machine_goes_on_over_lines_that_are_cut(
    home: Home, attic: subprocess.Popen[str]
) -> None:
    text = ""
    cuts = 0
    for piece in home.reply(f"/pace 2\n/say {LONG}"):
        text += piece
        if len(text) > (cuts + 1) * len(LONG) // 4:
            cuts += 1
            home.proxy.cut()
    assert text.strip() == LONG.strip()
    assert cuts == 3
    home.reach("attic/shared", "joined")


def test_a_killed_worker_ends_its_reply_with_a_sentence_and_joins_again(
    home: Home, attic: subprocess.Popen[str]
) -> None:
    home.reach("attic/shared", "joined")
    pieces = home.reply("/say Hello\n/hang")
    assert next(pieces).startswith("Hello")
    os.kill(child_of(attic.pid), signal.SIGKILL)
    assert list(pieces)[-1] == "-worker_lost"
    home.reach("attic/shared", "joined")
    assert "".join(home.reply("are you there?")) == "You said: are you there?"


def test_a_worker_that_is_stopped_finishes_its_reply_and_leaves(
    home: Home, attic: subprocess.Popen[str]
) -> None:
    home.reach("attic/shared", "joined")
    pieces = home.reply(f"/pace 2\n/say {LONG}")
    text = next(pieces)
    attic.terminate()
    text += "".join(pieces)
    assert text.strip() == LONG.strip()
    assert attic.wait(90) == 0
    home.reach("attic/shared", "gone")
    assert home.workers()["attic/shared"]["detail"] == "it has left"


def test_a_wrong_fingerprint_is_a_sentence_that_shows_the_right_one(home: Home, tmp_path: Path) -> None:
    wrong = home._replace(fingerprint="00" * 32)
    with joining(wrong, tmp_path, "wrong") as process:
        _, said = process.communicate(timeout=90)
    assert process.returncode == 1
    assert home.fingerprint in said
    assert home.key not in said


def test_the_workers_of_a_command_that_is_killed_end_with_it(home: Home, tmp_path: Path) -> None:
    with joining(home, tmp_path, "short") as process:
        home.reach("attic/short", "joined")
        descriptor = os.pidfd_open(child_of(process.pid))
        process.kill()
        assert select.select([descriptor], [], [], 30)[0]
        os.close(descriptor)

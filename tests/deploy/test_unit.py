"""The unit for systemd, held to the code; systemd's own verdict where it is installed; and a real server that speaks to it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.deployment_files import DEPLOY, ROOT, UNIT, drain_seconds, seconds, unit

from duologue.config import load
from duologue.config.settings_reference import all_settings
from duologue.gateway.server import BEAT_SECONDS
from duologue.supervisor.parent import STOP_SECONDS, is_wanted

LANDLOCK = {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
SECONDS = 60.0
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on this machine"
)


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for line in unit()["Environment"] for pair in line.split())


def test_its_environment_is_made_of_settings_and_its_folder_is_the_servers() -> None:
    ours = {name: value for name, value in environment().items() if name.startswith("DUOLOGUE_")}
    assert set(ours) <= {setting.variable for setting in all_settings()}
    assert (
        str(load(None, ours, {}).data) == f"/var/lib/{unit()['StateDirectory'][0]}" == environment()["HOME"]
    )
    assert unit()["WorkingDirectory"] == [environment()["HOME"]]


def test_the_parent_that_speaks_to_systemd_is_left_in() -> None:
    assert unit()["Type"] == ["notify"]
    (command,) = unit()["ExecStart"]
    assert is_wanted(command.split()[1:], environment())


def test_systemd_waits_longer_than_the_server_needs_to_stop() -> None:
    assert seconds(unit()["TimeoutStopSec"][0]) > drain_seconds() + STOP_SECONDS
    assert unit()["KillMode"] == ["mixed"], "the workers end with the gateway, not before it"


def test_a_watchdog_hears_several_signs_of_life_before_it_gives_up() -> None:
    assert seconds(unit()["WatchdogSec"][0]) >= 4 * BEAT_SECONDS


def test_the_sandbox_leaves_what_the_server_needs() -> None:
    assert set(unit()["SystemCallFilter"][0].split()) >= LANDLOCK | {"@system-service"}
    assert set(unit()["RestrictAddressFamilies"][0].split()) >= {"AF_UNIX", "AF_INET", "AF_INET6"}
    assert "ProcSubset" not in unit(), "the memory of the machine is read from /proc"


def test_the_user_is_the_one_that_is_made() -> None:
    made = (DEPLOY / "systemd/duologue.sysusers").read_text()
    assert re.search(rf"^u {unit()['User'][0]} ", made, re.MULTILINE)
    assert unit()["Group"] == unit()["User"]


def test_the_installation_ends_where_the_unit_begins() -> None:
    page = (ROOT / "docs/deploying.md").read_text().partition("## systemd")[2].partition("\n## ")[0]
    program = unit()["ExecStart"][0].split()[0]
    assert f"sudo python3 -m venv {Path(program).parent.parent}" in page
    assert program in page
    assert unit()["EnvironmentFile"][0].removeprefix("-") in page
    for name in re.findall(r"requirements/[\w.]+|deploy/[\w./]+\w", page):
        assert (ROOT / name).exists(), name


@needs_systemd
@pytest.mark.parametrize("drop_in", [None, "gpu.conf"])
def test_systemd_accepts_it_and_finds_little_that_it_may_do(tmp_path: Path, drop_in: str | None) -> None:
    file = tmp_path / UNIT.name
    file.write_text(UNIT.read_text().replace(unit()["ExecStart"][0], "/bin/true"))
    if drop_in is not None:
        folder = tmp_path / f"{UNIT.name}.d"
        folder.mkdir()
        shutil.copy(DEPLOY / "systemd" / drop_in, folder)
    verdict = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, check=False)
    assert (verdict.returncode, verdict.stderr) == (0, "")
    scored = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", file],
        capture_output=True,
        text=True,
        check=False,
    )
    if "offline" in scored.stderr:
        pytest.skip("this systemd scores only units of a running manager")
    assert scored.returncode == 0, scored.stdout.splitlines()[-1:]


@pytest.mark.system
def test_a_real_server_tells_systemd_that_it_is_ready_alive_and_stopping(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(SECONDS)
        environ = {name: value for name, value in os.environ.items() if not name.startswith("DUOLOGUE_")}
        server = subprocess.Popen(
            [sys.executable, "-m", "duologue", "serve", "--engine", "scripted", "--port", "0"],
            env=environ
            | {
                "DUOLOGUE_DATA": str(tmp_path / "data"),
                "NOTIFY_SOCKET": address,
                "WATCHDOG_USEC": str(int(seconds(unit()["WatchdogSec"][0]) * 1e6)),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            said = ""
            while not said.startswith("READY=1"):
                said = manager.recv(4096).decode()
            assert manager.recv(4096) == b"WATCHDOG=1"
            server.send_signal(signal.SIGTERM)
            while not said.startswith("STOPPING=1"):
                said = manager.recv(4096).decode()
            assert server.wait(SECONDS) == 0
        finally:
            server.kill()
            server.wait()

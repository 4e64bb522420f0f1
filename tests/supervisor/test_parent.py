"""The parent and real processes: a stand-in for the gateway that does what a test says."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue.supervisor.parent import is_wanted

SECONDS = 30.0

GATEWAY = """
import json, os, signal, socket, sys, time
from duologue.supervisor.link import SupervisorLink

link = SupervisorLink.from_environment(os.environ)
number = link.restarts.number
def say(**said):
    os.write(1, json.dumps({"number": number, "process": os.getpid(), **said}).encode() + b"\\n")
"""
WAIT = """
caught = []
def catch(number, frame):
    say(signal=number)
    caught.append(number)
    if len(caught) == SIGNALS:
        os._exit(0)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, catch)
link.ready()
say(reason=link.restarts.reason, session=os.getsid(0))
assert link.is_closed()
say(closed=True)
"""
PARENT = """
import sys
from duologue.supervisor import parent
parent.STOP_SECONDS = float(sys.argv[1])
class Supervisor(parent.Supervisor):
    def __init__(self, command):
        super().__init__([sys.executable, "-c", sys.argv[2]])
parent.Supervisor = Supervisor
parent.run([])
"""


def as_from_a_terminal() -> None:
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


class Parent:
    """A running parent, and what its gateways say."""

    def __init__(self, gateway: str, *, stop_seconds: float = SECONDS, **options: Any) -> None:
        # As from a terminal, also where these tests run under `nohup`, or in the background of a shell, which have signals ignored.
        options.setdefault("preexec_fn", as_from_a_terminal)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PARENT, str(stop_seconds), GATEWAY + gateway],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def heard(self) -> dict[str, Any]:
        """The next thing a gateway says."""
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], SECONDS)[0]
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def end(self) -> tuple[int, str]:
        """How it ended, and its log."""
        _, errors = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, errors


@pytest.fixture
def start() -> Iterator[Callable[..., Parent]]:
    parents: list[Parent] = []

    def run(gateway: str, **options: Any) -> Parent:
        parents.append(Parent(gateway, **options))
        return parents[-1]

    yield run
    for parent in parents:
        if parent.process.poll() is None:
            parent.process.kill()
        parent.process.communicate()


def waiting(signals: int = 1) -> str:
    return WAIT.replace("SIGNALS", str(signals))


@pytest.mark.parametrize(
    ("fall", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "signal 9, Killed"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "signal 11, Segmentation fault"),
        ("os.abort()", "signal 6, Aborted"),
        ("sys.exit(3)", "exit code 3"),
    ],
)
def test_a_gateway_that_falls_is_started_again_and_both_are_told_why(start, fall, reason):
    parent = start(
        f"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nif not number:\n    link.ready()\n    {fall}\n"
        + waiting()
    )
    said = parent.heard()
    assert (said["number"], said["reason"]) == (1, reason)
    parent.process.send_signal(signal.SIGTERM)
    assert parent.heard()["signal"] == signal.SIGTERM
    code, log = parent.end()
    assert code == 0
    assert len(log.splitlines()) == 1
    assert log.rstrip().endswith(f"The gateway ended: {reason}. It is started again.")


def test_the_log_line_has_the_format_of_the_gateways_log(start):
    parent = start(
        "if not number:\n    link.listening(socket.create_server(('127.0.0.1', 0)), '127.0.0.1', ('info', 'json'))\n"
        "    link.ready()\n    sys.exit(9)\n"
    )
    code, log = parent.end()
    assert code == 0
    assert json.loads(log)["message"] == "The gateway ended: exit code 9. It is started again."


@pytest.mark.parametrize(("ends", "code"), [("sys.exit(1)", 1), ("sys.exit(2)", 2), ("pass", 0)])
def test_a_gateway_that_was_never_ready_is_started_once_and_its_code_passed_on(start, ends, code):
    parent = start(f"say()\n{ends}\n")
    assert parent.heard()["number"] == 0
    output, errors = parent.process.communicate(timeout=SECONDS)
    assert (parent.process.returncode, output, errors) == (code, "", "")


def test_a_gateway_that_crashes_before_it_is_ready_is_told_and_not_tried_again(start):
    code, log = start("os.kill(os.getpid(), signal.SIGKILL)").end()
    assert code == 128 + signal.SIGKILL
    assert "The gateway ended: signal 9, Killed. It is not started again." in log


@pytest.mark.parametrize(
    ("sent", "arrives", "code"),
    [
        (signal.SIGTERM, signal.SIGTERM, 0),
        (signal.SIGINT, signal.SIGINT, 0),
        # The gateway stops cleanly; the parent ends as any program whose terminal was closed.
        (signal.SIGHUP, signal.SIGTERM, -signal.SIGHUP),
    ],
)
def test_a_signal_to_stop_reaches_the_gateway_once_and_the_end_is_the_gateways(start, sent, arrives, code):
    parent = start(waiting())
    parent.heard()
    parent.process.send_signal(sent)
    assert parent.heard()["signal"] == arrives
    assert parent.end() == (code, "")


def test_a_second_ctrl_c_reaches_the_gateway_too(start):
    parent = start(waiting(2))
    parent.heard()
    for _ in range(2):
        parent.process.send_signal(signal.SIGINT)
        assert parent.heard()["signal"] == signal.SIGINT
    assert parent.end() == (0, "")


def test_a_gateway_that_dies_of_the_signal_has_the_parent_die_of_it(start):
    parent = start("link.ready()\nsay()\nsignal.pause()\n")
    parent.heard()
    parent.process.send_signal(signal.SIGTERM)
    assert parent.end() == (-signal.SIGTERM, "")


def test_who_ignores_a_closed_terminal_goes_on_ignoring_it(start):
    parent = start(waiting(), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    parent.heard()
    parent.process.send_signal(signal.SIGHUP)
    parent.process.send_signal(signal.SIGTERM)
    assert parent.heard()["signal"] == signal.SIGTERM
    assert parent.end() == (0, "")


def test_the_gateway_is_in_a_session_of_its_own_so_that_a_terminal_does_not_signal_it_twice(start):
    parent = start(waiting())
    said = parent.heard()
    assert said["session"] == said["process"] != parent.process.pid


def test_a_gateway_that_does_not_stop_is_killed(start):
    parent = start(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nlink.ready()\nsay()\nsignal.pause()\n",
        stop_seconds=0.05,
    )
    parent.heard()
    parent.process.send_signal(signal.SIGTERM)
    code, log = parent.end()
    assert code == 128 + signal.SIGKILL
    assert "did not stop" in log


def test_a_signal_during_the_pause_before_a_restart_ends_it(start):
    # The sixth quick end is followed by a pause of eight seconds; what is tested is that it is not waited for.
    parent = start("link.ready()\nsay()\nsys.exit(1)\n")
    assert parent.process.stderr is not None
    while "again in" not in parent.process.stderr.readline():
        parent.heard()
    parent.process.send_signal(signal.SIGTERM)
    assert parent.end()[0] in (0, -signal.SIGTERM)


def test_when_the_parent_is_killed_the_gateway_learns_of_it(start):
    parent = start(waiting())
    gateway = os.pidfd_open(parent.heard()["process"])
    parent.process.kill()
    assert parent.heard()["closed"]
    assert select.select([gateway], [], [], SECONDS)[0]
    os.close(gateway)


def test_the_next_gateway_answers_connections_that_were_made_while_there_was_none(start):
    parent = start(
        "listener = link.listener or socket.create_server(('127.0.0.1', 0))\n"
        "link.listening(listener, '127.0.0.1', ('info', 'text'))\nlink.ready()\n"
        "if number:\n    listener.accept()[0].sendall(b'second')\n    sys.exit()\n"
        "say(port=listener.getsockname()[1])\nsys.stdin.read()\nsignal.pause()\n"
    )
    said = parent.heard()
    os.kill(said["process"], signal.SIGSTOP)
    with socket.create_connection(("127.0.0.1", said["port"]), SECONDS) as connection:
        os.kill(said["process"], signal.SIGKILL)
        assert connection.recv(100) == b"second"
    assert parent.end()[0] == 0


def test_a_gateway_whose_settings_say_so_is_not_started_again(start):
    code, log = start("link.unwatched()\nlink.ready()\nsys.exit(5)\n").end()
    assert (code, log) == (5, "")


def test_a_program_that_cannot_be_started_is_told(start):
    parent = start("", env={**os.environ, "PATH": ""})
    assert parent.end()[0] == 0  # the interpreter has a full path
    script = "import sys\nfrom duologue.supervisor.parent import Supervisor\nsys.exit(Supervisor(['/no/such/program']).run())"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "it could not be started, No such file or directory" in ended.stderr


def test_between_tries_to_start_a_program_that_served_for_long_there_are_pauses():
    script = (
        "import time\nfrom duologue.supervisor.parent import Supervisor\npauses = []\n"
        "supervisor = Supervisor(['/no/such/program'])\nsupervisor._policy.ready(time.monotonic() - 3600)\n"
        "supervisor._pause = lambda seconds, wakeups: pauses.append(seconds) or len(pauses) < 4\n"
        "supervisor.run()\nprint(pauses)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "[0.0, 0.5, 1.0, 2.0]\n"


@pytest.mark.parametrize(
    ("arguments", "environ", "wanted"),
    [
        (["serve"], {}, True),
        (["serve", "--port", "1"], {"DUOLOGUE_SUPERVISE": "true"}, True),
        (["serve", "--no-supervise"], {}, False),
        (["serve"], {"DUOLOGUE_SUPERVISE": "False"}, False),
        (["serve"], {"DUOLOGUE_SUPERVISE": "0"}, False),
        (["serve", "--help"], {}, False),
        (["serve"], {"DUOLOGUE_SUPERVISOR": "[1]"}, False),
        (["doctor"], {}, False),
        ([], {}, False),
    ],
)
def test_only_a_server_that_is_to_be_watched_has_a_parent(arguments, environ, wanted):
    assert is_wanted(arguments, environ) is wanted


def test_the_parent_imports_nothing_large():
    code = (
        "import sys; sys.argv = ['duologue', 'serve']; import duologue.__main__\n"
        "ours = {name for name in sys.modules if name.startswith('duologue')}\n"
        "large = {'typer', 'pydantic', 'anyio', 'asyncio', 'fastapi', 'uvicorn', 'yaml', 'msgspec', 'logging'}\n"
        "print(sorted(ours), sorted(large & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = [
        "",
        ".__main__",
        ".supervisor",
        ".supervisor.link",
        ".supervisor.parent",
        ".supervisor.restart_policy",
        ".supervisor.service_notifier",
    ]
    assert said == f"{[f'duologue{name}' for name in names]} []\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_the_parent_stays_small(start):
    parent = start(waiting())
    parent.heard()
    status = Path(f"/proc/{parent.process.pid}/status").read_text()
    resident = int(status.partition("VmRSS:")[2].split()[0])
    assert resident < 25_000, f"{resident} kB"


def test_a_service_manager_is_told_of_ready_alive_and_stopping(start, tmp_path):
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(SECONDS)

        def told() -> str:
            return manager.recv(4096).decode()

        environment = {**os.environ, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": str(int(4e6 * SECONDS))}
        # The gateway is not to speak for the service, nor what it starts.
        gateway = "assert 'NOTIFY_SOCKET' not in os.environ\nlink.alive()\n"
        parent = start(gateway + waiting(), env=environment)
        # Of the parent, while there is no gateway that is ready; then of the gateway.
        assert [told(), told()] == ["WATCHDOG=1", "WATCHDOG=1"]
        assert told().startswith("READY=1\n")
        parent.heard()
        parent.process.send_signal(signal.SIGTERM)
        assert told().startswith("STOPPING=1\n")
        parent.heard()
        assert parent.end()[0] == 0

"""What systemd is told, over a real socket of the kind that it gives to a unit."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from duologue.supervisor.service_notifier import PINGS, ServiceNotifier


class ServiceManager:
    """The socket of a unit of type `notify`, and what has arrived there."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)

    def heard(self) -> list[str]:
        messages: list[str] = []
        while True:
            try:
                messages.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return messages


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path: Path):
    manager = ServiceManager(str(tmp_path / "notify") if request.param == "path" else f"@{tmp_path}")
    yield manager
    manager.socket.close()


def test_the_start_and_the_stop_are_told(manager: ServiceManager) -> None:
    service = ServiceNotifier(manager.address, 0)
    service.starting()
    assert manager.heard() == []
    service.ready()
    service.stopping()
    assert [message.split("\n")[0] for message in manager.heard()] == ["READY=1", "STOPPING=1"]


def test_the_variables_are_read_once_so_that_no_child_speaks_for_the_service(manager: ServiceManager) -> None:
    environ = {
        "NOTIFY_SOCKET": manager.address,
        "WATCHDOG_USEC": "60000000",
        "WATCHDOG_PID": "7",
        "HOME": "/home",
    }
    service = ServiceNotifier.from_environment(environ)
    assert environ == {"HOME": "/home"}
    assert service.wait(0) == 60 / PINGS
    assert manager.heard() == ["WATCHDOG=1"]


def test_until_a_gateway_is_ready_the_parent_says_that_it_is_alive(manager: ServiceManager) -> None:
    service = ServiceNotifier(manager.address, 60)
    assert service.wait(100) == 15
    assert service.wait(110) == 5
    assert manager.heard() == ["WATCHDOG=1"]
    assert service.wait(115) == 15
    assert manager.heard() == ["WATCHDOG=1"]


def test_from_then_on_only_the_gateway_does(manager: ServiceManager) -> None:
    service = ServiceNotifier(manager.address, 60)
    service.ready()
    manager.heard()
    assert service.wait(1000) is None
    assert manager.heard() == []
    service.alive()
    assert manager.heard() == ["WATCHDOG=1"]


def test_a_gateway_that_fell_is_given_the_time_to_start_again(manager: ServiceManager) -> None:
    service = ServiceNotifier(manager.address, 60)
    service.ready()
    service.restarting("signal 9, Killed")
    assert manager.heard()[-1] == "STATUS=Restarting: signal 9, Killed."
    assert service.wait(1000) == 15
    assert manager.heard() == ["WATCHDOG=1"]


def test_without_a_watchdog_nothing_is_said_about_being_alive(manager: ServiceManager) -> None:
    service = ServiceNotifier(manager.address, 0)
    assert service.wait(0) is None
    service.alive()
    assert manager.heard() == []


@pytest.mark.parametrize("address", ["", "/nowhere/at/all"])
def test_without_a_service_manager_nothing_happens(address: str) -> None:
    service = ServiceNotifier(address, 60)
    assert service.wait(0) == (15 if address else None)
    service.ready()
    service.alive()
    service.stopping()


@pytest.mark.parametrize("text", ["", "soon", "-1"])
def test_a_watchdog_that_is_no_number_is_none(text: str) -> None:
    assert ServiceNotifier.from_environment({"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": text}).wait(0) is None

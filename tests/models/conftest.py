"""The hub on loopback, a connection to it that never really waits, and a watch that counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.models.fit import Hardware
from duologue.models.hub.http import HubConnection


@pytest.fixture
def hub(content: bytes) -> Iterator[Hub]:
    """A hub with one repository, `someone/Tiny-GGUF`, of one file."""
    with serving(Hub({"someone/Tiny-GGUF": {"Tiny-Q4_K_M.gguf": content, "README.md": b"hello"}})) as running:
        yield running


@pytest.fixture(scope="session")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small, whole model."""
    path = write_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny.gguf", TinyModel())
    return path.read_bytes()


@pytest.fixture
def pauses() -> list[float]:
    """How long the connection would have waited."""
    return []


@pytest.fixture
def connection(hub: Hub, pauses: list[float]) -> Iterator[HubConnection]:
    with HubConnection(hub.url, sleep=pauses.append) as opened:
        yield opened


class Count:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int, int]] = []
        self.done = 0
        self.again = 0
        self.ended = 0

    def begin(self, label: str, total: int, done: int) -> None:
        self.begun.append((label, total, done))
        self.done = done

    def kept(self, count: int) -> None:
        self.done += count
        self.again += count

    def advance(self, count: int) -> None:
        self.done += count

    def end(self) -> None:
        self.ended += 1


@pytest.fixture
def watch() -> Count:
    return Count()


@pytest.fixture
def hardware() -> Hardware:
    """A machine with room for anything small."""
    return Hardware(cores=4, memory=16 * 10**9, disk=100 * 10**9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where models go; it is not there yet."""
    return tmp_path / "data" / "models"

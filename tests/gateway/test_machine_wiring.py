"""Workers on other machines in the whole application."""

from __future__ import annotations

from pathlib import Path

from duologue.config import Settings
from duologue.gateway.app import Gateway
from duologue.gateway.workers.load_specs import load_specs


def test_the_application_has_the_sockets_of_workers_and_knows_their_places(tmp_path: Path) -> None:
    settings = Settings(engine="scripted", data=tmp_path)
    gateway = Gateway(settings, load_specs(settings), print)
    assert {"/api/machines", "/api/admin/nodes"} <= set(gateway.app.openapi()["paths"])
    key = gateway.places._keys.issue("worker_0")
    worker = gateway.keys.placed(key)
    assert worker is not None
    assert (worker.role, worker.name) == ("worker", "worker_0")
    # Nobody waits for it: there is no such place.
    assert gateway.joins.placed("worker_0") is None
    assert gateway.keys.placed("place-unknown") is None

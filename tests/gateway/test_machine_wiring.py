"""Workers on other machines in the whole application."""

from __future__ import annotations

from pathlib import Path

from duologue.config import Settings
from duologue.gateway.app import Gateway
from duologue.gateway.workers.load_specs import load_specs


def test_the_application_tells_of_machines_and_of_nodes(tmp_path: Path) -> None:
    settings = Settings(engine="scripted", data=tmp_path)
    gateway = Gateway(settings, load_specs(settings), print)
    assert {"/api/machines", "/api/admin/nodes"} <= set(gateway.app.openapi()["paths"])

"""Workers on other machines in the whole application."""

from __future__ import annotations

from pathlib import Path

from duologue.config import Settings
from duologue.config.machines.cluster import ClusterSettings
from duologue.gateway.app import Gateway
from duologue.gateway.cluster.membership import Membership
from duologue.gateway.machine_wiring import addresses_of
from duologue.gateway.workers.load_specs import load_specs


def test_the_application_tells_of_machines_and_of_nodes(tmp_path: Path) -> None:
    settings = Settings(engine="scripted", data=tmp_path)
    gateway = Gateway(settings, load_specs(settings), print)
    assert {"/api/machines", "/api/admin/nodes"} <= set(gateway.app.openapi()["paths"])


def test_workers_are_told_of_every_gateway_by_the_address_that_is_for_them(tmp_path: Path) -> None:
    membership = Membership(
        Settings(data=tmp_path, cluster=ClusterSettings(address="http://one.internal:8006"))
    )
    assert addresses_of(membership, "") == ("http://one.internal:8006",)
    assert addresses_of(membership, "https://one.example.org") == ("https://one.example.org",)
    assert addresses_of(Membership(Settings(data=tmp_path)), "") == ()

"""What the settings of `pool: ray` need before anything starts."""

from __future__ import annotations

import hashlib
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from duologue.config import Settings
from duologue.config.machines.machine import MachineSettings, RaySettings
from duologue.config.settings import Tls
from duologue.errors import StartFailed
from duologue.gateway import local_ca, placement_wiring
from duologue.gateway.app import Gateway
from duologue.gateway.machines.place_environment import join_address
from duologue.gateway.workers.load_specs import load_specs


def test_without_ray_the_server_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(placement_wiring, "find_spec", lambda name: None)
    with pytest.raises(StartFailed, match=r"duologue\[ray\]"):
        placement_wiring.ray_places(Settings(pool="ray", data=tmp_path))
    assert placement_wiring.ray_places(Settings(data=tmp_path)).cluster.nodes == ()


def test_workers_are_told_an_address_that_they_reach(tmp_path: Path) -> None:
    local = Settings(data=tmp_path, pool="ray", base_path="/talk")
    assert join_address(local) == "http://127.0.0.1:8006/talk"
    open_ = Settings(data=tmp_path, pool="ray", host="0.0.0.0", tls=Tls(enabled=True))
    assert join_address(open_) == "https://127.0.0.1:8006"
    far = RaySettings(address="10.0.0.5:6379")
    assert (
        join_address(Settings(data=tmp_path, pool="ray", host="10.0.0.4", ray=far)) == "http://10.0.0.4:8006"
    )
    named = Settings(
        data=tmp_path, pool="ray", ray=far, machines=MachineSettings(address="https://gateway:8006")
    )
    assert join_address(named) == "https://gateway:8006"
    with pytest.raises(StartFailed, match=r"machines\.address"):
        join_address(Settings(data=tmp_path, pool="ray", ray=far))


def test_workers_are_told_the_fingerprint_of_the_servers_authority(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, tls=Tls(enabled=True))
    names = local_ca.ServerNames(frozenset({"localhost"}), frozenset())
    (tmp_path / "tls").mkdir()
    local_ca.ensure_certificate(tmp_path / "tls", names, datetime.now(UTC))
    pem = (tmp_path / "tls" / local_ca.CA_FILE).read_text()
    first = pem[pem.index("-----BEGIN CERTIFICATE") :]
    expected = hashlib.sha256(
        ssl.PEM_cert_to_DER_cert(first[: first.index("-----END CERTIFICATE-----") + 25])
    ).hexdigest()
    assert placement_wiring._fingerprint(settings) == expected
    assert placement_wiring._fingerprint(Settings(data=tmp_path)) == ""


def test_a_key_of_a_place_is_a_workers_while_the_place_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(placement_wiring, "find_spec", lambda name: True)
    settings = Settings(engine="scripted", data=tmp_path, pool="ray")
    gateway = Gateway(settings, load_specs(settings), print)
    key = gateway.places._keys.issue("worker_0")
    worker = gateway.keys.user(key)
    assert worker is not None
    assert (worker.role, worker.name) == ("worker", "worker_0")
    assert gateway.joins.placed("worker_0") is None, "nobody waits for it before the place was ordered"
    gateway.places._keys.revoke("worker_0")
    assert gateway.keys.user(key) is None

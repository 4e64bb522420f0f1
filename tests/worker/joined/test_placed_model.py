"""The files of a placed worker's model, on a node that has the gateway's paths and on one that has not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs
from tests.support.offering_gateway import (
    ADAPTERS,
    FILES,
    OFFER,
    OfferingGateway,
    address,
    offered_adapters,
    offering,
)

from duologue.errors import Busy
from duologue.wire.machines.model_offer import encode_offer
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined import placed_model
from duologue.worker.joined.fetched_model import fetch_model
from duologue.worker.joined.join_spec import JoinSpec
from duologue.worker.joined.placed_model import with_own_files

ABSENT = {"model": "/srv/models/m-1.gguf", "slots": 2, "loras": {"/srv/loras/style.gguf": 0.5}}


@pytest.fixture
def server() -> Iterator[OfferingGateway]:
    with offering() as server:
        yield server


def placed(server: OfferingGateway, **options: object) -> JoinSpec:
    spec = LoadSpec("worker_0", "llama", "big/model", {**ABSENT, **options})
    return JoinSpec(str(address(server)), "k", spec, placed="worker_0")


def test_files_that_are_not_on_the_node_come_from_the_gateway(
    server: OfferingGateway, tmp_path: Path
) -> None:
    server.body = encode_offer(structs.replace(OFFER, adapters=offered_adapters()))
    options = with_own_files(placed(server), tmp_path).load_spec.options
    assert Path(str(options["model"])).read_bytes() == FILES["model"][0][1]
    assert Path(str(options["mmproj"])).read_bytes() == FILES["mmproj"][0][1]
    loras = options["loras"]
    assert isinstance(loras, dict)
    assert [(Path(path).name, scale) for path, scale in loras.items()] == [
        (ADAPTERS[0][0], 0.5),
        (ADAPTERS[1][0], 0.0),
    ]
    assert options["slots"] == 2


def test_files_that_are_there_are_used_and_nobody_is_asked(server: OfferingGateway, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"m")
    spec = placed(server, model=str(tmp_path / "m.gguf"))
    assert with_own_files(spec, tmp_path) is spec
    by_hand = structs.replace(placed(server), placed="")
    assert with_own_files(by_hand, tmp_path) is by_hand
    assert server.asked == []


def test_a_model_that_is_not_offered_fails_where_it_is_loaded(
    server: OfferingGateway, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = placed(server)
    other = structs.replace(spec, load_spec=structs.replace(spec.load_spec, model="other"))
    assert with_own_files(other, tmp_path) is other
    assert "does not offer a model" in caplog.text


def test_a_file_that_another_worker_of_the_node_downloads_is_waited_for(
    server: OfferingGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed_model, "BUSY_SECONDS", 0.0)
    tries = 0

    def busy_at_first(*arguments: object) -> object:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise Busy("Another process downloads it.")
        return fetch_model(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(placed_model, "fetch_model", busy_at_first)
    assert with_own_files(placed(server), tmp_path).load_spec.options["model"] != ABSENT["model"]
    assert tries == 2

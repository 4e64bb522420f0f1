"""The adapters of a joined worker that serves a gateway's model: looked at whenever it starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs
from tests.support.offering_gateway import (
    ADAPTERS,
    OFFER,
    OfferingGateway,
    address,
    offered_adapters,
    offering,
)

from duologue.wire.machines.model_offer import encode_offer
from duologue.wire.worker_protocol import LoadSpec
from duologue.worker.joined.fetched_model import fetch_model
from duologue.worker.joined.join_spec import JoinSpec, take_join_spec
from duologue.worker.joined.offered_adapters import with_offered_adapters
from duologue.worker.joined.placed_model import LoggedDownload


@pytest.fixture
def server() -> Iterator[OfferingGateway]:
    with offering() as server:
        yield server


def serving(server: OfferingGateway, folder: Path) -> JoinSpec:
    """A worker that has fetched the model without adapters."""
    server.body = encode_offer(structs.replace(OFFER, adapters=()))
    served = fetch_model(address(server), "k", None, OFFER.name, folder, LoggedDownload())
    spec = LoadSpec("w", "llama", OFFER.name, {"model": str(served.paths["model"]), "slots": 2})
    return JoinSpec(str(address(server)), "k", spec, serve=OFFER.name, folder=str(folder))


def names(spec: JoinSpec) -> list[str]:
    loras = spec.load_spec.options.get("loras", {})
    assert isinstance(loras, dict)
    return [Path(path).name for path in loras]


def test_an_adapter_that_was_added_at_the_gateway_comes_with_the_next_start(
    server: OfferingGateway, tmp_path: Path
) -> None:
    spec = serving(server, tmp_path)
    assert names(with_offered_adapters(spec)) == []
    server.body = encode_offer(structs.replace(OFFER, adapters=offered_adapters()))
    started = with_offered_adapters(spec)
    assert names(started) == [name for name, _ in ADAPTERS]
    assert started.load_spec.options["slots"] == 2
    server.body = encode_offer(structs.replace(OFFER, adapters=()))
    assert names(with_offered_adapters(started)) == []


def test_a_worker_with_files_of_its_own_asks_nobody(server: OfferingGateway, tmp_path: Path) -> None:
    spec = structs.replace(serving(server, tmp_path), serve="")
    asked = len(server.asked)
    assert with_offered_adapters(spec) is spec
    assert len(server.asked) == asked


def test_a_gateway_that_offers_the_model_no_more_or_another_one_leaves_the_worker_as_it_was(
    server: OfferingGateway, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = serving(server, tmp_path)
    gone = structs.replace(spec, serve="other")
    assert with_offered_adapters(gone) is gone
    assert "is loaded with the adapters it had" in caplog.text
    options = {**spec.load_spec.options, "model": "/elsewhere/m.gguf"}
    other = structs.replace(spec, load_spec=structs.replace(spec.load_spec, options=options))
    assert with_offered_adapters(other) is other
    assert "have changed at the gateway" in caplog.text


def test_the_process_is_told_what_it_serves(server: OfferingGateway, tmp_path: Path) -> None:
    spec = serving(server, tmp_path)
    told = take_join_spec(dict(spec.environment()))
    assert (told.serve, told.folder) == (OFFER.name, str(tmp_path))

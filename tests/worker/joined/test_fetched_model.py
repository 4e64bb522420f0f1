"""A model that a gateway offers, downloaded once by its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import structs
from tests.support.offering_gateway import (
    ADAPTERS,
    BODIES,
    FILES,
    OFFER,
    OfferingGateway,
    address,
    offered_adapters,
    offering,
)

from duologue.cli.progress import Lines
from duologue.errors import ModelNotFound, Problem, Unauthorized, Unavailable
from duologue.wire.machines.model_offer import encode_offer
from duologue.worker.joined.fetched_model import OFFER_SECONDS, FetchedModel, fetch_model
from duologue.worker.joined.gateway_address import parse_gateway


@pytest.fixture
def server() -> Iterator[OfferingGateway]:
    with offering() as server:
        yield server


def fetch(server: OfferingGateway, folder: Path, key: str = "k", name: str = "big/model") -> FetchedModel:
    return fetch_model(address(server), key, None, name, folder, Lines(StringIO()))


def test_the_files_are_downloaded_once_and_those_of_one_option_are_together(
    server: OfferingGateway, tmp_path: Path
) -> None:
    served = fetch(server, tmp_path)
    assert served.offer == OFFER
    assert served.paths["model"].read_bytes() == b"one" * 1000
    assert served.paths["model"].with_name("m-2.gguf").read_bytes() == b"two"
    assert served.paths["mmproj"].name == "eyes.gguf"
    server.asked.clear()
    assert fetch(server, tmp_path).paths == served.paths
    assert server.asked == ["/talk/join/models/big%2Fmodel"]


def test_adapters_come_with_the_model_in_their_order(server: OfferingGateway, tmp_path: Path) -> None:
    server.body = encode_offer(structs.replace(OFFER, adapters=offered_adapters()))
    served = fetch(server, tmp_path)
    assert [(path.name, path.read_bytes()) for path in served.adapters] == ADAPTERS
    assert served.paths.keys() == FILES.keys()


def test_a_file_that_is_not_what_was_offered_is_not_used(server: OfferingGateway, tmp_path: Path) -> None:
    server.damaged = True
    with pytest.raises(Problem) as caught:
        fetch(server, tmp_path)
    assert caught.value.code == "checksum_mismatch"
    assert not list(tmp_path.rglob("*.gguf"))


def test_what_goes_wrong_is_told_in_the_words_of_a_gateway(server: OfferingGateway, tmp_path: Path) -> None:
    with pytest.raises(Unauthorized, match="role worker"):
        fetch(server, tmp_path, key="x")
    with pytest.raises(ModelNotFound, match="'other'"):
        fetch(server, tmp_path, name="other")
    server.body = b"{}"
    with pytest.raises(Problem, match="describes the model"):
        fetch(server, tmp_path)


def test_a_gateway_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("duologue.models.hub.http.pause", lambda *arguments: None)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1"):
        fetch_model(parse_gateway("http://127.0.0.1:9"), "k", None, "m", tmp_path, Lines(StringIO()))


def test_models_that_have_their_first_part_in_common_are_kept_apart(
    server: OfferingGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(server, tmp_path)
    digest = hashlib.sha256(b"TWO").hexdigest()
    monkeypatch.setitem(BODIES, digest, b"TWO")
    first, second, *others = OFFER.files
    changed = structs.replace(OFFER, files=(first, structs.replace(second, sha256=digest), *others))
    server.body = encode_offer(changed)
    served = fetch(server, tmp_path)
    assert served.paths["model"].with_name("m-2.gguf").read_bytes() == b"TWO"


def test_the_gateway_may_take_long_to_read_a_model_before_it_answers(
    server: OfferingGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: dict[str, float] = {}
    send = httpx.Client.send

    def noted(client: httpx.Client, request: httpx.Request, **how: Any) -> httpx.Response:
        waits[request.url.path.split("/")[3]] = request.extensions["timeout"]["read"]
        return send(client, request, **how)

    monkeypatch.setattr(httpx.Client, "send", noted)
    fetch(server, tmp_path)
    assert waits == {"models": OFFER_SECONDS, "files": 60.0}

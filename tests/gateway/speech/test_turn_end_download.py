"""The file of a voice pack that judges the ends of turns, from a stand-in for the hub."""

from pathlib import Path

import pytest
from tests.gateway.speech.test_pack_download import Watch
from tests.support.hub_stand_in import Hub, serving

from duologue.errors import EngineFailed, NotFound
from duologue.gateway.speech.turn_end_download import download_turn_end
from duologue.models.hub.http import HubConnection
from duologue.models.voice_packs import TurnEndModel

MODEL = TurnEndModel("maker/turns", "turns.onnx", 9, "MIT", "a test", "https://example.org")


@pytest.fixture
def hub():
    with serving(Hub({"maker/turns": {"README.md": b"read", "turns.onnx": b"a network" * 9000}})) as hub:
        yield hub


def fetch(hub: Hub, data: Path, watch: Watch) -> Path:
    with HubConnection(hub.url, sleep=lambda seconds: None) as connection:
        return download_turn_end(connection, MODEL, data, watch)


def test_the_file_is_in_the_folder_of_models(hub, tmp_path):
    watch = Watch()
    path = fetch(hub, tmp_path, watch)
    assert path == tmp_path / "models" / "turns.onnx"
    assert path.read_bytes() == b"a network" * 9000
    assert (watch.begun, watch.came) == (["turns.onnx"], 9 * 9000)


def test_a_file_with_another_digest_than_the_hubs_is_refused_and_deleted(hub, tmp_path):
    hub.checksums["turns.onnx"] = "0" * 64
    with pytest.raises(EngineFailed) as failure:
        fetch(hub, tmp_path, Watch())
    assert failure.value.code == "checksum_mismatch"
    assert not any(path.suffix == ".onnx" for path in (tmp_path / "models").iterdir())


def test_a_repository_without_the_file_is_named(hub, tmp_path):
    del hub.files["maker/turns"]["turns.onnx"]
    with pytest.raises(NotFound, match="maker/turns no longer has"):
        fetch(hub, tmp_path, Watch())

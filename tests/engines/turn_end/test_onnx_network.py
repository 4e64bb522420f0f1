"""Running a small network with the runtime inside sherpa-onnx."""

from __future__ import annotations

import math
from array import array
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from tests.support.tiny_onnx import save_turn_end_model

from duologue.engines.turn_end import onnx_network
from duologue.engines.turn_end.onnx_network import OnnxError, OnnxNetwork, find_library
from duologue.errors import StartFailed

READS = ("input_features", (1, 80, 800))
WRITES = ("logits", (1, 1))


def network(path: Path) -> OnnxNetwork:
    return OnnxNetwork(path.read_bytes(), reads=READS, writes=WRITES)


def floats(value: float, count: int = 80 * 800) -> bytes:
    return array("f", [value] * count).tobytes()


def test_a_network_answers_to_its_input(tmp_path: Path) -> None:
    save_turn_end_model(tmp_path / "model.onnx", bias=0.5, scale=2.0)
    loaded = network(tmp_path / "model.onnx")
    for value in (0.25, -1.0, 0.25):
        [answer] = loaded.run(floats(value))
        assert answer == pytest.approx(1 / (1 + math.exp(-(2.0 * value + 0.5))), abs=1e-5)
    loaded.close()


def test_two_networks_do_not_disturb_each_other(tmp_path: Path) -> None:
    loaded = []
    for bias in (-2.0, 2.0):
        save_turn_end_model(tmp_path / "model.onnx", bias)
        loaded.append(network(tmp_path / "model.onnx"))
    [low], [high] = (one.run(floats(0.0)) for one in loaded)
    assert low < 0.5 < high
    loaded[0].close()
    assert loaded[1].run(floats(0.0)) == [high]
    loaded[1].close()


def test_a_file_that_is_no_network_is_refused_with_the_reason() -> None:
    with pytest.raises(OnnxError, match="protobuf"):
        OnnxNetwork(b"not a network", reads=READS, writes=WRITES)


@pytest.mark.parametrize(
    ("reads", "writes", "reason"),
    [
        (("features", (1, 80, 800)), WRITES, "features"),
        (READS, ("probability", (1, 1)), "probability"),
        (("input_features", (1, 80, 3000)), WRITES, "800"),
        (READS, ("logits", (1, 2)), "logits|shape"),
    ],
)
def test_another_signature_shows_in_the_first_run(
    tmp_path: Path, reads: tuple[str, tuple[int, ...]], writes: tuple[str, tuple[int, ...]], reason: str
) -> None:
    save_turn_end_model(tmp_path / "model.onnx", 0.0)
    loaded = OnnxNetwork((tmp_path / "model.onnx").read_bytes(), reads=reads, writes=writes)
    with pytest.raises(OnnxError, match=reason):
        loaded.run(floats(0.0, math.prod(reads[1])))
    loaded.close()


def test_an_input_of_another_size_is_refused(tmp_path: Path) -> None:
    save_turn_end_model(tmp_path / "model.onnx", 0.0)
    loaded = network(tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="256000 bytes"):
        loaded.run(b"")
    loaded.close()


def test_the_runtime_is_the_one_of_sherpa_onnx() -> None:
    library = find_library()
    assert library is not None
    assert "sherpa_onnx" in library.parts


def test_without_sherpa_onnx_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_network, "find_spec", lambda name: None)
    onnx_network._runtime.cache_clear()
    try:
        with pytest.raises(StartFailed, match=r"pip install 'duologue\[voice\]'"):
            OnnxNetwork(b"", reads=READS, writes=WRITES)
    finally:
        onnx_network._runtime.cache_clear()


def test_a_library_that_is_no_runtime_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libonnxruntime_providers_shared.so").touch()
    broken = tmp_path / "lib" / "libonnxruntime.so"
    broken.write_bytes(b"nothing")
    spec = ModuleSpec("sherpa_onnx", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(onnx_network, "find_spec", lambda name: spec)
    onnx_network._runtime.cache_clear()
    try:
        with pytest.raises(StartFailed, match=r"libonnxruntime\.so cannot be loaded"):
            OnnxNetwork(b"", reads=READS, writes=WRITES)
    finally:
        onnx_network._runtime.cache_clear()

"""llama.cpp's library: importing it, its cards, and closing its HTTP server."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import xllamacpp

from duologue.engines.devices import Device
from duologue.engines.llama.library import (
    close_to_others,
    device_in_use,
    list_cards,
    load_library,
    place_on,
)
from duologue.errors import StartFailed
from duologue.models.placement import Card

KINDS = SimpleNamespace(GGML_BACKEND_DEVICE_TYPE_GPU=1, GGML_BACKEND_DEVICE_TYPE_IGPU=2)
CARDS = (Card(0, "H100", 80, "CUDA0"), Card(1, "H200", 140, "CUDA1"))


def _device(name: str, kind: int, bus: str = "") -> dict[str, Any]:
    return {"name": name, "type": kind, "description": f"{name} card", "memory_free": 8, "device_id": bus}


def _library(monkeypatch: pytest.MonkeyPatch, *devices: dict[str, Any]) -> None:
    library = SimpleNamespace(ggml_backend_dev_type=KINDS, get_device_info=lambda: list(devices))
    monkeypatch.setitem(sys.modules, "xllamacpp", library)


def test_a_library_that_is_not_installed_comes_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(StartFailed, match="pip install xllamacpp"):
        load_library()


def test_cards_are_numbered_as_the_library_does_without_the_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _library(monkeypatch, _device("CPU", 0), _device("CUDA0", 1), _device("BLAS", 3), _device("CUDA1", 1))
    assert [(card.device, card.library_name) for card in list_cards()] == [
        ("cuda:0", "CUDA0"),
        ("cuda:1", "CUDA1"),
    ]


def test_integrated_graphics_count_only_where_there_is_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    _library(monkeypatch, _device("Vulkan0", 2), _device("Vulkan1", 1))
    assert [card.library_name for card in list_cards()] == ["Vulkan1"]
    _library(monkeypatch, _device("Vulkan0", 2))
    assert [card.library_name for card in list_cards()] == ["Vulkan0"]


def test_one_card_that_two_backends_list_is_one_card(monkeypatch: pytest.MonkeyPatch) -> None:
    _library(
        monkeypatch,
        *(_device("CUDA0", 1, "0000:01"), _device("CUDA1", 1, "0000:02")),
        *(_device("Vulkan0", 1, "0000:02"), _device("Vulkan1", 1, "0000:01")),
    )
    assert [card.library_name for card in list_cards()] == ["CUDA0", "CUDA1"]


def test_the_real_library_lists_its_devices() -> None:
    assert isinstance(list_cards(), tuple)


def test_a_card_gets_the_whole_model_and_its_projector() -> None:
    params = SimpleNamespace()  # the library takes only the names of cards that are there
    place_on(params, Device("cuda", 1), CARDS)
    assert params.__dict__.keys() <= set(dir(xllamacpp.CommonParams))
    assert params.split_mode == xllamacpp.llama_split_mode.LLAMA_SPLIT_MODE_NONE
    assert (params.main_gpu, params.mmproj_device) == (1, "CUDA1")


def test_the_processor_leaves_every_card_alone() -> None:
    params = xllamacpp.CommonParams()
    place_on(params, Device("cpu"), CARDS)
    assert (params.n_gpu_layers, params.main_gpu) == (0, -1)
    assert params.split_mode == xllamacpp.llama_split_mode.LLAMA_SPLIT_MODE_NONE
    assert not params.mmproj_use_gpu
    assert not params.fit_params


def test_auto_leaves_it_to_the_library() -> None:
    params, untouched = xllamacpp.CommonParams(), xllamacpp.CommonParams()
    place_on(params, Device(), CARDS)
    for name in ("n_gpu_layers", "main_gpu", "split_mode", "mmproj_device", "mmproj_use_gpu", "fit_params"):
        assert getattr(params, name) == getattr(untouched, name)


def test_a_card_that_is_not_there_is_refused() -> None:
    with pytest.raises(StartFailed, match=r"no device cuda:2.*cuda:0 \(H100.*cuda:1 \(H200"):
        place_on(xllamacpp.CommonParams(), Device("cuda", 2), CARDS)


def test_status_pages_say_where_a_model_runs() -> None:
    assert device_in_use(Device(), (), None) == "cpu"
    assert device_in_use(Device(), CARDS, None) == "cuda:0, cuda:1"
    assert device_in_use(Device(), CARDS, 0) == "cpu"
    assert device_in_use(Device("cuda", 1), CARDS, None) == "cuda:1"
    assert device_in_use(Device("cpu"), CARDS, None) == "cpu"


def test_the_server_listens_on_loopback_with_a_key() -> None:
    params = SimpleNamespace()
    close_to_others(params, "secret")
    assert (params.hostnames, params.port, params.api_keys) == (["127.0.0.1"], 0, ["secret"])
    assert not params.ui

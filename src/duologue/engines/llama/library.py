"""llama.cpp's library, xllamacpp: imported when a model is loaded, and its HTTP server closed to everyone else.

Called by `engine` and `sound_recogniser`, in a lane's thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.engines.devices import Device, require_card
from duologue.errors import StartFailed
from duologue.models.placement import Card


def load_library() -> Any:
    """The module. Raises StartFailed where it cannot be imported."""
    try:
        import xllamacpp
    except ImportError as error:
        raise StartFailed(
            f"The llama engine's library cannot be loaded ({error}). Install it: pip install xllamacpp."
        ) from error
    return xllamacpp


def list_cards() -> tuple[Card, ...]:
    """The graphics cards that the library can use, with its own numbers. As the library does, integrated ones count only where there
    are no others."""
    library = load_library()
    kinds = library.ggml_backend_dev_type
    devices = library.get_device_info()
    for kind in (kinds.GGML_BACKEND_DEVICE_TYPE_GPU, kinds.GGML_BACKEND_DEVICE_TYPE_IGPU):
        found: dict[str, Any] = {}
        for device in devices:
            if device["type"] == kind:
                # A build for several kinds of cards lists the same one several times; the first is used.
                found.setdefault(device["device_id"] or device["name"], device)
        if found:
            return tuple(
                Card(number, device["description"], device["memory_free"], device["name"])
                for number, device in enumerate(found.values())
            )
    return ()


def place_on(params: Any, device: Device, cards: Sequence[Card]) -> None:
    """Put the whole model on one device in `params`, the library's settings; "auto" leaves them alone. Raises StartFailed for a card
    that is not there."""
    require_card(device, cards)
    if device.kind == "cpu":
        params.n_gpu_layers = 0
        params.mmproj_use_gpu = False
        params.fit_params = False
        # Without this, long prompts would still be computed on a card.
        params.split_mode = load_library().llama_split_mode.LLAMA_SPLIT_MODE_NONE
        params.main_gpu = -1
    elif device.kind == "cuda":
        params.split_mode = load_library().llama_split_mode.LLAMA_SPLIT_MODE_NONE
        params.main_gpu = device.index
        params.mmproj_device = cards[device.index].library_name


def device_in_use(device: Device, cards: Sequence[Card], gpu_layers: int | None) -> str:
    """Where a model runs, for status pages."""
    if not cards or device.kind == "cpu" or gpu_layers == 0:
        return "cpu"
    return device.name if device.kind == "cuda" else ", ".join(card.device for card in cards)


def close_to_others(params: Any, key: str) -> None:
    """Close the HTTP server on which the library insists: loopback, any free port, a random key, no page."""
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.endpoint_slots = False
    params.cors_origins = "http://127.0.0.1"
    params.cors_credentials = False

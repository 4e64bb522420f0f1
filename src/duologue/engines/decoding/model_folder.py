"""A model's folder as the hub has it, and the device that it goes to: what every engine with a loop over transformers reads.

Called while such an engine loads a model. Nothing is fetched here, and no code of a model's folder is run. Blocks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from duologue.engines.devices import Device, numbered_cards, require_card
from duologue.engines.hardware import machine_limits


def stored_bytes(folder: Path) -> int:
    """Bytes of the weights' files."""
    return sum(path.stat().st_size for kind in ("*.safetensors", "*.bin") for path in folder.glob(kind))


def read_template(folder: Path, tokenizer: Any) -> str:
    """The chat template of a model, from the files in which these are kept; "" without one."""
    if (path := folder / "chat_template.jinja").is_file():
        return path.read_text(encoding="utf-8")
    stored = read_json(folder / "chat_template.json").get("chat_template")
    return stored if isinstance(stored, str) else str(getattr(tokenizer, "chat_template", None) or "")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object in a file; an empty one without it."""
    try:
        stored = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def place_of(torch: Any, device: Device) -> str:
    """Where the model goes: "cpu", "cuda:1". Raises StartFailed for a card that is not there."""
    has_cards = torch.cuda.is_available()
    require_card(device, numbered_cards(torch.cuda.device_count() if has_cards else 0))
    on_card = device.kind == "cuda" or (device.kind == "auto" and has_cards)
    return f"cuda:{device.index}" if on_card else "cpu"


def free_bytes(torch: Any, place: str) -> int:
    """Bytes that are free there."""
    if place == "cpu":
        return machine_limits().memory
    return int(torch.cuda.mem_get_info(place)[0])


def ends_of(generation: dict[str, Any], tokenizer: Any) -> frozenset[int]:
    """The tokens that end a reply: those of `generation_config.json`, and the tokenizer's own."""
    stored = generation.get("eos_token_id")
    ends = stored if isinstance(stored, list) else [stored]
    return frozenset(
        number
        for number in (*ends, tokenizer.eos_token_id, tokenizer.pad_token_id)
        if isinstance(number, int)
    )

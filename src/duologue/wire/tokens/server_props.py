"""The answers of llama-server's `/props` and `/slots`. True values only: nothing of this machine's folders, and nobody's text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.values.questions.worker_answers import Described
from duologue.values.requests import ModelCard

RENAMED = {
    "repetition_penalty": "repeat_penalty",
    "repetition_window": "repeat_last_n",
    "dynamic_temperature_range": "dynatemp_range",
    "dynamic_temperature_exponent": "dynatemp_exponent",
}
"""A sampling parameter -> llama-server's name of it, where they differ."""


def props(card: ModelCard, described: Described, slots: int, version: str) -> dict[str, Any]:
    """The properties of a model and of the server. `slots`: replies that are generated at a time."""
    params = {RENAMED.get(name, name): value for name, value in card.defaults.items()}
    if "max_tokens" in params:
        params["n_predict"] = params["max_tokens"]
    return {
        "default_generation_settings": {
            "id": 0,
            "n_ctx": card.context,
            "is_processing": False,
            "params": params,
        },
        "total_slots": slots,
        "model_alias": card.name,
        "model_path": card.name,
        "modalities": {"vision": "image" in card.modalities, "audio": "audio" in card.modalities},
        "endpoint_slots": True,
        "endpoint_props": False,
        "endpoint_metrics": True,
        "chat_template": described.template,
        # Some programs look here for tools, and not at the capabilities of /v1/models.
        "chat_template_caps": dict.fromkeys(("supports_tools", "supports_tool_calls"), "tools" in card.verbs),
        "bos_token": described.bos,
        "eos_token": described.eos,
        "build_info": f"duologue-{version}",
        "is_sleeping": False,
    }


def slots(card: ModelCard, busy: Sequence[bool]) -> list[dict[str, Any]]:
    """The slots of a model: whether each is in use."""
    return [{"id": id, "n_ctx": card.context, "is_processing": is_busy} for id, is_busy in enumerate(busy)]

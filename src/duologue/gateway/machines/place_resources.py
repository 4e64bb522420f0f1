"""What a place takes of a node: processors, graphics cards and memory, by what its worker loads. Pure.

`placed_keeper` asks before it orders a place. A cluster's cards have whatever memory the settings say; without that a model gets a whole one.
"""

from __future__ import annotations

import math

import msgspec

from duologue.models.placement import AUTO, CPU
from duologue.wire.machines.placement_protocol import Node, Resources
from duologue.wire.worker_protocol import LoadSpec

LOCAL = ("remote", "voice")
"""Engines that stay with the gateway: the clients of other servers, and the voice, whose packs and voices are in its folder."""
PARTS = 4
"""Into how many parts a card may be divided between small models."""
GIGA = 10**9


def is_placed(spec: LoadSpec) -> bool:
    """Whether a worker is placed on the cluster."""
    return spec.engine not in LOCAL


def place_resources(spec: LoadSpec, needed: int, *, cards: bool, card_memory: int = 0) -> Resources:
    """What the worker of this load spec takes. `needed`: bytes of its model, 0 if unknown; `cards`: whether any node has cards;
    `card_memory`: bytes of each, 0 if unknown."""
    threads = spec.options.get("threads")
    cpus = float(threads) if isinstance(threads, int) and threads > 0 else 1.0
    return Resources(cpus, _cards(spec, needed, card_memory) if cards or _names_card(spec) else 0.0, needed)


def on_node(spec: LoadSpec, resources: Resources) -> LoadSpec:
    """The load spec on the node: the cards that Ray gives a worker are all that it sees, and the first of them is the first. Its keeper tells
    it the chat template that was chosen, whose file the node may not have."""
    device = CPU if not resources.gpus else "cuda:0" if resources.gpus <= 1 and _names_card(spec) else AUTO
    options = {**spec.options}
    if spec.engine == "llama":
        options.pop("device", None)
        if device != AUTO:
            options["device"] = device
    return msgspec.structs.replace(spec, device=device, options=options, template="")


def fits(resources: Resources, nodes: tuple[Node, ...]) -> bool:
    """Whether a node has room for it now."""
    return any(
        not node.draining
        and node.free.cpus >= resources.cpus
        and node.free.gpus >= resources.gpus
        and node.free.memory >= resources.memory
        for node in nodes
    )


def in_words(resources: Resources) -> str:
    """For people: `1 GPU, 12 GB`."""
    parts = []
    if resources.gpus:
        parts.append(f"{resources.gpus:g} GPU" + ("s" if resources.gpus > 1 else ""))
    elif resources.cpus:
        parts.append(f"{resources.cpus:g} CPU" + ("s" if resources.cpus > 1 else ""))
    if resources.memory:
        parts.append(f"{max(0.1, resources.memory / GIGA):.{0 if resources.memory >= 10 * GIGA else 1}f} GB")
    return ", ".join(parts) or "a node"


def _names_card(spec: LoadSpec) -> bool:
    return spec.device not in (AUTO, CPU)


def _cards(spec: LoadSpec, needed: int, card_memory: int) -> float:
    if spec.device == CPU or spec.options.get("gpu_layers") == 0:
        return 0.0
    if spec.engine == "scripted" and not _names_card(spec):
        return 0.0
    if not needed or not card_memory:
        return 1.0
    share = needed / card_memory
    return float(math.ceil(share)) if share > 1 else math.ceil(share * PARTS) / PARTS

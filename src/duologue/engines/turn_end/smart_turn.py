"""Smart Turn v3: how likely a turn is complete, from its sound. An ONNX file of 8 MB (Daily, BSD-2-Clause), 23 languages.

Loaded by `registry`. Reads the log-mel features of the last eight seconds, and answers with a probability. Owns one thread,
shared by all calls, and which questions it takes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from msgspec import Struct

from duologue.engines.options import read_options
from duologue.engines.turn_end.log_mel import BANDS, FRAMES, log_mel
from duologue.engines.turn_end.onnx_network import OnnxError, OnnxNetwork
from duologue.engines.weights import fetch_command
from duologue.errors import EngineFailed, StartFailed
from duologue.threads import Refusal, ThreadLane

NAME = "smart_turn"
ADDRESS = "https://huggingface.co/pipecat-ai/smart-turn-v3/resolve/main"
INPUT = ("input_features", (1, BANDS, FRAMES))
OUTPUT = ("logits", (1, 1))
"""In spite of its name a probability: the sigmoid is part of the network."""
WAITING = 8
"""Questions that may wait; the next one is refused, and its call goes by the words alone."""
PATIENCE = 0.5
"""Seconds a question waits for its turn. A later answer would be of no use."""
BUSY = "Too many callers stopped speaking at the same moment."
LARGEST = 256 * 1024 * 1024
"""Bytes of a file that are read."""


class SmartTurnOptions(Struct, frozen=True):
    """`model` is a path, or the name of a file in the folder `models`."""

    model: str = "smart-turn-v3.2-cpu.onnx"
    models: str = ""


class SmartTurn:
    """Implements `contracts.TurnEndEstimator`."""

    def __init__(self, network: OnnxNetwork, name: str) -> None:
        self.name = name
        self._network = network
        self._lane = ThreadLane(1, waiting=WAITING, patience=PATIENCE, refusal=Refusal(BUSY, BUSY))

    async def probability(self, pcm: bytes) -> float:
        return await self._lane.run(self._estimate, pcm)

    async def close(self) -> None:
        # In its own lane: after a question that is still being answered.
        await self._lane.run(self._network.close, never_refused=True)

    def _estimate(self, pcm: bytes) -> float:
        try:
            return estimate(self._network, pcm)
        except OnnxError as error:
            raise EngineFailed(f"Smart Turn failed: {error}.") from None


def estimate(network: OnnxNetwork, pcm: bytes) -> float:
    """The probability that the turn is complete. Blocks. Raises OnnxError."""
    probability = network.run(log_mel(pcm).tobytes())[0]
    if not (math.isfinite(probability) and 0 <= probability <= 1):
        raise OnnxError(f"its output is {probability} and not a probability")
    return probability


async def load(options: dict[str, Any]) -> SmartTurn:
    """The estimator. Raises StartFailed for a missing file, or one that is not such a network."""
    return await ThreadLane(1).run(_open, weights(options))


def weights(options: dict[str, Any]) -> Path:
    """The file of the network. Raises StartFailed with the command that fetches it."""
    chosen = read_options(SmartTurnOptions, options, NAME)
    path = Path(chosen.model).expanduser()
    below = Path(chosen.models or "models").expanduser() / path.name
    for candidate in (path, below) if path.name != chosen.model else (below,):
        if candidate.is_file():
            return candidate
    raise StartFailed(
        f"The file of the end-of-turn model {chosen.model!r} is not at {below}. "
        f"Fetch it with: {fetch_command(f'{ADDRESS}/{SmartTurnOptions().model}', below)}",
        code="weights_missing",
        param="model",
    )


def _open(path: Path) -> SmartTurn:
    """Blocks for a tenth of a second. The network is tried once on silence, so that one with other inputs is refused now."""
    network: OnnxNetwork | None = None
    try:
        with path.open("rb") as file:
            weights = file.read(LARGEST)
        network = OnnxNetwork(weights, reads=INPUT, writes=OUTPUT)
        estimate(network, b"")
    except (OnnxError, OSError) as error:
        if network is not None:
            network.close()
        raise StartFailed(
            f"The end-of-turn model {path} cannot be used: it is damaged, or not Smart Turn v3 ({error}). "
            "Fetch it again, or set `voice.turn_end.enabled` to false.",
            param="model",
        ) from None
    return SmartTurn(network, path.stem)

"""How many bytes the model of a load spec needs, by its files on this machine. Reads the file system; called off the event loop."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from duologue.errors import Problem
from duologue.models.fit import memory_needed
from duologue.models.gguf import header
from duologue.models.projectors import find_projector
from duologue.wire.worker_protocol import LoadSpec

WEIGHTS = (".safetensors", ".bin", ".pt", ".gguf")


def model_bytes(spec: LoadSpec) -> int:
    """Bytes of memory for the weights and what comes with them; 0 where there is no file to go by."""
    path = Path(str(spec.options.get("models") or ""), str(spec.options.get("model") or ""))
    with suppress(OSError, Problem, ValueError):
        if spec.engine == "llama":
            gguf = header.read(Path(str(spec.options["model"])))
            projector = find_projector(gguf, str(spec.options.get("mmproj") or "")).projector
            return memory_needed(gguf.size + (projector.memory if projector else 0))
        if spec.options.get("model") and path.is_dir():
            size = sum(file.stat().st_size for file in path.iterdir() if file.suffix in WEIGHTS)
            return memory_needed(size) if size else 0
    return 0

"""Which model architectures the installed engine can run, found out without loading it.

llama.cpp keeps the names of its architectures as strings in its library, and no call lists them. So the library's
file is searched for the name: a model that is too new is then refused with a sentence instead of the engine's
"Failed to init server". Where there is no library to search the engine decides.
"""

from __future__ import annotations

import mmap
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

LIBRARY_SUFFIXES = (".so", ".pyd", ".dylib")
NOT_FOR_CHAT: dict[str, str] = {
    "clip": "is a projector (mmproj) for pictures or sound, not a language model. Name the model it belongs to.",
    "bert": "is an embedding model; it cannot write text. Name a chat model.",
    "modern-bert": "is an embedding model; it cannot write text. Name a chat model.",
    "nomic-bert": "is an embedding model; it cannot write text. Name a chat model.",
    "nomic-bert-moe": "is an embedding model; it cannot write text. Name a chat model.",
    "jina-bert-v2": "is an embedding model; it cannot write text. Name a chat model.",
    "jina-bert-v3": "is an embedding model; it cannot write text. Name a chat model.",
    "gemma-embedding": "is an embedding model; it cannot write text. Name a chat model.",
    "t5encoder": "is an encoder; it cannot write text. Name a chat model.",
    "adapter": "is a LoRA adapter, not a model. Name the model it was made for.",
    "imatrix": "is an importance matrix, not a model. Name the model's own file.",
}


def engine_library() -> Path | None:
    """The file of the installed engine's library, if there is one."""
    spec = find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return next((file for file in sorted(folder.glob("xllamacpp*")) if file.suffix in LIBRARY_SUFFIXES), None)


def engine_knows(architecture: str) -> bool | None:
    """Whether the installed engine knows `architecture`; None where that cannot be found out."""
    library = engine_library()
    return None if library is None else _names(library, architecture)


@lru_cache(maxsize=16)
def _names(library: Path, architecture: str) -> bool:
    # Only the end of the string is certain: linkers keep "mpt" as the tail of a longer string that ends the same.
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(architecture.encode() + b"\0") >= 0

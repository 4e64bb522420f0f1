"""Which tokens of a model are control tokens, by its file. Read when somebody first asks: the list has an entry for each token."""

from __future__ import annotations

import os
from pathlib import Path

from duologue.models.gguf.reader import Unreadable, read_part

TYPES = "tokenizer.ggml.token_type"
CONTROL = 3
"""A control token's type in a GGUF file."""


def control_tokens(path: Path) -> frozenset[int]:
    """The ids of the control tokens of the model at `path`; none where the file does not say. Blocks."""
    try:
        with path.open("rb") as file:
            metadata, _, _ = read_part(file, os.fstat(file.fileno()).st_size, TYPES)
    except (OSError, Unreadable):
        return frozenset()  # the file was replaced since it was loaded
    types = metadata.entries.get(TYPES)
    if not isinstance(types, tuple):
        return frozenset()
    return frozenset(id for id, kind in enumerate(types) if kind == CONTROL)

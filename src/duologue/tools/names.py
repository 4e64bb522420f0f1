"""The names models know tools by: valid for every model, and told apart where servers clash.

Pure. Models take `[a-zA-Z0-9_-]{1,64}`; servers call their tools what they like. A name that two servers use belongs
to neither: both tools get `server_tool`, so that a model, and a person who reads along, sees which one it is.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 64
_INVALID = re.compile(r"[^a-zA-Z0-9_-]+")


def model_name(name: str) -> str:
    """`name` as a model may write it; what is cut or replaced is told apart by a few digits of its hash."""
    cleaned = _INVALID.sub("_", name).strip("_") or "tool"
    if len(cleaned) <= LONGEST:
        return cleaned
    return _add_hash(cleaned, name)


def model_names(tools: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """For each (server, tool) the one name a model knows it by. The same tools give the same names in any order."""
    pairs = sorted(set(tools))
    plain_counts = Counter(model_name(tool) for _, tool in pairs)
    names: dict[tuple[str, str], str] = {}
    for server, tool in pairs:
        name = model_name(tool)
        names[server, tool] = name if plain_counts[name] == 1 else model_name(f"{server}_{tool}")
    # "a.b" and "a b" of one server, or a tool that is called what a clash was resolved to.
    counts = Counter(names.values())
    for (server, tool), name in names.items():
        if counts[name] > 1:
            names[server, tool] = _add_hash(name, f"{server}\0{tool}")
    return names


def _add_hash(name: str, whole: str) -> str:
    mark = hashlib.blake2b(whole.encode(), digest_size=4).hexdigest()
    return f"{name[: LONGEST - len(mark) - 1]}_{mark}"

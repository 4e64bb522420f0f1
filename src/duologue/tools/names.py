"""Tool names for models: valid for every model and unique across servers.

Pure. Models accept `[a-zA-Z0-9_-]{1,64}`; servers may use any name. When two servers use the same name, both tools
become `server_tool`, so that the model and the user can see which one is meant.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 64
_INVALID = re.compile(r"[^a-zA-Z0-9_-]+")


def model_name(name: str) -> str:
    """`name` with invalid characters replaced; a name that is too long is cut and gets a short hash."""
    cleaned = _INVALID.sub("_", name).strip("_") or "tool"
    if len(cleaned) <= LONGEST:
        return cleaned
    return _add_hash(cleaned, name)


def model_names(tools: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The model's name for each (server, tool). Does not depend on the order of `tools`."""
    pairs = sorted(set(tools))
    plain_counts = Counter(model_name(tool) for _, tool in pairs)
    names: dict[tuple[str, str], str] = {}
    for server, tool in pairs:
        name = model_name(tool)
        names[server, tool] = name if plain_counts[name] == 1 else model_name(f"{server}_{tool}")
    # Two names can still collide: "a.b" and "a b" of one server, or a tool literally named like a resolved clash.
    counts = Counter(names.values())
    for (server, tool), name in names.items():
        if counts[name] > 1:
            names[server, tool] = _add_hash(name, f"{server}\0{tool}")
    return names


def _add_hash(name: str, whole: str) -> str:
    mark = hashlib.blake2b(whole.encode(), digest_size=4).hexdigest()
    return f"{name[: LONGEST - len(mark) - 1]}_{mark}"

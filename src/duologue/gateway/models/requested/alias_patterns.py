"""Aliases with `*` in them: a name that nobody knows is answered by a model that the operator chose.

Pure. `registry` keeps the aliases of the settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ANY = "*"


def is_pattern(alias: str) -> bool:
    """Whether an alias stands for more than one name."""
    return ANY in alias


def best_pattern(name: str, aliases: Mapping[str, str]) -> str | None:
    """The model of the most specific pattern that `name` fits, in upper or lower case: that with the most other characters, the first of
    several. None without one; "" is the default model."""
    fitting = [alias for alias in aliases if is_pattern(alias) and _fits(name, alias)]
    best = max(fitting, key=lambda alias: len(alias.replace(ANY, "")), default=None)
    return None if best is None else aliases[best]


def _fits(name: str, alias: str) -> bool:
    # Several in a row are one; each is greedy and the name is short, so the search stays small.
    parts = [re.escape(part) for part in re.split(r"\*+", alias.lower())]
    return re.fullmatch(".*".join(parts), name.lower()[:300], re.DOTALL) is not None

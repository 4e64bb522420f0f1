"""Which models a key may use, by the names and patterns of its limits. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from duologue.gateway.models.requested.alias_patterns import best_pattern, is_pattern
from duologue.models.model_names import KnownName, find_similar


def may_use(allowed: tuple[str, ...], model: str, aliases: Sequence[str] = ()) -> bool:
    """Whether one of the names in `allowed` means the model: its own name or an alias, in any spelling that requests may have, or a pattern
    with `*` that fits one of them. With no names in `allowed`, every model may be used."""
    return not allowed or _means(allowed, model, tuple(aliases))


@lru_cache(4096)
def _means(allowed: tuple[str, ...], model: str, aliases: tuple[str, ...]) -> bool:
    patterns = {name: name for name in allowed if is_pattern(name)}
    names = [name for name in allowed if not is_pattern(name)]
    known = [KnownName(model, aliases)]
    return any(best_pattern(name, patterns) is not None for name in (model, *aliases)) or any(
        name in (model, *aliases) or find_similar(name, known) == model for name in names
    )

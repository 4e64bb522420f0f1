"""The options of a speech engine, checked before anything large is loaded.

Called by the `load` function of every recogniser and speaker. Owns the errors for misspelt options and wrong types.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

import msgspec
from msgspec import Struct

from duologue.errors import StartFailed

T = TypeVar("T", bound=Struct)


def read_options(kind: type[T], options: Mapping[str, object], engine: str) -> T:
    """`options` as a `kind`; None leaves an option at its default. Raises StartFailed naming the option at fault."""
    known = kind.__struct_fields__
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
            raise StartFailed(f"The engine {engine} has no option {name!r}. {advice}", param=name)
    values = {name: value for name, value in options.items() if value is not None}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise StartFailed(f"An option of the engine {engine} is wrong: {error}.") from None


def check_parallel(engine: str, parallel: int) -> None:
    """Raises StartFailed for a `parallel` below 1."""
    if parallel < 1:
        raise StartFailed(f"{engine}'s option 'parallel' must be at least 1.", param="parallel")

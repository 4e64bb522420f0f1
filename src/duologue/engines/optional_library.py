"""Loading a speech model with a library that may not be installed: the steps that the optional engines share.

Called by the `load` functions of the recognisers and speakers that come as extras.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from duologue.errors import StartFailed
from duologue.threads import ThreadLane

T = TypeVar("T")


@contextmanager
def importing(engine: str, extra: str, *, role: str, advice: str = "") -> Iterator[None]:
    """Around the imports of an engine's library. Raises StartFailed (`engine_missing`) with the command that installs it.

    `role` is what the engine is in the sentence ("recogniser", "voice"); `advice` is added after the command.
    """
    try:
        yield
    except ImportError as error:
        raise StartFailed(
            f"The {role} {engine} needs one more package ({error.name}): pip install 'duologue[{extra}]'.{advice}",
            code="engine_missing",
        ) from None


@contextmanager
def loading(subject: str, *errors: type[Exception]) -> Iterator[None]:
    """Around the library's own loading: `errors` become StartFailed, "`subject` cannot be loaded ..." and the reason."""
    kinds: tuple[type[Exception], ...] = (RuntimeError, ValueError, OSError, *errors)
    try:
        yield
    except kinds as error:
        raise StartFailed(f"{subject}: {error}") from error


async def load_in_thread(start: Callable[[], T]) -> T:
    """The engine that `start` makes. Importing such a library and reading its weights blocks for seconds."""
    return await ThreadLane(1).run(start)

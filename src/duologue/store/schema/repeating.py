"""Transactions that are run again when PostgreSQL has undone them because of another gateway's.

Used by the stores and by what puts several of their writes into one transaction. Imports nothing of SQLAlchemy, as those do not either.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from duologue.errors import Unavailable

log = logging.getLogger(__name__)

TRIES = 3
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class RolledBack(Unavailable):
    """PostgreSQL has undone the transaction because of another one. The same again is likely to succeed."""


def repeated(
    work: Callable[Parameters, Coroutine[Any, Any, Result]],
) -> Callable[Parameters, Coroutine[Any, Any, Result]]:
    """Run `work` up to TRIES times while it raises RolledBack. It must be one transaction, and change
    nothing else before the commit. Inside another transaction (`within`) it is not repeated: whoever began that one repeats it whole."""

    @wraps(work)
    async def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        tries = 1 if kwargs.get("within") is not None else TRIES
        for _ in range(tries - 1):
            try:
                return await work(*args, **kwargs)
            except RolledBack:
                # PostgreSQL has let the others go on meanwhile, so there is nothing to wait for.
                log.info("%s is retried: the database had rolled it back", work.__qualname__)
        return await work(*args, **kwargs)

    return run

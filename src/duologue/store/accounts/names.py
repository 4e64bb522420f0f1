"""How users and keys are called, and what is answered where none is called so. Used by `store/users.py`."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from duologue.errors import BadRequest, NotFound

KEY_ID_PREFIX = "key_"
LABEL = 64
"""Characters of a key's label."""


def checked_name(name: str) -> str:
    """The normalised name of a user. Raises BadRequest for one that cannot be shown on one line."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if not 0 < len(name) <= 64 or not name.isprintable() or name.startswith(KEY_ID_PREFIX):
        raise BadRequest(
            f"A user's name is 1 to 64 printable characters and does not begin with {KEY_ID_PREFIX}.",
            param="name",
        )
    return name


def checked_label(label: str) -> str:
    """The normalised label of a key. Raises BadRequest for one that cannot be shown on one line."""
    label = unicodedata.normalize("NFC", " ".join(label.split()))
    if len(label) > LABEL or not label.isprintable():
        raise BadRequest(f"A key's label is at most {LABEL} printable characters.", param="label")
    return label


def no_key(id_or_name: str) -> NotFound:
    return NotFound(f"There is no key and no user with keys called {id_or_name[:100]!r}.")


def nobody(name: str, known: Sequence[str]) -> NotFound:
    there = f"There is {', '.join(known[:20])}." if known else "There are no users yet."
    return NotFound(f"There is no user called {name[:100]!r}. {there}", code="user_not_found", param="name")


def no_key_of(id: str) -> NotFound:
    """The error for an unknown id of a key."""
    return NotFound(
        f"There is no key with the id {id[:100]!r}. `duologue key list` shows the ids.", param="id"
    )

"""The audit log in a SQLite file that no server has opened here: for commands, which must not migrate it.

A backup is made before an update, and a model is removed beside a running server of another version; neither may change the schema.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from duologue.store.accounts.audit_rows import AuditRow, columns_of

WAIT_S = 5.0
"""Seconds that another writer is waited for."""
_NAMES = ("at", "user", "name", "key_id", "act", "target", "outcome", "address", "details")


def append_to_file(file: Path, row: AuditRow) -> bool:
    """Add a row. False where there is no such file, or none with an audit log, or it cannot be written."""
    columns = columns_of(row)
    places = ", ".join("?" for _ in _NAMES)
    return _change(
        file, f"INSERT INTO audit ({_listed()}) VALUES ({places})", [columns[name] for name in _NAMES]
    )


def carry_over(old: Path, new: Path) -> bool:
    """Add the rows of `old` that are younger than all of `new`: a restored database does not forget what was done since its copy was made.
    False where one of them has no audit log."""
    if not old.is_file():
        return False
    return _change(
        new,
        f"INSERT INTO audit ({_listed()}) SELECT {_listed()} FROM former.audit "
        "WHERE at > (SELECT coalesce(max(at), 0) FROM main.audit) ORDER BY number",
        [],
        attach=old,
    )


def _listed() -> str:
    return ", ".join(f'"{name}"' for name in _NAMES)


def _change(file: Path, statement: str, values: list[object], *, attach: Path | None = None) -> bool:
    address = f"{file.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=WAIT_S)) as connection:
            if attach is not None:
                connection.execute("ATTACH ? AS former", (f"{attach.absolute().as_uri()}?mode=ro",))
            with connection:
                connection.execute(statement, values)
    except sqlite3.Error:
        return False
    return True

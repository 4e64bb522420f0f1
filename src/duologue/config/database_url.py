"""The address of the PostgreSQL server, with the password that may be in a file of its own. Called by `Settings`."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from duologue.errors import StartFailed

PARAM = "database_password_file"


def database_url(database: SecretStr | None, password_file: Path | None) -> str | None:
    """`database`, with the password in the file if there is one; None without a database. The file's content is the password, less
    the end of its line. Raises StartFailed."""
    if password_file is None:
        return database.get_secret_value() if database else None
    if database is None:
        raise StartFailed("database_password_file is set, but database is not.", param="database")
    address = urlsplit(database.get_secret_value())
    user, at, host = address.netloc.rpartition("@")
    if not user or ":" in user:
        raise StartFailed(
            "With database_password_file, `database` must name a user and no password: postgresql://user@host/database.",
            param="database",
        )
    password = quote(_read(password_file), safe="")
    return address._replace(netloc=f"{user}:{password}{at}{host}").geturl()


def _read(file: Path) -> str:
    try:
        password = file.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StartFailed(f"The password file {file} cannot be read: {reason}.", param=PARAM) from None
    if not password:
        raise StartFailed(f"The password file {file} is empty.", param=PARAM)
    return password

"""Encrypts the keys of connected servers with a key in a file of its own, outside the database and its backups.

Used by `service`. A copy of the database shows no key without this file. Each key is bound to the server that it was entered
for: with another address in the database it cannot be read. Everything here blocks.
"""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path

log = logging.getLogger(__name__)

FILE = "upstreams.key"
BYTES = 32
NONCE = 12
PRIVATE = 0o600


class KeyUnreadable(Exception):
    """A stored key cannot be decrypted: the key file is gone or another one, or the stored key was changed."""


class KeyFile:
    """The file `upstreams.key` in the data folder, made when the first key is encrypted."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def encrypt(self, key: str, origin: str) -> bytes:
        """`key`, readable only with the file and for this `origin`. Raises OSError."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(NONCE)
        return nonce + AESGCM(self._read() or self._make()).encrypt(nonce, key.encode(), origin.encode())

    def decrypt(self, sealed: bytes, origin: str) -> str:
        """The key again. Raises KeyUnreadable."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        secret = self._read()
        if secret is None:
            raise KeyUnreadable
        try:
            return AESGCM(secret).decrypt(sealed[:NONCE], sealed[NONCE:], origin.encode()).decode()
        except (InvalidTag, ValueError):
            raise KeyUnreadable from None

    def _read(self) -> bytes | None:
        """The content of the file; None if there is none, or it is damaged."""
        try:
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(PRIVATE)
                log.warning("%s could be read by others; now only this user can", self.path)
            secret = self.path.read_bytes()
        except OSError:
            return None
        return secret if len(secret) == BYTES else None

    def _make(self) -> bytes:
        secret = secrets.token_bytes(BYTES)
        unfinished = self.path.with_name(f"{FILE}.part")
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self.path)
        return secret

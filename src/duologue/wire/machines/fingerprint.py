"""The SHA-256 of a certificate in the form in which a gateway shows it and a person gives it to a worker. Pure."""

from __future__ import annotations

import hashlib


def fingerprint(certificate: bytes) -> str:
    """The fingerprint of a certificate (DER), as `openssl x509 -fingerprint -sha256` writes it."""
    digest = hashlib.sha256(certificate).hexdigest().upper()
    return ":".join(digest[start : start + 2] for start in range(0, len(digest), 2))

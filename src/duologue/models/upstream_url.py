"""The address of an OpenAI-compatible server, as people write it. Pure.

Used by the remote engine and by `gateway/upstreams`, so that both mean the same address.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

VERSION = re.compile(r"v\d\w*")


def parse_upstream_url(url: str) -> SplitResult | None:
    """The parts of the API's base: with /v1 at the end, unless the path names a version already (`/v1beta/openai`). None for
    something that is not the URL of a server."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not _is_name(parts.netloc):
        return None
    path = parts.path.rstrip("/")
    if not any(VERSION.fullmatch(segment) for segment in path.split("/")):
        path = f"{path}/v1"
    return SplitResult(parts.scheme, parts.netloc, path, "", "")


def _is_name(host: str) -> bool:
    return host.isprintable() and " " not in host


def shown_url(parts: SplitResult) -> str:
    """The address without user and password."""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

"""Types of settings that several sections have: addresses, paths, numbers with a least value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field


def _http_url(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return value


def _base_path(value: str) -> str:
    path = value.strip().strip("/")
    segments = path.split("/")
    if path and not all(re.fullmatch(r"[A-Za-z0-9._~-]+", part) and set(part) != {"."} for part in segments):
        raise ValueError("must be a path of letters, digits and - . _ ~, such as /talk")
    return f"/{path}" if path else ""


def _home(path: Path) -> Path:
    return path.expanduser()


HttpUrl = Annotated[str, AfterValidator(_http_url)]
BasePath = Annotated[str, AfterValidator(_base_path)]
UserPath = Annotated[Path, AfterValidator(_home)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]

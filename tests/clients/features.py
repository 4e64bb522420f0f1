"""Runs what a client can do against a server, one feature after another, and prints a line of JSON for each.

Used by the `check_*.py` scripts, each in an environment that has its client and nothing of ours. So this file needs the
standard library alone. The server is at $SERVER_URL (with $SERVER_KEY), the model is $SERVER_MODEL.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

URL = os.environ.get("SERVER_URL", "http://127.0.0.1:8006").rstrip("/")
KEY = os.environ.get("SERVER_KEY") or "none"
MODEL = os.environ.get("SERVER_MODEL", "duologue-mini")
OLLAMA_URL = os.environ.get("OLLAMA_URL", "http://127.0.0.1:11434").rstrip("/")

Check = Callable[[], None]
_features: list[tuple[str, Check]] = []


def feature(name: str) -> Callable[[Check], Check]:
    """Names a feature; the function raises where it does not work."""

    def add(check: Check) -> Check:
        _features.append((name, check))
        return check

    return add


def events(lines: Iterable[str]) -> Iterator[Any]:
    """The JSON of a stream's events, up to `[DONE]` or its end."""
    for line in lines:
        if line.startswith("data:"):
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                return
            yield json.loads(data)


def run(client: str, version: str) -> None:
    """Run the features, or those named on the command line. Exits with 1 if one does not work."""
    named = sys.argv[1:]
    failed = False
    for name, check in _features:
        if named and name not in named:
            continue
        try:
            check()
            detail = ""
        except Exception as error:
            failed = True
            detail = f"{type(error).__name__}: {error}"[:300]
            print(traceback.format_exc(limit=-3), file=sys.stderr)
        print(
            json.dumps(
                {
                    "client": client,
                    "version": version,
                    "feature": name,
                    "works": not detail,
                    "detail": detail,
                }
            ),
            flush=True,
        )
    sys.exit(1 if failed else 0)

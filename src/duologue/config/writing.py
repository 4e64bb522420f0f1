"""Writing one setting into a settings file that a person keeps by hand.

The file's comments, order and spelling stay: one line is replaced or added. What cannot be done so safely is not
done, and the person is told the line instead.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from duologue.errors import StartFailed

MODEL_LINE = re.compile(r"^model[ \t]*:.*$", re.MULTILINE)


def write_model(file: Path, name: str) -> None:
    """Make `model: name` stand in `file`, which may not exist yet. Raises StartFailed that tells the line to write."""
    file = file.resolve()
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise _by_hand(file, name, f"cannot be read ({error})") from None
    fresh = with_model(text, name)
    if fresh is None:
        raise _by_hand(file, name, "is written in a way that cannot be changed safely here")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(file.name + ".new")
        beside.write_text(fresh, encoding="utf-8")
        if file.exists():
            beside.chmod(file.stat().st_mode & 0o777)
        os.replace(beside, file)
    except OSError as error:
        raise _by_hand(file, name, f"cannot be written ({error.strerror})") from None


def with_model(text: str, name: str) -> str | None:
    """The YAML `text` with `model` set to `name` and nothing else changed; None where that cannot be made sure."""
    before = _parsed(text)
    if before is None:
        return None
    line = model_line(name)
    lines = len(MODEL_LINE.findall(text))
    if lines > 1:
        return None
    if lines == 1:
        fresh = MODEL_LINE.sub(lambda _: line, text)
    else:
        end = "" if not text or text.endswith("\n") else "\n"
        fresh = f"{text}{end}{line}\n"
    after = _parsed(fresh)
    return fresh if after == before | {"model": name} else None


def model_line(name: str) -> str:
    """`model: name` as YAML reads it back."""
    plain = f"model: {name}"
    return plain if _parsed(plain) == {"model": name} else f"model: {json.dumps(name)}"


def _parsed(text: str) -> dict[str, Any] | None:
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if content is None:
        return {}
    return content if isinstance(content, dict) else None


def _by_hand(file: Path, name: str, why: str) -> StartFailed:
    return StartFailed(f"{file} {why}. Write this line into it yourself: {model_line(name)}", param="model")

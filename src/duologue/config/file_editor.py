"""Sets `model` in a settings file that people edit by hand. Called by `duologue setup`.

Replaces or adds one line; comments, order and formatting are preserved. If that cannot be done safely, the file is left
alone and the error contains the line to add.
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
    """Set `model: name` in `file`, creating it if needed. Raises StartFailed with the line to add by hand."""
    file = file.resolve()
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise _by_hand(file, name, f"cannot be read ({error})") from None
    updated = with_model(text, name)
    if updated is None:
        raise _by_hand(file, name, "cannot be changed automatically without risk")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Write a new file and rename it, so that a crash never leaves half a settings file.
        temporary = file.with_name(file.name + ".new")
        temporary.write_text(updated, encoding="utf-8")
        if file.exists():
            temporary.chmod(file.stat().st_mode & 0o777)
        os.replace(temporary, file)
    except OSError as error:
        raise _by_hand(file, name, f"cannot be written ({error.strerror})") from None


def with_model(text: str, name: str) -> str | None:
    """The YAML `text` with `model` set to `name` and nothing else changed; None if that cannot be guaranteed."""
    before = _parse(text)
    if before is None:
        return None
    line = model_line(name)
    lines = len(MODEL_LINE.findall(text))
    if lines > 1:
        return None
    if lines == 1:
        updated = MODEL_LINE.sub(lambda _: line, text)
    else:
        end = "" if not text or text.endswith("\n") else "\n"
        updated = f"{text}{end}{line}\n"
    # A match inside a block scalar or a nested table would change something else: compare the parsed results.
    after = _parse(updated)
    return updated if after == before | {"model": name} else None


def model_line(name: str) -> str:
    """The line `model: name`, quoted only if YAML would otherwise read it as something else."""
    plain = f"model: {name}"
    return plain if _parse(plain) == {"model": name} else f"model: {json.dumps(name)}"


def _parse(text: str) -> dict[str, Any] | None:
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if content is None:
        return {}
    return content if isinstance(content, dict) else None


def _by_hand(file: Path, name: str, why: str) -> StartFailed:
    return StartFailed(f"{file} {why}. Add this line to it yourself: {model_line(name)}", param="model")

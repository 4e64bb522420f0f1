"""Chat templates that admins chose, the same at all gateways of a database: a joined worker has one template, whichever gateway asks it.

Owns what is chosen, by model, with the text: each gateway has a folder of its own to choose from. A model that a gateway has no ready worker of is looked at again
with the next look. A choice holds until it is taken back, also over restarts. On a database in a file nothing is stored, and a choice ends with the process.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from duologue.errors import Problem, Unavailable
from duologue.gateway.cluster.shared_setting import SharedSetting
from duologue.gateway.scheduling.pool import Pool
from duologue.threads import disk_io

log = logging.getLogger(__name__)

MOST = 100
"""Models whose choice is kept; the oldest is forgotten."""
FOLDER = ".chosen"
"""Within the folder of the templates: the texts that are in use, which the workers' settings name."""


class ChosenTemplate(Struct, frozen=True):
    """The name of the file that was chosen, and its text."""

    name: str
    source: str


class SharedTemplates:
    """`folder`: that of the templates."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self._pool, self._folder = pool, folder
        self.setting = SharedSetting("chat_templates")
        self._refused: dict[str, ChosenTemplate] = {}
        """The choices that a model's workers refused, by model, so that they are not asked again each time."""
        self._used: set[str] = set()
        """The models that use a stored choice here."""

    async def choose(self, model: str, chosen: ChosenTemplate | None, path: Path | None = None) -> None:
        """Have all workers of a model use this template, which is in the file `path`; None: each its own. Raises as `Pool.use_template`, and Unavailable where
        the choice cannot be stored; it is undone soon then."""
        if not self.setting.is_stored:
            await self._pool.use_template(model, str(path or ""), chosen.source if chosen else "")
            return
        await self._apply(model, chosen)
        stored = msgspec.to_builtins(chosen)

        def change(old: dict[str, Any]) -> dict[str, Any]:
            others = {name: value for name, value in old.items() if name != model}
            kept = list(others.items())[-(MOST - 1) :]
            return dict(kept) | ({model: stored} if chosen else {})

        await self.setting.change(change)

    async def reload(self) -> None:
        """Use what is stored: another gateway may have changed it. Raises Unavailable."""
        read = await self.setting.read()
        if read is None:
            return
        stored = _choices(read)
        for model in [*stored, *(self._used - stored.keys())]:
            await self._use_stored(model, stored.get(model))

    async def _use_stored(self, model: str, chosen: ChosenTemplate | None) -> None:
        served = self._pool.served().find(model)
        wanted = str(self._path(chosen)) if chosen else ""
        if served is None or self._pool.tuning.template(served.queue) == wanted:
            return
        if chosen is not None and self._refused.get(model) == chosen:
            return
        try:
            await self._apply(model, chosen)
        except Unavailable as problem:
            log.info("the template of %s is chosen later: %s", model, problem.message)
        except Problem as problem:
            log.warning(
                "the template of %s that was chosen elsewhere is not used: %s", model, problem.message
            )
            if chosen is not None:
                self._refused[model] = chosen

    async def _apply(self, model: str, chosen: ChosenTemplate | None) -> None:
        path = ""
        if chosen is not None:
            path = str(await disk_io(self._write, chosen))
        await self._pool.use_template(model, path, chosen.source if chosen else "")
        self._refused.pop(model, None)
        (self._used.add if chosen else self._used.discard)(model)

    def _path(self, chosen: ChosenTemplate) -> Path:
        """The name in it is for people; the digest keeps two texts of one name apart."""
        digest = hashlib.sha256(chosen.source.encode()).hexdigest()[:32]
        return self._folder / FOLDER / digest / f"{Path(chosen.name).name or 'template'}.jinja"

    def _write(self, chosen: ChosenTemplate) -> Path:
        path = self._path(chosen)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(chosen.source, "utf-8")
        return path


def _choices(stored: Mapping[str, Any]) -> dict[str, ChosenTemplate]:
    """The choices of a stored object; those of another version are left out."""
    found = {}
    for model, value in stored.items():
        try:
            found[model] = msgspec.convert(value, ChosenTemplate)
        except msgspec.ValidationError:
            log.warning("the stored template of %s cannot be read", model)
    return found

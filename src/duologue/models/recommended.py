"""Models worth downloading: well-known open-weight instruct models as GGUF files, read from `recommended.toml`.

Used by `catalogue`, `reference`, `duologue setup` and the models page. Sizes are approximate (a repository may replace its
files); a download uses the hub's current list. Licences are those of the models.
"""

from __future__ import annotations

from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

MILLION, BILLION = 10**6, 10**9
TOOLS, THINKING, CODE, VISION, SOUND = "tools", "thinking", "code", "vision", "sound"
READ_TOOL_FORMATS = frozenset({"gemma4", "harmony", "hermes", "mistral", "qwen3_coder"})
"""Of the tool-call formats named in `recommended.toml`, those that Duologue reads. They are the names of `text/toolcalls`, which
this room may not import; `tests/models/test_recommended.py` compares the two."""


Trait = Literal[
    "smallest",
    "small",
    "light",
    "simple_tasks",
    "recent",
    "everyday",
    "solid",
    "follows_instructions",
    "strong_for_its_size",
    "quick_for_its_size",
    "pace_of_small",
    "all_rounder",
    "many_languages",
    "writes_well",
    "careful",
    "thorough",
    "reasoning",
    "code",
    "like_larger",
    "much_knowledge",
    "very_capable",
    "long_memory",
    "large_cards",
    "much_memory",
]
"""What a model is good for or needs, in codes: the page tells them in its languages."""


class ModelLanguages(Struct, frozen=True, forbid_unknown_fields=True):
    """How many languages a model knows by its makers' words, or `more`; `named`: those they name (BCP 47), where they name the main ones."""

    count: int
    more: bool = False
    named: tuple[str, ...] = ()


class Recommended(Struct, frozen=True, forbid_unknown_fields=True):
    """A model that can be downloaded by its short `name`; `title` is that name as people write it.

    `file` is its name in the repository (the first part of a split one), `size` about how many bytes it has (all parts),
    `sha256` its digest where one is published. `projector` and `projector_size`: the file through which it sees or hears, and its bytes, as in the
    repository when this was written; a download takes what the repository has then. `active` is how many of the parameters one token uses, where these are not
    all. `released`: year and month. `description` says in English what `traits` say in codes. `tools` is the format of its tool calls. `thinking`: whether it thinks in `<think>`.
    `vision` and `sound`: whether it sees and hears, through a projector from its repository. `first_choice`: whether it
    may be proposed, which takes a free licence, thinking, and tool calls in a format that is read. `sources`: where the
    figures come from.
    """

    name: str
    title: str
    repository: str
    file: str
    size: int
    parameters: int
    licence: str
    context: int
    released: str
    description: str
    traits: tuple[Trait, ...]
    sources: dict[str, str]
    sha256: str = ""
    projector: str = ""
    projector_size: int = 0
    active: int = 0
    languages: ModelLanguages | None = None
    tools: str = ""
    thinking: bool = False
    code: bool = False
    vision: bool = False
    sound: bool = False
    first_choice: bool = False

    @property
    def download_size(self) -> int:
        """Bytes of all that is downloaded: the weights and the projector."""
        return self.size + self.projector_size

    @property
    def active_parameters(self) -> int:
        return self.active or self.parameters

    @property
    def abilities(self) -> tuple[str, ...]:
        """What it can do here."""
        able = (
            (TOOLS, self.tools in READ_TOOL_FORMATS),
            (THINKING, self.thinking),
            (CODE, self.code),
            (VISION, self.vision),
            (SOUND, self.sound),
        )
        return tuple(name for name, can in able if can)


class _Catalogue(Struct):
    models: tuple[Recommended, ...]


def _read() -> tuple[Recommended, ...]:
    text = resources.files("duologue.models").joinpath("recommended.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Catalogue).models


RECOMMENDED: tuple[Recommended, ...] = _read()
"""By size. The choice is by `fit.recommend`, not by this order."""
BY_FILE = {model.file.rpartition("/")[2]: model for model in RECOMMENDED}
"""The models by the name of their file, which is also that of the downloaded file."""
TITLES = {model.name: model.title for model in RECOMMENDED}

"""Which of several models a client means, when it writes a name as other servers do.

Pure. Ollama's clients say `qwen3:4b`, `qwen3-4b:latest`, `llama3.2:3b-instruct-q8_0` or `hf.co/OWNER/REPOSITORY:Q4_K_M`; files are called
`Qwen3-4B-Q4_K_M.gguf`. Names are compared word by word; what a model's own name may have besides is how it was tuned to follow
instructions, its quantisation, and its size where only one model fits. `gateway/models` asks here, for models that are loaded and for those on
the disk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

SUFFIX = ".gguf"
LATEST = ":latest"
HUBS = ("https://", "http://", "hf.co/", "huggingface.co/")
WORD = re.compile(r"\d+(?:\.\d+)*[a-z]*|[a-z]+|[^\W\d_a-z]+")
TUNED = r"instruct|it|chat|gguf|ud|qat|imatrix|i1"
QUANTISATION = r"(?:i?q|tq|b?f|fp|mxfp|nvfp)-\d+(?:-(?:k|s|m|l|p|xs|xxs|xl|nl|[01]))*"
ACTIVE = r"a-\d+(?:\.\d+)?b"
SIZE = r"(?:\d+x-)?\d+(?:\.\d+)?[bm]"
FURTHER = re.compile(rf"(?:-(?:{TUNED}|{QUANTISATION}|{ACTIVE}))*")
FURTHER_WITH_SIZE = re.compile(rf"(?:-(?:{TUNED}|{QUANTISATION}|{ACTIVE}|{SIZE}))*")
PREFERRED = "-q-4-k-m"
"""The quantisation that is taken where a name says none and there are several: that of Ollama's library."""
LONGEST = 300


class KnownName(Struct, frozen=True):
    """A model, and the further names that mean it, such as that of its file."""

    name: str
    further: tuple[str, ...] = ()


def find_similar(name: str, known: Sequence[KnownName]) -> str:
    """The name of the model that `name` means; "" if it means none. Of several that fit equally well it is the first."""
    if not name.strip() or len(name) > LONGEST:
        return ""
    plain, words = _plain(name), _words(name)
    best: tuple[int, int, int] | None = None
    found: list[str] = [""]
    by_size: set[str] = set()
    for place, one in enumerate(known):
        for further in (one.name, *one.further):
            rank = _rank(plain, words, further)
            if rank is None:
                continue
            if rank == SIZED:
                by_size.add(_size_of(words, further))
            score = (rank, PREFERRED not in _words(further), place)
            if best is None or score < best:
                best, found = score, [one.name]
    if best is not None and best[0] == SIZED and len(by_size) > 1:
        return ""  # which size is meant, nobody knows
    return found[0]


SIZED = 3


def _rank(plain: str, words: str, known: str) -> int | None:
    """How well a known name fits, 0 best; None if it does not."""
    if plain == _plain(known):
        return 0
    own = _words(known)
    if not words or not own.startswith(words):
        return None
    rest = own[len(words) :]
    if not rest:
        return 1
    if FURTHER.fullmatch(rest):
        return 2
    return SIZED if FURTHER_WITH_SIZE.fullmatch(rest) else None


def _size_of(words: str, known: str) -> str:
    return "".join(re.findall(rf"(?<=-){SIZE}(?=-|$)", _words(known)[len(words) :]))


def _plain(name: str) -> str:
    """The name in lower case, without a suffix of files, and without `:latest`."""
    return name.strip().lower().removesuffix(LATEST).removesuffix(SUFFIX)


@lru_cache(4096)
def _words(name: str) -> str:
    """The words of a name, each after a hyphen; of a reference to a hub those of the repository and what is after the colon."""
    plain = _plain(name)
    for hub in HUBS:
        plain = plain.removeprefix(hub)
    path, _, tag = plain.rpartition("/")[2].partition(":")
    if tag.endswith(SUFFIX):
        path, tag = tag, ""  # OWNER/REPOSITORY:FILE.gguf
    base = path.removesuffix(SUFFIX).removesuffix("-gguf")
    if tag.startswith(base):
        base = ""  # OWNER/REPOSITORY:FILE, without its suffix
    return "".join(f"-{word}" for word in WORD.findall(f"{base} {tag}"))

"""Which part of a request an upstream refused, by its own words, and what to do about it.

Used by `engine`. Pure. Servers have no code for this: each says in a sentence of its own that a model does not see or hear.
"""

from __future__ import annotations

import re

from duologue.errors import Problem, Unsupported
from duologue.values.messages import MODALITY
from duologue.values.requests import ChatRequest

NOUNS = {"image": "a picture", "audio": "sound", "video": "a video"}
_WORDS = {
    "image": re.compile(r"image|picture|vision|visual|mmproj", re.IGNORECASE),
    "audio": re.compile(r"audio|sound|speech", re.IGNORECASE),
    "video": re.compile(r"video", re.IGNORECASE),
}
_ANY = re.compile(
    r"multi-?modal|content (type|part)|content must be a string|expected (a )?`?(str|text)|unknown variant|valid string",
    re.IGNORECASE,
)
"""What servers say that take nothing but text."""


def refused_part(problem: Problem, request: ChatRequest) -> Problem:
    """The same problem, or one that names the part where the upstream's words speak of pictures, sound or video and the request
    has such a part."""
    if problem.code not in ("upstream_refused", "upstream_failed") or problem.status == 503:
        return problem
    for kind, where in _media(request).items():
        if _WORDS[kind].search(problem.message) or _ANY.search(problem.message):
            noun = NOUNS[kind]
            return Unsupported(
                f"{where} is {noun}, which the upstream did not take. Leave it out, or choose a model that takes {_plural(noun)}. "
                f"{problem.message}",
                code="modality_unsupported",
                param=where,
            )
    return problem


def _plural(noun: str) -> str:
    return noun if noun == "sound" else f"{noun.removeprefix('a ')}s"


def _media(request: ChatRequest) -> dict[str, str]:
    """The kinds of parts besides text, each with the path of its last one: earlier ones were taken before."""
    return {
        kind: f"messages[{number}].content[{index}]"
        for number, message in enumerate(request.messages)
        for index, part in enumerate(message.parts)
        if (kind := MODALITY[type(part)]) != "text"
    }

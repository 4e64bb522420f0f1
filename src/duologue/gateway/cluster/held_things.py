"""Which requests only one gateway can answer, by their paths. Pure; `forwarding` asks for every request when several gateways share a database.

There are four ways to find the owner. An id that a gateway makes begins with a mark of that gateway (`mark_of`). What clients name themselves is claimed in the
database (`store/cluster/claim_rows`): its name, never its contents. Anything else in memory is looked for here first, and then at
the others one after another. A list of which each gateway has a part is gathered from all. `docs/gateways.md` lists all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from duologue.errors import NotFound, Problem, Unavailable

MARK = 8
"""Characters of the mark."""
TEMPORARY, BATCH = "conversation:", "batch:"
"""How the claims of temporary conversations and of batches that run begin."""

How = Literal["mark", "claim", "ask", "gather"]


class HeldThing(NamedTuple):
    """`how` its owner is found, by `name`: a mark, or the name of a claim; "" where all are asked. `gather`: each gateway has a
    part of the list of that name. `missing`: the statuses by which a gateway says that it does not have it."""

    how: How
    name: str = ""
    missing: tuple[int, ...] = (404,)


def mark_of(gateway: str) -> str:
    """The mark of a gateway, by its id."""
    return gateway[:MARK]


_ID = r"(?P<mark>[0-9a-f]{8})[0-9a-f]+"
_MARKED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(HEAD|PATCH|DELETE) /api/uploads/{_ID}",
        r"(GET|DELETE) /api/queue/q_v?(?P<mark>[0-9a-f]{8})_[0-9a-f]+",
        rf"[A-Z]+ /api/avatars/[^/]+/clips/{_ID}(/(events|file))?",
        rf"(GET|DELETE) /v1/responses/resp_{_ID}",
        rf"POST /v1/responses/resp_{_ID}/cancel",
    )
)
_CLAIMED = (
    (TEMPORARY, re.compile(r"[A-Z]+ /api/conversations/(?!bulk$)(?P<id>[^/]{1,200})(/.*)?")),
    (BATCH, re.compile(r"POST /v1/batches/(?P<id>[^/]{1,200})/cancel")),
)
_ASKED: Mapping[re.Pattern[str], tuple[int, ...]] = {
    re.compile(r"[A-Z]+ /api/runs/[^/]+(/(events|stop|steer))?"): (404,),
    re.compile(r"POST /api/approvals/[^/]+"): (404,),
    re.compile(r"POST /v1/chat/completions/control"): (404,),
    re.compile(r"GET /api/mcp/oauth/callback"): (400, 404),
}

_GATHERED = {"GET /api/approvals": "approvals"}


def held_thing(method: str, path: str) -> HeldThing | None:
    """What a request is about, where one gateway alone may be able to answer it."""
    if not path.startswith(("/api/", "/v1/")):
        return None
    line = f"{method} {path}"
    if line in _GATHERED:
        return HeldThing("gather", _GATHERED[line])
    for pattern in _MARKED:
        if (match := pattern.fullmatch(line)) is not None:
            return HeldThing("mark", match["mark"])
    for prefix, pattern in _CLAIMED:
        if (match := pattern.fullmatch(line)) is not None:
            return HeldThing("claim", prefix + match["id"])
    missing = next((missing for pattern, missing in _ASKED.items() if pattern.fullmatch(line)), None)
    return None if missing is None else HeldThing("ask", missing=missing)


def owner_gone() -> Problem:
    """The owner of something that was in its memory alone has died."""
    return NotFound(
        "This was in the memory of a server that has stopped, and is lost. Temporary chats are kept nowhere else; start a new one.",
        code="gateway_gone",
        status=410,
    )


def owner_unreachable() -> Problem:
    """The owner is alive but cannot be reached."""
    return Unavailable(
        "Another server of this installation has this and cannot be reached. Try again in a moment; if it keeps happening, an admin should check "
        "cluster.address of each server.",
        code="gateway_unreachable",
        retry_after=5,
    )

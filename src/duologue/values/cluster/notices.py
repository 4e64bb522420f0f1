"""The notices that gateways over one database send each other.

A notice is a hint, never the only copy of anything: it may get lost while a connection is broken, and its readers look into the database
again then. New kinds are added to `Notice`; a gateway of another version ignores those it does not know.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.runs import ListEvent


class RunWatched(Struct, frozen=True, tag="run_watched"):
    """Somebody follows this run at another gateway: its owner saves it more often, and says so each time."""

    run: str


class RunSaved(Struct, frozen=True, tag="run_saved"):
    """More of this run is stored, up to the event `last`; or its end."""

    run: str
    last: int = 0
    ended: bool = False


class RunStopped(Struct, frozen=True, tag="run_stopped"):
    """Its user has stopped this run."""

    run: str


class RunSteered(Struct, frozen=True, tag="run_steered"):
    """A message is stored that steers this run."""

    run: str


class ApprovalGiven(Struct, frozen=True, tag="approval_given"):
    """The answer to a question of this run is stored."""

    run: str
    approval: str


class ListNews(Struct, frozen=True, tag="list_news"):
    """A change of a user's list of conversations."""

    user: str
    event: ListEvent


CachedRows = Literal[
    "modes", "tool_servers", "connected_servers", "default_model", "drained_workers", "chat_templates"
]
"""What gateways keep in memory and read again when another one has changed it."""


class CacheChanged(Struct, frozen=True, tag="cache_changed"):
    """Rows that gateways keep in memory have changed: one of `CachedRows`, or what only a newer gateway keeps."""

    rows: str


class GatewaysChanged(Struct, frozen=True, tag="gateways_changed"):
    """This gateway has started or is stopping: read the list of gateways."""


class LimitWanted(Struct, frozen=True, tag="limit_wanted"):
    """A request of this key waits for what other gateways hold of its limits."""

    key: str


class SlotsServed(Struct, frozen=True, tag="slots_served"):
    """What keys were charged at this gateway since its last notice: slot-seconds of a model of a `pool`, in the class at `place` of its queue."""

    pool: str
    model: str
    place: int
    seconds: dict[str, float]


class WrongKey(Struct, frozen=True, tag="wrong_key"):
    """A wrong key came to this gateway: from a group of addresses; digests of the key and of its beginning, in hex."""

    group: str
    key: str
    prefix: str


class NoticesLost(Struct, frozen=True, tag="notices_lost"):
    """Notices of this gateway got lost: look again at everything that they may have been about."""


Notice = (
    RunWatched
    | RunSaved
    | RunStopped
    | RunSteered
    | ApprovalGiven
    | ListNews
    | CacheChanged
    | GatewaysChanged
    | LimitWanted
    | SlotsServed
    | WrongKey
    | NoticesLost
)

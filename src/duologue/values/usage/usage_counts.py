"""What was used: counts by key, model, kind of work and day. The gateway adds them up, the store keeps them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

DAY_S = 24 * 3600


class UsageSlot(Struct, frozen=True):
    """What counts together. `day` is UTC, `2026-11-27`; `key` the id of a key, or `user:ID` for work without one; `user` an id, `name` the
    user's name; `prefix` the beginning of the key, "" without one; `kind` one of the kinds of work, such as chat."""

    day: str
    key: str
    user: str
    name: str
    prefix: str
    model: str
    kind: str


class UsageCounts(Struct, frozen=True):
    """Requests that were admitted, those of them that failed, tokens, and milliseconds of sound that were heard and spoken. `cached` of
    `prompt` came from the prompt cache."""

    requests: int = 0
    errors: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    heard_ms: int = 0
    spoken_ms: int = 0

    def plus(self, other: UsageCounts) -> UsageCounts:
        return UsageCounts(
            self.requests + other.requests,
            self.errors + other.errors,
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
            self.heard_ms + other.heard_ms,
            self.spoken_ms + other.spoken_ms,
        )

    @property
    def limited_tokens(self) -> int:
        """The tokens that limits count."""
        return max(0, self.prompt - self.cached) + self.completion


class UsageRow(Struct, frozen=True):
    """The counts of one slot."""

    slot: UsageSlot
    counts: UsageCounts


def day_of(unix: float) -> str:
    """The day (UTC) of a time in seconds since 1970."""
    return datetime.fromtimestamp(unix, UTC).date().isoformat()


def days_before(day: str, days: int) -> str:
    """The day so many days earlier."""
    return (date.fromisoformat(day) - timedelta(days=days)).isoformat()

"""Which workers may join, and what they may claim. Pure: `JoinService` asks before it accepts anything.

A worker of another machine is somebody else's program: it is let in by its key, and what it sends is checked here. Names become parts of
addresses, log lines and labels, and numbers become memory.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from duologue.values.requests import ModelCard
from duologue.wire.machines.join_protocol import OLDEST_PROTOCOL, Join, MachineDevice, Refuse, agreed
from duologue.wire.worker_protocol import PROTOCOL, Report, encode

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SESSION = re.compile(r"[A-Za-z0-9_-]{16,128}")
ENGINE = re.compile(r"[a-z][a-z0-9_]{0,39}")
MODEL_LENGTH = 200
DEVICES = 64
TEXT = 200
"""Characters of a description that are kept."""
DETAIL = 2000
MOST_SLOTS = 1024
"""Slots that one worker may have."""
MOST_REPORTED = 1024 * 1024
"""Bytes of a report. A card is kept, and is in every answer of `/status` and `/v1/models`."""


def refused(join: Join, *, newest: int = PROTOCOL, oldest: int = OLDEST_PROTOCOL) -> Refuse | None:
    """Why a worker is refused, by what it says of itself; None if it is let in."""
    for name in (join.machine, join.worker):
        if not NAME.fullmatch(name):
            return Refuse(
                "join_name",
                f"{name[:64]!r} is not a valid name for a machine or worker: a name has 1 to 64 letters, digits, dots, dashes and underscores. "
                "Choose another one with --machine or --name.",
            )
    if not SESSION.fullmatch(join.session) or not ENGINE.fullmatch(join.engine) or not is_name(join.model):
        return Refuse("join_name", "The session, engine or model of this worker has no valid name.")
    if agreed(join.oldest, join.newest, oldest, newest) is not None:
        return None
    older = join.newest < oldest
    return Refuse(
        "worker_too_old" if older else "worker_too_new",
        f"This worker speaks versions {join.oldest} to {join.newest} of the protocol, and the server {oldest} to {newest}. "
        + (
            "Upgrade Duologue on the worker's machine."
            if older
            else "Upgrade the server, or use the worker's release before."
        ),
        # A server that is upgraded meanwhile lets it in.
        None if older else 60.0,
    )


def is_name(model: str) -> bool:
    """Whether this can be the name of a model in requests; "" is the engine's own name for it."""
    # Queues of connected servers are named so.
    return (
        len(model) <= MODEL_LENGTH
        and model.isprintable()
        and model == model.strip()
        and not model.startswith("server ")
    )


def told_devices(join: Join) -> tuple[MachineDevice, ...]:
    """The devices of the machine, as they are shown."""
    return tuple(
        MachineDevice(
            printable(device.name, 40),
            printable(device.description, TEXT),
            max(0, min(device.memory, 2**53)),
            max(0, min(device.free, 2**53)),
        )
        for device in join.devices[:DEVICES]
    )


def printable(text: str, most: int) -> str:
    """An untrusted text as one line."""
    return "".join(character if character.isprintable() else " " for character in text[:most])


def checked_report(report: Report) -> Report:
    """What a worker reports, in bounds. Raises ValueError for what no worker of ours reports."""
    card = report.card
    if card is not None:
        _check_card(card)
        card = replace(card, device=printable(card.device, TEXT))
    if (size := len(encode([report]))) > MOST_REPORTED:
        raise ValueError(f"a report of {size} bytes")
    progress = report.progress
    return replace(
        report,
        card=card,
        detail=printable(report.detail, DETAIL),
        code=printable(report.code, 64),
        progress=None if progress is None or not 0 <= progress <= 1 else progress,
    )


def _check_card(card: ModelCard) -> None:
    if not 0 < card.slots <= MOST_SLOTS:
        raise ValueError(f"a worker of {card.slots} slots")
    if not is_name(card.name):
        raise ValueError("a model without a name")


class Allowance:
    """How often something may happen: `burst` times at once, and `rate` times a second."""

    def __init__(self, burst: float, rate: float) -> None:
        self._burst, self._rate = burst, rate
        self._left, self._at = burst, float("-inf")

    def may(self, at: float) -> bool:
        """Whether it may happen now; it is counted if so."""
        if at > self._at:
            self._left = min(self._burst, self._left + (at - self._at) * self._rate)
            self._at = at
        if self._left < 1:
            return False
        self._left -= 1
        return True

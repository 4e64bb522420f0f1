"""Puts together what places workers over a Ray cluster: `pool: ray`. Called by `app`."""

from __future__ import annotations

import hashlib
import ssl
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Protocol

import anyio
import anyio.abc
from fastapi import APIRouter

from duologue.config import Settings
from duologue.errors import Problem, StartFailed
from duologue.gateway import tls
from duologue.gateway.auth.keys import Keys
from duologue.gateway.life.service import LifeService
from duologue.gateway.machines import node_routes
from duologue.gateway.machines.join_service import JoinService
from duologue.gateway.machines.place_environment import join_address
from duologue.gateway.machines.ray_places import RayPlaces

MISSING = (
    "The setting pool is ray, but Ray is not installed. Install it with `pip install 'duologue[ray]'`, or set pool to local "
    "(DUOLOGUE_POOL=local)."
)


def ray_places(settings: Settings) -> RayPlaces:
    """The places on the cluster of the settings; there are none where workers run on this machine. Raises StartFailed."""
    if settings.pool == "ray":
        if find_spec("ray") is None:
            raise StartFailed(MISSING, param="pool")
        join_address(settings)
    return RayPlaces(settings, clock=time.monotonic, fingerprint=lambda: _fingerprint(settings))


class MachineServices(Protocol):
    """What runs for workers on other machines."""

    joins: JoinService
    places: RayPlaces


async def run_machines(
    services: MachineServices, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Let workers join, and keep those placed that a cluster is to run, until cancelled."""
    async with anyio.create_task_group() as tasks:
        await tasks.start(services.joins.run)
        await tasks.start(services.places.run)
        task_status.started()


def placement_routers(
    places: RayPlaces, life: LifeService, keys: Keys, joins: JoinService
) -> tuple[APIRouter, ...]:
    """Lets placed workers join, and has a drained node lose its workers by a rolling restart; the routes about nodes."""
    if places.enabled:
        keys.place_of, joins.placed = places.place_of, places.kept
        places.move, life.has_room = _mover(life), places.has_room
    return (node_routes.router(places, life.grace),)


def _mover(life: LifeService) -> Callable[[Sequence[str]], bool]:
    def move(workers: Sequence[str]) -> bool:
        if life.restart.progress.running:
            return False
        try:
            life.restart.start(list(workers))
        except Problem:
            return False
        return True

    return move


def _fingerprint(settings: Settings) -> str:
    """SHA-256 of this server's authority, or of the certificate that it was given; "" without TLS. Reads files."""
    if not settings.tls.is_on:
        return ""
    pem = tls.authority_certificate(settings) or tls.tls_files(settings)[0].read_bytes()
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    text = pem.decode("ascii")
    first = text[text.index(begin) : text.index(end) + len(end)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()

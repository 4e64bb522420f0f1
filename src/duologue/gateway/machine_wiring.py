"""Puts together what belongs to workers on other machines: joining, the audit log, places on a cluster, and the routes. Called by `app`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from fastapi import APIRouter

from duologue.config import Settings
from duologue.gateway import tls
from duologue.gateway.accounts import Accounts
from duologue.gateway.audit.audit_log import Actor
from duologue.gateway.auth.background_work import BackgroundWork
from duologue.gateway.auth.keys import User
from duologue.gateway.cluster.membership import Membership
from duologue.gateway.life.service import LifeService
from duologue.gateway.machines import join_socket, machine_routes, offer_routes
from duologue.gateway.machines.join_service import JoinService
from duologue.gateway.machines.model_offers import ModelOffers
from duologue.gateway.machines.ray_places import RayPlaces
from duologue.gateway.placement_wiring import placement_routers
from duologue.gateway.placement_wiring import ray_places as ray_places
from duologue.gateway.placement_wiring import run_machines as run_machines
from duologue.gateway.scheduling.pool import Pool


class JoinParts(Protocol):
    """The parts of the program that this connects."""

    settings: Settings
    accounts: Accounts
    background_work: BackgroundWork
    pool: Pool
    voice: Pool | None
    membership: Membership


class MachineParts(JoinParts, Protocol):
    """The same parts, with what was made from them."""

    life: LifeService
    joins: JoinService
    places: RayPlaces


def join_service(parts: JoinParts) -> JoinService:
    """Lets workers on other machines join the pools."""
    settings, audit = parts.settings, parts.accounts.audit

    async def record(act: str, target: str, user: User, details: Mapping[str, Any]) -> None:
        await audit.record(Actor(user.name, user.id, user.key), act, target, details=details)

    service = JoinService(
        settings,
        parts.pool,
        parts.voice,
        parts.background_work.watched,
        record,
        gateway=parts.membership.id,
        addresses=lambda: addresses_of(parts.membership, settings.machines.address),
    )
    service.addresses_changed = parts.membership.changed
    return service


def addresses_of(membership: Membership, own: str) -> tuple[str, ...]:
    """Where workers reach the living gateways. `own`: the address of this one for workers, where it is not the one for gateways."""
    addresses = (
        own or entry.address if entry.id == membership.id else entry.address for entry in membership.living
    )
    return tuple(address for address in addresses if address)


def machine_routers(parts: MachineParts, joins: JoinService) -> tuple[APIRouter, ...]:
    """The sockets of joined workers, and what admins see of their machines."""
    pools = [pool for pool in (parts.pool, parts.voice) if pool is not None]
    settings = parts.settings.machines
    return (
        join_socket.router(joins),
        offer_routes.router(joins, ModelOffers(parts.pool, parts.settings.data / "models")),
        machine_routes.router(
            joins,
            pools,
            join=settings.join,
            lease_s=settings.lease_s,
            address=settings.address or parts.settings.cluster.address,
            fingerprint=partial(tls.pinned_fingerprint, parts.settings),
        ),
        *placement_routers(parts.places, parts.life, parts.accounts.keys, joins),
    )

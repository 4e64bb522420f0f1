"""The environment of a placed worker: where this gateway is, the key of the place, what to load.

The variables are those of `worker/joined/join_spec.py`. `RayPlaces` puts them into each order.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from duologue.config import Settings
from duologue.errors import StartFailed
from duologue.gateway.workers.process import tracing_variables
from duologue.wire.worker_protocol import LoadSpec

RETRY_S = "2"
"""Seconds that a worker stays which could not load its model, to say why."""
EVERYWHERE = ("", "0.0.0.0", "::")
NO_ADDRESS = (
    "The Ray cluster is not on this machine, and its workers need an address of this server. Set machines.address "
    "(DUOLOGUE_MACHINES__ADDRESS) to one that they reach, such as https://10.0.0.4:8006."
)


def join_address(settings: Settings) -> str:
    """Where placed workers reach this server. Raises StartFailed if there are several machines and no setting says it."""
    if settings.machines.address:
        return settings.machines.address
    host = "127.0.0.1" if settings.host in EVERYWHERE else settings.host
    if settings.ray.address and _is_loopback(host) and not _is_loopback(_host_of(settings.ray.address)):
        raise StartFailed(NO_ADDRESS, param="machines.address")
    scheme = "https" if settings.tls.is_on else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}{settings.base_path}"


def place_environment(settings: Settings, spec: LoadSpec, key: str, fingerprint: str = "") -> dict[str, str]:
    """The variables of the worker that loads `spec`. `fingerprint`: of what this server shows, where it speaks TLS itself."""
    told = {
        "DUOLOGUE_JOIN_URL": join_address(settings),
        "DUOLOGUE_JOIN_KEY": key,
        "DUOLOGUE_JOIN_PLACED": spec.worker,
        "DUOLOGUE_JOIN_RETRY_S": RETRY_S,
        "DUOLOGUE_WORKER_LOAD_SPEC": msgspec.json.encode(spec).decode(),
        "DUOLOGUE_WORKER_LOG": f"{settings.log.level}:{settings.log.format}",
    }
    if fingerprint:
        told["DUOLOGUE_JOIN_FINGERPRINT"] = fingerprint
    elif settings.insecure_http:
        told["DUOLOGUE_JOIN_INSECURE_HTTP"] = "1"
    return told | tracing_variables(spec.worker)


def _host_of(address: str) -> str:
    return urlsplit(f"//{address.removeprefix('ray://')}").hostname or ""


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host.startswith("127.") or host == "::1"

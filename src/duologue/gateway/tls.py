"""HTTPS: the operator's certificate, or one signed by this server's own authority (`local_ca`).

Owns the choice of files, `/ca.crt`, the renewal while the server runs, and the list of names and addresses that a certificate needs.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
import ssl
import struct
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import anyio
from fastapi import APIRouter, Response

from duologue.config import Settings
from duologue.config.settings import Tls
from duologue.errors import NotFound, StartFailed
from duologue.gateway.local_ca import CA_FILE, Address, ServerNames, ensure_certificate, read_pair
from duologue.gateway.middleware import host_check
from duologue.threads import disk_io
from duologue.wire.machines.fingerprint import fingerprint

log = logging.getLogger(__name__)

CA_PATH = "/ca.crt"
CHECK_SECONDS = 60
"""How often a running server checks its certificate."""
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""For TLS 1.2; those of TLS 1.3 are fixed. uvicorn's default, "TLSv1", excludes all of these."""
SIOCGIFADDR = 0x8915
CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def is_on(tls: Tls) -> bool:
    """Whether the server uses HTTPS."""
    return tls.is_on


def tls_files(settings: Settings) -> tuple[Path, Path]:
    """The certificate chain and its private key, as files: the operator's, or data/tls/server.pem (both in one).

    Creates or renews what is missing, expires soon or lacks an address of this machine. Blocks for some milliseconds.
    Raises StartFailed for files that cannot be used.
    """
    if settings.tls.certificate is not None or settings.tls.private_key is not None:
        return _own_files(settings.tls)
    folder = settings.data / "tls"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = ensure_certificate(folder, server_names(settings), datetime.fromtimestamp(time.time(), UTC))
    except OSError as error:
        raise StartFailed(
            f"The certificate cannot be written to {folder}: {error.strerror}. Set DUOLOGUE_DATA (or --data) to a "
            "folder that you own.",
            param="tls.enabled",
        ) from error
    return file, file


def authority_certificate(settings: Settings) -> bytes | None:
    """The authority's certificate as PEM, for devices to trust; None with the operator's certificate or without TLS."""
    own = settings.tls.certificate is not None or settings.tls.private_key is not None
    return None if own or not settings.tls.enabled else _authority_in(settings.data)


def _authority_in(data: Path) -> bytes | None:
    if (pair := read_pair(data / "tls" / CA_FILE)) is None:
        return None
    from cryptography.hazmat.primitives.serialization import Encoding

    return pair.certificate.public_bytes(Encoding.PEM)


def pinned_fingerprint(settings: Settings) -> str:
    """The fingerprint that a worker of another machine is given: of this server's authority, else of the certificate that it serves.
    Empty without TLS, and where neither can be read."""
    if not is_on(settings.tls):
        return ""
    authority = authority_certificate(settings)
    served = settings.tls.certificate
    try:
        pem = authority if authority is not None else served.read_bytes() if served is not None else b""
        # The server's own certificate is the first one of its chain.
        first = CERTIFICATE.search(pem)
        return fingerprint(ssl.PEM_cert_to_DER_cert(first[0].decode())) if first else ""
    except (OSError, ValueError):
        return ""


def trusting(settings: Settings) -> ssl.SSLContext | None:
    """A context for clients on this machine that trusts the authority in the data folder besides the usual ones, also where the server was started
    with `--tls` and these settings say nothing of it; None if there is no authority, and the usual ones suffice."""
    authority = _authority_in(settings.data)
    if authority is None:
        return None
    context = ssl.create_default_context()
    context.load_verify_locations(cadata=authority.decode())
    return context


def router(settings: Settings) -> APIRouter:
    """`/ca.crt`, which needs no key: a device must have it before it can trust the page."""
    routes = APIRouter(tags=["session"])

    @routes.get(CA_PATH, summary="The certificate that devices can be told to trust", response_class=Response)
    async def ca() -> Response:
        certificate = await disk_io(authority_certificate, settings)
        if certificate is None:
            raise NotFound("This server has no certificate authority of its own; `--tls` creates one.")
        return Response(certificate, media_type="application/x-x509-ca-cert")

    return routes


async def keep_fresh(
    settings: Settings,
    context: ssl.SSLContext,
    *,
    files: Callable[[Settings], tuple[Path, Path]] = tls_files,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Renew the certificate of a running server until cancelled. New connections use a renewed certificate, and files that
    the operator replaced, at once."""
    known = await disk_io(_fingerprints, *await disk_io(files, settings))
    while True:
        await sleep(CHECK_SECONDS)
        try:
            pair = await disk_io(files, settings)
            current = await disk_io(_fingerprints, *pair)
            if current != known:
                await disk_io(context.load_cert_chain, *pair)
                known = current
                log.info("the certificate was renewed")
        except (StartFailed, OSError) as problem:  # ssl.SSLError is one
            log.warning("the certificate could not be renewed: %s", problem)


def server_names(settings: Settings) -> ServerNames:
    """The names and addresses that the server's certificate must have."""
    names = {"localhost", settings.host, *settings.host_names} | host_check.machine_names()
    authorities = {authority for name in names if (authority := host_check.parse_authority(name))}
    addresses = {
        ipaddress.ip_address(one.name) for one in authorities if one.is_address
    } | machine_addresses()
    usable = {address for address in addresses if not (address.is_unspecified or address.is_link_local)}
    # DNS allows 63 characters between dots, but a machine can have a longer name.
    valid_names = {
        one.name for one in authorities if not one.is_address and max(map(len, one.name.split("."))) < 64
    }
    return ServerNames(frozenset(valid_names), frozenset(usable))


def machine_addresses() -> frozenset[Address]:
    """Loopback and this machine's other addresses, as far as they can be found. Sends nothing."""
    texts = {"127.0.0.1", "::1", *_interface_addresses()}
    # Connecting a datagram socket sends nothing but selects a route, and with it the local address. The targets are from the
    # ranges reserved for documentation.
    for family, far in ((socket.AF_INET, "203.0.113.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            texts.add(probe.getsockname()[0])
    return frozenset(ipaddress.ip_address(text.partition("%")[0]) for text in texts)


def _interface_addresses() -> Iterator[str]:
    """The IPv4 address of every network interface; none on systems other than Linux."""
    if not sys.platform.startswith("linux"):
        return
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # an interface without an address
                request = struct.pack("256s", name.encode()[:15])
                yield socket.inet_ntoa(fcntl.ioctl(probe.fileno(), SIOCGIFADDR, request)[20:24])


def _own_files(tls: Tls) -> tuple[Path, Path]:
    if tls.certificate is None or tls.private_key is None:
        missing = "tls.certificate" if tls.certificate is None else "tls.private_key"
        raise StartFailed(
            f"A certificate and its private key belong together: set {missing} too.", param=missing
        )
    for file, setting in ((tls.certificate, "tls.certificate"), (tls.private_key, "tls.private_key")):
        try:
            file.open("rb").close()
        except OSError as error:
            raise StartFailed(
                f"{setting}: {file} cannot be read: {error.strerror}.", param=setting
            ) from error
    try:
        # Without a password callback the library would prompt for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.private_key, lambda: b"")
    except (ssl.SSLError, ValueError, OSError):
        raise StartFailed(
            f"{tls.certificate} and {tls.private_key} are not a certificate and its private key, both as PEM and the "
            "key without a password.",
            param="tls.certificate",
        ) from None
    return tls.certificate, tls.private_key


def _fingerprints(*files: Path) -> list[tuple[int, int, int]]:
    """What changes when a file is replaced."""
    stats = [file.stat() for file in files]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]

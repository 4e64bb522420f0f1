"""The certificate of `--tls`: made for this machine, renewed in time, or the operator's own.

Owns data/tls: `ca.pem` (a small certificate authority of this server alone) and `server.pem` (what it signed, with its
key). Each is one file, readable by its owner only, so that a key and its certificate can never part. Knows no user.

Why an authority, and not one self-signed certificate: a phone is told once to trust `/ca.crt`, and goes on trusting
when addresses change or the certificate is renewed. So that trusting it is not trusting it with the whole web, it may
sign only for the names this server is reached by (its name constraints).
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import ssl
import struct
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import anyio
from fastapi import APIRouter, Response

from duologue.config import Settings
from duologue.config.settings import Tls
from duologue.errors import NotFound, StartFailed
from duologue.gateway.middleware import host_check
from duologue.threads import disk_io

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

log = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

CA_PATH = "/ca.crt"
CA_FILE, SERVER_FILE = "ca.pem", "server.pem"
AUTHORITY_DAYS = 3650
SERVER_DAYS = 397
"""No browser takes a certificate that is valid for much longer than a year."""
RENEWED_BEFORE = timedelta(days=30)
LOOK_SECONDS = 60
"""How often a running server looks whether its certificate still fits."""
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""For TLS 1.2; those of TLS 1.3 are fixed. What uvicorn would take are the old ones, without any of these."""
SIOCGIFADDR = 0x8915


class Reached(NamedTuple):
    """Under which names and addresses this server is reached."""

    names: frozenset[str]
    addresses: frozenset[Address]


class Pair(NamedTuple):
    certificate: x509.Certificate
    key: EllipticCurvePrivateKey


def is_on(tls: Tls) -> bool:
    """Whether the server speaks HTTPS: naming a certificate of one's own is asking for it."""
    return tls.enabled or tls.certificate is not None or tls.private_key is not None


def tls_files(settings: Settings) -> tuple[Path, Path]:
    """The certificate chain and its private key, as files: the operator's, or data/tls/server.pem (both in one).

    Makes or renews what is missing, near its end or lacks an address of this machine. Blocks for some milliseconds.
    Raises StartFailed for files that cannot be used.
    """
    if settings.tls.certificate is not None or settings.tls.private_key is not None:
        return _own_files(settings.tls)
    folder = settings.data / "tls"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = made(folder, reached(settings), datetime.fromtimestamp(time.time(), UTC))
    except OSError as error:
        raise StartFailed(
            f"The certificate cannot be kept in {folder}: {error.strerror}. Set DUOLOGUE_DATA (or --data) to a "
            "folder of yours.",
            param="tls.enabled",
        ) from error
    return file, file


def made(folder: Path, where: Reached, at: datetime) -> Path:
    """`server.pem` of `folder`, good for `where` at the time `at`; made anew when what is there is not."""
    authority = _read(folder / CA_FILE)
    if authority is None or not _may_sign(authority, where.names, at):
        if authority is not None:
            log.warning(
                "a new certificate authority is made: devices that trusted the old one must be told again"
            )
        authority = _new_authority(where.names, at)
        _write(folder / CA_FILE, authority)
    server = _read(folder / SERVER_FILE)
    if server is None or not _fits(server, authority, where, at):
        server = _new_server(authority, where, at)
        _write(folder / SERVER_FILE, server, authority.certificate)
    return folder / SERVER_FILE


def authority_certificate(settings: Settings) -> bytes | None:
    """What a device may be told to trust, as PEM and without its key; None with a certificate of one's own."""
    own = settings.tls.certificate is not None or settings.tls.private_key is not None
    pair = None if own or not settings.tls.enabled else _read(settings.data / "tls" / CA_FILE)
    if pair is None:
        return None
    from cryptography.hazmat.primitives.serialization import Encoding

    return pair.certificate.public_bytes(Encoding.PEM)


def trusting(settings: Settings) -> ssl.SSLContext | None:
    """How a program on this machine speaks to this server: trusting its authority besides the known ones; None when it
    made no certificate, for then the usual trust does."""
    authority = authority_certificate(settings)
    if authority is None:
        return None
    context = ssl.create_default_context()
    context.load_verify_locations(cadata=authority.decode())
    return context


def router(settings: Settings) -> APIRouter:
    """`/ca.crt`, open to everyone: a device must have it before it can trust the page."""
    routes = APIRouter(tags=["session"])

    @routes.get(CA_PATH, summary="The certificate a device may be told to trust", response_class=Response)
    async def ca() -> Response:
        certificate = await disk_io(authority_certificate, settings)
        if certificate is None:
            raise NotFound("This server has made no certificate of its own; `--tls` makes one.")
        return Response(certificate, media_type="application/x-x509-ca-cert")

    return routes


async def keep_fresh(
    settings: Settings,
    context: ssl.SSLContext,
    *,
    files: Callable[[Settings], tuple[Path, Path]] = tls_files,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Watch over the certificate of a running server, until cancelled: renewed ones, and files the operator replaced, are
    shown from the next connection on."""
    known = await disk_io(_marks, *await disk_io(files, settings))
    while True:
        await sleep(LOOK_SECONDS)
        try:
            pair = await disk_io(files, settings)
            marks = await disk_io(_marks, *pair)
            if marks != known:
                await disk_io(context.load_cert_chain, *pair)
                known = marks
                log.info("the certificate was renewed")
        except (StartFailed, OSError) as problem:  # ssl.SSLError is one
            log.warning("the certificate stays as it is: %s", problem)


def reached(settings: Settings) -> Reached:
    """The names and addresses a certificate of this server must hold."""
    names = {"localhost", settings.host, *settings.host_names} | host_check.machine_names()
    known = {authority for name in names if (authority := host_check.parse_authority(name))}
    addresses = {ipaddress.ip_address(one.name) for one in known if one.is_address} | machine_addresses()
    usable = {address for address in addresses if not (address.is_unspecified or address.is_link_local)}
    # A name in a certificate has at most 63 letters between its dots; a machine may be called what it likes.
    fitting = {one.name for one in known if not one.is_address and max(map(len, one.name.split("."))) < 64}
    return Reached(frozenset(fitting), frozenset(usable))


def machine_addresses() -> frozenset[Address]:
    """Loopback, and the addresses others reach this machine by, as far as it knows them. Sends nothing."""
    found = {"127.0.0.1", "::1", *_interface_addresses()}
    # Connecting a datagram socket only chooses a route; the addresses are those set aside for documentation.
    for family, far in ((socket.AF_INET, "203.0.113.1"), (socket.AF_INET6, "2001:db8::1")):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            found.add(probe.getsockname()[0])
    return frozenset(ipaddress.ip_address(text.partition("%")[0]) for text in found)


def _interface_addresses() -> Iterator[str]:
    """The IPv4 address of every network interface, where Linux tells."""
    if not sys.platform.startswith("linux"):
        return
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # an interface without one
                asked = struct.pack("256s", name.encode()[:15])
                yield socket.inet_ntoa(fcntl.ioctl(probe.fileno(), SIOCGIFADDR, asked)[20:24])


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
        # Without a password of ours, the library would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.private_key, lambda: b"")
    except (ssl.SSLError, ValueError, OSError):
        raise StartFailed(
            f"{tls.certificate} and {tls.private_key} are not a certificate and its private key, both as PEM and the "
            "key without a password.",
            param="tls.certificate",
        ) from None
    return tls.certificate, tls.private_key


def _may_sign(authority: Pair, names: frozenset[str], at: datetime) -> bool:
    """Whether an authority goes on for long enough, and may sign for all of these names."""
    from cryptography import x509

    try:
        found = authority.certificate.extensions.get_extension_for_class(x509.NameConstraints)
    except x509.ExtensionNotFound:
        return False
    subtrees = found.value.permitted_subtrees or []
    permitted = [subtree.value for subtree in subtrees if isinstance(subtree, x509.DNSName)]
    ends = authority.certificate.not_valid_after_utc
    return ends - at > timedelta(days=SERVER_DAYS) and all(
        any(name == subtree or name.endswith(f".{subtree}") for subtree in permitted) for name in names
    )


def _fits(server: Pair, authority: Pair, where: Reached, at: datetime) -> bool:
    """Whether a certificate is this authority's, lasts for a while and holds every name and address."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature

    certificate = server.certificate
    try:
        certificate.verify_directly_issued_by(authority.certificate)
        held = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (InvalidSignature, ValueError, TypeError, x509.ExtensionNotFound):
        return False
    return (
        certificate.not_valid_before_utc <= at < certificate.not_valid_after_utc - RENEWED_BEFORE
        and where.names <= set(held.get_values_for_type(x509.DNSName))
        and where.addresses <= set(held.get_values_for_type(x509.IPAddress))
    )


def _new_authority(names: frozenset[str], at: datetime) -> Pair:
    from cryptography import x509

    key, subject = _new_key(), _name(f"Duologue on {socket.gethostname()}")
    subtrees = {"localhost", "local"} | {
        name for name in names if not name.endswith((".local", ".localhost"))
    }
    permitted = [x509.DNSName(name) for name in sorted(subtrees)]
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=True, path_length=0), True),
        (_usage(signs_certificates=True), True),
        (x509.NameConstraints(permitted, None), True),
    ]
    return Pair(_signed(subject, key, subject, key, extensions, at, AUTHORITY_DAYS), key)


def _new_server(authority: Pair, where: Reached, at: datetime) -> Pair:
    from cryptography import x509

    held: list[x509.GeneralName] = [x509.DNSName(name) for name in sorted(where.names)]
    held += [x509.IPAddress(address) for address in sorted(where.addresses, key=str)]
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([x509.OID_SERVER_AUTH]), False),
        (x509.SubjectAlternativeName(held), False),
    ]
    key, issuer = _new_key(), authority.certificate.subject
    return Pair(_signed(_name("Duologue"), key, issuer, authority.key, extensions, at, SERVER_DAYS), key)


def _signed(
    subject: x509.Name,
    key: EllipticCurvePrivateKey,
    issuer: x509.Name,
    issuer_key: EllipticCurvePrivateKey,
    extensions: list[tuple[x509.ExtensionType, bool]],
    at: datetime,
    days: int,
) -> x509.Certificate:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256

    public = issuer_key.public_key()
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - timedelta(days=1))  # the clock of a phone may be behind ours
        .not_valid_after(at + timedelta(days=days - 1))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(issuer_key, SHA256())


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    from cryptography import x509

    # 64 characters are what the standard has for a common name.
    return x509.Name([x509.NameAttribute(x509.OID_COMMON_NAME, text[:64])])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _read(file: Path) -> Pair | None:
    """A certificate with its key; None when the file is not there or holds no such pair."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return None
    try:
        key = load_pem_private_key(content, None)
        certificate = x509.load_pem_x509_certificate(content)
    except ValueError:
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        return None
    return Pair(certificate, key)


def _write(file: Path, pair: Pair, *above: x509.Certificate) -> None:
    """Put a pair and the certificates above it in `file`, all at once and for its owner's eyes only."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    parts = [pair.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())]
    parts += [certificate.public_bytes(Encoding.PEM) for certificate in (pair.certificate, *above)]
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # made with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as writing:
            writing.write(b"".join(parts))
            writing.flush()
            os.fsync(writing.fileno())
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _marks(*files: Path) -> list[tuple[int, int, int]]:
    """What tells that a file was replaced."""
    found = [file.stat() for file in files]
    return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in found]

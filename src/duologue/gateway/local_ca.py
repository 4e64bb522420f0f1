"""A certificate authority of this server alone, and the certificate that it signs for it.

Owns data/tls: `ca.pem` (the authority) and `server.pem` (the server's certificate), each in one file with its key, so that a key
and its certificate never get separated. `tls` decides when they are needed.

An authority and not one self-signed certificate, because a phone has to trust `/ca.crt` only once and then accepts every renewed
certificate. Its name constraints limit it to the names of this server, so that trusting it does not mean trusting it with the web.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

log = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

CA_FILE, SERVER_FILE = "ca.pem", "server.pem"
AUTHORITY_DAYS = 3650
SERVER_DAYS = 397
"""Browsers reject certificates that are valid for much longer than a year."""
RENEWED_BEFORE = timedelta(days=30)


class ServerNames(NamedTuple):
    """The names and addresses that clients reach this server by."""

    names: frozenset[str]
    addresses: frozenset[Address]


class Pair(NamedTuple):
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: EllipticCurvePrivateKey


def ensure_certificate(folder: Path, server: ServerNames, at: datetime) -> Path:
    """`server.pem` in `folder`, valid for these names at the time `at`; created or renewed if necessary."""
    authority = read_pair(folder / CA_FILE)
    if authority is None or not _may_sign(authority, server.names, at):
        if authority is not None:
            log.warning(
                "a new certificate authority is created: devices that trust the old one must be given the new /ca.crt"
            )
        authority = _new_authority(server.names, at)
        write_pair(folder / CA_FILE, authority)
    pair = read_pair(folder / SERVER_FILE)
    if pair is None or not _is_valid(pair, authority, server, at):
        pair = new_server_pair(authority, server, at)
        write_pair(folder / SERVER_FILE, pair, authority.certificate)
    return folder / SERVER_FILE


def _may_sign(authority: Pair, names: frozenset[str], at: datetime) -> bool:
    """Whether an authority is valid for long enough, and may sign for all of these names."""
    from cryptography import x509

    try:
        constraints = authority.certificate.extensions.get_extension_for_class(x509.NameConstraints)
    except x509.ExtensionNotFound:
        return False
    subtrees = constraints.value.permitted_subtrees or []
    permitted = [subtree.value for subtree in subtrees if isinstance(subtree, x509.DNSName)]
    ends = authority.certificate.not_valid_after_utc
    return ends - at > timedelta(days=SERVER_DAYS) and all(
        any(name == subtree or name.endswith(f".{subtree}") for subtree in permitted) for name in names
    )


def _is_valid(pair: Pair, authority: Pair, server: ServerNames, at: datetime) -> bool:
    """Whether a certificate was signed by this authority, does not expire soon, and has every name and address."""
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature

    certificate = pair.certificate
    try:
        certificate.verify_directly_issued_by(authority.certificate)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (InvalidSignature, ValueError, TypeError, x509.ExtensionNotFound):
        return False
    return (
        certificate.not_valid_before_utc <= at < certificate.not_valid_after_utc - RENEWED_BEFORE
        and server.names <= set(names.get_values_for_type(x509.DNSName))
        and server.addresses <= set(names.get_values_for_type(x509.IPAddress))
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


def new_server_pair(authority: Pair, server: ServerNames, at: datetime) -> Pair:
    from cryptography import x509

    names: list[x509.GeneralName] = [x509.DNSName(name) for name in sorted(server.names)]
    names += [x509.IPAddress(address) for address in sorted(server.addresses, key=str)]
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([x509.OID_SERVER_AUTH]), False),
        (x509.SubjectAlternativeName(names), False),
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
        .not_valid_before(at - timedelta(days=1))  # the clock of a phone may be slow
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

    # The standard limits a common name to 64 characters.
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


def read_pair(file: Path) -> Pair | None:
    """The certificate and key in a file; None if it does not exist or has no such pair."""
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


def write_pair(file: Path, pair: Pair, *chain: x509.Certificate) -> None:
    """Write a pair and the rest of its chain to `file`, atomically and readable by its owner only."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    parts = [pair.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())]
    parts += [certificate.public_bytes(Encoding.PEM) for certificate in (pair.certificate, *chain)]
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # created with mode 0600
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(b"".join(parts))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

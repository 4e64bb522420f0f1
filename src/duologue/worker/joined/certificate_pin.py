"""Which certificates of a gateway a joined worker trusts: those of the usual authorities, or exactly one whose fingerprint a person gave.

With a fingerprint the gateway is asked for its certificates first, over a connection that is trusted with nothing: what it serves, and the
authority of its own behind `/ca.crt`. The one with the right SHA-256 is the only one trusted from then on, so the key goes to nobody else.
"""

from __future__ import annotations

import hashlib
import re
import ssl
from collections.abc import Sequence
from typing import NamedTuple

import anyio
from anyio.streams.tls import TLSAttribute, TLSStream

from duologue.errors import StartFailed
from duologue.wire.machines.fingerprint import fingerprint
from duologue.worker.joined.gateway_address import GatewayAddress

SECONDS = 10.0
"""Seconds for the connection and the answer."""
LARGEST = 64 * 1024
"""Bytes of an answer to `/ca.crt`."""
EXPIRED, NOT_YET_VALID, OTHER_HOST, OTHER_ADDRESS = 10, 9, 62, 64
"""What OpenSSL calls a certificate out of its time, and one for another name: no matter of who signed it."""
PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\s", re.DOTALL)


class FoundCertificates(NamedTuple):
    """What a gateway serves, as DER: its certificate, and its own authority's, empty if it has none."""

    served: bytes
    authority: bytes = b""

    def __str__(self) -> str:
        served = f"{fingerprint(self.served)} (the certificate that it serves)"
        return (
            f"{fingerprint(self.authority)} (its authority, /ca.crt) and {served}"
            if self.authority
            else served
        )


def parse_fingerprint(text: str) -> str:
    """A fingerprint as it is compared, from what a person wrote. Raises StartFailed."""
    digits = (
        re.sub(r"(?i)^sha-?256(?: fingerprint)?[:= ]", "", text.strip())
        .replace(":", "")
        .replace(" ", "")
        .lower()
    )
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        raise StartFailed(
            f"{text!r} is not a SHA-256 fingerprint, which has 64 hexadecimal digits. To print it, run this on the gateway's machine, in its data folder: "
            "openssl x509 -in tls/ca.pem -noout -fingerprint -sha256",
            param="fingerprint",
        )
    return digits


async def trust_for(address: GatewayAddress, fingerprints: Sequence[str]) -> ssl.SSLContext | None:
    """What is trusted for connections to this gateway; None without TLS. `fingerprints` are parsed. Raises StartFailed when none of
    them is the gateway's, and OSError."""
    if not address.is_encrypted:
        return None
    if not fingerprints:
        return ssl.create_default_context()
    found = await find_certificates(address)
    for certificate in (found.authority, found.served):
        if certificate and hashlib.sha256(certificate).hexdigest() in fingerprints:
            return only(certificate)
    raise StartFailed(
        f"The certificate of {address} is not the one whose fingerprint was given. Found: {found}. If the gateway has a new "
        "certificate, compare this on its own machine before you pass the new fingerprint; otherwise somebody may be intercepting the connection.",
        param="fingerprint",
    )


def only(certificate: bytes) -> ssl.SSLContext:
    """A context that trusts exactly this certificate, and what it signed. The name in it may be another one: the fingerprint says which
    server it is, and the authority of a gateway signs for that gateway alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # A certificate that is not its own authority's may be pinned too.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=certificate)
    return context


async def unknown_authority(address: GatewayAddress) -> StartFailed:
    """What to say about a gateway whose certificate no usual authority has signed. Raises OSError."""
    found = await find_certificates(address)
    return StartFailed(
        f"The certificate of {address} is not signed by an authority that this machine trusts. If the gateway made it itself "
        f"(--tls), pass --fingerprint with this, once you have compared it on the gateway's machine: {found}.",
        param="fingerprint",
    )


async def find_certificates(address: GatewayAddress) -> FoundCertificates:
    """What the gateway serves. The key is not sent, and nothing of this is trusted. Raises OSError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with anyio.fail_after(SECONDS):
            stream = await anyio.connect_tcp(
                address.host, address.port, tls=True, ssl_context=context, tls_standard_compatible=False
            )
            async with stream:
                served = stream.extra(TLSAttribute.peer_certificate_binary)
                return FoundCertificates(served or b"", await _authority(stream, address))
    except (anyio.BrokenResourceError, anyio.EndOfStream) as error:
        raise OSError("the connection broke") from error


async def _authority(stream: TLSStream, address: GatewayAddress) -> bytes:
    """The certificate behind `/ca.crt`, b"" if there is none."""
    # HTTP/1.0: the answer comes in one piece.
    request = f"GET {address.base}/ca.crt HTTP/1.0\r\nHost: {address.authority}\r\nConnection: close\r\n\r\n"
    await stream.send(request.encode())
    answer = b""
    while len(answer) < LARGEST and not PEM.search(answer):
        try:
            answer += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, ssl.SSLError):
            break
    found = PEM.search(answer)
    try:
        return ssl.PEM_cert_to_DER_cert(found[0].decode()) if found else b""
    except ValueError:
        return b""

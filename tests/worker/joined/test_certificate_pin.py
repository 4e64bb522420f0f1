"""Which certificates a joined worker trusts."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from tests.support.join_gateway import KEY, JoinGateway
from tests.support.joined_parts import ended, spec

from duologue.errors import StartFailed
from duologue.gateway.local_ca import CA_FILE, ServerNames, ensure_certificate, read_pair
from duologue.wire.machines.fingerprint import fingerprint
from duologue.wire.machines.join_protocol import Join, Welcome
from duologue.worker.joined.certificate_pin import (
    find_certificates,
    only,
    parse_fingerprint,
    trust_for,
    unknown_authority,
)
from duologue.worker.joined.client_socket import LineBroken, dialled
from duologue.worker.joined.exit_codes import NOT_LET_IN
from duologue.worker.joined.gateway_address import GatewayAddress, parse_gateway
from duologue.worker.joined.joined_worker import JoiningWorker

pytestmark = pytest.mark.anyio
JOIN = Join("attic", "w", "session", 7, 7)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    names = ServerNames(frozenset({"gateway.example"}), frozenset({ip_address("127.0.0.1")}))
    return ensure_certificate(folder, names, datetime.now(UTC))


@asynccontextmanager
async def serving(certificate: Path) -> AsyncIterator[GatewayAddress]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    gateway = JoinGateway()
    async with gateway.serving(tls=context):
        yield parse_gateway(gateway.address)


async def test_the_certificate_with_the_right_fingerprint_is_trusted_and_no_other(certificate: Path) -> None:
    async with serving(certificate) as address:
        found = await find_certificates(address)
        right = parse_fingerprint(fingerprint(found.served))
        trust = await trust_for(address, [right])
        async with dialled(address, "live", KEY, trust, JOIN) as (_, answer):
            assert isinstance(answer, Welcome)
        with pytest.raises(StartFailed) as caught:
            await trust_for(address, ["0" * 64])
        assert fingerprint(found.served) in caught.value.message


async def test_the_authority_of_a_gateway_is_trusted_with_what_it_signed(certificate: Path) -> None:
    pair = read_pair(certificate.with_name(CA_FILE))
    assert pair is not None
    from cryptography.hazmat.primitives.serialization import Encoding

    authority = pair.certificate.public_bytes(Encoding.DER)
    async with (
        serving(certificate) as address,
        dialled(address, "live", KEY, only(authority), JOIN) as (_, answer),
    ):
        assert isinstance(answer, Welcome)


async def test_without_a_fingerprint_the_sentence_shows_the_one_that_was_found(certificate: Path) -> None:
    async with serving(certificate) as address:
        trust = await trust_for(address, [])
        with pytest.raises(LineBroken) as caught:
            async with dialled(address, "live", KEY, trust, JOIN):
                pass
        assert "certificate" in caught.value.broken.reason
        found = await find_certificates(address)
        assert fingerprint(found.served) in (await unknown_authority(address)).message


async def test_a_certificate_of_somebody_in_between_does_not_get_the_key(
    certificate: Path, tmp_path: Path
) -> None:
    names = ServerNames(frozenset(), frozenset({ip_address("127.0.0.1")}))
    another = ensure_certificate(tmp_path, names, datetime.now(UTC))
    async with serving(certificate) as address:
        trust = await trust_for(
            address, [hashlib.sha256((await find_certificates(address)).served).hexdigest()]
        )
    async with serving(another) as address:
        with pytest.raises(LineBroken):
            async with dialled(address, "live", KEY, trust, JOIN):
                pass


async def test_without_tls_nothing_is_verified() -> None:
    assert await trust_for(parse_gateway("http://127.0.0.1:1"), []) is None


def test_a_fingerprint_is_read_in_the_ways_it_is_written() -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    for text in (
        digest,
        digest.upper(),
        fingerprint(b"x"),
        f"SHA256:{digest}",
        f"sha256 Fingerprint={fingerprint(b'x')}",
    ):
        assert parse_fingerprint(text) == digest
    with pytest.raises(StartFailed):
        parse_fingerprint("abc")


async def test_a_certificate_of_a_known_authority_that_has_expired_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It once was told of as one that nobody known had signed."""
    names = ServerNames(frozenset(), frozenset({ip_address("127.0.0.1")}))
    expired = ensure_certificate(tmp_path, names, datetime.now(UTC) - timedelta(days=5000))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / CA_FILE))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(expired)
    gateway = JoinGateway()
    async with gateway.serving(tls=context):
        assert await ended(JoiningWorker(spec(gateway))) == NOT_LET_IN
    assert "it has expired" in caplog.text

"""The certificate of `--tls`: what it holds, when it is renewed, and that a client that trusts `/ca.crt` accepts it."""

import ipaddress
import socket
import ssl
import stat
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from fastapi import FastAPI

from duologue.config import load
from duologue.errors import Problem, StartFailed
from duologue.gateway import tls
from duologue.gateway.local_ca import (
    CA_FILE,
    SERVER_FILE,
    ServerNames,
    ensure_certificate,
    new_server_pair,
    read_pair,
    write_pair,
)
from duologue.gateway.tls import (
    authority_certificate,
    is_on,
    keep_fresh,
    machine_addresses,
    pinned_fingerprint,
    router,
    server_names,
    tls_files,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
HERE = ServerNames(
    frozenset({"localhost", "box", "box.local"}), frozenset({ipaddress.ip_address("192.168.1.5")})
)


def settings(tmp_path, **flags):
    return load(None, {}, {"data": str(tmp_path), "tls.enabled": True, **flags})


def certificate_in(file) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def held(file) -> tuple[set, set]:
    names = certificate_in(file).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return set(names.get_values_for_type(x509.DNSName)), set(names.get_values_for_type(x509.IPAddress))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A certificate and its key in a file each, as an operator has them."""
    folder = tmp_path_factory.mktemp("own")
    content = ensure_certificate(folder, HERE, datetime.now(UTC)).read_bytes()
    start = content.index(b"-----BEGIN CERTIFICATE")
    (folder / "own.crt").write_bytes(content[start:])
    (folder / "own.key").write_bytes(content[:start])
    return folder / "own.crt", folder / "own.key"


def test_names_of_the_settings_and_of_the_machine_are_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "Box.example.org")
    where = server_names(settings(tmp_path, host="192.168.7.7", host_names=["Chat.Example.org", "10.1.2.3"]))
    assert where.names == {"localhost", "box", "box.local", "box.example.org", "chat.example.org"}
    addresses = {str(address) for address in where.addresses}
    assert {"127.0.0.1", "::1", "192.168.7.7", "10.1.2.3"} <= addresses


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_every_address_is_no_address(tmp_path, host):
    assert not any(
        address.is_unspecified for address in server_names(settings(tmp_path, host=host)).addresses
    )


def test_a_machine_with_a_strange_name_gets_its_certificate(tmp_path, monkeypatch):
    for name in ("a" * 64, "b\u00fcro", "", "with space"):
        monkeypatch.setattr(socket, "gethostname", lambda name=name: name)
        assert "localhost" in server_names(settings(tmp_path)).names
        ensure_certificate(tmp_path, ServerNames(frozenset({"localhost"}), frozenset()), AT)


def test_the_machine_knows_its_loopback():
    assert {"127.0.0.1", "::1"} <= {str(address) for address in machine_addresses()}


def test_only_the_owner_can_read_the_keys(tmp_path):
    tls_files(settings(tmp_path))
    folder = tmp_path / "tls"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == [CA_FILE, SERVER_FILE]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "tls").write_text("a file where the folder should be")
    with pytest.raises(StartFailed, match=r"cannot be written to .*DUOLOGUE_DATA"):
        tls_files(settings(tmp_path))


def test_https_is_on_by_the_flag_or_by_a_certificate_of_ones_own(tmp_path):
    assert not is_on(load(None, {}, {}).tls)
    assert is_on(settings(tmp_path).tls)
    assert is_on(load(None, {}, {"tls.certificate": "a.pem"}).tls)
    assert is_on(load(None, {}, {"tls.private_key": "a.pem"}).tls)


def test_a_certificate_of_ones_own_is_used_as_it_is(tmp_path, pair):
    own = settings(tmp_path, **{"tls.certificate": str(pair[0]), "tls.private_key": str(pair[1])})
    assert tls_files(own) == pair
    assert not (tmp_path / "tls").exists()
    assert authority_certificate(own) is None


def test_a_certificate_of_ones_own_that_cannot_be_used_is_a_sentence(tmp_path, pair):
    certificate_file, key_file = pair

    def refused(**tls):
        with pytest.raises(StartFailed) as caught:
            tls_files(settings(tmp_path, **{f"tls.{name}": str(value) for name, value in tls.items()}))
        return caught.value

    assert refused(certificate=certificate_file).param == "tls.private_key"
    assert refused(private_key=key_file).param == "tls.certificate"
    missing = refused(certificate=certificate_file, private_key=tmp_path / "none.key")
    assert missing.param == "tls.private_key"
    assert "No such file" in missing.message
    assert "are not a certificate" in refused(certificate=key_file, private_key=key_file).message
    locked = tmp_path / "locked.key"
    key = load_pem_private_key(key_file.read_bytes(), None)
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")))
    assert "without a password" in refused(certificate=certificate_file, private_key=locked).message
    other = ensure_certificate(tmp_path, HERE, AT)
    assert "are not a certificate" in refused(certificate=certificate_file, private_key=other).message


@pytest.fixture
def serve_tls():
    """`async with serve_tls(app, files) as (port, context)`: a real HTTPS server on loopback."""

    @asynccontextmanager
    async def serving(app, files):
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            app,
            log_config=None,
            lifespan="off",
            ssl_certfile=files[0],
            ssl_keyfile=files[1],
            ssl_ciphers=tls.CIPHERS,
        )
        config.load()
        server = uvicorn.Server(config)
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=[listener])
        try:
            yield listener.getsockname()[1], config.ssl
        finally:
            await server.shutdown(sockets=[listener])

    return serving


def trusting(pem: bytes) -> ssl.SSLContext:
    """A strict client's context that trusts this authority alone."""
    context = ssl.create_default_context(cadata=pem.decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@pytest.mark.anyio
async def test_a_client_that_trusts_the_authority_accepts_the_server_by_name_and_by_address(
    tmp_path, serve_tls
):
    own = settings(tmp_path)
    files = tls_files(own)
    app = FastAPI()
    app.include_router(router(own))
    async with serve_tls(app, files) as (port, _):
        async with httpx.AsyncClient(verify=False) as careless:
            answer = await careless.get(f"https://127.0.0.1:{port}/ca.crt")
        assert answer.headers["content-type"] == "application/x-x509-ca-cert"
        assert b"PRIVATE KEY" not in answer.content
        async with httpx.AsyncClient(verify=trusting(answer.content)) as client:
            for host in ("127.0.0.1", "localhost"):
                assert (await client.get(f"https://{host}:{port}/ca.crt")).status_code == 200
        older = tls.trusting(own)
        assert older is not None
        older.maximum_version = ssl.TLSVersion.TLSv1_2
        async with httpx.AsyncClient(verify=older) as program:
            assert (await program.get(f"https://127.0.0.1:{port}/ca.crt")).status_code == 200


def test_without_a_certificate_of_our_making_programs_trust_as_usual(tmp_path):
    assert tls.trusting(load(None, {}, {"data": str(tmp_path)})) is None
    assert tls.trusting(settings(tmp_path)) is None, "none was made yet"


def test_programs_trust_the_authority_of_the_data_folder_where_only_the_command_line_switched_tls_on(
    tmp_path,
):
    tls_files(settings(tmp_path))
    assert tls.trusting(load(None, {}, {"data": str(tmp_path)})) is not None


def test_a_certificate_for_a_name_the_authority_may_not_sign_for_is_refused_by_clients(tmp_path):
    ensure_certificate(tmp_path, HERE, AT)
    authority = read_pair(tmp_path / CA_FILE)
    assert authority is not None
    now = datetime.now(UTC)
    forged = new_server_pair(authority, ServerNames(frozenset({"bank.example"}), frozenset()), now)
    write_pair(tmp_path / "forged.pem", forged, authority.certificate)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "forged.pem")
    client = trusting(authority.certificate.public_bytes(Encoding.PEM))
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree"):
        handshake(client, server, "bank.example")


def handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> None:
    """A handshake in memory, as far as it goes."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server, server_hostname=name)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(10):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue


@pytest.mark.anyio
async def test_without_a_certificate_of_our_making_there_is_nothing_to_trust(tmp_path):
    app = FastAPI()
    app.include_router(router(load(None, {}, {"data": str(tmp_path)})))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        with pytest.raises(Problem, match="--tls"):
            await client.get("/ca.crt")


@pytest.mark.anyio
async def test_a_running_server_shows_the_renewed_certificate_to_the_next_connection(tmp_path, serve_tls):
    own = settings(tmp_path)
    rounds = [lambda: None, lambda: (tmp_path / "tls" / SERVER_FILE).unlink(), lambda: None]

    async def shown(port):
        def look():
            return ssl.get_server_certificate(("127.0.0.1", port))

        return await anyio.to_thread.run_sync(look)

    async with serve_tls(FastAPI(), tls_files(own)) as (port, context):
        seen = []

        async def sleep(seconds):
            seen.append(await shown(port))
            if not rounds:
                raise Ended
            rounds.pop(0)()

        with pytest.raises(Ended):
            await keep_fresh(own, context, sleep=sleep)
    assert seen[0] == seen[1]
    assert seen[2] != seen[1]
    assert seen[3] == seen[2]


@pytest.mark.anyio
async def test_a_renewal_that_fails_leaves_the_certificate_as_it_is_and_is_tried_again(
    tmp_path, pair, caplog
):
    own = settings(tmp_path)
    tries: list[Any] = []

    def files(settings):
        tries.append(len(tries))
        if tries[-1] == 1:
            raise StartFailed("The disk is full.")
        return pair

    async def sleep(seconds):
        if len(tries) == 3:
            raise Ended

    with pytest.raises(Ended):
        await keep_fresh(own, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), files=files, sleep=sleep)
    assert "The disk is full." in caplog.text


class Ended(Exception):
    """The test has seen enough."""


def test_workers_pin_the_authority_and_of_an_operator_the_certificate(tmp_path, pair):
    own = settings(tmp_path)
    assert pinned_fingerprint(own) == ""
    tls_files(own)
    authority = certificate_in(tmp_path / "tls" / CA_FILE)
    assert pinned_fingerprint(own) == authority.fingerprint(SHA256()).hex(":").upper()
    certificate, key = pair
    theirs = settings(tmp_path, **{"tls.certificate": str(certificate), "tls.private_key": str(key)})
    assert pinned_fingerprint(theirs) == certificate_in(certificate).fingerprint(SHA256()).hex(":").upper()
    assert pinned_fingerprint(settings(tmp_path, **{"tls.enabled": False})) == ""


def test_the_key_is_no_part_of_what_is_given_away(tmp_path):
    own = settings(tmp_path)
    tls_files(own)
    given = authority_certificate(own)
    assert given is not None
    assert b"PRIVATE" not in given
    authority = read_pair(tmp_path / "tls" / CA_FILE)
    secret = authority.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    assert secret not in given

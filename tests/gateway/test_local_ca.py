"""The server's own authority and its certificate: names, validity, renewal, and files that are never half written."""

import ipaddress
import os
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from duologue.gateway.local_ca import CA_FILE, SERVER_FILE, ServerNames, ensure_certificate

AT = datetime(2026, 3, 1, tzinfo=UTC)
HERE = ServerNames(
    frozenset({"localhost", "box", "box.local"}), frozenset({ipaddress.ip_address("192.168.1.5")})
)


def certificate_in(file) -> x509.Certificate:
    return x509.load_pem_x509_certificate(file.read_bytes())


def held(file) -> tuple[set, set]:
    names = certificate_in(file).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return set(names.get_values_for_type(x509.DNSName)), set(names.get_values_for_type(x509.IPAddress))


def test_it_holds_every_name_and_address_this_server_is_reached_by(tmp_path):
    file = ensure_certificate(tmp_path, HERE, AT)
    assert held(file) == (set(HERE.names), set(HERE.addresses))


def test_the_authority_may_sign_for_this_servers_names_and_no_others(tmp_path):
    ensure_certificate(tmp_path, HERE, AT)
    found = certificate_in(tmp_path / CA_FILE).extensions
    constraints = found.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    assert {name.value for name in constraints.value.permitted_subtrees} == {"localhost", "local", "box"}
    basic = found.get_extension_for_class(x509.BasicConstraints).value
    assert (basic.ca, basic.path_length) == (True, 0)


def test_what_fits_is_kept(tmp_path):
    before = ensure_certificate(tmp_path, HERE, AT).read_bytes()
    fewer = ServerNames(frozenset({"localhost"}), frozenset())
    assert ensure_certificate(tmp_path, HERE, AT + timedelta(days=300)).read_bytes() == before
    assert ensure_certificate(tmp_path, fewer, AT).read_bytes() == before


@pytest.mark.parametrize(
    ("where", "later"),
    [
        (HERE, timedelta(days=370)),
        (HERE, timedelta(days=500)),
        (ServerNames(HERE.names, HERE.addresses | {ipaddress.ip_address("10.0.0.9")}), timedelta(0)),
        (ServerNames(HERE.names | {"other.local"}, HERE.addresses), timedelta(0)),
    ],
    ids=["near its end", "over", "a new address", "a new name"],
)
def test_what_ends_or_lacks_something_is_renewed_under_the_same_authority(tmp_path, where, later):
    before = ensure_certificate(tmp_path, HERE, AT).read_bytes()
    authority = (tmp_path / CA_FILE).read_bytes()
    file = ensure_certificate(tmp_path, where, AT + later)
    assert file.read_bytes() != before
    assert held(file) == (set(where.names), set(where.addresses))
    assert (tmp_path / CA_FILE).read_bytes() == authority, "devices need not be told again"
    assert certificate_in(file).not_valid_after_utc > AT + later + timedelta(days=300)


@pytest.mark.parametrize(
    ("where", "later"),
    [(ServerNames(HERE.names | {"chat.example.org"}, frozenset()), 0), (HERE, 3650 - 300)],
    ids=["a name it may not sign for", "near its end"],
)
def test_an_authority_that_does_not_do_is_made_anew_and_said_so(tmp_path, caplog, where, later):
    ensure_certificate(tmp_path, HERE, AT)
    authority = (tmp_path / CA_FILE).read_bytes()
    file = ensure_certificate(tmp_path, where, AT + timedelta(days=later))
    assert (tmp_path / CA_FILE).read_bytes() != authority
    certificate_in(file).verify_directly_issued_by(certificate_in(tmp_path / CA_FILE))
    assert "must be given the new /ca.crt" in caplog.text


@pytest.mark.parametrize("name", [CA_FILE, SERVER_FILE])
@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]
)
def test_a_file_that_was_damaged_is_made_anew(tmp_path, name, content):
    ensure_certificate(tmp_path, HERE, AT)
    (tmp_path / name).write_bytes(content)
    ensure_certificate(tmp_path, HERE, AT)
    assert (tmp_path / name).read_bytes() != content
    certificate_in(tmp_path / SERVER_FILE).verify_directly_issued_by(certificate_in(tmp_path / CA_FILE))


def test_a_write_that_fails_leaves_what_was_there_and_no_piece(tmp_path, monkeypatch):
    before = ensure_certificate(tmp_path, HERE, AT).read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        ensure_certificate(tmp_path, HERE, AT + timedelta(days=390))
    assert (tmp_path / SERVER_FILE).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [CA_FILE, SERVER_FILE]

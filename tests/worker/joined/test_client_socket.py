"""What can go wrong when a gateway is dialled."""

from __future__ import annotations

import ssl

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from duologue.errors import StartFailed, Unauthorized
from duologue.worker.joined.client_socket import broken_by
from duologue.worker.joined.gateway_address import parse_gateway

GATEWAY = parse_gateway("https://gateway/talk")


def answered(status: int, body: bytes = b"") -> InvalidStatus:
    return InvalidStatus(Response(status, "", Headers(), body))


def test_a_key_that_may_not_join_is_for_a_person_with_the_words_of_the_gateway() -> None:
    broken = broken_by(GATEWAY, answered(403, b'{"error": {"message": "This key may do nothing else."}}'))
    assert isinstance(broken.problem, Unauthorized)
    assert "This key may do nothing else." in broken.problem.message


@pytest.mark.parametrize(("status", "body"), [(401, b'{"error": {"message": "Log in."}}'), (403, b"<html>")])
def test_a_key_that_is_not_known_is_for_a_person_with_the_command_that_makes_one(
    status: int, body: bytes
) -> None:
    broken = broken_by(GATEWAY, answered(status, body))
    assert isinstance(broken.problem, Unauthorized)
    assert "--role worker" in broken.problem.message
    assert "Log in" not in broken.problem.message


def test_a_server_without_joining_is_for_a_person() -> None:
    broken = broken_by(GATEWAY, answered(404))
    assert isinstance(broken.problem, StartFailed)
    assert "machines.join" in broken.problem.message


def test_a_server_that_speaks_https_only_is_for_a_person_with_the_address_to_join() -> None:
    body = b'{"error": {"code": "https_needed", "message": "Use https://home:8006/join/live instead."}}'
    broken = broken_by(parse_gateway("http://127.0.0.1:8006"), answered(400, body))
    assert isinstance(broken.problem, StartFailed)
    assert broken.problem.message.endswith("--join https://127.0.0.1:8006")


@pytest.mark.parametrize(
    ("code", "message", "advice"),
    [
        (9, "certificate is not yet valid", "Set the clock"),
        (10, "certificate has expired", "Renew it"),
        (62, "Hostname mismatch, certificate is not valid for 'gateway'.", "Join by a name"),
        (64, "IP address mismatch, certificate is not valid for '10.0.0.4'.", "Join by a name"),
        (20, "unable to get local issuer certificate", "--fingerprint"),
    ],
)
def test_a_certificate_that_is_not_accepted_is_for_a_person_with_what_helps(
    code: int, message: str, advice: str
) -> None:
    error = ssl.SSLCertVerificationError(message)
    error.verify_code, error.verify_message = code, message
    broken = broken_by(GATEWAY, error)
    assert isinstance(broken.problem, StartFailed)
    assert advice in broken.problem.message
    assert ".)" not in broken.problem.message


def test_everything_else_is_tried_again() -> None:
    for error in (answered(503), answered(429), ConnectionRefusedError("no"), TimeoutError(), EOFError()):
        broken = broken_by(GATEWAY, error)
        assert broken.problem is None
        assert broken.reason

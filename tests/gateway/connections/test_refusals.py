"""Answers to clients that never reach the application."""

import json
from typing import get_args

import pytest

from duologue.config.sections.connections import ConnectionSettings
from duologue.gateway.connections.bounds import Bound
from duologue.gateway.connections.refusals import answer, plain_http_answer, problem_of


@pytest.mark.parametrize("bound", get_args(Bound))
def test_an_answer_is_whole_and_closes(bound):
    problem = problem_of(bound, ConnectionSettings())
    if problem is None:
        assert bound in ("first_byte", "unread", "handshake", "evicted", "open_files")
        return
    head, _, body = answer(problem, "/v1/models").partition(b"\r\n\r\n")
    fields = dict(line.split(": ") for line in head.decode().split("\r\n")[1:])
    assert (fields["connection"], int(fields["content-length"])) == ("close", len(body))
    assert ("retry-after" in fields) == (problem.status in (429, 503))
    assert json.loads(body)["error"]["code"] == problem.code
    assert answer(problem, has_body=False).endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("request_bytes", "url"),
    [
        (b"GET /chat?a=1 HTTP/1.1\r\nHost: chat.example:8006\r\n\r\n", "https://chat.example:8006/chat?a=1"),
        (b"GET / HTTP/1.1\r\nhost:[::1]:8006\r\n\r\n", "https://[::1]:8006/"),
        (b"POST /api HTTP/1.0\r\n\r\n", "https://localhost:8006/api"),
        (b"GET / HTTP/1.1\r\nHost: <script>\r\n\r\n", "https://localhost:8006/"),
        (b"GET", "https://localhost:8006/"),
    ],
)
def test_plain_http_is_told_the_address_it_meant(request_bytes, url):
    text = plain_http_answer(request_bytes, 8006).partition(b"\r\n\r\n")[2]
    error = json.loads(text)["error"]
    assert (error["code"], url in error["message"]) == ("https_needed", True)

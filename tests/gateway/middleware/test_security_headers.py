"""The security headers of every answer."""

import httpx
import pytest
from tests.gateway.middleware.served_app import ALLOWED, served

from duologue.gateway.middleware.host_check import Authority
from duologue.gateway.middleware.security_headers import content_policy
from duologue.gateway.middleware.stack import with_middleware


@pytest.mark.anyio
async def test_the_policy_of_an_answer_names_the_sockets_of_its_host(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        policy = (await http.get("/hello/you")).headers["content-security-policy"]
    assert f"connect-src 'self' ws://127.0.0.1:{port} wss://127.0.0.1:{port};" in policy


def test_a_policy_without_a_host_or_for_an_ipv6_address_names_only_itself():
    assert b"connect-src 'self';" in content_policy(None)
    assert b"connect-src 'self';" in content_policy(Authority("::1", 8006))


@pytest.mark.anyio
async def test_a_header_an_endpoint_sets_itself_stands():
    async def app(scope, receive, send):
        headers = [(b"Content-Security-Policy", b"sandbox")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async with served(with_middleware(app, ALLOWED)) as port, httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"http://127.0.0.1:{port}/")
    assert answer.headers.get_list("content-security-policy") == ["sandbox"]

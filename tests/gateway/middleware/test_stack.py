"""The order of the middleware: refusals have an id, the shape of their dialect and the security headers too."""

import httpx
import pytest


@pytest.mark.anyio
async def test_every_answer_has_the_security_headers_refusals_too(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        for answer in (
            await http.get("/hello/you"),
            await http.get("/hello/you", headers={"Origin": "null"}),
        ):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert "*" not in policy


@pytest.mark.anyio
async def test_a_refusal_names_its_request_in_the_shape_of_its_dialect(port):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        foreign = {"Origin": "http://evil.example", "X-Request-Id": "r1"}
        error = (await http.post("/v1/echo", headers=foreign)).json()["error"]
        assert (error["type"], error["code"], error["request_id"]) == (
            "permission_error",
            "origin_refused",
            "r1",
        )
        error = (await http.get("/hello/you", headers=foreign)).json()["error"]
        assert set(error) == {"message", "code", "request_id"}

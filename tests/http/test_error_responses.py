"""Errors in the shape each dialect expects, and refusals before any endpoint."""

import json
from typing import Any

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient
from starlette.types import Message

from duologue.errors import BadRequest, Busy, EngineFailed, Problem, QueueFull, Unauthorized, Unavailable
from duologue.http.error_responses import (
    ERROR_SHAPE,
    body_for,
    exception_handlers,
    problem_body,
    problem_headers,
    problem_status,
    refuse,
)
from duologue.http.openapi_document import describe_completely
from duologue.threads import ThreadLane


def test_openai_clients_get_message_type_param_and_code():
    body = problem_body(BadRequest("n must be 1.", param="n"), "/v1/chat/completions", "r1")
    assert body == {
        "error": {
            "message": "n must be 1.",
            "type": "invalid_request_error",
            "param": "n",
            "code": "invalid_request",
            "request_id": "r1",
        }
    }


def test_a_path_names_all_its_methods_where_it_lacks_one() -> None:
    app = FastAPI(openapi_url=None, exception_handlers=exception_handlers())
    describe_completely(app, ThreadLane(1).run)

    @app.get("/things/{id}")
    async def read(id: str) -> str:
        return id

    @app.delete("/things/{id}")
    async def delete(id: str) -> str:
        return id

    @app.post("/things/bulk")
    async def change() -> str:
        return ""

    @app.head("/hidden", include_in_schema=False)
    async def hidden() -> None: ...

    client = TestClient(app)
    refused = client.put("/things/1")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, DELETE")
    assert refused.json()["error"]["message"].endswith("It supports GET, DELETE.")
    asked = client.options("/things/1")
    assert (asked.status_code, asked.headers["allow"], asked.content) == (204, "GET, DELETE", b"")
    assert client.options("/things/bulk").headers["allow"] == "POST"
    assert client.get("/hidden").headers["allow"] == "HEAD"


def test_the_values_of_a_sentence_go_beside_it():
    problem = Problem("Only 3 are free.", code="disk_full", values={"free": 3, "folder": "/m"})
    for path in ("/v1/models", "/api/models"):
        assert problem_body(problem, path)["error"]["values"] == {"free": 3, "folder": "/m"}
    assert "values" not in problem_body(Busy("x"), "/api/models")["error"]


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (Unauthorized("x"), "authentication_error"),
        (Busy("x"), "rate_limit_error"),
        (EngineFailed("x"), "server_error"),
    ],
)
def test_openai_types_follow_the_status(problem, kind):
    assert problem_body(problem, "/v1/models")["error"]["type"] == kind


def test_other_paths_get_code_and_message():
    assert problem_body(Busy("Wait."), "/api/session") == {"error": {"message": "Wait.", "code": "busy"}}
    assert "type" not in problem_body(Busy("Wait."), "/v1beta")["error"]


def test_anthropic_clients_get_their_shape_with_our_code_in_it():
    body = problem_body(BadRequest("tools: no.", param="tools"), "/v1/messages", "r1")
    assert body == {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "tools: no.",
            "code": "invalid_request",
            "details": {"error_code": "invalid_request"},
            "param": "tools",
        },
        "request_id": "r1",
    }
    full = problem_body(Problem("No room.", code="disk_full", values={"free": 3}), "/v1/messages")
    assert (full["error"]["type"], full["error"]["values"], full["request_id"]) == (
        "api_error",
        {"free": 3},
        None,
    )


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (Unauthorized("x"), "authentication_error"),
        (Problem("x", status=403), "permission_error"),
        (Problem("x", status=404), "not_found_error"),
        (Problem("x", status=413), "request_too_large"),
        (Busy("x"), "rate_limit_error"),
        (QueueFull("x"), "overloaded_error"),
        (EngineFailed("x", status=502), "api_error"),
    ],
)
def test_anthropic_types_follow_the_status(problem, kind):
    assert problem_body(problem, "/v1/messages/count_tokens")["error"]["type"] == kind


def test_an_agent_recognises_a_prompt_that_is_too_long():
    problem = Problem("It takes 9 tokens.", code="context_length_exceeded", status=400)
    message = problem_body(problem, "/v1/messages")["error"]["message"]
    assert message == "prompt is too long: It takes 9 tokens."


def test_a_field_of_a_tool_has_the_name_that_the_client_sent():
    problem = BadRequest("tools[0].function.strict: no.", param="tools[0].function.strict")
    error = problem_body(problem, "/v1/messages")["error"]
    assert (error["message"], error["param"]) == ("tools[0].strict: no.", "tools[0].strict")


def test_below_v1_the_header_tells_the_clients_apart():
    version = [(b"host", b"here"), (b"anthropic-version", b"2023-06-01")]
    assert problem_body(Busy("x"), "/v1/models", headers=version)["type"] == "error"
    assert "type" not in problem_body(Busy("x"), "/v1/models")
    assert "type" not in problem_body(Busy("x"), "/v1/messages_of")
    assert "type" not in problem_body(Busy("x"), "/api/models", headers=version)


def test_a_bug_of_ours_shows_its_request_id_and_nothing_of_itself():
    error = problem_body(ValueError("secret path /home/ada"), "/api/x", "r1")["error"]
    assert error["code"] == "internal_error"
    assert "r1" in error["message"]
    assert "ada" not in json.dumps(error)
    assert problem_status(ValueError()) == 500


def test_a_missing_key_is_asked_for_as_a_bearer():
    assert problem_headers(Unauthorized("x"))["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in problem_headers(Busy("x"))


@pytest.mark.parametrize(
    ("problem", "seconds"),
    [
        (Busy("x"), "2"),
        (Unavailable("x"), "5"),
        (Busy("x", retry_after=0.2), "1"),
        (QueueFull("x", retry_after=41.2), "42"),
        (Busy("x", retry_after=1e9), "3600"),
        (EngineFailed("x", retry_after=3), "3"),
    ],
)
def test_who_should_try_again_is_told_when(problem, seconds):
    assert problem_headers(problem)["retry-after"] == seconds


@pytest.mark.parametrize(
    "problem", [BadRequest("x"), EngineFailed("x", status=500, retry_after=3), ValueError("x")]
)
def test_other_errors_invite_nobody_to_try_again(problem):
    assert "retry-after" not in problem_headers(problem)


async def sent(scope, problem):
    messages = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        messages.append(message)

    await refuse({"path": "/x", "headers": [], **scope}, receive, send, problem)
    return messages


@pytest.mark.anyio
async def test_a_request_is_refused_with_status_and_body():
    start, body = await sent({"type": "http", "method": "GET"}, Busy("Wait — é."))
    assert start["status"] == 429
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    assert json.loads(body["body"])["error"]["message"] == "Wait — é."


@pytest.mark.anyio
async def test_head_is_refused_without_a_body():
    _, body = await sent({"type": "http", "method": "HEAD"}, Busy("Wait."))
    assert body["body"] == b""


@pytest.mark.anyio
async def test_a_socket_is_refused_over_http_where_the_server_can():
    scope = {"type": "websocket", "extensions": {"websocket.http.response": {}}}
    start, body = await sent(scope, Busy("Wait."))
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 429)
    assert b"Wait." in body["body"]


@pytest.mark.anyio
async def test_a_socket_is_closed_unaccepted_where_the_server_cannot():
    (close,) = await sent({"type": "websocket"}, Busy("Wait."))
    assert close == {"type": "websocket.close", "code": 1008, "reason": "Wait."}


@pytest.mark.anyio
async def test_a_client_that_leaves_while_it_sends_is_no_error_of_the_server(caplog):
    app = FastAPI(exception_handlers=exception_handlers())

    @app.post("/v1/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    answers: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        answers.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/size", "headers": [], "query_string": b""}
    await app(scope, receive, send)
    assert answers[0]["status"] == 400
    assert not caplog.records


def test_a_port_of_another_api_shapes_its_errors_itself():
    scope: dict[str, Any] = {"path": "/api/chat", "state": {"request_id": "r1"}}
    assert body_for(Busy("x"), scope)["error"]["message"] == "x"
    scope["state"][ERROR_SHAPE] = lambda body, path: {"error": f"{body['error']['message']} at {path}"}
    assert body_for(Busy("x"), scope) == {"error": "x at /api/chat"}

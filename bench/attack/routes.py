"""Hostile HTTP requests: every route of `/openapi.json` with values that its fields do not expect.

`Routes` reads the document once and makes requests from dice, so that a seed gives the same requests. Nothing here is sent
with an admin's key: a fuzzer that may add tool servers runs commands.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

from attack.mutations import damaged_json, hostile_value

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")
TYPES = (
    "application/json",
    "text/plain",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "application/xml",
    "",
    "a/b; charset=utf-7",
)
CHAT: dict[str, Any] = {
    "model": "default", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "/say Hi"}],
    "max_tokens": 5, "temperature": 0.5, "stream": False, "stop": ["x"], "n": 1, "logit_bias": {"5": 1},
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
    "response_format": {"type": "text"}, "seed": 1, "top_p": 0.9,
}  # fmt: skip
EXAMPLES: dict[str, Any] = {
    "/v1/chat/completions": CHAT,
    "/v1/audio/speech": {"input": "Hello", "voice": "alloy", "model": "tts-1", "response_format": "wav", "speed": 1.0},
    "/api/conversations": {"title": "T", "tags": ["a"], "options": {"sampling": {"temperature": 0.1}}, "system": "Be brief."},
    "/api/conversations/bulk": {"ids": ["a"], "do": "archive"},
    "/api/conversations/{id}/runs": {
        "verb": "send", "run": "r1", "busy": "queue", "message": {"id": "m1", "content": [{"type": "text", "text": "/say Hi"}]},
    },
    "/api/settings": {"options": {"thinking": True}, "page": {"theme": "dark"}, "zone": "Europe/Berlin"},
    "/api/session": {"key": "x"},
    "/api/drafts/{conversation}": {"text": "hello", "files": []},
    "/api/folders/{id}": {"name": "F", "parent": None},
}  # fmt: skip
SLOW = ("/api/export",)
"""Sent seldom: their answers grow with what was stored before."""
BRACES = "{}"


class Request(NamedTuple):
    """What is to be sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None

    @property
    def label(self) -> str:
        return f"{self.method} {self.path[:120]} {(self.body or b'')[:160]!r}"


class Routes:
    """Requests for the routes of one server. `document` is its `/openapi.json`."""

    def __init__(self, document: dict[str, Any], known_ids: list[str]) -> None:
        self._document = document
        self.ids = known_ids
        self._routes = [
            (path, method, operation)
            for path, methods in sorted(document.get("paths", {}).items())
            for method, operation in sorted(methods.items())
            if method in METHODS
        ]

    def __len__(self) -> int:
        return len(self._routes)

    def request(self, number: int, dice: Random) -> Request:
        """Request `number` of a run: the routes take turns."""
        path, method, operation = self._routes[number % len(self._routes)]
        if path.startswith(SLOW) and dice.random() < 0.9:
            path, method, operation = dice.choice(self._routes)
        if dice.random() < 0.05:
            method = dice.choice((*METHODS, "trace", "PROPFIND", "connect", "x" * 50))
        headers: dict[str, str] = {}
        body = None
        if method in ("post", "put", "patch", "delete") and (
            operation.get("requestBody") or dice.random() < 0.1
        ):
            headers["Content-Type"] = "application/json" if dice.random() < 0.9 else dice.choice(TYPES)
            body = self.body(path, operation, dice)
        if dice.random() < 0.1:
            headers |= odd_headers(dice)
        return Request(method.upper(), self.address(path, operation, dice), headers, body)

    def address(self, path: str, operation: dict[str, Any], dice: Random) -> str:
        for name in path.split("{")[1:]:
            filled = path_value(self.ids, dice)
            path = path.replace("{" + name.partition("}")[0] + "}", filled, 1)
        query = [
            parameter["name"]
            for parameter in operation.get("parameters", ())
            if parameter.get("in") == "query"
        ]
        query += ["".join(dice.choices("abcxyz_[]", k=5))] if dice.random() < 0.1 else []
        chosen = [name for name in query if dice.random() < 0.6]
        if not chosen:
            return path
        return path + "?" + "&".join(f"{quote(name)}={quoted(hostile_value(dice))}" for name in chosen)

    def body(self, path: str, operation: dict[str, Any], dice: Random) -> bytes:
        """JSON that is nearly right, JSON that is hostile, or no JSON at all."""
        how = dice.random()
        if how < 0.08:
            return dice.choice(NO_JSON)(dice)
        example = EXAMPLES.get(path)
        if example is None:
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            example = self.example(schema, dice)
        value = example if how < 0.15 else damaged_json(example, dice)
        return as_json(value)

    def example(self, schema: dict[str, Any], dice: Random, depth: int = 0) -> Any:
        """A value that fits the schema, roughly."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = self._document.get("components", {}).get("schemas", {}).get(name, {})
        for union in ("anyOf", "oneOf", "allOf"):
            if schema.get(union):
                return self.example(dice.choice(schema[union]), dice, depth + 1)
        if "enum" in schema:
            return dice.choice(schema["enum"])
        match schema.get("type"):
            case "object" if depth < 5:
                fields = schema.get("properties", {})
                return {
                    name: self.example(field, dice, depth + 1)
                    for name, field in fields.items()
                    if dice.random() < 0.8
                }
            case "array" if depth < 5:
                return [
                    self.example(schema.get("items", {}), dice, depth + 1) for _ in range(dice.randrange(3))
                ]
            case "integer":
                return dice.choice((0, 1, 7))
            case "number":
                return 0.5
            case "boolean":
                return dice.random() < 0.5
            case "string":
                return dice.choice(("a", "Hello", *self.ids[-2:]))
        return {}


def path_value(ids: list[str], dice: Random) -> str:
    """An id that exists, or something that never should."""
    if ids and dice.random() < 0.6:
        return dice.choice(ids)
    odd = (
        "..",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "0",
        "x" * 65,
        "x" * 3000,
        "%00",
        "%ff%fe",
        "a%20b",
        "%F0%9F%8F%B4",
        "-1",
        "null",
    )
    return dice.choice((*odd, "".join(dice.choices("abc019_-", k=8))))


def quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return quote(text[:2000].encode("utf-8", "surrogatepass"))


def as_json(value: Any) -> bytes:
    """Also what strict JSON has not: NaN, lone surrogates."""
    return json.dumps(value).encode()


def odd_headers(dice: Random) -> dict[str, str]:
    return dice.choice(
        (
            {"Authorization": "Bearer"}, {"Authorization": "Basic " + "A" * 4000}, {"Cookie": "a=" + "b" * 3000},
            {"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"X-Forwarded-For": "1.2.3.4, ::::"},
            {"X-Forwarded-Host": "a b"}, {"Forwarded": 'for="[::1"'}, {"Last-Event-ID": "9" * 400}, {"Last-Event-ID": "-1"},
            {"Range": "bytes=5-2,0-0,-1"}, {"Range": "bytes=" + "0-1," * 500}, {"If-None-Match": '"' * 500},
            {"Accept-Encoding": "gzip;q=nan"}, {"Content-Encoding": "gzip"}, {"X-Request-Id": "\x7f" * 300},
            {"Expect": "100-continue"}, {"X-Http-Method-Override": "DELETE"}, {"Duologue-Build": "é" * 100},
        )
    )  # fmt: skip


NO_JSON: tuple[Callable[[Random], bytes], ...] = (
    lambda dice: b"",
    lambda dice: b"{",
    lambda dice: b"[" * 100_000,
    lambda dice: b'{"a":' * 50_000,
    lambda dice: b"\xff\xfe\xfd",
    lambda dice: dice.randbytes(200),
    lambda dice: b"null",
    lambda dice: b"9" * 20_000,
    lambda dice: b'"' + b"a" * 300_000 + b'"',
    lambda dice: b"\xef\xbb\xbf{}",
    lambda dice: b'{"a":1}{"a":2}',
    lambda dice: b'{"messages":[' + b'{"role":"user","content":""},' * 11_000 + b"{}]}",
    lambda dice: b"--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\nabc\r\n--x--",
)

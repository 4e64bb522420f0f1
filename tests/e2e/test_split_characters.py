"""Characters of several tokens, through the real engine: a grammar has the bundled model write emoji and Chinese, which it has no
whole tokens for."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

pytestmark = pytest.mark.system

WRITTEN = "a😀b你好👩‍👩‍👧c"
GRAMMAR = f'root ::= "{WRITTEN}"'
BODY = {
    "messages": [{"role": "user", "content": "Hello"}],
    "grammar": GRAMMAR,
    "enable_thinking": False,
    "logprobs": True,
}


def beginnings() -> list[str]:
    return [WRITTEN[:end] for end in range(len(WRITTEN) + 1)]


def whole(server: Any, **more: Any) -> dict[str, Any]:
    """The answer of a request that is not streamed."""
    answer: dict[str, Any] = httpx.post(
        f"{server.url}/v1/chat/completions", json=BODY | more, timeout=60
    ).json()
    return answer


def streamed(server: Any, **more: Any) -> list[dict[str, Any]]:
    """The choices of a stream's chunks."""
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=BODY | more | {"stream": True}, timeout=60)
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
    return [choice for line in lines for choice in json.loads(line)["choices"]]


def by_socket(server: Any, **generation: Any) -> tuple[str, dict[str, Any]]:
    """What the pieces of a reply on the chat socket join to, and its last message."""
    request = {key: value for key, value in BODY.items() if key != "logprobs"}
    with connect(f"ws://127.0.0.1:{server.port}/ws/chat") as socket:
        socket.send(json.dumps(request | {"generation": generation}))
        said: list[dict[str, Any]] = []
        while not said or said[-1]["type"] not in ("done", "error"):
            said.append(json.loads(socket.recv(timeout=60)))
    return "".join(each.get("text_delta") or "" for each in said[:-1]), said[-1]


def spelt(entries: list[dict[str, Any]]) -> str:
    """The text whose bytes these entries have."""
    return b"".join(bytes(entry["bytes"]) for entry in entries).decode()


def test_no_character_is_broken_or_lost_streamed_or_not_or_on_the_socket(bundled: Any) -> None:
    chunks = streamed(bundled)
    pieces = [chunk["delta"].get("content") or "" for chunk in chunks]
    pieced, done = by_socket(bundled)
    assert whole(bundled)["choices"][0]["message"]["content"] == WRITTEN
    assert "".join(pieces) == pieced == done["text"] == WRITTEN
    assert [chunk["finish_reason"] for chunk in chunks if chunk["finish_reason"]] == ["stop"]


@pytest.mark.parametrize("limit", range(1, 12))
def test_a_limit_inside_a_character_leaves_that_character_out_and_counts_its_tokens(
    bundled: Any, limit: int
) -> None:
    answer = whole(bundled, max_tokens=limit)
    [choice] = answer["choices"]
    content = choice["message"]["content"] or ""
    assert content in beginnings()
    assert (
        "".join(chunk["delta"].get("content") or "" for chunk in streamed(bundled, max_tokens=limit))
        == content
    )
    assert spelt((choice["logprobs"] or {}).get("content") or []) == content
    assert (choice["finish_reason"], answer["usage"]["completion_tokens"]) == ("length", limit)


def test_a_limit_inside_a_character_is_the_same_on_the_socket(bundled: Any) -> None:
    pieced, done = by_socket(bundled, max_tokens=3)
    assert pieced == done["text"] == whole(bundled, max_tokens=3)["choices"][0]["message"]["content"]
    assert done["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("stop", "left"),
    [
        ("好", "a😀b你"),
        ("b你", "a😀"),
        ("😀", "a"),
        ("你x", WRITTEN),
        ("👩‍👧", "a😀b你好👩‍"),
        ("c!", WRITTEN),
    ],
)
def test_a_stop_is_found_among_split_characters_and_what_it_held_back_has_its_logprobs(
    bundled: Any, stop: str, left: str
) -> None:
    [choice] = whole(bundled, stop=[stop])["choices"]
    chunks = streamed(bundled, stop=[stop])
    entries = [entry for chunk in chunks for entry in (chunk["logprobs"] or {}).get("content") or []]
    assert choice["message"]["content"] == left
    assert "".join(chunk["delta"].get("content") or "" for chunk in chunks) == left
    assert spelt(choice["logprobs"]["content"]) == spelt(entries) == left


def test_a_split_character_has_one_entry_with_all_its_bytes(bundled: Any) -> None:
    answer = whole(bundled, top_logprobs=3)
    entries = answer["choices"][0]["logprobs"]["content"]
    assert [entry["token"] for entry in entries] == list(WRITTEN)
    assert answer["usage"]["completion_tokens"] > len(entries)
    alternatives = [other for entry in entries for other in entry["top_logprobs"]]
    for entry in (*entries, *alternatives):
        assert bytes(entry["bytes"]).decode(errors="backslashreplace") == entry["token"]

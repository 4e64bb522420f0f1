"""One server as the upstream of another: the whole way twice, over real sockets."""

import json

import httpx
import openai
import pytest
from websockets.sync.client import connect

pytestmark = pytest.mark.system


def test_a_server_whose_model_is_another_server_answers_as_that_one(serve, server):
    front = serve("--upstream", server.url).ready()
    with openai.OpenAI(base_url=f"{front.url}/v1", api_key="unused") as client:
        stream = client.chat.completions.create(
            model="",
            messages=[{"role": "user", "content": "/say <think>well</think>Hello from afar"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == "Hello from afar"
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "well"
    assert chunks[-1].usage.completion_tokens > 0
    assert httpx.get(f"{front.url}/v1/models").json()["data"][0]["id"] == "scripted"


def test_markup_that_the_upstream_leaves_in_its_text_is_read(serve, server):
    """The upstream's model writes as another family than its server reads."""
    front = serve("--upstream", server.url).ready()
    say = r'/say [THINK]It needs a clock.[/THINK]\nOne moment.\n[TOOL_CALLS]clock[ARGS]{"zone": "UTC"}'
    tool = {"type": "function", "function": {"name": "clock", "parameters": {"type": "object"}}}
    body = {"messages": [{"role": "user", "content": say}], "tools": [tool], "logprobs": True}
    choice = httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=30).json()["choices"][0]
    message = choice["message"]
    assert (message["reasoning_content"], message["content"]) == ("It needs a clock.", "One moment.")
    assert message["tool_calls"][0]["function"] == {"name": "clock", "arguments": '{"zone": "UTC"}'}
    assert choice["finish_reason"] == "tool_calls"
    assert "".join(entry["token"] for entry in choice["logprobs"]["content"]).strip() == "One moment."


def test_a_vanished_client_is_felt_by_the_upstream(serve, server):
    front = serve("--upstream", server.url).ready()
    body = {"stream": True, "messages": [{"role": "user", "content": "/say Hello\n/hang"}]}
    before = server.status()["slots_busy"]
    with httpx.stream("POST", f"{front.url}/v1/chat/completions", json=body, timeout=30) as response:
        lines = response.iter_lines()
        while "Hello" not in next(lines):
            pass
        assert server.status()["slots_busy"] == before + 1
    server.until(lambda: server.status()["slots_busy"] == before)
    front.until(lambda: front.status()["slots_busy"] == 0)


def test_an_upstream_that_is_not_there_is_a_sentence_and_not_a_failed_start(serve):
    front = serve("--upstream", "http://127.0.0.1:9").ready()
    with connect(f"ws://127.0.0.1:{front.port}/ws/chat") as socket:
        socket.send(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
        heard = json.loads(socket.recv(timeout=60))
    assert (heard["type"], heard["code"]) == ("error", "upstream_unreachable")
    assert "127.0.0.1:9" in heard["message"]


def test_two_servers_with_one_model_are_one_name_and_either_may_go(serve, server):
    """Replies go on while one of them is away, and it is used again when it is back."""
    other = serve("--engine", "scripted").ready()
    front = serve("--upstream", server.url, "--upstream", other.url).ready()

    def say(text: str) -> str:
        body = {"messages": [{"role": "user", "content": f"/say {text}"}]}
        answer = httpx.post(f"{front.url}/v1/chat/completions", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["choices"][0]["message"]["content"])

    def states() -> dict[str, str]:
        (row,) = (row for row in httpx.get(f"{front.url}/workers").json()["workers"] if row["replicas"])
        return {replica["url"]: replica["state"] for replica in row["replicas"]}

    here, there = f"{server.url}/v1", f"{other.url}/v1"
    assert [model["id"] for model in httpx.get(f"{front.url}/v1/models").json()["data"]] == ["scripted"]
    assert states() == {here: "ready", there: "ready"}
    drain = f"{front.url}/api/admin/workers/worker_0/replicas/drain"
    assert httpx.post(drain, params={"url": here}, timeout=30).status_code == 202
    front.until(lambda: states()[here] == "draining")
    assert say("by the other") == "by the other"
    assert httpx.delete(drain, params={"url": here}, timeout=30).status_code == 200
    other.stop()
    assert [say(f"number {number}") for number in range(8)] == [f"number {number}" for number in range(8)]
    front.until(lambda: states() == {here: "ready", there: "down"})

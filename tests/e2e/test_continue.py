"""A message that was cut is continued: the text goes on in the same message, and what was read is not read again."""

import json

import httpx
import pytest

pytestmark = pytest.mark.system


def complete(server, messages, **more) -> dict:
    """One completion, greedy."""
    body = {"model": "", "messages": messages, "temperature": 0, **more}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def cut_and_continued(server, messages, tokens: int, **more) -> tuple[dict, dict]:
    cut = complete(server, messages, max_tokens=tokens, **more)
    assert cut["choices"][0]["finish_reason"] == "length"
    begun = {"role": "assistant", "content": cut["choices"][0]["message"]["content"]}
    return cut, complete(server, [*messages, begun], continue_final_message=True, **more)


def text(answer) -> str:
    """Its content; a reply that had ended already is continued by nothing, which is null."""
    return answer["choices"][0]["message"]["content"] or ""


def test_the_scripted_engine_writes_on_where_the_message_stops(server):
    messages = [{"role": "user", "content": "/say one two three four"}]
    cut, rest = cut_and_continued(server, messages, 2)
    assert (text(cut), text(rest)) == ("one two ", "three four")
    assert rest["usage"]["prompt_tokens_details"]["cached_tokens"] >= cut["usage"]["prompt_tokens"]


@pytest.mark.parametrize("tokens", [1, 7, 20])
def test_the_bundled_model_says_the_same_as_in_one_piece(bundled, tokens):
    system = {"role": "system", "content": "You are a helpful assistant. " * 20}
    messages = [system, {"role": "user", "content": "Tell me a story about a fox."}]
    more = {"chat_template_kwargs": {"enable_thinking": False}}
    whole = complete(bundled, messages, max_tokens=60, **more)
    cut, rest = cut_and_continued(bundled, messages, tokens, **more)
    assert text(cut) + text(rest) == text(whole)
    usage = rest["usage"]
    assert usage["prompt_tokens"] == cut["usage"]["prompt_tokens"] + tokens
    assert usage["prompt_tokens_details"]["cached_tokens"] > 0.9 * cut["usage"]["prompt_tokens"]


@pytest.mark.parametrize("tokens", [3, 20, 36, 40], ids=["early thought", "thought", "thought out", "answer"])
def test_a_reply_that_was_cut_while_it_thought_goes_on_thinking(bundled, tokens):
    messages = [{"role": "user", "content": "What is 12 + 31?"}]
    more = {"chat_template_kwargs": {"enable_thinking": True}}
    whole = complete(bundled, messages, max_tokens=200, **more)["choices"][0]["message"]
    cut = complete(bundled, messages, max_tokens=tokens, **more)["choices"][0]["message"]
    begun = {field: cut[field] or "" for field in ("content", "reasoning_content")}
    rest = complete(
        bundled, [*messages, {"role": "assistant", **begun}], continue_final_message=True, **more
    )["choices"][0]["message"]
    for field in ("content", "reasoning_content"):
        assert begun[field] + (rest.get(field) or "") == whole[field]


def test_a_continued_reply_of_a_conversation_is_one_message_with_all_of_its_text(server):
    with httpx.Client(base_url=server.url, timeout=30) as client:
        id = client.post("/api/conversations", json={}).json()["id"]
        message = {"id": "m", "content": [{"type": "text", "text": "/say one two three four"}]}
        cut = {"max_tokens": 2}
        events_of(
            client, id, {"verb": "send", "run": f"{id}-1", "message": message, "options": {"sampling": cut}}
        )
        [_, answer] = client.get(f"/api/conversations/{id}").json()["messages"]
        assert (answer["content"][0]["text"], answer["finish"]) == ("one two ", "length")
        events = events_of(client, id, {"verb": "continue", "run": f"{id}-2", "message": answer["id"]})
        [_, whole] = client.get(f"/api/conversations/{id}").json()["messages"]
    assert (whole["id"], whole["content"][0]["text"]) == (answer["id"], "one two three four")
    assert "".join(event["text"] for event in events if event["type"] == "delta") == "three four"
    assert whole["usage"]["cached"] >= answer["usage"]["input"]


def events_of(client, conversation: str, verb: dict) -> list[dict]:
    """What a run said, to its end."""
    begun = client.post(f"/api/conversations/{conversation}/runs", json=verb)
    assert begun.status_code == 202, begun.text
    lines = client.get(f"/api/runs/{verb['run']}/events").text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]

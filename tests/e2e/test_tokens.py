"""Tokens, templates, adapters, presets and running thoughts, on real servers: the bundled model, and scripts where a reply must take time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import httpx
import numpy as np
import pytest
from tests.e2e.conftest import Server

from duologue.models.catalogue import bundled_model
from duologue.models.gguf import header
from duologue.models.gguf.header import model_tensors

pytestmark = pytest.mark.system
HELLO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello 😀 <|im_end|> you"}]
CLOCK = {"type": "function", "function": {"name": "get_time", "description": "Tells the time."}}
TEMPLATE = "{% for m in messages %}{{ m.role }}> {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}bot> {% endif %}"


def write_adapter(path: Path) -> None:
    """An adapter with random weights for the bundled model."""
    [query] = [tensor for tensor in model_tensors(bundled_model()) if tensor.name == "blk.0.attn_q.weight"]
    writer = gguf.GGUFWriter(path, header.read(bundled_model()).architecture)
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 8.0)
    random = np.random.default_rng(1)
    width, height = query.shape
    writer.add_tensor(f"{query.name}.lora_a", random.standard_normal((4, width)).astype(np.float32))
    writer.add_tensor(f"{query.name}.lora_b", random.standard_normal((height, 4)).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def tuned(lasting: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server with the bundled model, whose data folder has a template, a preset and an adapter."""
    server = lasting()
    for folder in ("templates", "sampling", "loras"):
        (server.data / folder).mkdir(parents=True, exist_ok=True)
    (server.data / "templates" / "plain.jinja").write_text(TEMPLATE)
    (server.data / "templates" / "broken.jinja").write_text("{% for m in %}")
    (server.data / "sampling" / "short.yaml").write_text("max_tokens: {override: 2, force: true}")
    write_adapter(server.data / "loras" / "noise.gguf")
    return server.ready()


@pytest.fixture
def http(tuned: Server):
    with httpx.Client(base_url=tuned.url, timeout=60) as client:
        yield client


def answer(client: httpx.Client, **more: Any) -> dict[str, Any]:
    body = {"messages": HELLO, "max_tokens": 3, "temperature": 0, **more}
    told = client.post("/v1/chat/completions", json=body)
    assert told.status_code == 200, told.text
    return dict(told.json())


def logprobs(client: httpx.Client, **more: Any) -> list[float]:
    choice = answer(client, logprobs=True, **more)["choices"][0]
    return [entry["logprob"] for entry in choice["logprobs"]["content"]]


def test_texts_come_back_from_their_tokens(http):
    for text in ("Hello 😀 <|im_start|>x", "naïve — 漢字\n\n  two blanks", "", "👩‍👩‍👧"):
        tokens = http.post("/tokenize", json={"content": text}).json()["tokens"]
        assert http.post("/detokenize", json={"tokens": tokens}).json()["content"] == text
        encoded = http.post("/v1/token/encode", json={"text": text, "encode_special_tokens": False}).json()
        assert encoded["length"] == len(encoded["tokens"])
        assert http.post("/v1/token/decode", json={"tokens": encoded["tokens"]}).json()["text"] == text


def test_a_control_token_in_a_text_is_one_or_plain_text_as_asked(http):
    one = http.post("/tokenize", json={"content": "<|im_end|>"}).json()["tokens"]
    plain = http.post("/tokenize", json={"content": "<|im_end|>", "parse_special": False}).json()["tokens"]
    assert len(one) == 1 < len(plain)
    hidden = {"tokens": [*one, *plain], "decode_special_tokens": False}
    assert http.post("/v1/token/decode", json=hidden).json()["text"] == "<|im_end|>"


@pytest.mark.parametrize(
    "more", [{}, {"tools": [CLOCK]}, {"enable_thinking": True}, {"reasoning_effort": "low"}]
)
def test_an_applied_template_is_what_a_chat_begins_with(http, more):
    prompt = http.post("/apply-template", json={"messages": HELLO, **more}).json()["prompt"]
    counted = http.post("/tokenize", json={"messages": HELLO, **more}).json()
    tokens = http.post("/tokenize", json={"content": prompt}).json()["tokens"]
    assert counted["tokens"] == tokens
    assert counted["count"] == answer(http, **more)["usage"]["prompt_tokens"]


def test_the_properties_are_true(http):
    told = http.get("/props", params={"model": "duologue-mini"}).json()
    assert told["default_generation_settings"]["n_ctx"] == 4096
    assert told["total_slots"] == len(http.get("/slots").json())
    assert "<|im_start|>" in told["chat_template"]
    assert http.get("/v1/auth/permission").json() == {"permission": "admin"}


def test_a_chosen_template_holds_through_a_restart_of_the_worker(http, tuned):
    usual = http.post("/apply-template", json={"messages": HELLO}).json()
    broken = http.post("/v1/template/switch", json={"prompt_template_name": "broken"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "template_error")
    assert http.post("/v1/template/switch", json={"prompt_template_name": "plain"}).status_code == 200
    expected = {"prompt": "system> Be brief.\nuser> Hello 😀 <|im_end|> you\nbot> "}
    told = http.post("/apply-template", json={"messages": HELLO}).json()
    assert {"prompt": told["prompt"].replace("< |", "<|")} == expected
    assert http.post("/api/admin/workers/worker_0/restart").status_code == 202
    tuned.until(lambda: http.post("/apply-template", json={"messages": HELLO}).status_code == 200)
    assert http.post("/apply-template", json={"messages": HELLO}).json() == told
    assert answer(http)["usage"]["prompt_tokens"] > 0
    http.post("/v1/template/unload")
    assert http.post("/apply-template", json={"messages": HELLO}).json() == usual


def test_a_chosen_preset_holds_for_every_reply(http):
    assert http.post("/v1/sampling/override/switch", json={"preset": "short"}).status_code == 200
    assert answer(http, max_tokens=5)["usage"]["completion_tokens"] == 2
    http.post("/v1/sampling/override/unload")
    assert answer(http, max_tokens=3)["usage"]["completion_tokens"] == 3


def test_an_adapter_changes_the_model_by_its_scale_and_not_at_all_at_zero(http):
    bare = logprobs(http)
    refused = http.post("/v1/chat/completions", json={"messages": HELLO, "lora": [{"id": 0, "scale": 1.0}]})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "lora")
    assert [each["id"] for each in http.get("/v1/loras").json()["data"]] == ["noise"]
    loaded = http.post("/v1/lora/load", json={"loras": [{"name": "noise", "scaling": 1.0}]})
    assert loaded.json() == {"success": ["noise"], "failure": []}
    assert [(each["id"], each["scaling"]) for each in http.get("/v1/lora").json()["data"]] == [("noise", 1.0)]
    with_it = logprobs(http)
    assert with_it != pytest.approx(bare, abs=1e-3)
    assert logprobs(http, lora=[{"id": 0, "scale": 0.0}]) == pytest.approx(bare, abs=2e-3)
    assert logprobs(http, lora=[{"id": 0, "scale": 1.0}]) == pytest.approx(with_it, abs=2e-3)
    assert http.post("/v1/lora/unload").status_code == 200
    assert logprobs(http) == pytest.approx(bare, abs=2e-3)
    assert http.post("/lora-adapters", json=[{"id": 0, "scale": 1.0}]).json() == {"success": True}
    assert logprobs(http) == pytest.approx(with_it, abs=2e-3)
    http.post("/v1/lora/unload")


def test_a_model_of_another_server_tells_its_tokens_through_that_server(lasting, shared_server):
    near = lasting(DUOLOGUE_UPSTREAM__URL=f"{shared_server.url}/v1").ready()
    with httpx.Client(base_url=near.url, timeout=60) as http:
        tokens = http.post("/tokenize", json={"content": "hé"}).json()["tokens"]
        assert bytes(tokens).decode() == "hé"
        assert http.post("/detokenize", json={"tokens": tokens}).json()["content"] == "hé"
        assert http.post("/v1/token/encode", json={"text": "hé"}).json()["length"] == 3
        refused = http.post("/apply-template", json={"messages": HELLO})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "unsupported")


def test_a_running_thought_is_ended_and_the_answer_follows(shared_server):
    script = "/pace 20\n/say <think>" + "hm " * 500 + "</think>Four."
    body = {"messages": [{"role": "user", "content": script}], "stream": True}
    thoughts, texts, told = 0, [], None
    with (
        httpx.Client(base_url=shared_server.url, timeout=60) as client,
        client.stream("POST", "/v1/chat/completions", json=body) as stream,
    ):
        for line in stream.iter_lines():
            if not line.startswith("data: {"):
                continue
            chunk = json.loads(line.removeprefix("data: "))
            for choice in chunk["choices"]:
                thoughts += bool(choice["delta"].get("reasoning_content"))
                texts.append(choice["delta"].get("content") or "")
            if thoughts == 3 and told is None:
                told = client.post(
                    "/v1/chat/completions/control", json={"id": chunk["id"], "action": "reasoning_end"}
                )
    assert told is not None
    assert told.json() == {"success": True}
    assert thoughts < 400
    assert "".join(texts) == "Four."


def test_a_completion_of_a_text_may_name_adapters_too(http):
    http.post("/v1/lora/load", json={"loras": [{"name": "noise", "scaling": 0.0}]}).raise_for_status()
    body = {"prompt": "Once upon a time", "max_tokens": 3, "temperature": 0, "logprobs": 0}
    found = []
    for scale in (0.0, 1.0):
        told = http.post("/v1/completions", json={**body, "lora": [{"id": 0, "scale": scale}]})
        assert told.status_code == 200, told.text
        found.append(told.json()["choices"][0]["logprobs"]["token_logprobs"])
    assert found[0] != pytest.approx(found[1], abs=1e-3)

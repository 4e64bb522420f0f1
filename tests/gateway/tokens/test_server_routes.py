"""What the server says of itself in llama-server's and tabbyAPI's words, and what it refuses."""

import pytest
from tests.support.asked_pool import AskedPool, asking

from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.tokens.asked_model import AskedModels
from duologue.gateway.tokens.server_routes import router
from duologue.values.requests import ModelPreset, PresetEntry

pytestmark = pytest.mark.anyio


def client(pool: AskedPool, role: str = "user"):
    return asking(router(AskedModels(RequestedModels(pool.registry), pool)), role=role)


async def test_the_properties_are_those_of_the_model():
    pool = AskedPool()
    async with client(pool) as http:
        told = (await http.get("/props")).json()
        assert told == (await http.get("/props", params={"model": "alias"})).json()
        assert (await http.get("/props", params={"model": "other"})).status_code == 404
        pool.tuning.preset = ModelPreset({"max_tokens": PresetEntry(7)})
        tuned = (await http.get("/props")).json()
    assert (told["model_alias"], told["total_slots"]) == ("m", 2)
    assert told["default_generation_settings"]["n_ctx"] == 500
    assert told["default_generation_settings"]["params"]["n_predict"] == -1
    assert tuned["default_generation_settings"]["params"]["n_predict"] == 7
    assert "<|im_start|>" in told["chat_template"]
    # Zed looks here for whether a model calls tools.
    assert set(told["chat_template_caps"]) == {"supports_tools", "supports_tool_calls"}


async def test_slots_tell_whether_they_are_in_use_and_nothing_of_the_chats():
    async with client(AskedPool()) as http:
        told = (await http.get("/slots", params={"fail_on_no_slot": "1"})).json()
    assert told == [
        {"id": 0, "n_ctx": 500, "is_processing": True},
        {"id": 1, "n_ctx": 500, "is_processing": False},
    ]


async def test_a_health_check_may_ask_for_a_free_slot():
    pool = AskedPool()
    pool.scheduler.occupied = lambda worker: (True,)  # type: ignore[method-assign]
    async with client(pool) as http:
        assert (await http.get("/slots")).status_code == 200
        assert (await http.get("/slots", params={"fail_on_no_slot": "1"})).status_code == 503


@pytest.mark.parametrize(("role", "permission"), [("admin", "admin"), ("user", "api")])
async def test_a_key_learns_what_it_may_do(role, permission):
    async with client(AskedPool(), role) as http:
        assert (await http.get("/v1/auth/permission")).json() == {"permission": permission}


async def test_moderation_is_refused_with_a_sentence():
    async with client(AskedPool()) as http:
        refused = await http.post("/v1/moderations", json={"input": "a"})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["type"]) == (
        400,
        "unsupported",
        "invalid_request_error",
    )
    assert "moderation model" in error["message"]

"""Choosing a chat template over HTTP: admins alone, by a name of the folder."""

from pathlib import Path

import pytest
from tests.support.asked_pool import AskedPool, asking

from duologue.gateway.tuning.shared_templates import SharedTemplates
from duologue.gateway.tuning.template_routes import router

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plain.jinja").write_text("{{ messages }}")
    (tmp_path / "broken.jinja").write_text("broken")
    return tmp_path


async def test_a_template_is_listed_chosen_and_taken_back(folder):
    pool = AskedPool()
    async with asking(router(SharedTemplates(pool, folder), pool.registry, folder)) as http:
        for path in ("/v1/templates", "/v1/template/list"):
            assert (await http.get(path)).json() == {"object": "list", "data": ["broken", "plain"]}
        chosen = await http.post("/v1/template/switch", json={"prompt_template_name": "plain"})
        assert chosen.json() == {"model": "m", "template": "plain"}
        assert (await http.post("/v1/template/unload")).json() == {"model": "m", "template": None}
    assert pool.templates == [("m", str(folder / "plain.jinja"), "{{ messages }}"), ("m", "", "")]


async def test_a_template_that_cannot_be_used_is_refused_with_its_message(folder):
    pool = AskedPool()
    async with asking(router(SharedTemplates(pool, folder), pool.registry, folder)) as http:
        broken = await http.post("/v1/template/switch", json={"name": "broken"})
        missing = await http.post("/v1/template/switch", json={"name": "../plain"})
        nobody = await http.post("/v1/template/switch", json={"name": "plain", "model": "other"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, "template_error")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "template_not_found")
    assert nobody.status_code == 404
    assert pool.templates == []


async def test_only_admins_choose(folder):
    pool = AskedPool()
    async with asking(router(SharedTemplates(pool, folder), pool.registry, folder), role="user") as http:
        assert (await http.get("/v1/templates")).status_code == 200
        for path in ("/v1/template/switch", "/v1/template/unload"):
            refused = await http.post(path, json={"name": "plain"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "admin_needed")

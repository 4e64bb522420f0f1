"""Choosing a sampling preset over HTTP."""

from pathlib import Path

import pytest
from tests.support.asked_pool import asking

from duologue.gateway.scheduling.model_tuning import ModelTuning
from duologue.gateway.tuning.sampling_routes import router
from duologue.values.requests import ModelPreset, PresetEntry

pytestmark = pytest.mark.anyio
SWITCH, UNLOAD = "/v1/sampling/override/switch", "/v1/sampling/override/unload"
COLD = {"temperature": {"override": 0.0, "force": True, "additive": False}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cold.yaml").write_text("temperature: {override: 0.0, force: true}")
    return tmp_path


async def test_a_preset_is_listed_chosen_and_taken_back(folder):
    tuning = ModelTuning()
    async with asking(router(tuning, folder)) as http:
        idle: dict[str, object] = {"selected_preset": None, "overrides": {}, "presets": ["cold"]}
        for path in ("/v1/sampling/overrides", "/v1/sampling/override/list"):
            assert (await http.get(path)).json() == idle
        chosen = (await http.post(SWITCH, json={"preset": "cold"})).json()
        assert chosen == {"selected_preset": "cold", "overrides": COLD, "presets": ["cold"]}
        assert tuning.preset == ModelPreset({"temperature": PresetEntry(0.0, force=True)})
        own = (await http.post(SWITCH, json={"overrides": {"top_k": 3}})).json()
        assert (own["selected_preset"], own["overrides"]["top_k"]["override"]) == (None, 3)
        assert (await http.post(UNLOAD)).json() == idle
    assert tuning.preset is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"preset": "cold", "overrides": {}}, 400),
        ({"preset": "warm"}, 404),
        ({"overrides": {"temperatur": 1}}, 400),
        ({"overrides": [1]}, 400),
    ],
)
async def test_a_preset_that_cannot_be_used_changes_nothing(folder, body, status):
    tuning = ModelTuning()
    async with asking(router(tuning, folder)) as http:
        assert (await http.post(SWITCH, json=body)).status_code == status
    assert tuning.preset is None


async def test_only_admins_choose(folder):
    async with asking(router(ModelTuning(), folder), role="user") as http:
        assert (await http.get("/v1/sampling/overrides")).status_code == 200
        for path in (SWITCH, UNLOAD):
            assert (await http.post(path, json={"preset": "cold"})).status_code == 403

"""Rendering and keeping clips, with a stand-in for the model."""

from pathlib import Path

import anyio
import numpy
import pytest
from tests.support.tiny_video import face_picture

from duologue.engines.footage.clip_store import picture_key
from duologue.engines.wan import renderer as module
from duologue.engines.wan.clip_plan import ClipPlan, WanFacts
from duologue.engines.wan.renderer import RenderStep, WanOptions, WanRenderer, load
from duologue.engines.wan.wan_weights import WanFiles
from duologue.errors import BadRequest, EngineFailed, StartFailed

pytestmark = pytest.mark.anyio
PICTURE = face_picture(90, 60)
PLAN = ClipPlan(PICTURE, 1.0)


class Model:
    facts = WanFacts("a", 16, True, 16, 2)

    def __init__(self):
        self.rendered = 0

    def render(self, plan, picture, sampling, watch):
        self.rendered += 1
        for done in range(1, sampling.steps + 1):
            if not watch(done):
                return None
        return numpy.stack([picture] * 17)


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def renderer(model, tmp_path):
    files = WanFiles(tmp_path, "a", 2, (), ())
    return WanRenderer(model, files, WanOptions(str(tmp_path / "cache"), size=96, steps=5))


async def reports(renderer, plan=PLAN):
    async with renderer.idle_clip(plan) as steps:
        return [step async for step in steps]


async def test_a_clip_is_reported_step_by_step_stored_and_used_for_its_picture(renderer):
    made = await reports(renderer)
    key = renderer.key(PLAN)
    assert made == [*(RenderStep(done, 5) for done in range(1, 6)), RenderStep(5, 5, key)]
    clip = renderer.store.of_picture(picture_key(PICTURE))
    assert (clip.key, clip.frames.shape) == (key, (17, 64, 96, 3))
    assert (clip.details.rate, clip.details.loops) == (16, True)


async def test_a_stored_clip_is_used_again_and_another_one_takes_its_place(renderer, model):
    await reports(renderer)
    other = ClipPlan(PICTURE, 1.0, seed=2)
    await reports(renderer, other)
    assert renderer.store.of_picture(picture_key(PICTURE)).key == renderer.key(other)
    assert len(await reports(renderer)) == 1
    assert model.rendered == 2
    assert renderer.store.of_picture(picture_key(PICTURE)).key == renderer.key(PLAN)


async def test_leaving_stops_the_model_and_nothing_is_stored(renderer, monkeypatch):
    monkeypatch.setattr(module, "STEPS_AHEAD", 1)
    with anyio.CancelScope() as scope:
        async with renderer.idle_clip(PLAN) as steps:
            async for _ in steps:
                scope.cancel()
    assert renderer.store.find(renderer.key(PLAN)) is None
    assert renderer.store.of_picture(picture_key(PICTURE)) is None


async def test_the_model_has_its_own_steps_and_guidance(model, tmp_path):
    files = WanFiles(tmp_path, "a", 2, (), ())
    two = WanRenderer(model, files, WanOptions("x"))
    assert (two.sampling.steps, two.sampling.guidance, two.sampling.second) == (40, 3.5, None)
    model.facts = WanFacts("b", 24, False, 32, 1)
    assert (two.sampling.steps, two.sampling.guidance) == (50, 5.0)
    asked = WanRenderer(model, files, WanOptions("x", steps=4, guidance=1.0, guidance_2=1.0)).sampling
    assert (asked.steps, asked.guidance, asked.second) == (4, 1.0, 1.0)


async def test_bad_plans_are_sentences_and_a_closed_renderer_says_so(renderer):
    with pytest.raises(BadRequest, match="not 99"):
        await reports(renderer, ClipPlan(PICTURE, 99))
    with pytest.raises(BadRequest, match="cannot be read"):
        await reports(renderer, ClipPlan(b"no", 1.0))
    await renderer.close()
    with pytest.raises(EngineFailed, match="was closed"):
        await reports(renderer)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cache": ""}, "must name the folder"),
        ({}, "missing required field `cache`"),
        ({"cache": "x", "steps": 0}, "between 1 and 200"),
        ({"cache": "x", "precision": "int4"}, "must be one of auto"),
        ({"cache": "x", "size": 5000}, "between 16 and 2048"),
        ({"cache": "x", "device": "tpu"}, "There is no device"),
        ({"cache": "x", "loras": [{"file": "a"}]}, "An option of the engine wan is wrong"),
        ({"cache": "x", "model": str(Path("/nowhere/wan"))}, "are not at"),
    ],
)
async def test_options_that_there_are_not_are_refused_before_anything_is_loaded(options, sentence):
    with pytest.raises(StartFailed, match=sentence):
        await load(options)

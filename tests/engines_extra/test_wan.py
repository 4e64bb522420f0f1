"""Wan 2.2 through diffusers' real classes with tiny random weights: what it renders is noise, but of the right length, from the right
files, stored once and stopped at once."""

import os
import shutil

import anyio
import numpy
import pytest
from tests.support.engine_device import DEVICE
from tests.support.tiny_video import (
    avatar,
    face_picture,
    make_musetalk,
    make_wan,
    write_wan_gguf,
    write_wan_lora,
)

from duologue.engines.footage.clip_store import picture_key
from duologue.engines.wan import renderer as module
from duologue.engines.wan.clip_plan import ClipPlan
from duologue.engines.wan.renderer import load
from duologue.errors import BadRequest, StartFailed

pytest.importorskip("diffusers", reason="wan is tried by make test-engines")
import torch
from safetensors.torch import save_file

pytestmark = pytest.mark.anyio
PICTURE = face_picture(64, 64)
PLAN = ClipPlan(PICTURE, seconds=0.5, prompt="a person looks into the camera", negative="talking")


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    torch.set_num_threads(1)
    place = tmp_path_factory.mktemp("models")
    make_wan(place / "a14b")
    make_wan(place / "5b", experts=1)
    return place


@pytest.fixture
def options(models, tmp_path):
    return {
        "model": "a14b",
        "models": str(models),
        "cache": str(tmp_path / "cache"),
        "device": DEVICE,
        "size": 32,
        "steps": 2,
    }


async def rendered(renderer, plan=PLAN):
    """The reports of a clip, and the clip."""
    async with renderer.idle_clip(plan) as steps:
        reports = [step async for step in steps]
    return reports, renderer.store.find(reports[-1].key)


async def frames_of(options, plan=PLAN):
    return (await rendered(await load(options), plan))[1].frames


async def test_the_two_experts_make_a_clip_that_ends_as_it_began(options):
    reports, clip = await rendered(await load(options))
    assert [(report.done, report.total) for report in reports] == [(1, 2), (2, 2), (2, 2)]
    assert clip.frames.shape == (9, 32, 32, 3)
    assert (clip.details.rate, clip.details.loops) == (16, True)


async def test_the_small_model_makes_a_clip_that_goes_forth_and_back(options):
    _, clip = await rendered(await load(options | {"model": "5b"}))
    assert clip.frames.shape == (13, 32, 32, 3)
    assert (clip.details.rate, clip.details.loops) == (24, False)


async def test_a_stored_clip_is_not_rendered_again(options, monkeypatch):
    await rendered(await load(options))
    renderer = await load(options)
    monkeypatch.setattr(renderer._network, "render", lambda *_: pytest.fail("rendered"))
    reports, clip = await rendered(renderer)
    assert len(reports) == 1
    assert clip is not None
    assert renderer.store.of_picture(picture_key(PICTURE)).key == clip.key


@pytest.mark.parametrize("model", ["a14b", "5b"])
async def test_half_precision_makes_nearly_the_same_clip(options, model):
    whole = await frames_of(options | {"model": model})
    half = await frames_of(options | {"model": model, "precision": "bfloat16"})
    assert abs(half.astype(int) - whole.astype(int)).mean() < 8
    assert (half != whole).any()


async def test_the_same_plan_makes_the_same_clip_and_another_seed_or_prompt_another_one(options, tmp_path):
    one = await frames_of(options)
    again = await frames_of(options | {"cache": str(tmp_path / "again")})
    assert (one == again).all()
    renderer = await load(options)
    plans = [
        PLAN,
        ClipPlan(PICTURE, 0.5, PLAN.prompt, PLAN.negative, seed=1),
        ClipPlan(PICTURE, 0.5, "a person smiles", PLAN.negative),
        ClipPlan(PICTURE, 0.75, PLAN.prompt, PLAN.negative),
    ]
    assert len({renderer.key(plan) for plan in plans}) == len(plans)
    for plan in plans[1:3]:
        assert (await frames_of(options, plan) != one).any()


async def test_leaving_ends_the_work_within_a_step_and_stores_nothing(options, tmp_path, monkeypatch):
    renderer = await load(options | {"steps": 50})
    done = []
    monkeypatch.setattr(module, "STEPS_AHEAD", 1)
    async with renderer.idle_clip(PLAN) as steps:
        async for step in steps:
            done.append(step.done)
            break
    assert done == [1]
    with anyio.CancelScope() as scope:
        async with renderer.idle_clip(PLAN) as steps:
            async for _ in steps:
                scope.cancel()
    assert not (tmp_path / "cache").exists()


async def test_a_lora_changes_the_clip_and_switching_it_off_restores_it(options, tmp_path):
    plain = await frames_of(options)
    lora = write_wan_lora(tmp_path / "smile.safetensors")
    renderer = await load(options | {"loras": [{"path": str(lora), "weight": 2.0}]})
    without = ClipPlan(PICTURE, 0.5, PLAN.prompt, PLAN.negative, loras=False)
    shutil.rmtree(tmp_path / "cache")
    changed = (await rendered(renderer))[1].frames
    restored = (await rendered(renderer, without))[1].frames
    again = (await rendered(renderer))[1].frames
    assert (changed != plain).any()
    assert (restored == plain).all()
    assert (again == changed).all()
    assert renderer.key(without) == (await load(options)).key(without)


async def test_a_lora_reaches_the_second_expert(options, tmp_path, models):
    one = write_wan_lora(tmp_path / "high.safetensors")
    two = write_wan_lora(tmp_path / "low.safetensors", seed=2)
    both = await frames_of(options | {"loras": [{"path": str(one)}]})
    apart = await frames_of(options | {"loras": [{"path": str(one), "second": str(two)}]})
    assert (both != apart).any()


async def test_loras_of_other_models_are_a_sentence_each(options, tmp_path):
    wide = write_wan_lora(tmp_path / "wide.safetensors", width=64)
    with pytest.raises(StartFailed, match=r"wide\.safetensors was not made for a14b"):
        await load(options | {"loras": [{"path": str(wide)}]})
    save_file(
        {
            "transformer.single_blocks.0.to_q.lora_A.weight": torch.ones(2, 32),
            "transformer.single_blocks.0.to_q.lora_B.weight": torch.ones(32, 2),
        },
        tmp_path / "flux.safetensors",
    )
    with pytest.raises(StartFailed, match="was not made for a14b"):
        await load(options | {"loras": [{"path": str(tmp_path / "flux.safetensors")}]})
    with pytest.raises(StartFailed, match="There is no file"):
        await load(options | {"loras": [{"path": "gone.safetensors"}]})


async def test_gguf_files_take_the_place_of_both_transformers(options, models, tmp_path):
    plain = await frames_of(options)
    high = write_wan_gguf(tmp_path / "high.gguf", models / "a14b" / "transformer")
    low = write_wan_gguf(tmp_path / "low.gguf", models / "a14b" / "transformer_2")
    made = await frames_of(options | {"gguf": [str(high), str(low)]})
    # Eight bits are nearly the same, and not another model.
    assert abs(made.astype(int) - plain.astype(int)).mean() < 10
    lora = write_wan_lora(tmp_path / "smile.safetensors")
    changed = await frames_of(options | {"gguf": [str(high), str(low)], "loras": [{"path": str(lora)}]})
    assert (changed != made).any()


async def test_a_gguf_file_of_the_small_model_is_read_by_the_settings_in_its_folder(
    options, models, tmp_path
):
    file = write_wan_gguf(tmp_path / "5b.gguf", models / "5b" / "transformer")
    frames = await frames_of(options | {"model": "5b", "gguf": [str(file)]})
    assert frames.shape == (13, 32, 32, 3)


async def test_gguf_files_that_do_not_fit_are_a_sentence_each(options, models, tmp_path):
    small = write_wan_gguf(tmp_path / "5b.gguf", models / "5b" / "transformer")
    with pytest.raises(StartFailed, match="has 2 transformers, and 1 GGUF files are named"):
        await load(options | {"gguf": [str(small)]})
    with pytest.raises(StartFailed, match="cannot be used as the transformer"):
        await load(options | {"gguf": [str(small), str(small)]})
    (tmp_path / "broken.gguf").write_bytes(b"GGUF nothing")
    with pytest.raises(StartFailed, match="cannot be used as the transformer"):
        await load(options | {"model": "5b", "gguf": [str(tmp_path / "broken.gguf")]})


async def test_models_that_make_no_clips_of_pictures_are_a_sentence_each(options, models, tmp_path):
    with pytest.raises(StartFailed, match="diffusers has no class for it"):
        await load(options | {"model": "Wan2.2-S2V-14B"})
    with pytest.raises(StartFailed, match=r"hf download Wan-AI/Wan2[.]2-I2V-A14B-Diffusers"):
        await load(options | {"model": "Wan2.2-I2V-A14B-Diffusers"})
    make_wan(tmp_path / "t2v", experts=1, text_alone=True)
    with pytest.raises(StartFailed, match="makes videos from text alone"):
        await load(options | {"model": str(tmp_path / "t2v")})
    (tmp_path / "original").mkdir()
    with pytest.raises(StartFailed, match="name ends in -Diffusers"):
        await load(options | {"model": str(tmp_path / "original")})


async def test_damaged_and_pickled_weights_are_a_sentence(options, models, tmp_path, monkeypatch):
    monkeypatch.setenv("EVIL_PLACE", str(tmp_path / "ran"))
    broken = shutil.copytree(models / "5b", tmp_path / "broken")
    file = broken / "transformer" / "diffusion_pytorch_model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(StartFailed, match="cannot be loaded by diffusers"):
        await load(options | {"model": str(broken)})
    file.unlink()
    torch.save({"a": Evil()}, file.with_suffix(".bin"))
    with pytest.raises(StartFailed, match="cannot be loaded by diffusers"):
        await load(options | {"model": str(broken)})
    assert not (tmp_path / "ran").exists()


class Evil:
    def __reduce__(self):
        return (os.mkdir, (os.environ["EVIL_PLACE"],))


async def test_bad_plans_are_a_sentence_each(options):
    renderer = await load(options)
    with pytest.raises(BadRequest, match="not 60"):
        await rendered(renderer, ClipPlan(PICTURE, 60))
    with pytest.raises(BadRequest, match="cannot be read"):
        await rendered(renderer, ClipPlan(b"nothing", 0.5))


async def test_musetalk_moves_the_lips_in_the_clip_that_was_rendered(options, tmp_path):
    from duologue.engines.musetalk.engine import load as load_musetalk
    from duologue.engines.video_contracts import Stretch

    data = face_picture(128, 128)
    _, clip = await rendered(
        await load(options | {"model": "5b", "size": 128}), ClipPlan(data, 0.75, PLAN.prompt, PLAN.negative)
    )
    talk = await load_musetalk(
        {"model": str(make_musetalk(tmp_path / "musetalk")), "cache": options["cache"], "device": DEVICE}
    )
    figure = await talk.prepare(avatar(data=data))
    # 17 frames at 24 a second are 18 at 25, forth and back.
    assert (figure.width, figure.height, figure.idle_frames) == (128, 128, 36)
    async with figure.frames(Stretch(first=17, count=1)) as frames:
        last = await anext(frames)
    assert last == clip.frames[-1].tobytes()
    assert numpy.frombuffer(last, numpy.uint8).any()

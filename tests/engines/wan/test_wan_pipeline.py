"""What of the pipeline can be judged without PyTorch; `tests/engines_extra/test_wan.py` runs the real one."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from duologue.engines.wan.clip_plan import ClipPlan, WanFacts
from duologue.engines.wan.wan_pipeline import NoiseSteps, WanNetwork, describe
from duologue.engines.wan.wan_weights import LoraFile
from duologue.errors import DeviceLost, EngineFailed, StartFailed

PICTURE = numpy.zeros((32, 48, 3), numpy.uint8)


def pipeline(channels: int, taken: int, *, expands: bool, second: object = None) -> Any:
    config = SimpleNamespace(in_channels=taken, patch_size=(1, 2, 2))
    return SimpleNamespace(
        vae=SimpleNamespace(config=SimpleNamespace(z_dim=channels)),
        transformer=SimpleNamespace(config=config),
        transformer_2=second,
        config=SimpleNamespace(expand_timesteps=expands),
        vae_scale_factor_spatial=16 if channels == 48 else 8,
    )


def test_the_models_are_told_by_their_channels():
    assert describe("a", pipeline(16, 36, expands=False, second=object())) == WanFacts("a", 16, True, 16, 2)
    assert describe("b", pipeline(48, 48, expands=True)) == WanFacts("b", 24, False, 32, 1)


def test_a_model_of_text_alone_is_a_sentence():
    with pytest.raises(StartFailed, match="from text alone"):
        describe("t2v", pipeline(16, 16, expands=False))


class Pipeline:
    """Counts its steps, and makes a clip of halves."""

    def __init__(self, failure: Exception | None = None):
        self.asked: dict[str, Any] = {}
        self.loras: list[bool] = []
        self._failure = failure

    def enable_lora(self):
        self.loras.append(True)

    def disable_lora(self):
        self.loras.append(False)

    def __call__(self, **asked):
        self.asked = asked
        if self._failure is not None:
            raise self._failure
        for step in range(asked["num_inference_steps"]):
            asked["callback_on_step_end"](self, step, 1000 - step, {"latents": None})
        shape = (asked["num_frames"], asked["height"], asked["width"], 3)
        return SimpleNamespace(frames=[numpy.full(shape, 0.5)])


TORCH = SimpleNamespace(Generator=lambda device: SimpleNamespace(manual_seed=lambda seed: (device, seed)))


LARGE = WanFacts("a", 16, True, 16, 2)


def noted(seen: list[int], until: int) -> Callable[[int], bool]:
    def watch(done: int) -> bool:
        seen.append(done)
        return done < until

    return watch


def network(made, facts=LARGE, loras=()):
    return WanNetwork(TORCH, made, facts, loras)


def test_a_clip_is_asked_for_with_the_same_first_and_last_frame():
    made = Pipeline()
    seen: list[int] = []
    clip = network(made).render(
        ClipPlan(b"", 1.0, seed=4), PICTURE, NoiseSteps(3, 3.5, None), noted(seen, 99)
    )
    assert clip.shape == (17, 32, 48, 3)
    assert clip.dtype == numpy.uint8
    assert (clip == 128).all()
    assert seen == [1, 2, 3]
    assert made.asked["last_image"] is made.asked["image"]
    assert made.asked["generator"] == ("cpu", 4)
    assert made.loras == []


def test_the_small_model_is_told_no_last_frame():
    made = Pipeline()
    network(made, WanFacts("b", 24, False, 32, 1)).render(
        ClipPlan(b"", 1.0), PICTURE, NoiseSteps(1, 5.0, 2.0), lambda _: True
    )
    assert made.asked["last_image"] is None
    assert made.asked["guidance_scale_2"] is None


def test_a_watcher_that_has_left_ends_the_steps_and_there_is_no_clip():
    seen: list[int] = []
    assert (
        network(Pipeline()).render(ClipPlan(b"", 1.0), PICTURE, NoiseSteps(9, 1.0, None), noted(seen, 2))
        is None
    )
    assert seen == [1, 2]


def test_loras_are_switched_for_each_clip():
    made = Pipeline()
    renders = network(made, loras=(LoraFile("x"),))
    for wanted in (True, False, True):
        renders.render(ClipPlan(b"", 1.0, loras=wanted), PICTURE, NoiseSteps(1, 1.0, None), lambda _: True)
    assert made.loras == [True, False, True]


def test_failures_of_the_card_and_of_the_library_are_told_apart():
    plan, sampling = ClipPlan(b"", 1.0), NoiseSteps(1, 1.0, None)
    with pytest.raises(DeviceLost):
        network(Pipeline(RuntimeError("CUDA error: unspecified launch failure"))).render(
            plan, PICTURE, sampling, lambda _: True
        )
    with pytest.raises(EngineFailed, match="wan failed: odd size"):
        network(Pipeline(ValueError("odd size"))).render(plan, PICTURE, sampling, lambda _: True)

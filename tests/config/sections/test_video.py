"""The video settings, and the options passed to a voice worker."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from duologue.config.sections.video import LoRASpec, VideoConfig


def test_the_engine_without_weights_gets_its_size_and_rate():
    options = VideoConfig(size=256, rate=30, options={"threads": 2}).engine_options(Path("/models"))
    assert options == {"engine": "portrait", "size": 256, "rate": 30, "threads": 2}


def test_an_engine_with_weights_gets_where_they_are_and_its_loras():
    config = VideoConfig(
        engine="musetalk", device="gpu:1", loras=(LoRASpec(path="warm.safetensors", weight=0.5),)
    )
    assert config.engine_options(Path("/models"), Path("/data/cache")) == {
        "engine": "musetalk",
        "size": 512,
        "rate": 25,
        "models": "/models",
        "cache": "/data/cache",
        "device": "cuda:1",
        "loras": [{"path": "warm.safetensors", "weight": 0.5, "name": "", "second": ""}],
    }


def test_false_switches_video_off():
    assert VideoConfig(enabled=False).engine_options() == {}


@pytest.mark.parametrize("wrong", [{"size": 333}, {"size": 32}, {"rate": 0}, {"engine": "paint"}])
def test_what_no_video_can_have_is_refused(wrong):
    with pytest.raises(ValidationError):
        VideoConfig(**wrong)

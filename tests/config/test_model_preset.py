"""A model's preset in the settings: what it may say, and how a wrong one is explained."""

from typing import Any

import pytest
from pydantic import ValidationError

from duologue.config.model_preset import PresetSettings
from duologue.config.settings import Settings
from duologue.values.requests import PresetEntry


def test_a_value_alone_or_with_its_say_about_requests():
    preset = PresetSettings(
        sampling={
            "temperature": 0.7,
            "stop": {"override": ["###"], "force": True},
            "logit_bias": {"17": -100},
        },
        force_enable_thinking=True,
    ).preset
    assert preset.force_thinking
    assert preset.sampling == {
        "temperature": PresetEntry(0.7),
        "stop": PresetEntry(["###"], force=True),
        "logit_bias": PresetEntry({"17": -100}),
    }


@pytest.mark.parametrize(
    ("sampling", "word"),
    [
        ({"heat": 1}, "'heat'"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": {"force": True}}, "override"),
        ({"temperature": {"override": 1, "frce": True}}, "frce"),
        ({"temperature": {"override": 1, "additive": True}}, "additive is for"),
        ({"stop": "###"}, "stop"),
        ({"logprobs": 3}, "logprobs"),
    ],
)
def test_a_wrong_entry_is_named(sampling: dict[str, Any], word: str):
    with pytest.raises(ValidationError, match=word):
        PresetSettings(sampling=sampling)


def test_a_worker_has_a_preset_of_its_own_or_that_of_all():
    settings = Settings.model_validate(
        {
            "sampling": {"top_k": 5},
            "workers": [
                {"engine": "scripted"},
                {"engine": "scripted", "sampling": {"min_p": 0.1}, "force_enable_thinking": True},
            ],
        }
    )
    first, second = (entry.preset for entry in settings.worker_entries)
    assert (list(first.sampling), first.force_thinking) == (["top_k"], False)
    assert (list(second.sampling), second.force_thinking) == (["min_p"], True)

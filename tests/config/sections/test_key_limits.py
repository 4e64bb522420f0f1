"""The settings of limits."""

import pytest
from pydantic import ValidationError

from duologue.config import Settings
from duologue.config.sections.key_limits import KeyLimitSettings
from duologue.values.usage.key_limits import UNLIMITED, AppliedLimits


def test_without_settings_there_are_no_limits():
    assert Settings().limits.key.applied() == UNLIMITED


def test_settings_are_the_limits_of_every_users_key():
    settings = Settings.model_validate(
        {"limits": {"key": {"concurrent": 2, "models": ["qwen*"], "weight": 3}}}
    )
    assert settings.limits.key.applied() == AppliedLimits(concurrent=2, models=("qwen*",), weight=3.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"concurrent": -1},
        {"tokens_per_day": 10**13},
        {"weight": 0},
        {"models": [""]},
        {"models": ["a"] * 101},
    ],
)
def test_what_is_no_limit_is_refused(wrong):
    with pytest.raises(ValidationError):
        KeyLimitSettings(**wrong)

from __future__ import annotations

from duologue.turns.settings import TurnSettings, seconds
from duologue.values.call_events import CallSetup


def test_a_second_is_sixteen_thousand_samples() -> None:
    assert seconds(1) == 16_000
    assert seconds(0.032) == 512


def test_settings_come_from_how_the_call_begins() -> None:
    settings = TurnSettings.of(
        CallSetup(language="de", pauses=True, marks=True, interruptible=False, listens=False)
    )
    assert (settings.language, settings.pauses, settings.marks) == ("de", True, True)
    assert not settings.interruptible
    assert not settings.listens


def test_a_call_without_a_language_is_in_english() -> None:
    assert TurnSettings.of(CallSetup()).language == "en"

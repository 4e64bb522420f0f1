from __future__ import annotations

from duologue.turns.patience import due
from duologue.turns.reply_state import Saying
from duologue.turns.settings import TurnSettings, seconds

SETTINGS = TurnSettings()


def test_a_model_that_gives_nothing_is_announced_once_and_given_up() -> None:
    saying = Saying(1)
    assert due(saying, seconds(7.9), SETTINGS) is None
    assert due(saying, seconds(8.0), SETTINGS) == "slow"
    saying.slow = True
    assert due(saying, seconds(19.9), SETTINGS) is None
    assert due(saying, seconds(20.0), SETTINGS) == "give_up"


def test_whatever_comes_begins_the_time_anew() -> None:
    saying = Saying(1, progress=seconds(6))
    assert due(saying, seconds(13), SETTINGS) is None
    assert due(saying, seconds(14), SETTINGS) == "slow"


def test_a_wait_is_filled_once_and_counted_from_the_last_sound() -> None:
    saying = Saying(1, waiting=seconds(1), progress=seconds(3))
    assert due(saying, seconds(4), SETTINGS) is None
    assert due(saying, seconds(4.5), SETTINGS) == "filler"
    saying.filled = True
    assert due(saying, seconds(60), SETTINGS) is None


def test_a_tool_is_not_a_silent_model_but_is_not_waited_for_for_ever() -> None:
    saying = Saying(1, waiting=0, filled=True)
    assert due(saying, seconds(100), SETTINGS) is None
    assert due(saying, seconds(180), SETTINGS) == "give_up"

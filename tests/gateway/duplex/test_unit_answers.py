"""A chunk is answered once the model's units cover it, and each unit's figures go into one result."""

from typing import Any

from duologue.gateway.duplex.unit_answers import UnitAnswers
from duologue.values.call_events import UnitAnswered
from duologue.values.duplex import ChunkFigures


def unit(number: int, samples: int, **figures: Any) -> UnitAnswered:
    return UnitAnswered(0, number, samples, **figures)


def test_a_chunk_is_answered_by_the_unit_that_reaches_its_end():
    units = UnitAnswers()
    first, second = units.add_chunk(8000), units.add_chunk(8000)
    units.take(unit(1, 12000))
    assert (units.is_answered(first), units.is_answered(second)) == (True, False)
    units.take(unit(2, 4000))
    assert units.is_answered(second)


def test_the_figures_of_several_units_in_one_chunk_are_added_and_the_cache_is_the_last():
    units = UnitAnswers()
    end = units.add_chunk(32000)
    units.take(unit(1, 16000, language_ms=5.0, written=3, cached=100, slices=1, vision_tokens=64))
    units.take(unit(2, 16000, language_ms=7.0, written=4, cached=140, codes=25))
    assert units.figures(end) == ChunkFigures(
        language_ms=12.0, written=7, codes=25, cached=140, slices=1, vision_tokens=64
    )


def test_a_chunk_without_a_unit_of_its_own_has_the_figures_of_the_cache_alone():
    units = UnitAnswers()
    first, second = units.add_chunk(8000), units.add_chunk(8000)
    units.take(unit(1, 16000, written=3, cached=100))
    assert units.figures(first) == ChunkFigures(cached=100)
    assert units.figures(second) == ChunkFigures(written=3, cached=100)


def test_a_model_that_answers_for_more_than_it_was_given_is_not_ahead():
    units = UnitAnswers()
    units.add_chunk(16000)
    units.take(unit(1, 99999))
    assert not units.is_answered(units.add_chunk(16000))


def test_what_a_lost_session_did_not_answer_keeps_nobody_waiting():
    units = UnitAnswers()
    first = units.add_chunk(16000)
    units.lost()
    assert units.is_answered(first)
    assert not units.is_answered(units.add_chunk(16000))


def test_nobody_waits_for_what_was_given_up():
    units = UnitAnswers()
    first, second = units.add_chunk(16000), units.add_chunk(16000)
    assert units.figures(first) == ChunkFigures()
    units.take(unit(1, 16000, written=2))
    assert units.is_answered(second), "otherwise every later result would come as late"
    assert units.figures(second) == ChunkFigures(written=2)

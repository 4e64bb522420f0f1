"""Decoder jobs: found by name, limited, and typed by their annotations."""

from __future__ import annotations

import pytest
from tests.support import decoder_jobs as jobs

from duologue.decoder.job import find_job, limits_of, name_of, types_of


def test_a_job_is_found_by_its_name() -> None:
    assert find_job(name_of(jobs.measure)) is jobs.measure


def test_a_function_that_is_no_job_has_no_name() -> None:
    with pytest.raises(TypeError):
        name_of(jobs.not_a_job)


@pytest.mark.parametrize("name", ["os:abort", "tests.support.decoder_jobs:not_a_job", "json:absent"])
def test_only_marked_functions_are_found(name: str) -> None:
    with pytest.raises(LookupError):
        find_job(name)


def test_a_job_has_the_limits_it_was_marked_with() -> None:
    assert limits_of(jobs.swell).memory_mb == 128


def test_the_types_are_those_of_the_annotations() -> None:
    types = types_of(jobs.measure)
    assert (types.arguments, types.result, types.streams) == (tuple[str], jobs.Measured, False)


def test_a_job_that_returns_an_iterator_streams_its_items() -> None:
    types = types_of(jobs.count)
    assert (types.arguments, types.result, types.streams) == (tuple[int], int, True)

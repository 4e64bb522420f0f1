"""What a job raised arrives as it was raised, or as what may be told of it."""

from __future__ import annotations

import pytest

from duologue.decoder.frames import JobFailure, failure_of, problem_of
from duologue.errors import BadRequest, NotFound, Problem, TooLarge, Unsupported


@pytest.mark.parametrize("kind", [BadRequest, NotFound, TooLarge, Unsupported])
def test_a_problem_keeps_its_class_code_status_and_field(kind: type[Problem]) -> None:
    problem = problem_of(failure_of(kind("A sentence.", code="a_code", status=418, param="file")))
    assert type(problem) is kind
    assert (problem.message, problem.code, problem.status, problem.param) == (
        "A sentence.",
        "a_code",
        418,
        "file",
    )


def test_a_lack_of_memory_is_told_as_such() -> None:
    assert failure_of(MemoryError()) == JobFailure("memory")


def test_any_other_error_is_no_problem() -> None:
    failure = failure_of(KeyError("x" * 1000))
    assert problem_of(failure) is None
    assert len(failure.message) <= 500


@pytest.mark.parametrize("kind", ["annotations", "Exception", "", "no such class"])
def test_only_problems_are_made_of_what_a_child_sends(kind: str) -> None:
    assert problem_of(JobFailure(kind, "A sentence.")) is None

"""The tree of errors: what every problem promises to whoever meets it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from duologue import errors
from duologue.errors import Problem


def kinds(kind: type[Problem] = Problem) -> Iterator[type[Problem]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from kinds(inner)


def test_no_two_kinds_of_problem_share_a_code() -> None:
    codes = [kind.code for kind in kinds() if kind.__module__ == errors.__name__]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind.__module__ == errors.__name__])
def test_every_kind_has_an_http_status_for_errors(kind: type[Problem]) -> None:
    assert 400 <= kind.status < 600


def test_a_problem_says_its_sentence() -> None:
    problem = errors.BadRequest("temperature must be a number.", param="temperature")
    assert str(problem) == problem.message == "temperature must be a number."
    assert (problem.code, problem.status, problem.param) == ("invalid_request", 400, "temperature")


def test_a_problem_can_be_given_a_code_of_its_own_without_changing_its_kind() -> None:
    problem = errors.BadRequest("That is no JSON.", code="invalid_json", status=422)
    assert (problem.code, problem.status) == ("invalid_json", 422)
    assert (errors.BadRequest.code, errors.BadRequest.status) == ("invalid_request", 400)

"""The problems of a cluster."""

from __future__ import annotations

from duologue.placement.cluster import ClusterProblem


def test_a_problem_is_a_code_and_a_sentence() -> None:
    problem = ClusterProblem("ray_lost", "The cluster does not answer.")
    assert (problem.code, problem.message, str(problem)) == (
        "ray_lost",
        "The cluster does not answer.",
        problem.message,
    )

"""How soon Ray notices that a node is lost. Pure: seconds in, Ray's own settings out.

Ray asks each node for a sign of life; so many questions in a row without an answer are a loss. Its defaults find a node that was cut off after
about 17 seconds. A node that is only slow for a moment must not count as lost, so the time is spread over several questions.
"""

from __future__ import annotations

QUESTIONS = 5


def loss_detection(lost_s: float) -> dict[str, int]:
    """Ray's settings with which a silent node is lost after about `lost_s` seconds. As variables of `ray start --head` they begin with RAY_."""
    # A question that is not answered takes its whole timeout, and the next one follows after the period.
    each = max(1, round(lost_s * 1000 / QUESTIONS / 2))
    return {
        "health_check_initial_delay_ms": each,
        "health_check_period_ms": each,
        "health_check_timeout_ms": each,
        "health_check_failure_threshold": QUESTIONS,
    }

"""Asks the estimator of the ends of turns, beside the call: what is late, refused or broken costs the call nothing.

`session.py` carries out the turn machine's `EstimateTurnEnd` here, and hands the answers back as facts. Owns which questions are
asked: one at a time, and none any more after a failure.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import anyio.abc

from duologue.engines.contracts import TurnEndEstimator
from duologue.errors import Busy
from duologue.turns.facts import TurnEndEstimated
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES

log = logging.getLogger(__name__)

JUDGED = 8 * HEARD_RATE * SAMPLE_BYTES
"""Bytes at the end of a turn that are judged: no model listens to more."""


class TurnEndQuestions:
    """The questions of one call. `sound_of` gives the last so many bytes of a turn; `on_estimate` gets every answer, and the turn
    machine knows which are too late."""

    def __init__(
        self,
        estimator: TurnEndEstimator | None,
        tasks: anyio.abc.TaskGroup,
        *,
        sound_of: Callable[[int, int], bytes],
        on_estimate: Callable[[TurnEndEstimated], None],
    ) -> None:
        self._estimator = estimator
        self._tasks = tasks
        self._sound_of = sound_of
        self._on_estimate = on_estimate
        self._asking = False

    def ask(self, turn: int, until: int) -> None:
        """Estimate the end of this turn, whose sound goes up to sample `until`; nothing while an earlier question is open."""
        if self._estimator is None or self._asking:
            return
        self._asking = True
        self._tasks.start_soon(self._ask, self._estimator, turn, until, self._sound_of(turn, JUDGED))

    async def _ask(self, estimator: TurnEndEstimator, turn: int, until: int, pcm: bytes) -> None:
        try:
            probability = await estimator.probability(pcm)
        except Busy:
            return
        except Exception:
            log.exception("%s failed; the turns of this call end by their words alone", estimator.name)
            self._estimator = None
            return
        finally:
            self._asking = False
        self._on_estimate(TurnEndEstimated(turn, until, probability))

"""A call with an estimator of the ends of turns: it is asked when the caller falls silent, and nothing waits for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from tests.support.call_parts import STEP, engines, running_call
from tests.support.tiny_onnx import save_turn_end_model

from duologue.engines.turn_end import smart_turn
from duologue.engines.turn_end.onnx_network import OnnxNetwork
from duologue.errors import Busy
from duologue.sessions.call.turn_end import JUDGED, TurnEndQuestions
from duologue.turns.facts import TurnEndEstimated
from duologue.turns.sound_estimate import ASK_AFTER, DEADLINE
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.call_events import TurnConfirmed

pytestmark = pytest.mark.anyio

UNDECIDED = "tell me about the garden"
UNFINISHED = "because the weather"
"""Words after which a caller is given longer than an estimator."""


class Estimator:
    """Answers what `answer` gives for a sound."""

    name = "stand-in"

    def __init__(self, answer: Callable[[bytes], Awaitable[float]]) -> None:
        self._answer = answer
        self.asked: list[bytes] = []

    async def probability(self, pcm: bytes) -> float:
        self.asked.append(pcm)
        return await self._answer(pcm)

    async def close(self) -> None:
        """Nothing is held."""


def answering(probability: float) -> Estimator:
    async def answer(pcm: bytes) -> float:
        return probability

    return Estimator(answer)


def running(path: Path) -> Estimator:
    """Runs a network on the sound, at once and in no thread."""
    network = OnnxNetwork(path.read_bytes(), reads=smart_turn.INPUT, writes=smart_turn.OUTPUT)

    async def answer(pcm: bytes) -> float:
        return smart_turn.estimate(network, pcm)

    return Estimator(answer)


async def pause_before_the_reply(estimator: Estimator | None, text: str = UNDECIDED) -> float:
    """Seconds of silence until the turn is over."""
    parts = engines([text])
    parts.turn_end = estimator
    async with running_call(engines=parts) as talk:
        await talk.speak(1.5)
        since = talk.clock.now()
        await talk.until(lambda: talk.of(TurnConfirmed))
        return talk.clock.now() - since


async def test_a_turn_that_sounds_complete_is_answered_sooner_and_one_that_does_not_later(
    tmp_path: Path,
) -> None:
    pauses = []
    for bias in (6.0, -6.0):
        save_turn_end_model(tmp_path / "tiny.onnx", bias)
        pauses.append(await pause_before_the_reply(running(tmp_path / "tiny.onnx"), UNFINISHED))
    by_words = await pause_before_the_reply(None, UNFINISHED)
    sooner, later = pauses
    assert sooner <= by_words - 0.15
    assert later >= by_words + 0.3


async def test_it_is_given_the_sound_of_the_turn_and_the_silence_after_it() -> None:
    estimator = answering(0.5)
    await pause_before_the_reply(estimator)
    [pcm] = estimator.asked
    heard = len(pcm) / SAMPLE_BYTES / HEARD_RATE
    silent = ASK_AFTER / HEARD_RATE
    assert 1.5 + silent - 3 * STEP <= heard <= 1.5 + silent + 0.4
    assert not any(pcm[-round(0.15 * HEARD_RATE) * SAMPLE_BYTES :])
    assert any(pcm[HEARD_RATE * SAMPLE_BYTES : HEARD_RATE * SAMPLE_BYTES + 640])


async def test_an_estimator_that_never_answers_changes_nothing() -> None:
    async def never(pcm: bytes) -> float:
        await anyio.sleep_forever()
        raise AssertionError

    by_words = await pause_before_the_reply(None)
    assert await pause_before_the_reply(Estimator(never)) == by_words


@pytest.mark.parametrize("problem", [Busy("Too many."), RuntimeError("broken")], ids=["busy", "broken"])
async def test_an_estimator_that_fails_changes_nothing(problem: Exception) -> None:
    async def fail(pcm: bytes) -> float:
        raise problem

    by_words = await pause_before_the_reply(None)
    assert await pause_before_the_reply(Estimator(fail)) == by_words


async def test_an_answer_after_the_deadline_changes_nothing() -> None:
    released = anyio.Event()

    async def late(pcm: bytes) -> float:
        await released.wait()
        return 0.0

    by_words = await pause_before_the_reply(None, UNFINISHED)
    parts = engines([UNFINISHED])
    parts.turn_end = Estimator(late)
    async with running_call(engines=parts) as talk:
        await talk.speak(1.5)
        since = talk.clock.now()
        await talk.be_quiet((ASK_AFTER + DEADLINE) / HEARD_RATE + 2 * STEP)
        assert not talk.of(TurnConfirmed)
        released.set()
        await talk.until(lambda: talk.of(TurnConfirmed))
        assert talk.clock.now() - since == pytest.approx(by_words, abs=STEP)


# ---- the questions alone


async def test_one_question_is_open_at_a_time_and_none_is_asked_after_a_failure() -> None:
    answers: list[TurnEndEstimated] = []
    go = anyio.Event()

    async def wait(pcm: bytes) -> float:
        if pcm == b"3":
            raise RuntimeError("broken")
        await go.wait()
        return 0.25

    estimator = Estimator(wait)
    async with anyio.create_task_group() as tasks:
        questions = TurnEndQuestions(
            estimator, tasks, sound_of=lambda turn, size: str(turn).encode(), on_estimate=answers.append
        )
        questions.ask(1, 100)
        questions.ask(2, 200)
        await anyio.wait_all_tasks_blocked()
        go.set()
        await anyio.wait_all_tasks_blocked()
        questions.ask(3, 300)
        await anyio.wait_all_tasks_blocked()
        questions.ask(4, 400)
    assert answers == [TurnEndEstimated(1, 100, 0.25)]
    assert estimator.asked == [b"1", b"3"]


async def test_without_an_estimator_nothing_is_asked() -> None:
    async with anyio.create_task_group() as tasks:
        questions = TurnEndQuestions(
            None, tasks, sound_of=lambda turn, size: bytes(size), on_estimate=lambda fact: None
        )
        questions.ask(1, 100)


async def test_no_more_than_eight_seconds_are_judged() -> None:
    estimator = answering(0.5)
    parts = engines([UNDECIDED])
    parts.turn_end = estimator
    async with running_call(engines=parts) as talk:
        await talk.speak(10.0)
        await talk.until(lambda: estimator.asked)
    assert len(estimator.asked[0]) == JUDGED == 8 * HEARD_RATE * SAMPLE_BYTES

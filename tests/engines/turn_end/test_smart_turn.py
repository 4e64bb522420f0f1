"""The estimator of the ends of turns: a tiny network with the signature of Smart Turn v3."""

from __future__ import annotations

import math
from pathlib import Path

import anyio
import numpy
import pytest
from tests.support.call_parts import speech
from tests.support.tiny_onnx import FLOAT, Node, Port, save_network, save_turn_end_model

from duologue.engines.contracts import TurnEndEstimator
from duologue.engines.registry import load_turn_end
from duologue.engines.turn_end.log_mel import log_mel
from duologue.engines.turn_end.smart_turn import WAITING, SmartTurn
from duologue.errors import Busy, EngineFailed, Problem, StartFailed

pytestmark = pytest.mark.anyio


async def load(path: Path, models: str = "") -> TurnEndEstimator:
    return await load_turn_end("smart_turn", {"model": str(path), "models": models})


async def test_its_probability_is_what_the_network_makes_of_the_features(tmp_path: Path) -> None:
    save_turn_end_model(tmp_path / "tiny.onnx", bias=0.3, scale=1.5)
    estimator = await load(tmp_path / "tiny.onnx")
    assert estimator.name == "tiny"
    for pcm in (speech(1.0), speech(9.0), b""):
        expected = 1 / (1 + math.exp(-(0.3 + 1.5 * float(log_mel(pcm).mean()))))
        assert await estimator.probability(pcm) == pytest.approx(expected, abs=1e-4)
    await estimator.close()


async def test_a_name_is_looked_up_in_the_folder_of_models(tmp_path: Path) -> None:
    save_turn_end_model(tmp_path / "tiny.onnx", bias=9.0)
    estimator = await load(Path("tiny.onnx"), str(tmp_path))
    assert await estimator.probability(speech(1.0)) > 0.99
    await estimator.close()


async def test_a_missing_file_is_refused_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(StartFailed) as failure:
        await load(Path("smart-turn-v3.2-cpu.onnx"), str(tmp_path))
    assert failure.value.code == "weights_missing"
    assert f"curl -L --fail --create-dirs -o {tmp_path}/smart-turn-v3.2-cpu.onnx https://" in str(
        failure.value
    )


async def test_a_file_that_is_no_network_is_refused_at_start(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"half a download")
    with pytest.raises(StartFailed, match="damaged, or not Smart Turn v3"):
        await load(tmp_path / "broken.onnx")


async def test_a_network_with_other_ports_is_refused_at_start(tmp_path: Path) -> None:
    save_turn_end_model(tmp_path / "other.onnx", 0.0, reads="features")
    with pytest.raises(StartFailed, match="not Smart Turn v3"):
        await load(tmp_path / "other.onnx")


async def test_a_network_whose_answer_is_no_probability_is_refused_at_start(tmp_path: Path) -> None:
    ports: tuple[list[Port], list[Port]] = (
        [("input_features", FLOAT, ["batch", 80, 800])],
        [("logits", FLOAT, ["batch", 1])],
    )
    nodes: list[Node] = [
        ("ReduceMean", ["input_features"], ["mean"], {"axes": [1, 2], "keepdims": 0}),
        ("Unsqueeze", ["mean", "last"], ["column"], {}),
        ("Add", ["column", "high"], ["logits"], {}),
    ]
    save_network(tmp_path / "plain.onnx", nodes, *ports, {"last": [1], "high": numpy.float32(7)})
    with pytest.raises(StartFailed, match="not a probability"):
        await load(tmp_path / "plain.onnx")


async def test_an_option_it_does_not_have_is_named() -> None:
    with pytest.raises(StartFailed, match="no option 'modle'"):
        await load_turn_end("smart_turn", {"modle": "x"})


class Failing:
    """A network whose runtime gives up."""

    def run(self, values: bytes) -> list[float]:
        return [math.nan]

    def close(self) -> None:
        """Nothing is held."""


async def test_an_answer_that_is_no_probability_is_a_problem_of_this_question() -> None:
    estimator = SmartTurn(Failing(), "failing")  # type: ignore[arg-type]
    with pytest.raises(EngineFailed, match="not a probability"):
        await estimator.probability(b"")
    await estimator.close()


async def test_of_many_questions_at_once_the_surplus_is_refused(tmp_path: Path) -> None:
    save_turn_end_model(tmp_path / "tiny.onnx", bias=9.0)
    estimator = await load(tmp_path / "tiny.onnx")
    answers: list[float] = []
    problems: list[Problem] = []

    async def ask() -> None:
        try:
            answers.append(await estimator.probability(b""))
        except Problem as problem:
            problems.append(problem)

    async with anyio.create_task_group() as tasks:
        for _ in range(WAITING + 4):
            tasks.start_soon(ask)
    await estimator.close()
    assert len(answers) <= WAITING + 1
    assert len(answers) + len(problems) == WAITING + 4
    assert problems
    assert all(isinstance(problem, Busy) for problem in problems)

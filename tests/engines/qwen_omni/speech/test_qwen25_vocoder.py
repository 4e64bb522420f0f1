"""The flow of Qwen2.5-Omni over a stand-in for its network. The real one is run by make test-engines."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")
import numpy
from tests.support.array_torch import TORCH, values

from duologue.engines.qwen_omni.speech.qwen25_vocoder import GUIDANCE, Qwen25Vocoder

MELS, REPEATS = 3, 2


class Flow:
    """With codes the slope is the code, without it is zero."""

    proj_out = SimpleNamespace(weight=SimpleNamespace(device="cpu"))
    config = SimpleNamespace(
        repeats=REPEATS, mel_dim=MELS, block_size=8, look_backward_layers=[0, 2], look_ahead_layers=[1]
    )

    def __init__(self) -> None:
        self.times: list[float] = []
        self.begun: list[Any] = []

    def __call__(self, hidden_states, condition_vector, speaker_embedding, quantized_code, time_step):
        assert speaker_embedding.shape == (1, hidden_states.shape[1], 2)
        assert condition_vector.shape == (1, 5, MELS)
        if time_step == 0:
            self.begun.append(numpy.array(hidden_states[0]))
        self.times.append(float(time_step))
        slope = numpy.repeat(quantized_code, REPEATS, axis=1)[:, :, None] * numpy.ones(MELS)
        return values(numpy.concatenate([slope, slope * 0]))


def vocoder_of(flow: Flow) -> Qwen25Vocoder:
    """A second network whose samples are the first mel of each frame."""
    network = lambda spectra: values(spectra[:, 0])  # noqa: E731
    voice = {"cond": values([[1.0, 2.0]]), "ref_mel": values(numpy.ones((1, 5, MELS)))}
    config = SimpleNamespace(bigvgan_config=SimpleNamespace(upsample_rates=[2, 5]))
    model = SimpleNamespace(
        speaker_map={"Chelsie": voice},
        token2wav=SimpleNamespace(code2wav_dit_model=flow, code2wav_bigvgan_model=network, config=config),
    )
    return Qwen25Vocoder(TORCH, model)


def codes(*numbers: int) -> list[tuple[int, ...]]:
    return [(number,) for number in numbers]


def test_groups_are_blocks_of_the_flow_with_as_many_around_as_it_looks_at() -> None:
    rule = vocoder_of(Flow()).rule
    assert (rule.samples, rule.block, rule.left) == (20, 4, 8)
    assert (rule.later.codes, rule.later.ahead) == (8, 4)


def test_the_flow_goes_from_noise_along_the_codes_to_its_end() -> None:
    flow = Flow()
    sound = vocoder_of(flow).reply("Chelsie", 1).sound(codes(1, 2), 0)
    (noise,) = flow.begun
    assert sound.tolist() == pytest.approx(
        (noise[:, 0] + (1 + GUIDANCE) * numpy.array([1, 1, 2, 2])).tolist(), abs=1e-5
    )
    # Nine steps of four slopes each, the steps short at first.
    assert len(flow.times) == 36
    assert flow.times[0] == 0
    assert flow.times[-1] == pytest.approx(1)
    assert flow.times[4] < 0.05 < 0.1 < 1 - flow.times[-4]


def test_a_code_has_the_same_noise_in_every_window() -> None:
    flow = Flow()
    reply = vocoder_of(flow).reply("Chelsie", 1)
    reply.sound(codes(0, 0, 0), 0)
    reply.sound(codes(0, 0, 0, 0), 1)
    reply.sound(codes(0, 0), 3)
    first, second, third = flow.begun
    assert (first[2:] == second[:4]).all()
    assert (second[4:] == third).all()
    assert not (first[:2] == first[2:4]).any()


def test_the_seed_decides_the_noise_and_replies_have_their_own() -> None:
    flow = Flow()
    vocoder = vocoder_of(flow)
    one, same, other = (vocoder.reply("Chelsie", seed) for seed in (1, 1, 2))
    for reply in (one, same, other):
        reply.sound(codes(0), 0)
    assert (flow.begun[0] == flow.begun[1]).all()
    assert not (flow.begun[0] == flow.begun[2]).any()

"""Every sampler of the llama engine against its published formula: the model's distribution before it, and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.support import sampling_formulas as formulas
from tests.support.sampling_formulas import Floats, normalised
from tests.support.tiny_model import TinyModel, token_id, write_tiny_model

from duologue.engines.contracts import Generation
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.engines.llama.request import generate_request
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
PROMPT = "xyzzy: abcdeQ, abcde"
"""It repeats letters, and "Q" would go on with a sequence that has been there."""
NEUTRAL = Sampling(max_tokens=1, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=1)
"""The engine's own order of samplers, none of which changes anything."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LlamaEngine]:
    path = write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf", TinyModel(scale=1.5, seed=3))
    engine = await load({"model": str(path), "slots": 1, "log": 0})
    yield engine
    await engine.close()


async def completion(engine: LlamaEngine, sampling: Sampling, **fields: object) -> dict[str, Any]:
    """The engine's answer of one token."""
    asked = generate_request(0, await engine.tokenize(PROMPT), Generation(sampling), vocabulary=0)
    asked |= {"stream": False, "return_progress": False, **fields}
    return engine._client._request("POST", "/completion", asked)


async def distribution(engine: LlamaEngine, sampling: Sampling, **fields: object) -> dict[str, Any]:
    """The one token of a reply, with all others. The engine gives none where a reply ends within a character: such seeds are
    passed over."""
    for seed in range(sampling.seed or 0, (sampling.seed or 0) + 100):
        answer = await completion(engine, replace(sampling, seed=seed), n_probs=1000, **fields)
        if found := answer.get("completion_probabilities"):
            token: dict[str, Any] = found[0]
            return token
    raise AssertionError("No seed ends on a whole character.")


async def before(engine: LlamaEngine) -> Floats:
    """The logprobs of all tokens as the model gives them."""
    top = (await distribution(engine, NEUTRAL))["top_logprobs"]
    logprobs = np.full(len(top), np.nan)
    for token in top:
        logprobs[token["id"]] = token["logprob"]
    assert np.exp(logprobs).sum() == pytest.approx(1.0, abs=1e-4)
    return logprobs


async def after(engine: LlamaEngine, **change: Any) -> Floats:
    """The probabilities from which the engine draws when `change` is asked for."""
    logprobs = await before(engine)
    shares = np.zeros_like(logprobs)
    asked = replace(NEUTRAL, **change)
    for token in (await distribution(engine, asked, post_sampling_probs=True))["top_probs"]:
        shares[token["id"]] = token["prob"]
    return shares


def same(shares: Floats, expected: Floats) -> bool:
    return bool(np.allclose(shares, expected, atol=1e-5) and ((shares > 0) == (expected > 0)).all())


async def test_neutral_samplers_leave_the_distribution_as_it_is(engine: LlamaEngine) -> None:
    assert same(await after(engine), np.exp(await before(engine)))


@pytest.mark.parametrize("k", [1, 5, 40])
async def test_top_k_keeps_the_likeliest(engine: LlamaEngine, k: int) -> None:
    assert same(await after(engine, top_k=k), formulas.top_k(await before(engine), k))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
async def test_top_p_keeps_the_fewest_that_make_up_its_share(engine: LlamaEngine, p: float) -> None:
    assert same(await after(engine, top_p=p), formulas.top_p(await before(engine), p))


@pytest.mark.parametrize("p", [0.05, 0.3, 0.9])
async def test_min_p_keeps_what_has_its_share_of_the_likeliest(engine: LlamaEngine, p: float) -> None:
    assert same(await after(engine, min_p=p), formulas.min_p(await before(engine), p))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
async def test_typical_p_keeps_what_is_as_surprising_as_expected(engine: LlamaEngine, p: float) -> None:
    assert same(await after(engine, typical_p=p), formulas.typical_p(await before(engine), p))


@pytest.mark.parametrize("n", [0.5, 1.0, 3.0])
async def test_top_n_sigma_keeps_what_is_near_the_highest_logit(engine: LlamaEngine, n: float) -> None:
    assert same(await after(engine, top_n_sigma=n), formulas.top_n_sigma(await before(engine), n))


@pytest.mark.parametrize("heat", [0.3, 2.0])
async def test_temperature_divides_the_logits(engine: LlamaEngine, heat: float) -> None:
    assert same(await after(engine, temperature=heat), formulas.temperature(await before(engine), heat))


@pytest.mark.parametrize(("spread", "exponent"), [(0.5, 1.0), (0.9, 1.0), (0.9, 3.0)])
async def test_a_dynamic_temperature_follows_the_entropy(
    engine: LlamaEngine, spread: float, exponent: float
) -> None:
    shares = await after(engine, dynamic_temperature_range=spread, dynamic_temperature_exponent=exponent)
    assert same(shares, formulas.dynamic_temperature(await before(engine), 1.0, spread, exponent))


async def test_xtc_excludes_all_but_the_last_of_the_top_choices(engine: LlamaEngine) -> None:
    logprobs = await before(engine)
    threshold = float(np.exp(np.sort(logprobs)[::-1][5:7]).mean())
    shares = await after(engine, xtc_probability=1.0, xtc_threshold=threshold)
    assert np.count_nonzero(shares) == len(logprobs) - 5
    assert same(shares, formulas.exclude_top_choices(logprobs, threshold))


async def test_xtc_strikes_as_often_as_asked(engine: LlamaEngine) -> None:
    logprobs = await before(engine)
    threshold = float(np.exp(np.sort(logprobs)[::-1][5:7]).mean())
    asked = {"xtc_probability": 0.5, "xtc_threshold": threshold}
    struck = [not (await after(engine, **asked, seed=100 * draw)).all() for draw in range(60)]
    assert 10 <= sum(struck) <= 50  # 5 standard deviations


@pytest.mark.parametrize("tau", [1.0, 3.0])
async def test_mirostat_1_begins_with_twice_its_target(engine: LlamaEngine, tau: float) -> None:
    shares = await after(engine, mirostat=1, mirostat_tau=tau)
    assert same(shares, formulas.mirostat_1(await before(engine), tau))


@pytest.mark.parametrize("tau", [2.5, 3.5])
async def test_mirostat_2_begins_with_twice_its_target(engine: LlamaEngine, tau: float) -> None:
    shares = await after(engine, mirostat=2, mirostat_tau=tau)
    assert same(shares, formulas.mirostat_2(await before(engine), tau))


async def test_a_logit_bias_is_added_to_the_logit(engine: LlamaEngine) -> None:
    biased = await before(engine)
    biased[[token_id("A"), token_id("B")]] += [3.0, -2.0]
    shares = await after(engine, logit_bias={"A": 3.0, str(token_id("B")): -2.0})
    assert same(shares, normalised(biased))


async def test_presence_costs_once_and_frequency_each_time(engine: LlamaEngine) -> None:
    logprobs = await before(engine)
    for token, count in Counter(await engine.tokenize(PROMPT)).items():
        logprobs[token] -= 0.5 + 0.25 * count
    assert same(await after(engine, presence_penalty=0.5, frequency_penalty=0.25), normalised(logprobs))


async def test_a_penalty_looks_back_as_far_as_its_window(engine: LlamaEngine) -> None:
    logprobs = await before(engine)
    logprobs[[token_id(letter) for letter in "cde"]] -= 1.5
    assert same(await after(engine, presence_penalty=1.5, repetition_window=3), normalised(logprobs))


async def test_a_repetition_penalty_divides_positive_logits_and_multiplies_negative_ones(
    engine: LlamaEngine,
) -> None:
    logprobs, shares = await before(engine), await after(engine, repetition_penalty=1.5)
    moved = np.array(sorted(set(await engine.tokenize(PROMPT))))
    first = moved[0]
    change = np.log(shares) - logprobs
    change -= change[np.setdiff1d(np.arange(len(change)), moved)].mean()
    # Logprobs tell logits but for a constant: the first token's change tells it, as a positive or a negative logit's.
    expected = []
    for logit in (change[first] / (1 / 1.5 - 1), change[first] / (1.5 - 1)):
        logits = logprobs - logprobs[first] + logit
        logits[moved] = np.where(logits[moved] > 0, logits[moved] / 1.5, logits[moved] * 1.5)
        expected.append(normalised(logits))
    assert any(same(shares, each) for each in expected)
    assert (change[moved] < 0).all()


@pytest.mark.parametrize("allowed", [2, 4])
async def test_dry_costs_more_the_longer_the_repeated_sequence_is(engine: LlamaEngine, allowed: int) -> None:
    logprobs = await before(engine)
    repeated = len(" abcde")
    logprobs[token_id("Q")] -= 0.25 * 1.5 ** (repeated - allowed)
    asked = {"dry_multiplier": 0.25, "dry_base": 1.5, "dry_allowed_length": allowed, "dry_penalty_last_n": -1}
    assert same(await after(engine, **asked), normalised(logprobs))


async def test_tokens_are_drawn_as_often_as_their_probability_says(engine: LlamaEngine) -> None:
    shares = formulas.top_k(await before(engine), 4)
    draws = 200
    drawn: Counter[int] = Counter()
    for seed in range(draws):
        answer = await completion(engine, replace(NEUTRAL, top_k=4, seed=seed), return_tokens=True)
        drawn.update(answer["tokens"])
    assert drawn.total() == draws
    assert set(drawn) <= set(np.flatnonzero(shares).tolist())
    for token in np.flatnonzero(shares).tolist():
        deviation = (draws * shares[token] * (1 - shares[token])) ** 0.5
        assert abs(drawn[token] - draws * shares[token]) < 5.5 * deviation

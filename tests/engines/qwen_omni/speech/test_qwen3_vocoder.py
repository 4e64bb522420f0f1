"""What the vocoder of Qwen3-Omni reads, over stand-ins for its networks. The real ones are run by make test-engines."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")
import numpy
from tests.support.array_torch import TORCH, embedding, values

from duologue.engines.qwen_omni.speech.qwen3_vocoder import Qwen3Vocoder, missing_samples


class Transformer:
    """Its state is the sum of all it has read."""

    config = "the config"

    def __init__(self) -> None:
        self.places: list[list[int]] = []

    def __call__(self, inputs_embeds, position_ids, past_key_values, use_cache):
        self.places.append(position_ids[0].tolist())
        past_key_values += inputs_embeds[0, :, 0].tolist()
        sums = numpy.cumsum(past_key_values)[-inputs_embeds.shape[1] :]
        return SimpleNamespace(last_hidden_state=values(sums[None, :, None]))


def vocoder_of(transformer: Transformer, caches: list[Any]) -> Qwen3Vocoder:
    """A sample a state: a hundredth of it."""

    def cache(config: str) -> list[float]:
        assert config == "the config"
        caches.append([])
        return caches[-1]

    class Codes(type(embedding([[0.0]]))):  # type: ignore[misc]
        """[1, groups, n] to [1, groups, n, 1]"""

        weight = SimpleNamespace(device="cpu")

        def __init__(self) -> None:
            pass

        def __call__(self, ids: Any) -> Any:
            return ids[..., None].astype(float)

    network = SimpleNamespace(
        total_upsample=1,
        config=SimpleNamespace(upsample_rates=(8, 5, 4, 3)),
        code_embedding=Codes(),
        code_offset=values([[[0], [100]]]),
        pre_transformer=transformer,
        upsample=[[lambda rows: rows / 10]],
        decoder=[lambda rows: rows / 10],
    )
    return Qwen3Vocoder(TORCH, cache, SimpleNamespace(code2wav=network))


def test_each_code_is_read_once_and_the_states_before_a_group_are_used_again() -> None:
    transformer, caches = Transformer(), []  # type: ignore[var-annotated]
    sound = vocoder_of(transformer, caches).reply("", 0)
    # The mean of a group's two numbers: 1, 1, 1, 1, and the offset of the second, half of 100.
    group = (0, 2)
    assert sound.sound([group] * 3, 0).tolist() == pytest.approx([0.51, 1.0, 1.0], abs=1e-6)
    sound.sound([group] * 3, 1)
    sound.sound([group] * 3, 1)
    assert transformer.places == [[0, 1, 2], [3]]
    assert len(caches) == 1


def test_a_window_has_the_states_of_its_own_codes() -> None:
    transformer = Transformer()
    sound = vocoder_of(transformer, []).reply("", 0)
    tiny = (0, -100)
    assert sound.sound([tiny, (2, -100), tiny], 0).tolist() == pytest.approx([0, 0.01, 0.01])
    assert sound.sound([tiny, (2, -100)], 2).tolist() == pytest.approx([0.01, 0.02])


def test_replies_have_caches_of_their_own() -> None:
    caches: list[Any] = []
    vocoder = vocoder_of(Transformer(), caches)
    one, other = vocoder.reply("", 0), vocoder.reply("", 0)
    one.sound([(1, 1)], 0)
    other.sound([(1, 1)], 0)
    assert [len(cache) for cache in caches] == [1, 1]


def test_the_samples_that_a_window_lacks_follow_from_the_rates() -> None:
    assert missing_samples((8, 5, 4, 3)) == 555
    assert missing_samples((2,)) == 2

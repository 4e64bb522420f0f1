"""What the talker of Qwen2.5-Omni reads, over stand-ins of its networks. The real ones are run by make test-engines."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")
import numpy
from tests.support.array_torch import TORCH, Chance, Values, embedding, values

from duologue.engines.qwen_omni.speech.code_sampling import CodeSampling
from duologue.engines.qwen_omni.speech.qwen25_talker import Qwen25Talker
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace

CODES = 10
PAD, BOS, END, MASK = 12, 13, 14, 15
TEXT_BOS, TEXT_END, TEXT_PAD = 1, 2, 3


class Network:
    """The talker's transformer: it writes down what it reads, and its state has a 1 at the code that is to be next."""

    def __init__(self, codes: list[int]) -> None:
        self.codes = codes
        self.read: list[Any] = []
        self.places: list[Any] = []
        self.caches: list[Any] = []

    def __call__(self, inputs_embeds, position_ids, past_key_values, use_cache):
        assert use_cache
        self.read.append(inputs_embeds[0].tolist())
        self.places.append(position_ids[:, 0].T.tolist())
        self.caches.append(past_key_values)
        state = numpy.zeros((1, 1, 16))
        state[0, 0, self.codes[len(self.read) - 1]] = 9
        return SimpleNamespace(last_hidden_state=values(state))


def head(state: Any) -> Any:
    return state


head.weight = SimpleNamespace(device="cpu")  # type: ignore[attr-defined]


def talker_of(network: Network, voices: tuple[str, ...] = ("Chelsie",)) -> Qwen25Talker:
    """Embeddings of text are its id in hundreds, of codes the code itself, of width 1; codes are chosen without chance."""
    texts = embedding([[100.0 * number] for number in range(10)])
    codes = embedding([[float(number)] for number in range(16)])
    talker = SimpleNamespace(
        codec_head=head,
        codec_pad_token=PAD,
        codec_bos_token=BOS,
        codec_eos_token=END,
        codec_mask_token=MASK,
        text_eos_token=TEXT_END,
        text_pad_token=TEXT_PAD,
        codebook_size=16,
        dtype=None,
        model=network,
        get_input_embeddings=lambda: codes,
        thinker_to_talker_proj=lambda inputs: inputs * 2,
    )
    model = SimpleNamespace(
        talker=talker,
        speaker_map={name: {"bos_token": TEXT_BOS} for name in voices},
        thinker=SimpleNamespace(get_input_embeddings=lambda: texts),
        token2wav=SimpleNamespace(
            config=SimpleNamespace(dit_config=SimpleNamespace(num_embeds=CODES)),
        ),
    )
    made = Qwen25Talker(TORCH, list, model)
    made.sampling = CodeSampling(temperature=0)
    return made


def trace_of(*tokens: tuple[float, float, bool], positions: Any = None) -> ThinkerTrace:
    """Tokens of an embedding, a state and whether they are of a picture."""
    trace = ThinkerTrace()
    embeddings, hidden, media = (list(part) for part in zip(*tokens, strict=True))
    trace.append(
        values([0] * len(tokens)),
        values(embeddings)[:, None].view(Values),
        values(hidden)[:, None].view(Values),
        values(media),
        positions,
    )
    return trace


def test_it_reads_the_prompt_the_voice_and_the_first_token_then_each_code_with_the_next_token() -> None:
    network = Network([4, 5, 6, END])
    talker = talker_of(network)
    trace = trace_of((1.0, 10.0, False), (2.0, 20.0, False), (3.0, 30.0, False), (4.0, 40.0, False))
    reply = talker.reply("Chelsie", Chance())
    assert reply.start(trace, 2, 2) == (4,)
    # Twice of each: the embedding and the state; the mark of the voice; the first token with the mark of the beginning.
    assert network.read[0] == [[22.0], [44.0], [2 * (100.0 + PAD)], [2 * (33.0 + BOS)]]
    assert reply.follow(talker.text(trace, 3, 4)) == (5,)
    assert network.read[1] == [[2 * (44.0 + 4)]]
    assert reply.follow(talker.end_text) == (6,)
    assert network.read[2] == [[2 * (200.0 + 5)]]
    assert reply.follow(talker.pad_text) is None
    assert network.read[3] == [[2 * (300.0 + 6)]]


def test_of_a_picture_it_reads_the_state_alone() -> None:
    network = Network([4])
    talker_of(network).reply("Chelsie", Chance()).start(
        trace_of((1.0, 10.0, True), (2.0, 20.0, False), (3.0, 30.0, False)), 2, 2
    )
    assert network.read[0][:2] == [[20.0], [44.0]]


def test_positions_are_those_of_the_thinker_and_go_on_from_the_largest() -> None:
    network = Network([4, 5])
    talker = talker_of(network)
    places = values([[0, 0, 0], [1, 1, 1], [1, 1, 2], [1, 2, 1], [9, 9, 9]])
    trace = trace_of(*[(1.0, 1.0, False)] * 5, positions=places)
    reply = talker.reply("Chelsie", Chance())
    reply.start(trace, 4, 4)
    reply.follow(talker.pad_text)
    assert network.places == [
        [[0, 0, 0], [1, 1, 1], [1, 1, 2], [1, 2, 1], [3, 3, 3], [4, 4, 4]],
        [[5, 5, 5]],
    ]


def test_each_reply_has_a_cache_of_its_own() -> None:
    network = Network([4, 5, 6])
    talker = talker_of(network)
    trace = trace_of(*[(1.0, 1.0, False)] * 3)
    one, other = talker.reply("Chelsie", Chance()), talker.reply("Chelsie", Chance())
    one.start(trace, 2, 2)
    other.start(trace, 2, 2)
    one.follow(talker.pad_text)
    assert network.caches[0] is network.caches[2]
    assert network.caches[0] is not network.caches[1]


def test_only_what_the_vocoder_knows_and_what_ends_the_speech_is_chosen() -> None:
    assert talker_of(Network([])).banned.tolist() == [10, 11, BOS, MASK]
    assert talker_of(Network([])).ends == {PAD, END}
    assert (
        talker_of(Network([PAD])).reply("Chelsie", Chance()).start(trace_of(*[(1.0, 1.0, False)] * 2), 1, 1)
        is None
    )


def test_its_own_default_voice_is_the_first() -> None:
    assert talker_of(Network([]), ("Ethan", "Aiden", "Chelsie")).voices == ("Chelsie", "Aiden", "Ethan")
    assert talker_of(Network([]), ("Ethan", "Aiden")).voices == ("Aiden", "Ethan")

"""What the talker of Qwen3-Omni reads, over stand-ins of its networks. The real ones are run by make test-engines."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")
import numpy
from tests.support.array_torch import TORCH, Chance, Values, embedding, values

from duologue.engines.qwen_omni.speech.code_sampling import CodeSampling
from duologue.engines.qwen_omni.speech.qwen3_talker import Qwen3Talker
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace

IM, USER, SYSTEM, ASSISTANT = 1, 2, 3, 4
CODES = 8
END, SPEAKER = 9, 15
VOCABULARY = 20


def one_hot(code: int) -> Any:
    state = numpy.zeros((1, 1, VOCABULARY))
    state[0, 0, code] = 9
    return values(state)


class Network:
    """The talker's transformer: writes down what it reads; its state has a 1 at the code that is to be next."""

    def __init__(self, codes: list[int]) -> None:
        self.codes = codes
        self.read: list[Any] = []
        self.places: list[Any] = []

    def __call__(self, inputs_embeds, position_ids, past_key_values, use_cache):
        self.read.append(inputs_embeds[0, :, 0].tolist())
        self.places.append(position_ids[:, 0].T.tolist())
        return SimpleNamespace(last_hidden_state=one_hot(self.codes[len(self.read) - 1]))


class Predictor:
    """Its codes are the first one plus 1 and plus 2. Embeddings of its codes are tenths, and of the last hundredths."""

    tables = (
        embedding([[number / 10] * VOCABULARY for number in range(CODES)]),
        embedding([[number / 100] * VOCABULARY for number in range(CODES)]),
    )

    def __init__(self) -> None:
        self.steps: list[Any] = []

    def get_input_embeddings(self) -> Any:
        return self.tables

    def __call__(self, past_key_values, use_cache, inputs_embeds=None, input_ids=None, generation_steps=None):
        if inputs_embeds is not None:
            assert inputs_embeds.shape == (1, 2, VOCABULARY)
            self.steps.append("begin")
            self.first = int(inputs_embeds[0, 1, 0])
        else:
            self.steps.append((generation_steps, int(input_ids[0, 0])))
        past_key_values.append(1)
        return SimpleNamespace(logits=one_hot(self.first + len(past_key_values)))


def head(state: Any) -> Any:
    return state


head.weight = SimpleNamespace(device="cpu")  # type: ignore[attr-defined]


def talker_of(network: Network) -> Qwen3Talker:
    """Embeddings of codes are the code itself; what is projected of text is negative, of states is multiplied by a thousand."""
    texts = embedding([[float(number)] for number in range(60)])
    codes = embedding([[float(number)] * VOCABULARY for number in range(VOCABULARY)])
    talker = SimpleNamespace(
        codec_head=head,
        dtype=None,
        model=network,
        code_predictor=Predictor(),
        get_input_embeddings=lambda: codes,
        text_projection=lambda rows: values(numpy.repeat(-rows, VOCABULARY, axis=1)),
        hidden_projection=lambda rows: values(numpy.repeat(rows * 1000, VOCABULARY, axis=1)),
    )
    marks = SimpleNamespace(
        accept_hidden_layer=2,
        speaker_id={"aiden": 14, "ethan": SPEAKER},
        codec_eos_token_id=END,
        codec_nothink_id=10,
        codec_think_bos_id=11,
        codec_think_eos_id=12,
        codec_pad_id=13,
        codec_bos_id=16,
        text_config=SimpleNamespace(vocab_size=VOCABULARY),
        code_predictor_config=SimpleNamespace(vocab_size=CODES),
    )
    config = SimpleNamespace(
        talker_config=marks,
        tts_bos_token_id=50,
        tts_eos_token_id=51,
        tts_pad_token_id=52,
        im_start_token_id=IM,
        user_token_id=USER,
        assistant_token_id=ASSISTANT,
    )
    model = SimpleNamespace(
        talker=talker,
        config=config,
        thinker=SimpleNamespace(get_input_embeddings=lambda: texts),
        code2wav=SimpleNamespace(config=SimpleNamespace(codebook_size=CODES)),
    )
    made = Qwen3Talker(TORCH, list, model)
    made.sampling = made.predictor_sampling = CodeSampling(temperature=0)
    return made


PROMPT = [IM, SYSTEM, 30, IM, USER, 31, 32, IM, ASSISTANT, 33]


def trace_of(ids: list[int], media: tuple[int, ...] = (), positions: Any = None) -> ThinkerTrace:
    """Tokens whose embedding is their id, and their state too."""
    trace = ThinkerTrace()
    rows = values([float(number) for number in ids])[:, None].view(Values)
    trace.append(values(ids), rows, rows, values([at in media for at in range(len(ids))]), positions)
    return trace


def test_it_reads_what_the_user_said_the_voice_and_the_first_token() -> None:
    network = Network([3])
    assert talker_of(network).reply("ethan", Chance()).start(trace_of([*PROMPT, 40]), 10, 10) == (3, 4, 5)
    user = [-IM, -USER, -31, -32]
    header = [-IM, -ASSISTANT, -33]
    marks = [10 - 52, 11 - 52, 12 - 52, SPEAKER - 52, 13 - 50, 16 - 40]
    assert network.read[0] == [*user, *header, *marks]


def test_of_what_the_user_shows_it_reads_the_states_of_a_layer() -> None:
    network = Network([3])
    talker = talker_of(network)
    assert talker.layer == 2
    talker.reply("ethan", Chance()).start(trace_of([*PROMPT, 40], media=(5,)), 10, 10)
    assert network.read[0][:4] == [-IM, -USER, 31_000, -32]


def test_it_reads_every_group_with_the_next_token_then_the_end_then_padding() -> None:
    network = Network([3, 1, 2, END])
    talker = talker_of(network)
    trace = trace_of([*PROMPT, 40, 41])
    reply = talker.reply("ethan", Chance())
    assert reply.start(trace, 10, 10) == (3, 4, 5)
    assert reply.follow(talker.text(trace, 11, 12)) == (1, 2, 3)
    assert reply.follow(talker.end_text) == (2, 3, 4)
    assert reply.follow(talker.pad_text) is None
    assert network.read[1] == pytest.approx([3 + 0.4 + 0.05 - 41])
    assert network.read[2] == pytest.approx([1 + 0.2 + 0.03 - 51])
    assert network.read[3] == pytest.approx([2 + 0.3 + 0.04 - 52])
    assert talker.model.code_predictor.steps == ["begin", (1, 4), "begin", (1, 2), "begin", (1, 3)]


def test_all_turns_of_the_user_are_read_and_none_of_the_others() -> None:
    network = Network([3])
    ids = [IM, USER, 31, IM, ASSISTANT, 32, IM, USER, 33, IM, ASSISTANT, 34]
    talker_of(network).reply("ethan", Chance()).start(trace_of([*ids, 40]), 12, 12)
    assert network.read[0][:9] == [-IM, -USER, -31, -IM, -USER, -33, -IM, -ASSISTANT, -34]


def test_what_a_reply_already_has_is_not_said_again() -> None:
    network = Network([3])
    trace = trace_of([*PROMPT, 35, 36, 40])
    talker_of(network).reply("ethan", Chance()).start(trace, 12, 12)
    assert network.read[0][4:7] == [-IM, -ASSISTANT, -33]
    assert network.read[0][-1] == 16 - 40


def test_positions_count_from_the_users_first_word_and_keep_the_place_of_a_picture() -> None:
    network = Network([3, 1])
    talker = talker_of(network)
    places = values(
        [[at, at, at] for at in range(5)] + [[5, 5, 7], [8, 8, 8]] + [[at, at, at] for at in range(9, 13)]
    )
    reply = talker.reply("ethan", Chance())
    reply.start(trace_of([*PROMPT, 40], media=(5,), positions=places), 10, 10)
    reply.follow(talker.pad_text)
    assert network.places[0][:5] == [[0, 0, 0], [1, 1, 1], [2, 2, 4], [5, 5, 5], [6, 6, 6]]
    assert network.places[0][-1] == [14, 14, 14]
    assert network.places[1] == [[15, 15, 15]]


def test_only_what_the_vocoder_knows_and_what_ends_the_speech_is_chosen() -> None:
    talker = talker_of(Network([]))
    assert talker.banned.tolist() == [8, *range(10, 20)]
    assert talker.predictor_banned.tolist() == []
    assert talker.voices == ("ethan", "aiden")

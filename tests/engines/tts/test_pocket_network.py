"""The loop of Pocket TTS over stand-ins for its networks: arrays of numpy in which a frame is two samples. The real ones are run by
make test-engines."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.tts.pocket_network import PocketNetwork

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")


class Values(numpy.ndarray):  # type: ignore[name-defined]
    """An array with the methods of a tensor that are used here."""

    def to(self, _: object) -> "Values":
        return self

    cpu = numpy = float = lambda self: self


def values(data: Any) -> Any:
    return numpy.array(data, dtype=numpy.float32).view(Values)


TORCH = SimpleNamespace(
    inference_mode=nullcontext,
    tensor=lambda ids, device: numpy.array(ids),
    randn=lambda *shape, device, dtype: values(numpy.ones(shape)),
    stack=lambda parts: values(numpy.stack(parts)),
    linspace=lambda begin, end, count, device: values(numpy.linspace(begin, end, count)),
)
"""What is called of PyTorch."""


class Model:
    """The frame of number n is n, counted from the positions of the voice; speech ends in frame `ends`."""

    device = "cpu"
    config = SimpleNamespace(
        latent_dim=1,
        frame_rate=12.5,
        audio_prompt_bos_token_id=1,
        audio_prompt_token_id=2,
        audio_bos_token_id=3,
        audio_latent_token_id=4,
    )

    def __init__(self, ends: int, **settings) -> None:
        self.ends = ends
        self.generation_config = SimpleNamespace(**{"do_sample": False, "temperature": 1.0} | settings)
        self.read: list[list[int]] = []
        self.steps: list[tuple[float, int]] = []

    def __call__(self, input_ids, *, use_cache: bool, past_key_values=None, **latents):
        self.read.append(input_ids[0].tolist())
        cache = [] if past_key_values is None else past_key_values
        cache.append(len(self.read[-1]))
        number = len(cache) - 2
        sign = 0.0 if number >= self.ends else -9.0
        return SimpleNamespace(
            past_key_values=cache, last_hidden_state=values([[[number]]]), logits=values([[[sign]]])
        )

    def sample_latent(self, state, noise, steps: int):
        self.steps.append((float(noise[0, 0]), steps))
        return state

    def denormalize_latents(self, latent):
        return latent


class Codec:
    config = SimpleNamespace(frame_size=2, sliding_window=96, latent_stride=16)
    encoder = None

    def __init__(self) -> None:
        self.windows: list[list[int]] = []

    def decode(self, latents):
        self.windows.append([int(number) for number in latents[0, :, 0]])
        return SimpleNamespace(audio_values=numpy.repeat(latents[:, None, :, 0], 2, axis=2) / 32767)


class Tokens:
    def __init__(self, chat_template: str = "") -> None:
        self.chat_template = chat_template
        self.audio_bos_token = "<bos>"
        self.texts: list[str] = []

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        self.texts.append(text)
        return [9] * len(text.split())

    def apply_chat_template(self, turns, tokenize: bool) -> str:
        return f"  {turns[0]['content'][0]['text']}!<bos>"


def network(model: Model, tokens: Tokens | None = None) -> tuple[PocketNetwork, Codec]:
    codec = Codec()
    return PocketNetwork(TORCH, model, codec, tokens or Tokens(), None), codec


def heard(pcm: bytes) -> list[int]:
    return numpy.frombuffer(pcm, "<i2").tolist()


def test_frames_are_decoded_in_batches_with_those_before_and_only_their_own_sound_is_kept():
    made, codec = network(Model(9))
    pieces = list(made.say("one two three four five", made.read_latents(values([[0.0]] * 5))))
    assert codec.windows == [
        [0],
        [0, 1],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4, 5, 6, 7],
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    ]
    assert [len(piece) // 4 for piece in pieces] == [1, 1, 2, 4, 4]
    assert heard(b"".join(pieces[1:])) == [number for number in range(1, 12) for _ in range(2)]


def test_a_voice_is_read_once_and_not_changed_by_what_it_says():
    model = Model(6)
    made, _ = network(model)
    voice = made.read_latents(values([[0.0]] * 3))
    first = list(made.say("one", voice))
    assert list(made.say("one", voice)) == first
    assert voice == [4]
    assert model.read[0] == [1, 2, 2, 2]
    assert model.read[1:3] == [[9, 3], [4]]
    assert model.read.count([1, 2, 2, 2]) == 1


def test_noise_and_steps_are_those_of_the_weights():
    for settings, expected in (
        ({}, (0.0, 1)),
        ({"do_sample": True, "temperature": 0.25, "num_flow_steps": 3}, (0.5, 3)),
    ):
        model = Model(6, **settings)
        made, _ = network(model)
        list(made.say("one", made.read_latents(values([[0.0]]))))
        assert set(model.steps) == {expected}


def test_a_text_becomes_a_sentence_or_what_the_template_makes_of_it():
    for tokens, text, prompt in (
        (Tokens(), "hello\n there", "Hello there."),
        (Tokens(), "Really?", "Really?"),
        (Tokens("a template"), "hello\n there", "  hello there!"),
    ):
        made, _ = network(Model(6), tokens)
        list(made.say(text, made.read_latents(values([[0.0]]))))
        assert tokens.texts == [prompt]


def test_a_codec_without_its_encoder_cannot_clone():
    assert not network(Model(6))[0].clones

"""What the thinker passes to the library, over arrays of numpy: embeddings, positions and what is added for pictures. The real
networks are run by make test-engines."""

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.qwen_omni.prompt.omni_prompt import PromptMedium, PromptText
from duologue.engines.qwen_omni.thinking.media_encoder import EncodedMedium
from duologue.engines.qwen_omni.thinking.thinker import Thinker
from duologue.values.messages import AudioPart, ImagePart

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")
PICTURE = PromptMedium(ImagePart(b"p"), -7, 4, 90, (2, 2))
SOUND = PromptMedium(AudioPart(b"s"), -9, 2, 91)


class Values(numpy.ndarray):  # type: ignore[name-defined]
    """An array with what is called of a tensor."""

    def to(self, *_):
        return self

    def float(self):
        return self

    def new_empty(self, shape):
        return numpy.zeros(shape, dtype=self.dtype).view(Values)


def values(data: Any):
    return numpy.array(data).view(Values)


TORCH = SimpleNamespace(
    tensor=lambda data, device: values(data),
    cat=lambda parts, axis=0: numpy.concatenate(parts, axis).view(Values),
)


class Model:
    """What goes in comes out; hidden states of layer n are n times as much."""

    def __init__(self, layers: int = 0) -> None:
        self.calls: list[dict[str, Any]] = []
        self.layers = layers
        self.cache: Any = SimpleNamespace(length=0, get_seq_length=lambda: self.cache.length)
        self.model = SimpleNamespace(language_model=self.read)
        self.lm_head = lambda hidden: hidden * 1.0

    def get_input_embeddings(self):
        def embed(ids):
            return numpy.stack([ids, ids], -1).view(Values)

        embed.weight = SimpleNamespace(device="cpu", dtype="float")  # type: ignore[attr-defined]
        return embed

    def read(self, **arguments: Any):
        self.calls.append(arguments)
        inputs = arguments["inputs_embeds"]
        arguments["past_key_values"].length += inputs.shape[1]
        return SimpleNamespace(last_hidden_state=inputs, hidden_states=[inputs * n for n in range(4)])

    def encode(self, medium: PromptMedium) -> EncodedMedium:
        wide = values([[500.0 + at, 0.0] for at in range(medium.size)])
        is_picture = medium.grid is not None
        return EncodedMedium(wide, tuple(wide * n for n in range(self.layers)) if is_picture else ())


def thinker_of(model: Model, layer: int | None = None) -> Thinker:
    encoder: Any = SimpleNamespace(encode=model.encode)
    return Thinker(TORCH, model, encoder, lambda: model.cache, layer)


def test_text_and_media_are_read_in_one_step_at_their_positions() -> None:
    model = Model()
    thinker = thinker_of(model)
    sequence = thinker.sequence()
    logits = thinker.read(sequence, (PromptText((3, 4)), PICTURE, PromptText((5,)), SOUND))
    (call,) = model.calls
    assert call["inputs_embeds"][0, :, 0].tolist() == [3, 4, 500, 501, 502, 503, 5, 500, 501]
    times, rows, columns = call["position_ids"][:, 0].tolist()
    assert times == [0, 1, 2, 2, 2, 2, 4, 5, 6]
    assert rows == [0, 1, 2, 2, 3, 3, 4, 5, 6]
    assert columns == [0, 1, 2, 3, 2, 3, 4, 5, 6]
    assert sequence.numbers == [3, 4, -7, -7, -7, -7, 5, -9, -9]
    assert sequence.next_position == 7
    assert logits.tolist() == [501, 0]
    assert "visual_pos_masks" not in call


def test_positions_go_on_with_each_step() -> None:
    model = Model()
    thinker = thinker_of(model)
    sequence = thinker.sequence()
    thinker.read(sequence, (PICTURE,))
    thinker.read(sequence, (PromptText((8,)),))
    assert model.calls[1]["position_ids"].ravel().tolist() == [2, 2, 2]


def test_what_a_picture_adds_behind_layers_is_passed_with_its_places() -> None:
    model = Model(layers=2)
    thinker_of(model).read(thinker_of(model).sequence(), (PromptText((1,)), PICTURE, SOUND))
    (call,) = model.calls
    assert call["visual_pos_masks"].tolist() == [[False, *[True] * 4, False, False]]
    assert [layer.shape for layer in call["deepstack_visual_embeds"]] == [(4, 2), (4, 2)]


@pytest.mark.parametrize(("layer", "state"), [(-1, 1), (2, 2)])
def test_the_trace_has_the_layer_that_the_speech_asks_for(layer: int, state: int) -> None:
    model = Model()
    thinker = thinker_of(model, layer)
    sequence = thinker.sequence()
    thinker.read(sequence, (PromptText((3,)), SOUND))
    assert sequence.trace is not None
    assert sequence.trace.ids.tolist() == [3, 91, 91]
    assert sequence.trace.media.tolist() == [False, True, True]
    assert sequence.trace.hidden[:, 0].tolist() == [3 * state, 500 * state, 501 * state]
    assert sequence.trace.positions.tolist() == [[0] * 3, [1] * 3, [2] * 3]
    assert ("output_hidden_states" in model.calls[0]) == (layer != -1)

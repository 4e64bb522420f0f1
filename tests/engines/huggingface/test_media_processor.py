"""Which media a processor takes, and where a template puts them; the library's processor is a stand-in."""

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.huggingface.media_processor import (
    MediaProcessor,
    open_processor,
    place_text,
    places_of,
)
from duologue.engines.huggingface.processed_prompt import ProcessedPrompt, readable
from duologue.errors import BadRequest

ADDED = {"<|vision_start|>": 1, "<|image_pad|>": 2, "<|vision_end|>": 3, "[IMG]": 4}


def test_a_medium_has_the_control_tokens_next_to_it_in_the_template() -> None:
    template = "{{- '<|vision_start|><|image_pad|><|vision_end|>' }}{{ '[IMG]' }}"
    assert place_text(template, "<|image_pad|>", ADDED) == "<|vision_start|><|image_pad|><|vision_end|>"
    assert place_text(template, "[IMG]", ADDED) == "[IMG]"


def test_a_token_that_the_template_does_not_have_or_has_beside_markup_stands_alone() -> None:
    assert place_text("{{ message.content }}", "<|image_pad|>", ADDED) == "<|image_pad|>"
    assert place_text("<b><|image_pad|>", "<|image_pad|>", ADDED) == "<|image_pad|>"


def test_a_kind_needs_a_reader_a_text_and_a_token() -> None:
    config = SimpleNamespace(image_token_index=7, audio_token_id=8)
    reader = SimpleNamespace(sampling_rate=16_000)
    processor: Any = SimpleNamespace(image_token="<image>", image_processor=object(), audio_token="<sound>")
    assert places_of(processor, config) == {"image": ("<image>", 7)}
    processor.feature_extractor = reader
    assert places_of(processor, config)["audio"] == ("<sound>", 8)
    reader.sampling_rate = 24_000
    assert "audio" not in places_of(processor, config)
    assert places_of(processor, SimpleNamespace()) == {}


def test_a_model_of_text_has_no_processor_and_one_that_cannot_be_made_is_told() -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ImportError("SeeingProcessor requires the Torchvision library")

    library = SimpleNamespace(AutoProcessor=SimpleNamespace(from_pretrained=refuse))
    folder: Any = "/models/seeing"
    assert open_processor(library, folder, SimpleNamespace(), "") == (None, ())
    found, (warning,) = open_processor(library, folder, SimpleNamespace(vision_config={}), "")
    assert found is None
    assert "pip install torchvision" in warning


def test_a_text_like_a_medium_is_refused() -> None:
    tokenizer = SimpleNamespace(get_added_vocab=lambda: ADDED)
    media = MediaProcessor(SimpleNamespace(tokenizer=tokenizer), "", {"image": ("<image>", 7)})
    assert media.kinds == ("image",)
    with pytest.raises(BadRequest, match="<image>, which stands for a picture"):
        media.prompt(["See <image>."])


def test_a_prompt_can_go_on_only_behind_its_media() -> None:
    prompt = ProcessedPrompt((5, 7, 7, 6, 5), {7}, -3, {})
    assert list(prompt) == [5, -3, -3, 6, 5]
    assert prompt.whole == 3
    assert [readable(prompt, count) for count in range(6)] == [0, 0, 0, 3, 4, 5]
    assert readable((1, 2, 3), 2) == 2

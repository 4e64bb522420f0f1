"""Texts and media as pieces, with the model's marks around each medium."""

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.qwen_omni.prompt.omni_prompt import PromptMedium, PromptText
from duologue.engines.qwen_omni.prompt.prompt_reader import PromptReader
from duologue.errors import StartFailed
from duologue.values.messages import AudioPart, ImagePart

NUMBERS = {"<v>": 200, "</v>": 201, "<a>": 202, "</a>": 203, "<I>": 204, "<A>": 205}
NAMES = {
    "vision_bos_token": "<v>",
    "vision_eos_token": "</v>",
    "audio_bos_token": "<a>",
    "audio_eos_token": "</a>",
    "image_token": "<I>",
    "audio_token": "<A>",
}


def tokenizer(**names: str | None) -> Any:
    return SimpleNamespace(
        **{**NAMES, **names},
        convert_tokens_to_ids=NUMBERS.get,
        encode=lambda text, add_special_tokens: [ord(letter) for letter in text],
    )


class Media:
    def picture_grid(self, part: ImagePart) -> tuple[int, int]:
        return 2, 3

    def heard(self, part: AudioPart) -> AudioPart:
        return AudioPart(part.data, 16_000)

    def sound_tokens(self, part: AudioPart) -> int:
        return len(part.data)


def reader() -> PromptReader:
    media: Any = Media()
    return PromptReader(tokenizer(), media)


def test_each_medium_stands_between_its_marks() -> None:
    prompt = reader().prompt(["ab", ImagePart(b"p"), AudioPart(b"1234", 8000), "c"])
    kinds = [piece if isinstance(piece, PromptText) else piece.size for piece in prompt.pieces]
    assert kinds == [
        PromptText((97, 98)),
        *(PromptText((200,)), 6, PromptText((201,))),
        *(PromptText((202,)), 4, PromptText((203,))),
        PromptText((99,)),
    ]
    picture, sound = (piece for piece in prompt.pieces if isinstance(piece, PromptMedium))
    assert (picture.placeholder, picture.grid) == (204, (2, 3))
    assert (sound.placeholder, sound.grid) == (205, None)
    assert sound.part == AudioPart(b"1234", 16_000)
    assert picture.key < 0
    assert picture.key != sound.key


def test_the_same_medium_has_the_same_number_and_another_one_has_not() -> None:
    def key(data: bytes) -> int:
        return reader().prompt([ImagePart(data)])[1]

    assert key(b"one") == key(b"one") != key(b"two")


def test_an_empty_text_is_no_piece() -> None:
    assert len(reader().prompt(["", "a", ""]).pieces) == 1
    assert reader().tokens("") == ()


def test_a_tokenizer_without_marks_for_media_is_refused() -> None:
    media: Any = Media()
    with pytest.raises(StartFailed, match="audio_bos_token"):
        PromptReader(tokenizer(audio_bos_token=None), media)
    with pytest.raises(StartFailed, match="image_token"):
        PromptReader(tokenizer(image_token="<unknown>"), media)

"""Pictures and sounds as the library takes them, and their tokens."""

from __future__ import annotations

import base64
from array import array
from typing import Any

import pytest
from tests.support.tiny_projectors import picture, sound

from duologue.engines.llama.prompt.media_tokenizer import MediaTokenizer
from duologue.errors import BadRequest, EngineFailed
from duologue.values.messages import AudioPart, ImagePart

pytestmark = pytest.mark.anyio


class Tokenizer:
    async def tokens(self, text: str, *, start: bool) -> tuple[int, ...]:
        assert not start
        return tuple(text.encode())


class Client:
    """Counts as llama.cpp does: a frame around, and so many tokens a medium."""

    def __init__(self, frame: int = 23, broken: bool = False) -> None:
        self.frame, self.broken = frame, broken
        self.asked: list[list[dict[str, Any]]] = []

    def count(self, content: list[dict[str, Any]]) -> int:
        self.asked.append(content)
        if self.broken:
            raise BadRequest("no")
        return self.frame + sum(34 if part["type"] == "image_url" else 50 for part in content)

    def close(self) -> None: ...


def tokenizer(client: Client, bos: str = "", leading: tuple[int, ...] = ()) -> MediaTokenizer:
    return MediaTokenizer(Tokenizer(), client, ("<|im_end|>",), leading, bos, "<__m__>")  # type: ignore[arg-type]


async def test_a_medium_takes_what_the_library_counts_less_the_frame() -> None:
    prompt = await tokenizer(Client()).prompt(["ab", picture(1), "c", sound(1), "d"])
    assert len(prompt) == 2 + 34 + 1 + 50 + 1


async def test_each_is_counted_once() -> None:
    client = Client()
    media = tokenizer(client)
    for _ in range(3):
        await media.prompt([picture(1), picture(2), "x"])
    assert [len(content) for content in client.asked] == [1, 2, 1]


async def test_a_prompt_ends_with_text() -> None:
    prompt = await tokenizer(Client()).prompt(["ab", sound(1)])
    assert prompt.body()["prompt_string"] == "ab<__m__>\n"
    assert prompt[-1] == ord("\n")


async def test_the_first_token_is_there_once() -> None:
    for text in ("<s>ab", "ab"):
        prompt = await tokenizer(Client(), "<s>", (1,)).prompt([text, picture(1), "c"])
        assert prompt.tokens[:3] == (1, ord("a"), ord("b"))
        assert prompt.body()["prompt_string"] == "ab<__m__>c"


async def test_sound_becomes_a_file_of_16_bits() -> None:
    data = array("f", [0.0, 1.0, -1.0, float("nan"), 7.0]).tobytes()
    prompt = await tokenizer(Client()).prompt([AudioPart(data, 24_000), "x"])
    (encoded,) = prompt.body()["multimodal_data"]
    wav = base64.b64decode(encoded)
    assert (wav[:4], wav[8:12], int.from_bytes(wav[24:28], "little")) == (b"RIFF", b"WAVE", 24_000)
    assert array("h", wav[44:]).tolist() == [0, 32767, -32768, 0, 32767]


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (ImagePart(b"RIFF0000WEBP", "image/webp"), "image_unreadable"),
        (AudioPart(b"", 16_000), "sound_unreadable"),
        (AudioPart(bytes(8), 2**31), "sound_unreadable"),
    ],
)
async def test_what_the_library_does_not_read_never_reaches_it(
    part: ImagePart | AudioPart, code: str
) -> None:
    client = Client()
    with pytest.raises(BadRequest) as error:
        await tokenizer(client).prompt([part, "x"])
    assert error.value.code == code
    assert client.asked == []


async def test_a_refusal_of_the_library_is_about_the_picture() -> None:
    with pytest.raises(BadRequest, match="damaged") as error:
        await tokenizer(Client(broken=True)).prompt([picture(1), "x"])
    assert error.value.code == "image_unreadable"


async def test_a_count_without_sense_is_the_engines_fault() -> None:
    class Zero(Client):
        def count(self, content: list[dict[str, Any]]) -> int:
            return 23

    with pytest.raises(EngineFailed):
        await tokenizer(Zero()).prompt([picture(1), "x"])

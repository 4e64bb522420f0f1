"""The whole server with a tiny model that sees and one that hears on the engine `transformers`: what is written about a picture or a sound of
`/v1/chat/completions` is what the library's own `generate` writes about it."""

from __future__ import annotations

import base64
import json
import math
from array import array
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

torch = pytest.importorskip("torch", reason="these tests need the extra transformers")
transformers = pytest.importorskip("transformers", reason="these tests need the extra transformers")
pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(find_spec("fastapi") is None, reason="the server is not installed"),
]

from PIL import Image
from tests.e2e.conftest import Server
from tests.support.sample_files import encoded
from tests.support.tiny_seeing import PLACES, Family, make_seeing

from duologue.values.audio import wav_header

PATIENCE = 300
TOKENS = 16
HALF = "\ufffd"
RATE = 16_000
Part = dict[str, Any]
Folders = dict[Family, Path]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    place: Path = tmp_path_factory.mktemp("models")
    return {
        "llava": make_seeing(place / "llava", "llava"),
        "qwen2_audio": make_seeing(place / "qwen2_audio", "qwen2_audio"),
    }


@contextmanager
def serving(folder: Path, model: Path) -> Iterator[Server]:
    server = Server(folder, "--engine", "transformers", "--model", str(model))
    try:
        server.wait_for("Duologue is ready", seconds=PATIENCE)
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def sees(folders: Folders, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("sees"), folders["llava"]) as server:
        yield server


@pytest.fixture(scope="module")
def hears(folders: Folders, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("hears"), folders["qwen2_audio"]) as server:
        yield server


def picture(colour: str) -> Image.Image:
    image = Image.new("RGB", (40, 24), colour)
    image.paste((0, 0, 0), (0, 0, 12, 12))
    return image


def picture_part(image: Image.Image) -> Part:
    data = base64.b64encode(encoded(image)).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def sound(pitch: float) -> array[int]:
    """A second of a tone."""
    return array("h", [round(16_000 * math.sin(2 * math.pi * pitch * at / RATE)) for at in range(RATE)])


def sound_part(samples: array[int]) -> Part:
    data = wav_header(RATE, len(samples) * 2) + samples.tobytes()
    return {"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode(), "format": "wav"}}


def asked(*media: Part, text: str = "What is it?") -> list[dict[str, Any]]:
    content: list[Part] = [*media, {"type": "text", "text": text}]
    return [{"role": "user", "content": content if media else text}]


def chat(server: Server, messages: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    body = {"messages": messages, "max_tokens": TOKENS, "temperature": 0, "ignore_eos": True, **fields}
    answer = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=PATIENCE)
    return {"status": answer.status_code, **answer.json()}


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"]).rstrip(HALF)


@cache
def opened(folder: Path) -> tuple[Any, Any]:
    kind = (
        transformers.AutoModelForImageTextToText
        if folder.name == "llava"
        else transformers.Qwen2AudioForConditionalGeneration
    )
    return kind.from_pretrained(folder).eval(), transformers.AutoProcessor.from_pretrained(folder)


def library_text(folder: Path, text: str = "What is it?", **media: Any) -> str:
    """What the library continues one message of these media and this text with."""
    model, processor = opened(folder)
    place = PLACES[folder.name]  # type: ignore[index]
    places = place * sum(len(each) for each in media.values() if isinstance(each, list))
    prompt = f"<|im_start|>user\n{places}{text}<|im_end|>\n<|im_start|>assistant\n"
    inputs = processor(text=[prompt], add_special_tokens=False, return_tensors="pt", **media)
    control = processor.tokenizer.all_special_ids
    with torch.inference_mode():
        tokens = model.generate(
            **inputs,
            do_sample=False,
            max_new_tokens=TOKENS,
            eos_token_id=None,
            pad_token_id=0,
            suppress_tokens=[processor.tokenizer.convert_tokens_to_ids("<|im_end|>")],
        )[0][inputs["input_ids"].shape[1] :].tolist()
    return str(processor.tokenizer.decode([token for token in tokens if token not in control])).rstrip(HALF)


def test_what_is_written_about_pictures_is_what_the_library_writes(sees: Server, folders: Folders):
    red, blue = picture("red"), picture("blue")
    every = [[red], [blue], [red, blue], [blue, red]]
    told = [chat(sees, asked(*map(picture_part, images))) for images in every]
    texts = [text_of(answer) for answer in told]
    assert texts == [library_text(folders["llava"], images=images) for images in every]
    assert len(set(texts)) == len(texts)
    one, two = (told[at]["usage"]["prompt_tokens"] for at in (0, 2))
    assert one < two


def test_pictures_side_by_side_are_not_mixed_up(sees: Server):
    colours = ["red", "blue", "green", "white"]
    every = [asked(picture_part(picture(colour))) for colour in colours] + [asked(text="Hello.")]
    alone = [text_of(chat(sees, messages)) for messages in every]
    with ThreadPoolExecutor(len(every)) as threads:
        together = list(threads.map(lambda messages: text_of(chat(sees, messages)), every))
    assert together == alone


def test_a_stream_about_a_picture_is_the_same_reply(sees: Server):
    messages = asked(picture_part(picture("red")))
    body = {"messages": messages, "max_tokens": TOKENS, "temperature": 0, "ignore_eos": True, "stream": True}
    told = ""
    with httpx.stream("POST", f"{sees.url}/v1/chat/completions", json=body, timeout=PATIENCE) as lines:
        for line in lines.iter_lines():
            if line.startswith("data: {"):
                told += "".join(
                    choice["delta"].get("content") or "" for choice in json.loads(line[6:])["choices"]
                )
    assert told.rstrip(HALF) == text_of(chat(sees, messages))


def test_a_second_turn_about_a_picture_uses_what_is_cached(sees: Server):
    first = asked(picture_part(picture("green")), text="A second turn?")
    reply = text_of(chat(sees, first))
    more = [*first, {"role": "assistant", "content": reply}, {"role": "user", "content": "And now?"}]
    answer = chat(sees, more)
    cached = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert len("A second turn?") < cached < answer["usage"]["prompt_tokens"]


def test_what_is_written_about_sounds_is_what_the_library_writes(hears: Server, folders: Folders):
    low, high = sound(200), sound(2_000)
    every = [[low], [high], [low, high]]
    texts = [text_of(chat(hears, asked(*map(sound_part, sounds)))) for sounds in every]
    heard = [[torch.tensor(each).div(32_768).numpy() for each in sounds] for sounds in every]
    assert texts == [
        library_text(folders["qwen2_audio"], audio=sounds, sampling_rate=RATE) for sounds in heard
    ]
    assert texts[0] != texts[1]


def test_what_the_model_does_not_take_is_refused_and_the_next_chat_goes_on(sees: Server, hears: Server):
    shown, heard = picture_part(picture("red")), sound_part(sound(200))
    for server, part in ((sees, heard), (hears, shown)):
        answer = chat(server, asked(part))
        assert answer["status"] == 400
        assert answer["error"]["code"] == "modality_unsupported"
        assert chat(server, asked(text="Hello."))["status"] == 200


def test_a_damaged_picture_is_refused_and_the_next_one_is_seen(sees: Server):
    cut = encoded(picture("red"))[:-40]
    broken = {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{base64.b64encode(cut).decode()}"},
    }
    answer = chat(sees, asked(broken))
    assert answer["status"] == 400, answer
    assert answer["error"]["code"] == "image_unreadable"
    assert chat(sees, asked(picture_part(picture("red"))))["status"] == 200

"""Pictures and sound on the engine `transformers`, with tiny models of three families that see and one that hears: what is written is what the
library's own `generate` writes, and a kept cache is used only behind the same media."""

import io
from array import array
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

torch = pytest.importorskip("torch", reason="these tests need the extra transformers")
transformers = pytest.importorskip("transformers", reason="these tests need the extra transformers")
Image = pytest.importorskip("PIL.Image")

from tests.support.engine_device import DEVICE
from tests.support.tiny_causal import make_causal
from tests.support.tiny_seeing import FAMILIES, PLACES, make_seeing

from duologue.engines.contracts import Generation, MediaPromptEngine, Piece
from duologue.engines.huggingface.engine import HuggingfaceEngine
from duologue.engines.registry import load_language_engine
from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import AudioPart, ImagePart
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
GREEDY = Generation(Sampling(temperature=0.0, max_tokens=16, ignore_eos=True))
HALF = "\ufffd"
"""What a decoder writes for half a character; a reply that ends in one leaves it out."""
Medium = ImagePart | AudioPart


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=FAMILIES)
async def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[HuggingfaceEngine]:
    loaded = await opened(make_seeing(tmp_path_factory.mktemp("seeing") / request.param, request.param))
    yield loaded
    await loaded.close()


async def opened(folder: Path) -> HuggingfaceEngine:
    options = {"device": DEVICE, "slots": 3, "context": 1024, "name": "tiny", "batch": 16}
    engine = await load_language_engine("transformers", {"model": str(folder), **options})
    assert isinstance(engine, HuggingfaceEngine)
    return engine


def picture(colour: tuple[int, int, int]) -> ImagePart:
    image = Image.new("RGB", (40, 24), colour)
    image.paste((0, 0, 0), (0, 0, 12, 12))
    data = io.BytesIO()
    image.save(data, "PNG")
    return ImagePart(data.getvalue())


def sound(step: int) -> AudioPart:
    values = array("f", [((at * step) % 200) / 100 - 1 for at in range(16_000)])
    return AudioPart(values.tobytes(), 16_000)


def media_of(engine: HuggingfaceEngine) -> tuple[Medium, Medium]:
    if "audio" in engine.card.modalities:
        return sound(7), sound(31)
    return picture((250, 10, 10)), picture((10, 40, 250))


def around(*media: Medium, end: str = "What is it?") -> list[str | Medium]:
    pieces: list[str | Medium] = ["<|im_start|>user\nLook. "]
    for medium in media:
        pieces += [medium, " and "]
    return [*pieces, f"{end}<|im_end|>\n<|im_start|>assistant\n"]


async def written(engine: HuggingfaceEngine, slot: int, prompt: Any) -> tuple[str, int]:
    async with engine.generate(slot, prompt, GREEDY) as items:
        found = [item async for item in items]
    text = "".join(item.text for item in found if isinstance(item, Piece))
    return text.rstrip(HALF), found[-1].cached


def library_text(engine: HuggingfaceEngine, pieces: list[str | Medium]) -> str:
    """What the library's processor and `generate` continue with."""
    opened = engine._open()
    assert opened.media is not None
    place = PLACES[opened.kind]  # type: ignore[index]
    text = "".join(piece if isinstance(piece, str) else place for piece in pieces)
    images = [Image.open(io.BytesIO(piece.data)) for piece in pieces if isinstance(piece, ImagePart)]
    sounds = [
        torch.frombuffer(bytearray(p.data), dtype=torch.float32).numpy()
        for p in pieces
        if isinstance(p, AudioPart)
    ]
    inputs = opened.media._processor(
        text=[text],
        **({"images": images} if images else {}),
        **({"audio": sounds, "sampling_rate": 16_000} if sounds else {}),
        add_special_tokens=False,
        return_tensors="pt",
    )
    with torch.inference_mode():
        tokens = opened.rows._model.generate(
            **inputs.to(DEVICE),
            do_sample=False,
            max_new_tokens=16,
            eos_token_id=None,
            pad_token_id=0,
            suppress_tokens=sorted(engine._ends),
        )[0][inputs["input_ids"].shape[1] :].tolist()
    control = set(engine._tokenizer.all_special_ids)
    return str(engine._tokenizer.decode([token for token in tokens if token not in control])).rstrip(HALF)


async def test_the_card_says_what_the_folder_can_take(engine: HuggingfaceEngine) -> None:
    assert isinstance(engine, MediaPromptEngine)
    kind = "audio" if engine.card.description == "qwen2_audio" else "image"
    assert engine.card.modalities == ("text", kind), engine.card.warnings


async def test_behind_media_it_writes_what_the_library_writes(engine: HuggingfaceEngine) -> None:
    first, second = media_of(engine)
    texts = []
    for slot, pieces in enumerate((around(first), around(second), around(first, second))):
        text, cached = await written(engine, slot, await engine.tokenize_media(pieces))
        assert (text, cached) == (library_text(engine, pieces), 0)
        texts.append(text)
    assert len(set(texts)) == 3


async def test_beside_other_replies_it_writes_the_same(engine: HuggingfaceEngine) -> None:
    first, second = media_of(engine)
    every = [around(first), around(second, first), around(end="Hello.")]
    found: dict[int, str] = {}

    async def ask(slot: int) -> None:
        pieces = every[slot]
        has_media = any(not isinstance(piece, str) for piece in pieces)
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        prompt = await engine.tokenize_media(pieces) if has_media else await engine.tokenize(text)
        found[slot], _ = await written(engine, slot, prompt)

    async with anyio.create_task_group() as group:
        for slot in range(3):
            group.start_soon(ask, slot)
    assert [found[slot] for slot in range(3)] == [library_text(engine, pieces) for pieces in every]


async def test_what_is_cached_is_used_behind_the_same_media_only(engine: HuggingfaceEngine) -> None:
    first, second = media_of(engine)
    prompt = await engine.tokenize_media(around(first))
    await written(engine, 0, prompt)
    longer = around(first, end="What else is it?")
    again = await engine.tokenize_media(longer)
    text, cached = await written(engine, 0, again)
    assert text == library_text(engine, longer)
    assert again.whole <= cached < len(again)
    other = around(second, end="What else is it?")
    text, cached = await written(engine, 0, await engine.tokenize_media(other))
    assert (text, cached) == (library_text(engine, other), 0)
    added = around(second, first, end="What else is it?")
    assert engine.cached_tokens(0, await engine.tokenize_media(added)) == 0
    text, cached = await written(engine, 0, await engine.tokenize_media(added))
    assert (text, cached) == (library_text(engine, added), 0)
    plain = await engine.tokenize("<|im_start|>user\nLook. Or not?")
    text, cached = await written(engine, 0, plain)
    assert cached > 0
    fresh, _ = await written(engine, 1, plain)
    assert text == fresh


async def test_a_medium_read_ahead_is_found(engine: HuggingfaceEngine) -> None:
    pieces = around(media_of(engine)[0])
    prompt = await engine.tokenize_media(pieces)
    async with engine.prefill(2, prompt) as steps:
        progress = [step async for step in steps]
    assert progress[-1].processed == len(prompt)
    text, cached = await written(engine, 2, prompt)
    assert (text, cached) == (library_text(engine, pieces), len(prompt) - 1)


async def test_a_damaged_medium_and_a_text_like_one_are_refused(engine: HuggingfaceEngine) -> None:
    hears = "audio" in engine.card.modalities
    broken: Medium = AudioPart(b"", 16_000) if hears else ImagePart(b"no picture")
    with pytest.raises(BadRequest) as caught:
        await engine.tokenize_media(around(broken))
    assert caught.value.code == ("sound_unreadable" if hears else "image_unreadable")
    kind = engine.card.description
    token = {"qwen2_audio": "<|AUDIO|>", "qwen2_vl": "<|image_pad|>"}.get(kind) or PLACES[kind]  # type: ignore[index]
    with pytest.raises(BadRequest, match="stands for a picture or sound"):
        await engine.tokenize_media(around(media_of(engine)[0], end=token))
    with pytest.raises(Unsupported) as refused:
        await engine.tokenize_media(around(picture((1, 2, 3)) if hears else sound(3)))
    assert refused.value.code == "modality_unsupported"


async def test_a_model_of_text_refuses_pictures(tmp_path: Path) -> None:
    engine = await opened(make_causal(tmp_path / "text"))
    assert engine.card.modalities == ("text",)
    with pytest.raises(Unsupported, match="takes text") as caught:
        await engine.tokenize_media(around(picture((1, 2, 3))))
    assert caught.value.code == "modality_unsupported"
    await engine.close()


async def test_a_model_that_sees_without_its_processor_reads_text_and_says_so(tmp_path: Path) -> None:
    folder = make_seeing(tmp_path / "blind", "llava")
    for name in ("processor_config.json", "preprocessor_config.json"):
        (folder / name).unlink(missing_ok=True)
    engine = await opened(folder)
    assert engine.card.modalities == ("text",)
    assert any("Pictures and sound are refused" in warning for warning in engine.card.warnings)
    await engine.close()

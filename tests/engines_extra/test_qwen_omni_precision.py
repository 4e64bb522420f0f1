"""Qwen omni models in 16 bits and quantised: tiny ones that read, write, speak and hold a call, on a processor. How good real weights are in
these forms, and how fast, only real weights can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="these tests need the extra omni")
pytest.importorskip("transformers", reason="these tests need the extra omni")

from tests.support.engine_device import DEVICE
from tests.support.tiny_omni import FAMILIES, Family, make_omni

from duologue.engines.contracts import DuplexOptions, Generation, ModelVoice, Piece, SpokenSound
from duologue.engines.qwen_omni import omni_weights
from duologue.engines.qwen_omni.prompt.media_reader import as_sound
from duologue.engines.registry import load_language_engine
from duologue.errors import StartFailed
from duologue.values.messages import system
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
SAMPLING = Sampling(max_tokens=24, ignore_eos=True, seed=1)
SOUND = bytes(range(256)) * 125


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[Family, Path]:
    return {family: make_omni(tmp_path_factory.mktemp(family) / "tiny", family) for family in FAMILIES}


async def try_all(folder: Path, **options: Any) -> None:
    """A spoken chat about a sound, then a call with a cut reply."""
    engine: Any = await load_language_engine(
        "qwen_omni", {"model": str(folder), "device": DEVICE, "slots": 1, "context": 1024, **options}
    )
    try:
        pieces = ["<|im_start|>user\n", as_sound(SOUND), "<|im_end|>\n<|im_start|>assistant\n"]
        prompt = await engine.tokenize_media(pieces)
        written, spoken = 0, b""
        async with engine.generate(0, prompt, Generation(SAMPLING, voice=ModelVoice())) as items:
            async for item in items:
                written += item.tokens if isinstance(item, Piece) else 0
                spoken += item.pcm if isinstance(item, SpokenSound) else b""
        assert written == SAMPLING.max_tokens
        assert any(spoken)
        async with engine.duplex() as view:
            await view.prepare((system("Be brief."),), DuplexOptions(SAMPLING))
            heard = await view.unit(SOUND, decision="listen")
            answer = await view.unit(SOUND, decision="speak")
            await view.finalize()
            await view.cut(6000)
            after = await view.unit(SOUND, decision="listen")
        assert 0 < heard.cached < answer.cached
        assert any(answer.pcm)
        assert after.listens
    finally:
        await engine.close()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", FAMILIES)
async def test_models_in_sixteen_bits_read_write_speak_and_hold_calls(folders, family, dtype):
    await try_all(folders[family], dtype=dtype)


@pytest.fixture
def opened(monkeypatch) -> list[Any]:
    """The models that are loaded, as if on a card: the processor only does the same more slowly, which is why people are refused it."""
    pytest.importorskip("bitsandbytes", reason="quantisation needs bitsandbytes")
    models: list[Any] = []
    quantisation, load = omni_weights._quantisation, omni_weights._load

    def on_card(transformers: Any, family: Any, kind: Any, place: str) -> Any:
        return quantisation(transformers, family, kind, "cuda:0")

    def kept(*arguments: Any) -> Any:
        models.append(load(*arguments))
        return models[-1]

    monkeypatch.setattr(omni_weights, "_quantisation", on_card)
    monkeypatch.setattr(omni_weights, "_load", kept)
    return models


@pytest.mark.parametrize(("quantisation", "stored"), [("int8", "int8"), ("4bit", "uint8")])
async def test_a_quantised_model_writes_with_small_weights_and_speaks_with_its_own(
    folders, opened, quantisation, stored
):
    await try_all(folders["qwen2_5"], quantisation=quantisation)
    [model] = opened
    layers = {
        name: str(layer.weight.dtype).removeprefix("torch.")
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear)
    }
    assert {kind for name, kind in layers.items() if name.startswith("thinker.model")} == {stored}
    assert layers["thinker.lm_head"] == "float32"
    assert {kind for name, kind in layers.items() if not name.startswith("thinker")} == {"float32"}


async def test_experts_that_would_stay_as_they_are_are_refused_with_a_sentence(folders, opened):
    with pytest.raises(StartFailed, match="experts"):
        await load_language_engine(
            "qwen_omni", {"model": str(folders["qwen3"]), "device": DEVICE, "quantisation": "4bit"}
        )

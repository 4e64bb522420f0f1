"""A model with a projector, loaded: what it takes then, and what happens when the two do not fit."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import picture, write_projector

from duologue.engines.contracts import Generation, Piece
from duologue.engines.llama import engine as llama_module
from duologue.engines.llama import model_server
from duologue.engines.llama.engine import load
from duologue.engines.llama.model_server import use_gpu_layers, use_projector, use_threads
from duologue.errors import StartFailed, Unsupported
from duologue.values.requests import ModelCard, OutputFormat, Sampling

pytestmark = pytest.mark.anyio


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_tiny_model(tmp_path / "tiny.gguf", TinyModel(context=2048))


async def card(model: Path, **options: object) -> ModelCard:
    engine = await load({"model": str(model), "log": 0, **options})
    await engine.close()
    return engine.card


async def test_the_projector_beside_a_model_is_loaded_with_it(model: Path) -> None:
    write_projector(model.with_name("mmproj-tiny.gguf"), sees=False, hears=True)
    loaded = await card(model)
    assert loaded.modalities == ("text", "audio")
    assert loaded.warnings == ()


async def test_another_one_can_be_named_and_none_at_all(model: Path, tmp_path: Path) -> None:
    write_projector(model.with_name("mmproj-tiny.gguf"), sees=False, hears=True)
    eyes = write_projector(tmp_path / "eyes.gguf")
    assert (await card(model, mmproj=str(eyes))).modalities == ("text", "image")
    assert (await card(model, mmproj="none")).modalities == ("text",)


async def test_a_named_one_that_does_not_fit_is_refused(model: Path, tmp_path: Path) -> None:
    write_projector(tmp_path / "wide.gguf", embedding=32)
    with pytest.raises(StartFailed, match=r"projector for a model of width 32, and tiny\.gguf has 64"):
        await card(model, mmproj=str(tmp_path / "wide.gguf"))


async def test_one_that_only_lies_there_costs_the_eyes_and_not_the_model(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_projector(model.with_name("mmproj-tiny.gguf"))
    start = model_server.start_server

    def refuse(header: object, projector: object, *rest: object) -> object:
        if projector is not None:
            raise StartFailed("No.")
        return start(header, projector, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(llama_module, "start_server", refuse)
    loaded = await card(model)
    assert loaded.modalities == ("text",)
    assert "could not be loaded with tiny.gguf, so the model reads text only" in loaded.warnings[0]
    with pytest.raises(StartFailed, match=r"No\."):
        await card(model, mmproj=str(model.with_name("mmproj-tiny.gguf")))


async def test_the_library_refuses_a_projector_of_another_width_with_words(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.models.gguf.projector.Projector.fits", lambda *_: True)
    write_projector(model.with_name("odd.gguf"), embedding=32)
    with pytest.raises(StartFailed, match=r"could not load .*tiny\.gguf with odd\.gguf"):
        await card(model, mmproj="odd.gguf")


async def test_a_model_without_one_takes_text_alone(model: Path) -> None:
    engine = await load({"model": str(model), "log": 0})
    with pytest.raises(Unsupported) as error:
        await engine.tokenize_media(["a"])
    await engine.close()
    assert error.value.code == "modality_unsupported"


async def test_a_running_reply_gets_a_token_between_the_pictures_of_another_prompt(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By the log of the library, whose one loop writes it in the order in which it does things."""
    model = write_tiny_model(tmp_path / "tiny.gguf", TinyModel(context=16_384))
    write_projector(model.with_name("mmproj-tiny.gguf"))
    options = {"model": str(model), "slots": 2, "context": 16_384, "gpu_layers": 0, "log": 5}
    engine = await load(options)
    pictures = await engine.tokenize_media([*map(picture, range(6)), "What are these?"])
    endless = Generation(Sampling(max_tokens=16_000, ignore_eos=True))
    async with engine.generate(0, await engine.tokenize("Tell me"), endless) as reply:
        async for item in reply:
            if isinstance(item, Piece):
                break
        capfd.readouterr()
        async with engine.prefill(1, pictures) as progress:
            async for _ in progress:
                pass
    await engine.close()
    between = capfd.readouterr().err.split("encoding mtmd batch")[1:]
    assert len(between) == 6
    for lines in between[:-1]:
        assert re.search(r"id +0 \| task \d+ \| n_gen", lines), "the first slot wrote a token"


def test_what_the_recogniser_shares() -> None:
    params = SimpleNamespace(
        mmproj=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
    )
    use_projector(params, Path("p.gguf"), gpu=False)
    assert (params.mmproj.path, params.mmproj_use_gpu) == ("p.gguf", False)
    assert params.video_ffmpeg_bin_dir == "/dev/null", "nothing that a person sends is given to an FFmpeg"
    assert params.mtmd_batch_max_tokens == 1, "a processor encodes pictures one by one"
    card = SimpleNamespace(mmproj=SimpleNamespace())
    use_projector(card, Path("p.gguf"))
    assert not hasattr(card, "mtmd_batch_max_tokens"), "a graphics card encodes several at once"
    use_threads(params, 3)
    assert (params.cpuparams.n_threads, params.cpuparams_batch.n_threads) == (3, 3)
    use_gpu_layers(params, -1)
    assert (params.n_gpu_layers, params.fit_params) == (-2, False)


async def written(model: Path, format: OutputFormat | None = None, **options: object) -> str:
    engine = await load({"model": str(model), "slots": 1, "log": 0, **options})
    try:
        generation = Generation(Sampling(max_tokens=40, temperature=0.0, ignore_eos=format is None), format)
        async with engine.generate(0, await engine.tokenize("abcdefgh " * 12), generation) as items:
            return "".join([item.text async for item in items if isinstance(item, Piece)])
    finally:
        await engine.close()


async def test_guessed_tokens_change_nothing_of_a_reply(model: Path) -> None:
    plain = await written(model)
    assert await written(model, speculative="ngram_simple", draft_tokens=8) == plain
    draft: dict[str, Any] = {"speculative": "draft", "draft_model": str(model), "draft_tokens": 4}
    assert await written(model, **draft) == plain
    grammar = OutputFormat("grammar", grammar='root ::= "yes" | "no"')
    assert await written(model, grammar, **draft) in ("yes", "no")


async def test_a_draft_model_is_named_and_there(model: Path) -> None:
    with pytest.raises(StartFailed, match="belong together"):
        await card(model, speculative="draft")
    with pytest.raises(StartFailed, match="no draft model at"):
        await card(model, speculative="draft", draft_model=str(model.with_name("none.gguf")))

"""Folders that the engine `transformers` cannot serve, or not entirely: each is told apart with a sentence that says what to do."""

import json
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="these tests need the extra transformers")
transformers = pytest.importorskip("transformers", reason="these tests need the extra transformers")

from tests.support.tiny_causal import make_causal

from duologue.engines.huggingface.causal_model import HuggingfaceOptions, _quantisation, open_model
from duologue.engines.registry import load_language_engine
from duologue.errors import StartFailed


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_causal(tmp_path_factory.mktemp("whole") / "tiny")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of a whole model, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "tiny"))


def options(folder: Path, **others: Any) -> HuggingfaceOptions:
    return HuggingfaceOptions(str(folder), device="cpu", slots=1, context=256, **others)


def cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


def pickle_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def drop_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def configure(**fields: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config = folder / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), **fields}))

    return change


OWN_CODE = {"model_type": "unheard_of", "auto_map": {"AutoModelForCausalLM": "own.OwnModel"}}
STORED_4BIT = {"quant_method": "bitsandbytes", "load_in_4bit": True}


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (cut_weights, "cannot be loaded by transformers"),
        (pickle_weights, "no weights as safetensors"),
        (drop_tokenizer, "no tokenizer"),
        (configure(**OWN_CODE), "code of its own"),
        (configure(quantization_config={"quant_method": "unheard_of"}), "does not know"),
        pytest.param(
            configure(quantization_config=STORED_4BIT),
            "bitsandbytes",
            marks=pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="it is installed"),
        ),
    ],
)
def test_a_folder_that_cannot_be_served_is_refused_with_its_reason(
    folder: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    damage(folder)
    with pytest.raises(StartFailed, match=sentence):
        open_model(options(folder))


def test_an_encoder_is_no_causal_language_model(tmp_path: Path) -> None:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    config = transformers.DistilBertConfig(dim=8, n_layers=1, n_heads=1, hidden_dim=8, vocab_size=8)
    transformers.DistilBertModel(config).save_pretrained(tmp_path / "encoder")
    with pytest.raises(StartFailed, match="distilbert, which is not a causal language model"):
        open_model(options(tmp_path / "encoder"))
    translator = transformers.MarianConfig(vocab_size=8, d_model=8, pad_token_id=0, **sizes)
    translator.save_pretrained(tmp_path / "translator")
    (tmp_path / "translator" / "model.safetensors").write_bytes(b"")
    with pytest.raises(StartFailed, match="marian, which is not a causal language model"):
        open_model(options(tmp_path / "translator"))


def test_quantisation_names_what_it_needs(folder: Path) -> None:
    with pytest.raises(StartFailed, match="needs a graphics card"):
        open_model(options(folder, quantisation="int8"))
    if find_spec("bitsandbytes") is None:
        with pytest.raises(StartFailed, match="pip install bitsandbytes") as caught:
            _quantisation(transformers, "4bit", "cuda:0")
        assert caught.value.code == "engine_missing"


@pytest.mark.anyio
async def test_a_model_without_a_chat_template_is_served_with_a_warning(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    engine = await load_language_engine("transformers", {"model": str(folder), "device": "cpu"})
    assert any("has no chat template" in warning for warning in engine.card.warnings)
    await engine.close()

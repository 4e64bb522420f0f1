"""What the engine says before it has a model. The rest needs PyTorch (tests/engines_extra/test_huggingface.py)."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue.engines.huggingface.engine import leading_tokens
from duologue.engines.registry import load_language_engine
from duologue.errors import StartFailed

pytestmark = pytest.mark.anyio


@pytest.mark.skipif(find_spec("transformers") is not None, reason="the library is installed")
async def test_without_the_library_it_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(StartFailed, match=r"duologue\[transformers\]") as caught:
        await load_language_engine("transformers", {"model": str(tmp_path)})
    assert caught.value.code == "engine_missing"


async def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(StartFailed, match="Did you mean 'context'"):
        await load_language_engine("transformers", {"contxt": 5})


def test_the_tokens_before_every_text_are_told_from_those_behind_it() -> None:
    def encode(text: str, *, add_special_tokens: bool) -> list[int]:
        return [1, 2, 50, 3] if add_special_tokens else [50]

    assert leading_tokens(SimpleNamespace(encode=encode)) == (1, 2)
    assert leading_tokens(SimpleNamespace(encode=lambda text, **_: [50])) == ()

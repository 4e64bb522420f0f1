"""What the engine says before it has a model: what is missing, and which tokens end a reply. The rest needs PyTorch
(tests/engines_extra/test_qwen_omni.py)."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.engines.qwen_omni.test_omni_weights import folder_of

from duologue.engines.qwen_omni.engine import ends_of
from duologue.engines.registry import load_language_engine
from duologue.errors import StartFailed

pytestmark = pytest.mark.anyio


@pytest.mark.skipif(find_spec("transformers") is not None, reason="the library is installed")
async def test_without_the_library_it_names_the_extra(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match=r"duologue\[omni\]") as caught:
        await load_language_engine("qwen_omni", {"model": str(folder_of(tmp_path))})
    assert caught.value.code == "engine_missing"


async def test_weights_and_options_are_checked_before_the_library(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="hf download"):
        await load_language_engine("qwen_omni", {"model": "no-such-omni", "models": str(tmp_path)})
    with pytest.raises(StartFailed, match="Did you mean 'context'"):
        await load_language_engine("qwen_omni", {"contxt": 5})
    with pytest.raises(StartFailed, match="no device"):
        await load_language_engine("qwen_omni", {"device": "tpu"})


def test_a_reply_ends_with_the_tokens_of_the_settings_and_of_the_tokenizer() -> None:
    tokenizer = SimpleNamespace(eos_token_id=5, pad_token_id=None)
    assert ends_of({}, tokenizer) == {5}
    assert ends_of({"eos_token_id": 7}, tokenizer) == {5, 7}
    assert ends_of({"eos_token_id": [7, 8]}, SimpleNamespace(eos_token_id=5, pad_token_id=9)) == {5, 7, 8, 9}

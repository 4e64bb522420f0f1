"""What the engine says before it has a model: what is missing. The rest needs PyTorch
(tests/engines_extra/test_qwen_omni.py)."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.engines.qwen_omni.test_omni_weights import folder_of

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

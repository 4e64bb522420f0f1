"""Which architectures the installed engine knows, as found in its library."""

from __future__ import annotations

import pytest

from duologue.models import architectures
from duologue.models.architectures import NOT_FOR_CHAT, engine_knows, engine_library


def test_the_installed_engine_has_a_library() -> None:
    library = engine_library()
    assert library is not None
    assert library.stat().st_size > 1_000_000


@pytest.mark.parametrize(
    "name", ["llama", "qwen2", "qwen3", "gemma3", "phi3", "mpt", "clip", "t5", "gpt-oss"]
)
def test_common_architectures_are_known(name: str) -> None:
    assert engine_knows(name) is True


@pytest.mark.parametrize("name", ["llama9000", "duologue-unheard-of"])
def test_an_invented_one_is_not(name: str) -> None:
    assert engine_knows(name) is False


def test_without_an_engine_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(architectures, "find_spec", lambda name: None)
    assert engine_knows("llama") is None


def test_finding_out_imports_no_engine() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from duologue.models.architectures import engine_knows;"
        "assert engine_knows('llama'); assert 'xllamacpp' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_cannot_chat_says_so_in_a_sentence() -> None:
    assert all(sentence.startswith("is ") and sentence.endswith(".") for sentence in NOT_FOR_CHAT.values())

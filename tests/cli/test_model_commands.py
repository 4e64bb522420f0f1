"""`duologue models`, as a person sees it."""

from __future__ import annotations

import fcntl
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.tiny_model import write_tiny_model

from duologue.cli import model_commands
from duologue.cli.model_commands import (
    available,
    available_models,
    fetch,
    local_models,
    models_folder,
    remove,
    table,
)
from duologue.cli.progress import Lines
from duologue.config import Settings
from duologue.errors import Busy, Problem, StartFailed
from duologue.models import catalogue
from duologue.models.fit import Hardware
from duologue.models.hub import http
from duologue.models.recommended import RECOMMENDED

QWEN = next(model for model in RECOMMENDED if model.name == "qwen3-4b")
GB = 10**9
TOKEN = "hf_very_secret"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings whose data folder holds one model, `tiny`; the bundled one is a file of its own."""
    data = tmp_path / "data"
    (data / "models").mkdir(parents=True)
    write_tiny_model(data / "models" / "tiny.gguf")
    bundled = tmp_path / "duologue-mini.gguf"
    write_tiny_model(bundled)
    monkeypatch.setattr(catalogue, "bundled_model", lambda: bundled)
    return Settings(data=data)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    content = write_tiny_model(tmp_path / "source.gguf").read_bytes()
    with serving(Hub({"someone/New-GGUF": {"New-Q8_0.gguf": content}}, token=TOKEN)) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setattr(http, "connect", partial(http.connect, sleep=lambda seconds: None))
        yield running


def test_the_list_shows_each_model_and_which_one_answers(settings: Settings) -> None:
    lines = local_models(settings).splitlines()
    assert lines[0].split() == ["MODEL", "SIZE", "PARAMETERS", "ARCHITECTURE", "QUANTISATION", "CONTEXT"]
    assert lines[1].startswith("*  duologue-mini (bundled)")
    assert lines[2].split() == ["tiny", "0.4", "MB", "0M", "llama", "F32", "512"]


def test_the_mark_goes_to_the_model_of_the_settings(settings: Settings) -> None:
    lines = local_models(settings.model_copy(update={"model": "tiny"})).splitlines()
    assert [line[0] for line in lines[:3]] == [" ", " ", "*"]


def test_broken_and_unfinished_ones_are_told_below(settings: Settings) -> None:
    (models_folder(settings) / "bad.gguf").write_bytes(b"no model")
    (models_folder(settings) / "half.gguf.part").write_bytes(b"x" * 2_000_000)
    said = local_models(settings)
    assert "bad: " in said
    assert "is not a GGUF model" in said
    assert "half: unfinished download, 2.0 MB so far" in said


def test_a_checkout_without_weights_lists_the_rest(settings: Settings, monkeypatch) -> None:
    def absent() -> Path:
        raise StartFailed("not here")

    monkeypatch.setattr(catalogue, "bundled_model", absent)
    assert "tiny" in local_models(settings)
    assert "duologue-mini" not in local_models(settings)


def test_every_recommended_model_is_offered_with_its_fit_and_licence() -> None:
    said = available(Hardware(4, 8 * GB, 100 * GB), QWEN)
    for model in RECOMMENDED:
        assert f" {model.name} " in said
        assert model.licence in said
    rows = {line[3:].split()[0]: line for line in said.splitlines()}
    assert rows["qwen3-4b"].endswith("  yes")
    assert rows["qwen3-8b"].endswith("  slowly")
    assert rows["qwen3-32b"].endswith("  no, memory")
    assert [name for name, line in rows.items() if line.startswith("*")] == ["qwen3-4b"]


def test_the_offer_names_the_machine_and_what_to_do(settings: Settings) -> None:
    assert "duologue models pull NAME" in available_models(settings)
    assert str(models_folder(settings)) in available_models(settings)


def test_a_model_is_fetched_and_said(settings: Settings, hub: Hub) -> None:
    output, asides = io.StringIO(), io.StringIO()
    pulled = fetch("someone/New-GGUF", settings, output, asides)
    assert pulled.header.path == models_folder(settings) / "New-Q8_0.gguf"
    assert output.getvalue() == (
        "New-Q8_0 is here: 0.4 MB, 0M parameters, llama, F32, context 512, checksum verified.\n"
    )
    assert asides.getvalue().startswith("New-Q8_0: someone/New-GGUF, Q8_0, 0.4 MB, apache-2.0\n")
    fetch("someone/New-GGUF", settings, output, asides)
    assert "New-Q8_0 is already here" in output.getvalue()


def test_the_token_is_used_and_never_said(settings: Settings, hub: Hub, monkeypatch) -> None:
    output, asides = io.StringIO(), io.StringIO()
    fetch("someone/New-GGUF", settings, output, asides)
    monkeypatch.setenv("HF_TOKEN", TOKEN + "x")
    remove("New-Q8_0", settings)
    with pytest.raises(Problem) as raised:
        fetch("someone/New-GGUF", settings, output, asides)
    assert "HF_TOKEN is not accepted" in raised.value.message
    assert TOKEN not in output.getvalue() + asides.getvalue() + raised.value.message


def test_a_failure_says_what_is_kept_and_that_it_goes_on(settings: Settings, hub: Hub) -> None:
    asides = io.StringIO()
    hub.cuts = [200_000] + [0] * 10
    with pytest.raises(Problem):
        fetch("someone/New-GGUF", settings, io.StringIO(), asides)
    assert "Trying again in" in asides.getvalue()
    assert asides.getvalue().endswith("0.2 MB were kept. Run the same command again to resume.\n")


def test_ctrl_c_says_what_is_kept(settings: Settings, hub: Hub, monkeypatch) -> None:
    asides = io.StringIO()

    class Impatient(Lines):
        def advance(self, count: int) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(model_commands, "watch_on", Impatient)
    with pytest.raises(KeyboardInterrupt):
        fetch("someone/New-GGUF", settings, io.StringIO(), asides)
    assert "were kept. Run the same command again to resume." in asides.getvalue()


def test_what_another_process_downloads_is_not_called_kept(settings: Settings, hub: Hub) -> None:
    asides = io.StringIO()
    with (models_folder(settings) / "New-Q8_0.gguf.part").open("ab") as file:
        file.write(b"x" * 1000)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Busy):
            fetch("someone/New-GGUF", settings, io.StringIO(), asides)
    assert "kept" not in asides.getvalue()


def test_a_recommended_model_that_is_here_needs_no_network(settings: Settings, hub: Hub) -> None:
    (models_folder(settings) / "tiny.gguf").rename(models_folder(settings) / "Qwen3-4B-Q4_K_M.gguf")
    output = io.StringIO()
    assert fetch("qwen3-4b", settings, output, io.StringIO()).was_there
    assert output.getvalue().startswith("qwen3-4b is already here")
    assert hub.requests == []


def test_removing_says_what_was_freed(settings: Settings) -> None:
    assert remove("tiny", settings) == "Removed tiny, 0.4 MB freed."


def test_removing_what_the_settings_name_says_so(settings: Settings) -> None:
    said = remove("tiny", settings.model_copy(update={"model": "tiny"}))
    assert said.endswith("The settings still name it: set another `model` before the next start.")


def test_a_table_has_its_columns_in_line() -> None:
    assert table([("A", "BB"), ("aaa", "b")]) == "A    BB\naaa  b"

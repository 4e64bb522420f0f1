"""What is refused before MiniCPM-o's code runs: missing weights, code that nobody has allowed, and code that has changed."""

import hashlib
import json
import logging
import sys
import types
import wave
from pathlib import Path

import pytest

from duologue.engines.minicpmo.model_loading import (
    METADATA,
    MiniCPMOptions,
    check_trust,
    code_digest,
    find_weights,
    read_model,
    revision_of,
    silence_code,
)
from duologue.engines.registry import load_language_engine
from duologue.errors import StartFailed

COMMIT = "3ec4cb0" + "0" * 33


@pytest.fixture
def weights(tmp_path) -> Path:
    folder = tmp_path / "MiniCPM-o-4_5"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "minicpmo"}))
    (folder / "modeling_minicpmo.py").write_text("raise AssertionError('the code of the weights was run')\n")
    (folder / "configuration_minicpmo.py").write_text("x = 1\n")
    return folder


def note_download(folder: Path, commit: str = COMMIT) -> None:
    """As `hf download` does: the commit and the etag of each file."""
    (folder / METADATA).mkdir(parents=True)
    for path in folder.glob("*.py"):
        data = path.read_bytes()
        etag = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        (folder / METADATA / f"{path.name}.metadata").write_text(f"{commit}\n{etag}\n1790000000.0\n")


def refusal(folder: Path, **options) -> StartFailed:
    with pytest.raises(StartFailed) as caught:
        read_model({"model": str(folder), **options})
    return caught.value


def test_missing_weights_are_told_with_the_command_that_fetches_them(tmp_path):
    problem = refusal(tmp_path / "nowhere")
    assert problem.code == "weights_missing"
    assert "hf download openbmb/MiniCPM-o-4_5 --local-dir" in problem.message


def test_another_model_is_refused(weights):
    (weights / "config.json").write_text(json.dumps({"model_type": "qwen3"}))
    assert "no MiniCPM-o model" in refusal(weights).message
    (weights / "config.json").write_text("[broken")
    assert "no MiniCPM-o model" in refusal(weights).message


def test_a_name_is_looked_up_among_the_models(weights):
    options = MiniCPMOptions(model="MiniCPM-o-4_5", models=str(weights.parent))
    assert find_weights(options) == weights


@pytest.mark.parametrize("given", [{}, {"trust_remote_code": True}, {"revision": COMMIT}])
def test_code_runs_only_if_the_settings_name_it(weights, given):
    note_download(weights)
    problem = refusal(weights, **given)
    assert (problem.code, problem.param) == ("remote_code_untrusted", "trust_remote_code")
    assert "comes with 2 Python files" in problem.message
    assert "all the rights of this server" in problem.message
    assert f"trust_remote_code: true and revision: {COMMIT}" in problem.message


def test_code_of_another_revision_is_not_run(weights):
    note_download(weights)
    problem = refusal(weights, trust_remote_code=True, revision="f" * 40)
    assert (problem.code, problem.param) == ("remote_code_untrusted", "revision")
    assert f"is of revision {COMMIT}" in problem.message


def test_code_that_was_changed_since_its_download_has_another_revision(weights):
    note_download(weights)
    assert revision_of(weights) == COMMIT
    (weights / "configuration_minicpmo.py").write_text("x = 2\n")
    assert revision_of(weights) == code_digest(weights)
    assert code_digest(weights).startswith("sha256:")
    assert refusal(weights, trust_remote_code=True, revision=COMMIT).param == "revision"


def test_files_of_several_downloads_have_no_one_commit(weights):
    note_download(weights)
    note = weights / METADATA / "configuration_minicpmo.py.metadata"
    note.write_text(note.read_text().replace(COMMIT, "a" * 40))
    assert revision_of(weights) == code_digest(weights)


def test_the_digest_of_the_code_names_a_revision_as_well_as_its_commit_does(weights):
    digest = code_digest(weights)
    check_trust(weights, MiniCPMOptions(trust_remote_code=True, revision=digest))
    note_download(weights)
    check_trust(weights, MiniCPMOptions(trust_remote_code=True, revision=digest))
    check_trust(weights, MiniCPMOptions(trust_remote_code=True, revision=COMMIT))
    (weights / "another.py").write_text("")
    with pytest.raises(StartFailed):
        check_trust(weights, MiniCPMOptions(trust_remote_code=True, revision=digest))


def test_the_libraries_are_told_with_an_environment_of_their_own(weights, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    problem = refusal(weights, trust_remote_code=True, revision=code_digest(weights))
    assert problem.code == "engine_missing"
    assert "torch" in problem.message
    assert "python (docs/models.md" in problem.message


def test_a_voice_that_is_no_recording_is_refused_before_the_model_is_loaded(weights, tmp_path):
    (tmp_path / "ada.wav").write_bytes(b"x")
    trusted = {"trust_remote_code": True, "revision": code_digest(weights)}
    assert "16-bit WAV" in refusal(weights, voice=str(tmp_path / "ada.wav"), **trusted).message


def test_one_slot_is_all_there_is(weights):
    assert "one slot" in refusal(weights, slots=2).message


async def load_untrusted(weights: Path) -> None:
    await load_language_engine("minicpmo", {"model": str(weights)})


@pytest.mark.anyio
async def test_the_registry_has_the_engine(weights):
    with pytest.raises(StartFailed, match="trust_remote_code: true"):
        await load_untrusted(weights)


def test_a_recording_beside_the_weights_is_the_voice(weights):
    from duologue.engines.minicpmo.model_loading import find_voices

    assert find_voices(weights, MiniCPMOptions()) == {}
    (weights / "assets").mkdir()
    with wave.open(str(weights / "assets" / "system_ref_audio.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(b"\1\0" * 16_000)
    assert list(find_voices(weights, MiniCPMOptions())) == ["system_ref_audio"]
    assert find_voices(weights, MiniCPMOptions(speech=False)) == {}


def test_what_the_weights_code_prints_and_logs_stays_out_of_the_log(monkeypatch, capsys, caplog):
    """It writes every piece that the model says, which is what people talk about."""
    code = types.ModuleType("remote_code.omni.modeling")
    source = "import logging\ndef say():\n    print('> speak: secret')\n    logging.getLogger(__name__).info('secret')\n"
    exec(source, vars(code))
    monkeypatch.setitem(sys.modules, "remote_code.omni.modeling", code)
    caplog.set_level(logging.INFO)
    model = type("Model", (), {"__module__": "remote_code.omni.modeling"})()
    vars(code)["say"]()
    assert "secret" in capsys.readouterr().out
    assert "secret" in caplog.text
    caplog.clear()
    silence_code(model)
    vars(code)["say"]()
    assert "secret" not in capsys.readouterr().out
    assert "secret" not in caplog.text

"""The doctor: each line is ok, a warning or a problem, and says what to do."""

import shutil
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

import httpx
import pytest
from tests.store.backup.damage import make_database, truncated
from tests.support.ports import free_port

from duologue import landlock
from duologue.cli import doctor
from duologue.cli.doctor import Finding, examine, report
from duologue.config import Settings, load
from duologue.errors import StartFailed
from duologue.models.placement import Card


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def settings(**flags: object) -> Settings:
    return load(None, {}, flags)


def only(findings) -> Finding:
    (finding,) = findings
    return finding


def test_a_sound_machine_has_nothing_to_mend(tmp_path):
    findings = examine(lambda: settings(engine="scripted", port=free_port(), data=tmp_path / "data"))
    assert [finding for finding in findings if finding.state == "problem"] == []
    assert {"python", "packages", "settings", "address", "data", "gpu", "worker_0", "voice", "page"} <= {
        finding.subject for finding in findings
    }
    assert report(findings).endswith("Ready: start it with `duologue serve`.")
    assert not (tmp_path / "data").exists(), "looking leaves nothing behind"


def test_wrong_settings_are_told_and_end_the_round():
    def fail() -> Settings:
        raise StartFailed("Unknown setting prot.")

    findings = examine(fail)
    assert findings[-1] == Finding("problem", "settings", "Unknown setting prot.")
    assert report(findings).endswith("1 problem to fix.")


def test_a_port_in_use_is_told_with_who_has_it(monkeypatch):
    monkeypatch.setattr(doctor, "_is_running", lambda settings: False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        finding = only(doctor.check_address(settings(port=port)))
    assert finding.state == "problem"
    assert f"Port {port} is in use" in finding.text


def test_our_own_server_on_the_port_is_no_problem(monkeypatch):
    monkeypatch.setattr(doctor, "_is_running", lambda settings: True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        finding = only(doctor.check_address(settings(port=listener.getsockname()[1])))
    assert (finding.state, "runs at" in finding.text) == ("ok", True)
    assert report([finding]).endswith("A server is already running: talk to it with `duologue say hello`.")


def test_the_port_of_ollama_is_looked_at_where_it_is_on(monkeypatch):
    monkeypatch.setattr(doctor, "_is_running", lambda settings: False)
    assert list(doctor.check_ollama_port(settings())) == []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        on = settings(compat={"ollama": {"enabled": True, "port": port}})
        finding = only(doctor.check_ollama_port(on))
        assert finding.state == "problem"
        assert "compat.ollama.port" in finding.text
    free = settings(compat={"ollama": {"enabled": True, "port": 0}})
    assert only(doctor.check_ollama_port(free)).state == "ok"


@pytest.mark.parametrize(
    ("answer", "running"),
    [({"status": "healthy"}, True), ({"status": "up"}, False), (["healthy"], False), (None, False)],
)
def test_a_server_is_ours_when_its_health_says_so(monkeypatch, answer, running):
    def health(url, **options):
        if answer is None:
            raise httpx.ReadTimeout("silence")
        return httpx.Response(200, json=answer)

    monkeypatch.setattr(httpx, "get", health)
    assert doctor._is_running(settings()) is running


def test_an_address_others_reach_needs_a_key_that_is_long_and_on_loopback_a_short_one_is_warned_of():
    assert "needs a key" in only(doctor.check_address(settings(host="0.0.0.0"))).text
    open_to_all = settings(host="0.0.0.0", port=free_port(), key="short", insecure_http=True)
    assert "at least 20" in only(doctor.check_address(open_to_all)).text
    local = settings(port=free_port(), key="short")
    assert [finding.state for finding in doctor.check_address(local)] == ["warning", "ok"]


def test_an_address_others_reach_is_fine_with_a_key_of_the_database_and_https(tmp_path):
    reachable = settings(
        host="0.0.0.0", port=free_port(), data=tmp_path, key="a-key-of-some-length", **{"tls.enabled": True}
    )
    assert "with a key" in only(doctor.check_address(reachable)).text
    mine = reachable.model_copy(update={"key": None})
    assert "needs a key" in only(doctor.check_address(mine)).text
    with closing(sqlite3.connect(tmp_path / "duologue.db")) as database, database:
        database.execute("CREATE TABLE keys (id)")
        database.execute("INSERT INTO keys VALUES ('key_1')")
    assert only(doctor.check_address(mine)).state == "ok"


def test_a_certificate_that_cannot_be_used_is_told(tmp_path):
    found = only(
        doctor.check_address(settings(port=free_port(), data=tmp_path, **{"tls.certificate": "a.pem"}))
    )
    assert (found.state, "tls.private_key" in found.text) == ("problem", True)


def test_a_data_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    assert only(doctor.check_data(settings(data=tmp_path / "file" / "data"))).state == "problem"


def test_a_data_folder_is_tried_and_left_as_it_was(tmp_path):
    assert only(doctor.check_data(settings(data=tmp_path / "a" / "b"))).state == "ok"
    assert list(tmp_path.iterdir()) == []
    # A folder of the system that even root cannot write to.
    finding = only(doctor.check_data(settings(data="/proc/duologue")))
    assert finding.state == "problem"
    assert "--data" in finding.text


def test_a_full_disk_is_warned_of(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 100 * 2**20})
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    finding = only(doctor.check_data(settings(data=tmp_path)))
    assert (finding.state, "100 MB" in finding.text) == ("warning", True)


def test_a_database_is_checked_and_a_damaged_one_told_with_what_to_do(tmp_path):
    assert list(doctor.check_database(settings(data=tmp_path / "new"))) == []
    file = make_database(tmp_path, "a")
    assert only(doctor.check_database(settings(data=tmp_path))).text == (
        "duologue.db is sound, no daily backup yet"
    )
    truncated(file)
    finding = only(doctor.check_database(settings(data=tmp_path)))
    assert finding.state == "problem"
    assert "There is no backup of it" in finding.text
    assert list(doctor.check_database(settings(data=tmp_path, database="postgresql://db/duologue"))) == []


def test_a_missing_model_is_told(tmp_path):
    finding = only(doctor.check_workers(settings(model=str(tmp_path / "gone.gguf"))))
    assert finding.state == "problem"
    assert "gone.gguf" in finding.text


def test_a_file_that_is_no_model_is_told(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"this is no model")
    finding = only(doctor.check_workers(settings(model=str(tmp_path / "model.gguf"))))
    assert finding.state == "problem"


@pytest.mark.parametrize(("engine", "extra"), [("transformers", "transformers"), ("qwen_omni", "omni")])
def test_an_engine_whose_libraries_are_missing_names_its_extra(monkeypatch, engine, extra):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "torch" else object())
    finding = only(doctor.check_workers(settings(engine=engine, model="/models/some")))
    assert finding.state == "problem"
    assert finding.text == f"the engine {engine} needs torch: pip install 'duologue[{extra}]'"
    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    assert only(doctor.check_workers(settings(engine=engine, model="/models/some"))).state == "ok"


def test_an_upstream_that_is_down_is_a_warning():
    finding = only(doctor.check_workers(settings(**{"upstream.url": f"http://127.0.0.1:{free_port()}"})))
    assert (finding.state, "does not answer" in finding.text) == ("warning", True)


def test_a_package_that_does_not_load_is_told(monkeypatch):
    monkeypatch.setattr(doctor, "PACKAGES", ("msgspec", "no_such_package_at_all"))
    finding = only(doctor.check_packages())
    assert finding == Finding(
        "problem", "packages", "no_such_package_at_all cannot be imported: pip install duologue"
    )


@pytest.mark.parametrize(("engine_sees_it", "state"), [(True, "ok"), (False, "warning")])
def test_a_card_the_engine_cannot_use_is_warned_of(monkeypatch, engine_sees_it, state):
    monkeypatch.setattr(shutil, "which", lambda program: "/usr/bin/nvidia-smi")
    answer = subprocess.CompletedProcess([], 0, stdout="NVIDIA L4, 23034 MiB\n")
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: answer)
    monkeypatch.setattr(doctor, "_engine_sees_gpu", lambda: engine_sees_it)
    finding = only(doctor.check_gpu(settings()))
    assert (finding.state, finding.text.startswith("NVIDIA L4, 23034 MiB")) == (state, True)


def test_the_devices_are_listed_and_one_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr("duologue.engines.hardware.list_cards", lambda: (Card(0, "H100", 80_000_000_000),))
    assert only(doctor.check_devices(settings(device="cuda:0"))).text.startswith("cpu, cuda:0 (H100, 80")
    listed, wrong = doctor.check_devices(settings(device="cuda:1"))
    assert (listed.state, wrong.state) == ("ok", "problem")
    assert "worker_0: There is no device cuda:1" in wrong.text
    assert only(doctor.check_devices(settings(device="cuda:1", engine="scripted"))).state == "ok"


def test_a_card_for_the_voice_or_the_video_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr("duologue.engines.hardware.list_cards", tuple)
    monkeypatch.setattr(doctor, "_nvidia_cards", lambda: ["A100, 80 GB"])
    listens = {"engine": "scripted", "voice.recogniser.engine": "whisper"}
    assert only(doctor.check_devices(settings(**listens, **{"voice.device": "cuda:0"}))).state == "ok"
    _, wrong = doctor.check_devices(settings(**listens, **{"voice.device": "cuda:1"}))
    assert wrong.state == "problem"
    assert "There is no device cuda:1" in wrong.text
    assert "It has: cpu, cuda:0. Correct the setting voice.device." in wrong.text
    off = settings(**listens, **{"voice.device": "cuda:1", "voice.enabled": False})
    assert only(doctor.check_devices(off)).state == "ok"
    # The bundled engines run on the processor.
    assert only(doctor.check_devices(settings(engine="scripted", **{"voice.device": "cuda:1"}))).state == "ok"
    drawn = {"engine": "scripted", "video.engine": "musetalk", "video.device": "cuda:2"}
    _, wrong = doctor.check_devices(settings(**drawn))
    assert "Correct the setting video.device." in wrong.text


def test_a_broken_driver_is_no_card(monkeypatch):
    def fail(*arguments, **options):
        raise subprocess.CalledProcessError(9, "nvidia-smi")

    monkeypatch.setattr(shutil, "which", lambda program: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(subprocess, "run", fail)
    assert only(doctor.check_gpu(settings())).text.startswith("none found")


def test_a_page_switched_off_or_not_built_is_told(tmp_path, monkeypatch):
    from duologue.gateway import static_page

    assert only(doctor.check_page(settings(ui={"enabled": False}))).text == "switched off"
    monkeypatch.setattr(static_page, "FOLDER", tmp_path / "page")
    finding = only(doctor.check_page(settings()))
    assert (finding.state, "make web" in finding.text) == ("warning", True)


def voiced(tmp_path, **flags: object) -> list[Finding]:
    return list(doctor.check_voice(settings(data=tmp_path, **{"voice.enabled": True, **flags})))


def test_a_voice_that_has_all_it_needs_says_what_hears_and_speaks(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    finding = only(voiced(tmp_path))
    assert finding == Finding("ok", "voice", "recogniser pocketsphinx, speaker espeak, up to 32 at a time")


def test_packages_and_weights_that_are_missing_are_told_at_once_with_what_brings_them(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "faster_whisper" else object())
    engines = {"voice.recogniser.engine": "whisper", "voice.speaker.engine": "kokoro_onnx"}
    findings = voiced(tmp_path, **engines)
    assert {finding.state for finding in findings} == {"warning"}
    package, hearing, speaking = (finding.text for finding in findings)
    assert package == "whisper needs faster_whisper: pip install 'duologue[whisper]'"
    assert f"hf download Systran/faster-whisper-base --local-dir {tmp_path}/models" in hearing
    assert "curl" in speaking
    assert report(findings).endswith("Ready: start it with `duologue serve`.")


def test_a_missing_file_for_the_ends_of_turns_is_told_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    finding = only(voiced(tmp_path, **{"voice.turn_end.model": "turns.onnx"}))
    assert finding.state == "warning"
    assert f"curl -L --fail --create-dirs -o {tmp_path}/models/turns.onnx" in finding.text


def test_what_the_video_engine_lacks_is_told_where_video_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "av" else object())
    finding = only(voiced(tmp_path, **{"video.enabled": True}))
    assert finding == Finding("warning", "voice", "portrait needs av: pip install 'duologue[voice]'")


def test_no_voice_is_nothing_to_mend(tmp_path, monkeypatch):
    assert only(voiced(tmp_path, **{"voice.enabled": False})) == Finding("ok", "voice", "switched off")
    monkeypatch.setattr("duologue.gateway.workers.load_specs.find_spec", lambda name: None)
    finding = only(doctor.check_voice(settings(data=tmp_path)))
    assert finding.state == "ok"
    assert "pip install 'duologue[voice]'" in finding.text


@pytest.mark.parametrize(
    ("version", "state", "words"),
    [
        (0, "warning", "can open other files"),
        (3, "warning", "can use TCP"),
        (4, "ok", "no TCP"),
        (9, "ok", "no TCP"),
    ],
)
def test_what_the_kernel_keeps_from_decoders_is_told(monkeypatch, version, state, words):
    monkeypatch.setattr(landlock, "version", lambda: version)
    finding = only(doctor.check_landlock(settings()))
    assert (finding.state, words in finding.text) == (state, True)


def test_the_python_of_a_worker_is_tried():
    ours = {"name": "ours", "engine": "minicpmo", "python": sys.executable}
    theirs = {"name": "theirs", "engine": "minicpmo", "python": "/nowhere/bin/python"}
    engine, python, _, broken = doctor.check_workers(settings(workers=[ours, theirs]))
    assert (engine.state, python.state, broken.state) == ("ok", "ok", "problem")
    assert "/nowhere/bin/python, which cannot be started" in broken.text

"""`duologue setup voice`: the table, the questions, and a pack that is there afterwards."""

import io

import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.voice_archives import archive_of, offer, releases_of

from duologue.cli import setup_voice
from duologue.cli.setup import Terminal
from duologue.cli.setup_voice import VoiceSetupOptions, proposed, set_up_voice
from duologue.config import load
from duologue.errors import BadRequest, EngineFailed, NotFound
from duologue.gateway.models.download_journal import PACKS_FILE
from duologue.models.installed_packs import chosen_pack
from duologue.models.voice_packs import SMART_TURN, find_pack

PACK = find_pack("german")


@pytest.fixture
def hub(monkeypatch):
    with serving(Hub()) as hub:
        for archive in PACK.archives:
            offer(hub, archive, archive_of(archive.name, {"model.onnx": b"weights"}))
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


def settings_for(tmp_path, hub: Hub | None = None, **environ: str):
    if hub is not None:
        environ["DUOLOGUE_VOICE__PACKS_URL"] = releases_of(hub)
    return load(None, environ, {"data": str(tmp_path)})


def run(settings, options: VoiceSetupOptions, *answers: str, language: str = "de-DE") -> str:
    output, left = io.StringIO(), list(answers)
    ask = (lambda question: left.pop(0)) if answers else None
    set_up_voice(settings, options, Terminal(output, io.StringIO(), ask), language)
    assert left == []
    return output.getvalue()


def test_the_pack_of_the_users_language_is_proposed():
    assert proposed("de-AT").name == "german"
    assert proposed("").name == proposed("C").name == proposed("fi-FI").name == "english"


def test_the_proposal_is_downloaded_and_used(tmp_path, hub):
    said = run(settings_for(tmp_path, hub), VoiceSetupOptions(yes=True))
    assert "CC0-1.0" in said
    assert "from the next start on" in said
    assert chosen_pack(tmp_path) == PACK
    for archive in PACK.archives:
        assert (tmp_path / "models" / archive.name / "model.onnx").read_bytes() == b"weights"


def test_the_file_for_the_ends_of_turns_comes_along_where_the_settings_ask_for_it(tmp_path, hub):
    hub.files[SMART_TURN.repository] = {SMART_TURN.file: b"a network"}
    run(settings_for(tmp_path, hub), VoiceSetupOptions(yes=True))
    assert not (tmp_path / "models" / SMART_TURN.file).exists()
    asking = settings_for(tmp_path, hub, DUOLOGUE_VOICE__TURN_END__ENABLED="true")
    run(asking, VoiceSetupOptions(yes=True))
    assert (tmp_path / "models" / SMART_TURN.file).read_bytes() == b"a network"
    hub.requests.clear()
    run(asking, VoiceSetupOptions(yes=True))
    assert hub.requests == []


def test_a_server_goes_on_with_what_a_killed_setup_left(tmp_path, hub, monkeypatch):
    left: list[str] = []

    def download(*rest: object, **more: object):
        left.append((tmp_path / PACKS_FILE).read_text())
        raise EngineFailed("gone", code="hub_failed")

    monkeypatch.setattr(setup_voice, "download_archive", download)
    with pytest.raises(EngineFailed):
        run(settings_for(tmp_path, hub), VoiceSetupOptions(yes=True))
    assert '"what":"german"' in left[0]
    assert not (tmp_path / PACKS_FILE).exists()


def test_a_wrong_answer_is_asked_again(tmp_path, hub):
    said = run(settings_for(tmp_path, hub), VoiceSetupOptions(), "klingon", "german", language="en")
    assert "There is no voice pack 'klingon'" in said
    assert chosen_pack(tmp_path) == PACK


def test_no_changes_nothing(tmp_path):
    assert "stays as it is" in run(settings_for(tmp_path), VoiceSetupOptions(), "no")
    assert chosen_pack(tmp_path) is None


def test_a_dry_run_downloads_nothing(tmp_path):
    assert "Would download" in run(settings_for(tmp_path), VoiceSetupOptions(dry_run=True))
    assert not (tmp_path / "models").exists()


def test_without_a_terminal_a_flag_decides(tmp_path):
    with pytest.raises(BadRequest, match="--pack NAME"):
        run(settings_for(tmp_path), VoiceSetupOptions())
    with pytest.raises(NotFound):
        run(settings_for(tmp_path), VoiceSetupOptions(pack="klingon"))


def test_engines_in_the_settings_win(tmp_path):
    settings = settings_for(
        tmp_path,
        DUOLOGUE_VOICE__RECOGNISER__ENGINE="scripted",
        DUOLOGUE_VOICE__SPEAKER__ENGINE="scripted",
    )
    with pytest.raises(BadRequest, match="stay in use"):
        run(settings, VoiceSetupOptions(yes=True))

"""Voice packs of a running server: one at a time, with progress, remembered only once the voice was loaded with them."""

import errno
import random
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.gateway.speech.test_voice_switch import READY, Seats
from tests.support.hub_stand_in import Hub, serving
from tests.support.ports import free_port
from tests.support.voice_archives import archive_of, offer, releases_of

from duologue.config import load
from duologue.decoder import service as decoder
from duologue.errors import NotFound, Problem, Unsupported
from duologue.gateway.models.download_journal import PACKS_FILE, DownloadJournal, JournalEntry
from duologue.gateway.models.downloads import LOADS
from duologue.gateway.speech import pack_download, pack_rows
from duologue.gateway.speech.pack_service import BUILT_IN, PackJob, VoicePacks
from duologue.models import installed_packs, voice_packs
from duologue.models.voice_packs import SpeechModelArchive, TurnEndModel, VoicePack
from duologue.values.speech import SpeechCard
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio
EAR = SpeechModelArchive("ear", "asr-models", 1000, "MIT", "hears", "https://example.org/ear")
MOUTH = SpeechModelArchive("mouth", "tts-models", 2000, "CC0-1.0", "speaks", "https://example.org/mouth")
TINY = VoicePack("tiny", "Tiny", ("en",), EAR, MOUTH, voice="anna")
OTHER = VoicePack("other", "Other", ("de",), EAR, EAR)
TURNS = TurnEndModel("maker/turns", "turns.onnx", 9, "MIT", "judges", "https://example.org/turns")
LISTENING = VoicePack("listening", "Listening", ("en",), EAR, MOUTH, turn_end=TURNS)


class LoadingSeats(Seats):
    """Seats whose added workers are ready at once, unless `fails`."""

    specs: tuple[LoadSpec, ...] = ()
    fails = ""

    def add(self, load_spec: LoadSpec):
        status = super().add(load_spec)
        self.specs += (load_spec,)
        status.state = "failed" if self.fails else "ready"
        status.detail = self.fails
        status.speech = SpeechCard(recogniser=READY, speaker=READY)
        return status


@pytest.fixture
def hub(monkeypatch):
    for module in (voice_packs, installed_packs, pack_rows):
        monkeypatch.setattr(module, "PACKS", (TINY, OTHER))
    with serving(Hub()) as hub:
        for archive in (EAR, MOUTH):
            offer(hub, archive, archive_of(archive.name, {"model.onnx": b"weights"}))
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub
    decoder.close()


@pytest.fixture
def listening(hub, monkeypatch):
    """A pack with a file for the ends of turns."""
    for module in (voice_packs, installed_packs):
        monkeypatch.setattr(module, "PACKS", (LISTENING,))


@pytest.fixture
def seats() -> LoadingSeats:
    seats = LoadingSeats()
    seats.workers["voice"] = Seats().add(LoadSpec("voice", "voice", "voice"))
    seats.workers["voice"].state = "ready"
    return seats


def settings_for(hub: Hub, data: Path, **flags):
    settings = load(None, {"DUOLOGUE_VOICE__ENABLED": "true", **flags}, {"data": str(data)})
    return settings.model_copy(
        update={"voice": settings.voice.model_copy(update={"packs_url": releases_of(hub)})}
    )


@pytest.fixture
async def packs(hub, seats, tmp_path):
    packs = VoicePacks(settings_for(hub, tmp_path), seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(packs.run)
        yield packs
        tasks.cancel_scope.cancel()


async def ended(packs: VoicePacks) -> dict:
    """The job once it has ended."""
    with anyio.fail_after(60):
        while True:
            job = (await packs.view())["job"]
            if job is not None and job["state"] in ("done", "failed", "stopped"):
                return job
            await anyio.sleep(0.01)


def stall(hub: Hub) -> None:
    """From now on archives are larger than what a file buffers, and their downloads stand still."""
    hub.files.clear()
    for archive in (EAR, MOUTH):
        offer(hub, archive, archive_of(archive.name, {"model.onnx": random.Random(1).randbytes(100_000)}))
    hub.stalls = True


async def begun(packs: VoicePacks, place: int = 0) -> int:
    """How much of a pack there is, once that is anything."""
    with anyio.fail_after(60):
        while True:
            if there := (await packs.view())["packs"][place]["unfinished"]:
                return there
            await anyio.sleep(0.01)


async def test_a_pack_is_downloaded_unpacked_loaded_and_remembered(packs, seats, tmp_path):
    assert packs.use("tiny") == PackJob("tiny", "downloading", 3000)
    job = await ended(packs)
    assert job["state"] == "done", job
    recogniser, speaker = seats.specs[0].options["recogniser"], seats.specs[0].options["speaker"]
    assert (recogniser["engine"], recogniser["model"]) == ("sherpa", "ear")
    assert (speaker["engine"], speaker["model"], speaker["voice"]) == ("sherpa", "mouth", "anna")
    assert installed_packs.chosen_pack(tmp_path) == TINY
    view = await packs.view()
    assert view["active"] == "tiny"
    assert [(row["name"], row["installed"], row["active"]) for row in view["packs"]] == [
        ("tiny", True, True),
        ("other", True, False),
    ]
    assert seats.retired == ["voice"]


@asynccontextmanager
async def packs_for(settings, seats):
    packs = VoicePacks(settings, seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(packs.run)
        yield packs
        tasks.cancel_scope.cancel()


BY_SOUND = {"DUOLOGUE_VOICE__TURN_END__ENABLED": "true"}


async def test_a_packs_file_for_the_ends_of_turns_is_downloaded_and_used(hub, listening, seats, tmp_path):
    hub.files["maker/turns"] = {"turns.onnx": b"a network"}
    async with packs_for(settings_for(hub, tmp_path, **BY_SOUND), seats) as packs:
        packs.use("listening")
        assert (await ended(packs))["state"] == "done"
        assert (tmp_path / "models" / "turns.onnx").read_bytes() == b"a network"
        assert seats.specs[0].options["turn_end"]["model"] == "turns.onnx"
        hub.requests.clear()
        packs.use("listening")
        assert (await ended(packs))["state"] == "done"
        assert hub.requests == []


async def test_a_pack_works_without_that_file(hub, listening, seats, tmp_path, caplog):
    async with packs_for(settings_for(hub, tmp_path, **BY_SOUND), seats) as packs:
        packs.use("listening")
        assert (await ended(packs))["state"] == "done"
    assert "words alone" in caplog.text


async def test_that_file_is_left_out_where_the_settings_do_not_ask_for_it(
    packs, hub, listening, seats, tmp_path
):
    hub.files["maker/turns"] = {"turns.onnx": b"a network"}
    packs.use("listening")
    assert (await ended(packs))["state"] == "done"
    assert not (tmp_path / "models" / "turns.onnx").exists()
    assert seats.specs[0].options["turn_end"] == {}


async def test_the_second_time_nothing_is_downloaded(packs, hub):
    packs.use("tiny")
    await ended(packs)
    hub.requests.clear()
    packs.use("tiny")
    assert (await ended(packs))["state"] == "done"
    assert hub.requests == []


async def test_the_engines_of_the_settings_come_back(packs, seats, tmp_path):
    packs.use("tiny")
    await ended(packs)
    packs.use(BUILT_IN)
    assert (await ended(packs))["state"] == "done"
    assert seats.specs[-1].options["recogniser"]["engine"] == "pocketsphinx"
    assert installed_packs.chosen_pack(tmp_path) is None


async def test_a_pack_that_cannot_be_loaded_is_not_remembered(packs, seats, tmp_path):
    seats.fails = "The model is damaged."
    packs.use("tiny")
    job = await ended(packs)
    assert (job["state"], job["error"]["message"]) == ("failed", "The model is damaged.")
    assert installed_packs.chosen_pack(tmp_path) is None
    assert list(seats.workers) == ["voice"]


async def test_a_release_that_fails_is_a_sentence(packs, hub):
    hub.files["releases/tts-models"]["mouth.tar.bz2"] = b"another"
    packs.use("tiny")
    job = await ended(packs)
    assert (job["state"], job["error"]["code"]) == ("failed", "checksum_mismatch")


async def test_one_pack_at_a_time(packs, hub):
    stall(hub)
    first = packs.use("tiny")
    assert packs.use("tiny") == first
    with pytest.raises(Problem) as caught:
        packs.use("other")
    assert caught.value.code == "pack_running"
    await packs.remove("tiny")
    assert (await ended(packs))["state"] == "stopped"


async def test_removing_leaves_what_is_in_use(packs, tmp_path):
    packs.use("tiny")
    await ended(packs)
    with pytest.raises(Problem) as caught:
        await packs.remove("tiny")
    assert caught.value.code == "pack_in_use"
    packs.use(BUILT_IN)
    await ended(packs)
    assert await packs.remove("tiny") == len(b"weights")
    assert not (tmp_path / "models" / "mouth").exists()
    with pytest.raises(NotFound):
        await packs.remove("klingon")


async def test_what_another_job_needs_stays_while_a_pack_is_removed(packs, hub, tmp_path):
    for archive in TINY.archives:
        (tmp_path / "models" / archive.name).mkdir(parents=True)
    stall(hub)
    (tmp_path / "models" / "ear").rmdir()
    packs.use("other")
    there = await begun(packs, 1)
    await packs.remove("tiny")
    assert not (tmp_path / "models" / "mouth").exists()
    assert await begun(packs, 1) >= there
    await packs.remove("other")
    assert (await ended(packs))["state"] == "stopped"


async def test_a_stopped_download_is_shown_and_can_be_removed(packs, hub, tmp_path):
    stall(hub)
    packs.use("tiny")
    await begun(packs)
    await packs.remove("tiny")
    await ended(packs)
    row = (await packs.view())["packs"][0]
    assert (row["installed"], row["missing"]) == (False, 3000)
    assert await packs.remove("tiny") > 0
    assert (await packs.view())["packs"][0]["unfinished"] == 0
    assert list((tmp_path / "models").iterdir()) == []


async def test_the_next_start_goes_on_with_a_pack_that_was_not_ready(hub, seats, tmp_path):
    await DownloadJournal(tmp_path / PACKS_FILE).write([JournalEntry("tiny", True)])
    packs = VoicePacks(settings_for(hub, tmp_path), seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(packs.run)
        assert (await ended(packs))["state"] == "done"
        tasks.cancel_scope.cancel()
    assert installed_packs.chosen_pack(tmp_path) == TINY


async def test_a_server_that_shuts_down_keeps_the_journal(hub, seats, tmp_path):
    stall(hub)
    packs = VoicePacks(settings_for(hub, tmp_path), seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(packs.run)
        packs.use("tiny")
        await begun(packs)
        packs.close()
        await ended(packs)
        tasks.cancel_scope.cancel()
    assert await DownloadJournal(tmp_path / PACKS_FILE).read() == [JournalEntry("tiny", True)]


async def test_a_pack_that_ends_the_server_is_not_loaded_forever(hub, seats, tmp_path):
    await DownloadJournal(tmp_path / PACKS_FILE).write([JournalEntry("tiny", True, loads=LOADS)])
    packs = VoicePacks(settings_for(hub, tmp_path), seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(packs.run)
        job = await ended(packs)
        assert (job["state"], job["error"]["code"]) == ("failed", "load_failed")
        assert seats.specs == ()
        tasks.cancel_scope.cancel()


async def test_a_full_disk_is_said_and_leaves_no_half_model(packs, tmp_path, monkeypatch):
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pack_download, "_append", full)
    packs.use("tiny")
    job = await ended(packs)
    assert (job["state"], job["error"]["code"]) == ("failed", "disk_full")
    assert {"needed", "free", "folder"} == set(job["error"]["values"])
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["ear.tar.bz2"]
    monkeypatch.undo()


async def test_a_server_that_lacks_the_library_says_which_command_installs_it(packs, monkeypatch):
    monkeypatch.setattr(pack_rows, "find_spec", lambda name: None)
    assert "pip install 'duologue[voice]'" in (await packs.view())["problem"]["message"]
    with pytest.raises(Problem) as caught:
        packs.use("tiny")
    assert caught.value.code == "engine_missing"
    packs.use(BUILT_IN)
    assert (await ended(packs))["state"] == "done"


async def test_releases_that_cannot_be_reached_name_the_setting_of_a_mirror(packs, hub, monkeypatch):
    gone = f"http://127.0.0.1:{free_port()}"
    voice = packs._settings.voice.model_copy(update={"packs_url": gone})
    monkeypatch.setattr(packs, "_settings", packs._settings.model_copy(update={"voice": voice}))
    packs.use("tiny")
    job = await ended(packs)
    assert job["error"]["code"] == "hub_unreachable"
    assert "voice.packs_url" in job["error"]["message"]
    assert "GGUF" not in job["error"]["message"]


async def test_engines_in_the_settings_win(hub, seats, tmp_path):
    named = {
        "DUOLOGUE_VOICE__RECOGNISER__ENGINE": "scripted",
        "DUOLOGUE_VOICE__SPEAKER__ENGINE": "scripted",
    }
    packs = VoicePacks(settings_for(hub, tmp_path, **named), seats)
    async with anyio.create_task_group() as tasks:
        await tasks.start(packs.run)
        assert "voice.recogniser and voice.speaker" in (await packs.view())["settings"]
        assert (await packs.view())["problem"]["code"] == "pack_not_used"
        with pytest.raises(Problem) as caught:
            packs.use("tiny")
        assert caught.value.code == "pack_not_used"
        tasks.cancel_scope.cancel()


async def test_a_server_without_a_voice_takes_none(hub, tmp_path):
    with pytest.raises(Unsupported):
        VoicePacks(settings_for(hub, tmp_path), None).use("tiny")

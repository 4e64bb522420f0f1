"""Archives of voice packs from a stand-in for the releases: resumed, verified, and unpacked in a child process."""

import io
import tarfile
from pathlib import Path

import pytest
from tests.support.hub_stand_in import Hub, serving
from tests.support.voice_archives import archive_of, offer, releases_of

from duologue.decoder import service as decoder
from duologue.errors import EngineFailed
from duologue.gateway.speech.pack_download import (
    download_archive,
    fetch_digest,
    missing_archives,
    unpack_archive,
)
from duologue.models.hub.http import HubConnection
from duologue.models.voice_packs import SpeechModelArchive, VoicePack

pytestmark = pytest.mark.anyio
TINY = SpeechModelArchive("tiny", "asr-models", 1000, "MIT", "a test", "https://example.org")
OTHER = SpeechModelArchive("other", "tts-models", 1000, "MIT", "a test", "https://example.org")
FILES = {"model.onnx": b"weights" * 1000, "tokens.txt": b"a 0\n", "espeak-ng-data/en_dict": b"words"}


class Watch:
    """Counts what a download says about its progress."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.came = 0

    def begin(self, label: str, total: int, done: int) -> None:
        self.begun.append(label)

    def kept(self, count: int) -> None: ...

    def advance(self, count: int) -> None:
        self.came += count

    def end(self) -> None: ...


@pytest.fixture
def hub():
    with serving(Hub()) as hub:
        yield hub


@pytest.fixture(autouse=True)
def no_decoder_left():
    yield
    decoder.close()


def download(hub: Hub, data: Path, watch: Watch | None = None) -> Path:
    with HubConnection(hub.url, sleep=lambda seconds: None) as connection:
        return download_archive(connection, TINY, data, watch or Watch(), releases=releases_of(hub))


async def test_an_archive_becomes_the_folder_of_its_model(hub, tmp_path):
    offer(hub, TINY, archive_of("tiny", FILES))
    watch = Watch()
    path = download(hub, tmp_path, watch)
    assert watch.begun[0] == "tiny"
    assert watch.came == path.stat().st_size
    written: list[int] = []
    await unpack_archive(path, TINY, tmp_path, written.append)
    folder = tmp_path / "models" / "tiny"
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert sum(written) == sum(map(len, FILES.values()))
    assert list((tmp_path / "models").iterdir()) == [folder]


async def test_a_download_that_broke_off_is_resumed(hub, tmp_path):
    content = archive_of("tiny", {"model.onnx": bytes(range(256)) * 2000})
    offer(hub, TINY, content)
    listing = len(hub.files["releases/asr-models"]["checksum.txt"])
    hub.cuts = [listing, len(content) // 2]
    path = download(hub, tmp_path)
    assert path.read_bytes() == content
    assert any("range" in request.headers for request in hub.requests)


async def test_a_wrong_archive_is_deleted(hub, tmp_path):
    offer(hub, TINY, archive_of("tiny", FILES), digest="0" * 64)
    with pytest.raises(EngineFailed) as caught:
        download(hub, tmp_path)
    assert caught.value.code == "checksum_mismatch"
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize("listed", [True, False])
async def test_without_a_published_digest_none_is_made_up(hub, tmp_path, listed):
    offer(hub, TINY, archive_of("tiny", FILES), digest="")
    if not listed:
        del hub.files["releases/asr-models"]["checksum.txt"]
        hub.redirects["/store/releases/asr-models/checksum.txt"] = "/nowhere"
    with HubConnection(hub.url, sleep=lambda seconds: None) as connection:
        assert fetch_digest(connection, TINY, releases_of(hub)) == ""
    assert download(hub, tmp_path).is_file()


async def test_an_archive_that_leads_elsewhere_writes_nothing(hub, tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        entry = tarfile.TarInfo("tiny/../../evil")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    offer(hub, TINY, buffer.getvalue())
    path = download(hub, tmp_path)
    with pytest.raises(EngineFailed, match="It was deleted") as caught:
        await unpack_archive(path, TINY, tmp_path)
    assert caught.value.code == "archive_refused"
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("content", [b"not an archive", archive_of("other", FILES), archive_of("tiny", {})])
async def test_an_archive_without_its_folder_is_deleted(hub, tmp_path, content):
    offer(hub, TINY, content)
    path = download(hub, tmp_path)
    with pytest.raises(EngineFailed):
        await unpack_archive(path, TINY, tmp_path)
    assert not path.exists()
    assert not (tmp_path / "models" / "tiny").exists()


async def test_what_an_earlier_attempt_left_is_removed(hub, tmp_path):
    half = tmp_path / "models" / ".tiny.unpacking"
    half.mkdir(parents=True)
    (half / "model.onnx").write_bytes(b"half")
    offer(hub, TINY, archive_of("tiny", FILES))
    await unpack_archive(download(hub, tmp_path), TINY, tmp_path)
    assert (tmp_path / "models" / "tiny" / "model.onnx").read_bytes() == FILES["model.onnx"]
    assert not half.exists()


def test_only_what_is_missing_is_fetched(tmp_path):
    pack = VoicePack("tiny", "Tiny", ("en",), TINY, OTHER)
    assert missing_archives(pack, tmp_path) == [TINY, OTHER]
    (tmp_path / "models" / "tiny").mkdir(parents=True)
    assert missing_archives(pack, tmp_path) == [OTHER]

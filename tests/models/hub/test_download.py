"""One file, over a real socket: resumed, checked, locked, and there only when it is whole."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import shutil
from pathlib import Path

import msgspec
import pytest
from tests.support.hub_stand_in import COMMIT, Hub

from duologue.errors import Busy, EngineFailed, Problem
from duologue.models.hub import download as download_module
from duologue.models.hub.download import Source, check_disk, download
from duologue.models.hub.http import HubConnection
from duologue.models.hub.resume import Content

NAME = "Tiny-Q4_K_M.gguf"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / NAME


@pytest.fixture
def source(hub: Hub, content: bytes) -> Source:
    """The file as the hub announces it: with size and checksum."""
    url = f"{hub.url}/someone/Tiny-GGUF/resolve/{COMMIT}/{NAME}"
    return Source(url, NAME, Content(len(content), hashlib.sha256(content).hexdigest()))


@pytest.fixture
def address(hub: Hub) -> Source:
    """The same file by its bare address: nothing is known of it."""
    return Source(f"{hub.store}/store/someone/Tiny-GGUF/{NAME}", NAME)


def left(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir())


def stopped_after(target: Path, there: bytes, remembered: Content) -> None:
    """What a download that was stopped leaves."""
    target.with_name(f"{NAME}.part").write_bytes(there)
    target.with_name(f"{NAME}.part.json").write_bytes(msgspec.json.encode(remembered))


@pytest.mark.parametrize("kind", ["source", "address"])
def test_a_file_arrives_whole_and_alone(kind, request, connection, target, watch, content) -> None:
    download(connection, request.getfixturevalue(kind), target, watch)
    assert target.read_bytes() == content
    assert left(target) == [NAME]
    assert (watch.done, watch.ended) == (len(content), 1)
    assert watch.begun[-1][:2] == (NAME, len(content))


@pytest.mark.parametrize("kind", ["source", "address"])
def test_a_cut_connection_is_gone_on_with(kind, request, hub, connection, target, watch, content) -> None:
    hub.cuts = [40_000, 20_000]
    download(connection, request.getfixturevalue(kind), target, watch)
    assert target.read_bytes() == content
    assert [asked.headers.get("range") for asked in hub.downloads()] == [None, "bytes=40000-", "bytes=60000-"]
    assert watch.done == len(content)


@pytest.mark.parametrize("kind", ["source", "address"])
def test_the_next_start_goes_on_where_the_last_one_stopped(
    kind, request, hub, connection, target, watch, content
) -> None:
    source = request.getfixturevalue(kind)
    hub.cuts = [50_000, 0, 0, 0, 0, 0, 0]
    with pytest.raises(Problem):
        download(connection, source, target, watch)
    assert left(target) == [f"{NAME}.part", f"{NAME}.part.json"]
    hub.requests.clear()
    hub.cuts.clear()
    download(connection, source, target, watch)
    assert target.read_bytes() == content
    assert [asked.headers.get("range") for asked in hub.downloads()] == ["bytes=50000-"]
    assert left(target) == [NAME]


def test_ctrl_c_leaves_a_part_that_the_next_start_uses(
    hub, connection, source, target, watch, content
) -> None:
    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    watch.advance, advance = interrupt, watch.advance
    with pytest.raises(KeyboardInterrupt):
        download(connection, source, target, watch)
    assert watch.ended == 1
    there = target.with_name(f"{NAME}.part").stat().st_size
    assert 0 < there < len(content)
    hub.requests.clear()
    watch.advance = advance
    download(connection, source, target, watch)
    assert target.read_bytes() == content
    assert hub.downloads()[0].headers["range"] == f"bytes={there}-"
    assert watch.again == there


def test_a_part_of_another_file_is_begun_anew(hub, connection, source, target, watch, content) -> None:
    stopped_after(target, b"x" * 1000, Content(5000, "f" * 64))
    download(connection, source, target, watch)
    assert target.read_bytes() == content
    assert "range" not in hub.downloads()[0].headers


def test_a_part_nobody_remembers_is_begun_anew(hub, connection, source, target, watch, content) -> None:
    stopped_after(target, b"x" * 1000, Content())
    target.with_name(f"{NAME}.part.json").write_bytes(b"{broken")
    download(connection, source, target, watch)
    assert target.read_bytes() == content


def test_a_file_that_changed_meanwhile_is_begun_anew(
    hub, connection, address, target, watch, content
) -> None:
    stopped_after(target, b"x" * 1000, Content(len(content), etag='"older"'))
    download(connection, address, target, watch)
    assert target.read_bytes() == content
    assert hub.downloads()[0].headers["if-range"] == '"older"'


def test_a_server_that_sends_the_rest_of_another_version_is_not_believed(
    hub, connection, address, target, watch, content
) -> None:
    hub.careless = True
    stopped_after(target, b"x" * 1000, Content(len(content), etag='"older"'))
    download(connection, address, target, watch)
    assert target.read_bytes() == content
    assert [asked.headers.get("range") for asked in hub.downloads()] == ["bytes=1000-", None]


def test_a_server_without_ranges_sends_everything_again(
    hub, connection, source, target, watch, content
) -> None:
    hub.ranges, hub.cuts = False, [50_000]
    download(connection, source, target, watch)
    assert target.read_bytes() == content
    assert watch.done == len(content)


def test_a_part_that_was_whole_is_checked_and_asked_for_no_more(
    hub, connection, source, target, watch, content
) -> None:
    stopped_after(target, content, source.content)
    download(connection, source, target, watch)
    assert target.read_bytes() == content
    assert hub.requests == []


@pytest.mark.parametrize("there", [0, 5_000])
def test_wrong_bytes_are_deleted_and_told(there, hub, connection, source, target, watch, content) -> None:
    if there:
        stopped_after(target, b"x" * there, source.content)
    else:
        hub.files["someone/Tiny-GGUF"][NAME] = b"y" * len(content)
    with pytest.raises(EngineFailed, match="not the file that the hub announced") as raised:
        download(connection, source, target, watch)
    assert raised.value.code == "checksum_mismatch"
    assert left(target) == []


def test_a_server_that_sends_another_size_is_refused(hub, connection, source, target, watch) -> None:
    hub.files["someone/Tiny-GGUF"][NAME] += b"more"
    with pytest.raises(EngineFailed, match="announced"):
        download(connection, source, target, watch)
    assert not target.exists()


def test_two_downloads_of_one_file_do_not_meet(hub, connection, source, target, watch) -> None:
    with target.with_name(f"{NAME}.part").open("a+b") as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # even one that only shares must keep us out
        with pytest.raises(Busy, match="Another process") as raised:
            download(connection, source, target, watch)
    assert raised.value.code == "download_running"
    assert hub.requests == []


def test_what_another_process_finished_meanwhile_is_taken_as_it_is(
    hub, connection, source, target, watch, monkeypatch
) -> None:
    real = fcntl.flock

    def finish_first(file, operation) -> None:
        target.write_bytes(b"by the other one")
        real(file, operation)

    monkeypatch.setattr(fcntl, "flock", finish_first)
    download(connection, source, target, watch)
    assert target.read_bytes() == b"by the other one"
    assert left(target) == [NAME]
    assert hub.requests == []


def test_a_part_that_was_renamed_under_us_is_not_written_to(
    hub, connection, source, target, watch, content, monkeypatch
) -> None:
    part = target.with_name(f"{NAME}.part")
    part.write_bytes(b"the whole file")
    real = fcntl.flock

    def rename_first(file, operation) -> None:
        if part.exists():
            part.rename(target)
        real(file, operation)

    monkeypatch.setattr(fcntl, "flock", rename_first)
    download(connection, source, target, watch)
    assert target.read_bytes() == b"the whole file"


def test_a_file_that_is_there_is_left_alone(hub, connection, source, target, watch) -> None:
    target.write_bytes(b"mine")
    download(connection, source, target, watch)
    assert (target.read_bytes(), hub.requests) == (b"mine", [])


def test_a_disk_without_room_is_told_before_the_first_byte(
    connection, address, target, watch, monkeypatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(1, 1, 500_000_000))
    with pytest.raises(Problem, match=r"needs .* and some free space") as raised:
        download(connection, address, target, watch)
    assert raised.value.code == "disk_full"
    needed = raised.value.values["needed"]
    assert raised.value.values == {"needed": needed, "free": 500_000_000, "folder": str(target.parent)}
    assert needed != 0
    assert target.with_name(f"{NAME}.part").stat().st_size == 0


def test_a_disk_that_fills_up_on_the_way_is_told(connection, source, target, watch, monkeypatch) -> None:
    def full(self: object, piece: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download_module._Part, "write", full)
    with pytest.raises(Problem, match="lack of space") as raised:
        download(connection, source, target, watch)
    assert raised.value.code == "disk_full"


def test_a_folder_that_cannot_be_written_is_told(connection, source, tmp_path, watch) -> None:
    with pytest.raises(Problem, match="cannot be written") as raised:
        download(connection, source, tmp_path / "absent" / NAME, watch)
    assert raised.value.code == "write_failed"


def test_room_is_asked_of_the_disk_a_folder_will_be_on(tmp_path: Path) -> None:
    check_disk(tmp_path / "not" / "yet" / "there", 0)
    with pytest.raises(Problem, match="not/yet/there"):
        check_disk(tmp_path / "not" / "yet" / "there", 10**18)


def test_the_record_of_a_part_holds_no_address(hub, connection, source, target, watch) -> None:
    hub.cuts = [1000, 0, 0, 0, 0, 0, 0]
    with pytest.raises(Problem):
        download(connection, source, target, watch)
    record = target.with_name(f"{NAME}.part.json").read_text()
    assert "secret" not in record
    assert "http" not in record


def test_the_connection_is_only_used_as_far_as_needed(
    connection: HubConnection, source, target, watch
) -> None:
    download(connection, source, target, watch)
    download(connection, source, target, watch)
    assert watch.ended == 1

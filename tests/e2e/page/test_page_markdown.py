"""What a reply's Markdown may hold: coloured code, formulas, diagrams and previews, in a real Chromium."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Locator, expect
from tests.support.tabs import Tab
from tests.tools.test_pinned_transport import site

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / "web/node_modules/axe-core/axe.min.js"
PYTHON = "```python\ndef brew(minutes):\n    return 'tea'  # patience\n```"
FLOW = "```mermaid\ngraph TD\n  A[Water] --> B[Tea]\n```"


def says(text: str) -> str:
    """A script that makes the engine write `text`."""
    return "/say " + text.replace("\n", "\\n")


def block(tab: Tab, language: str) -> FrameLocator:
    """The frame in the code block of a language."""
    shown = tab.reply.locator(".code").filter(has=tab.page.locator(".language", has_text=language))
    return shown.frame_locator("iframe")


# Code


def test_finished_code_gets_its_colours_and_stays_the_same_text(tab: Tab) -> None:
    tab.told(says(PYTHON))
    expect(tab.reply.locator("pre .code-keyword")).to_have_text(["def", "return"])
    expect(tab.reply.locator("pre .code-comment")).to_have_text("# patience")
    assert tab.reply.locator("pre code").text_content() == "def brew(minutes):\n    return 'tea'  # patience"
    expect(tab.reply.locator(".lines")).to_have_text("2 lines")


def test_code_that_is_still_written_is_plain(tab: Tab) -> None:
    tab.say(says(PYTHON.removesuffix("\n```")) + "\n/hang")
    expect(tab.reply.locator("pre")).to_contain_text("patience")
    assert tab.reply.locator("pre span").count() == 0


def test_code_in_a_list_is_coloured_too(tab: Tab) -> None:
    tab.told(says("- first\n\n  ```js\n  let a = 1;\n  ```"))
    expect(tab.reply.locator("li .code-keyword")).to_have_text("let")
    expect(tab.reply.locator("li").get_by_role("button", name="Copy")).to_be_visible()


def test_long_code_is_folded_and_unfolded_by_keyboard(tab: Tab) -> None:
    lines = "\n".join(f"line {number}" for number in range(90))
    tab.told(says(f"```\n{lines}\n```"))
    expect(tab.reply.get_by_role("group", name="Code, scrolls")).to_have_attribute("tabindex", "0")
    assert tab.reply.locator("pre").evaluate("pre => pre.offsetHeight") < 600
    tab.button("Show all 90 lines").focus()
    tab.page.keyboard.press("Enter")
    expect(tab.button("Show less")).to_have_attribute("aria-expanded", "true")
    assert tab.reply.locator("pre").evaluate("pre => pre.offsetHeight") > 1500


def test_code_wraps_when_told(tab: Tab) -> None:
    tab.told(says("```text\n" + "word " * 100 + "\n```"))
    expect(tab.reply.get_by_role("group", name="Code, scrolls horizontally")).to_be_visible()
    wrap = tab.button("Wrap long lines")
    expect(wrap).to_have_attribute("aria-pressed", "false")
    wrap.click()
    expect(wrap).to_have_attribute("aria-pressed", "true")
    assert tab.reply.locator("pre").evaluate("pre => pre.scrollWidth <= pre.clientWidth")
    expect(tab.reply.get_by_role("group", name="Code, scrolls horizontally")).to_have_count(0)


def test_code_is_saved_as_a_file_of_its_language(tab: Tab, tmp_path: Path) -> None:
    tab.told(says(PYTHON))
    with tab.page.expect_download() as download:
        tab.button("Download code").click()
    assert download.value.suggested_filename == "code.py"
    download.value.save_as(tmp_path / "code.py")
    assert (tmp_path / "code.py").read_text() == "def brew(minutes):\n    return 'tea'  # patience"


# Formulas


def test_formulas_are_drawn_and_can_be_read_aloud(tab: Tab) -> None:
    tab.told(says("So \\(x^2\\) and $y_1$:\n\n$$\na\n- b\n= c\n$$\n\nAll."))
    formulas = tab.reply.locator(".maths.drawn")
    expect(formulas).to_have_count(3)
    expect(tab.reply.locator("math")).to_have_count(3)
    expect(tab.reply.locator("annotation")).to_have_text(["x^2", "y_1", re.compile(r"a\s- b\s= c")])
    loaded = tab.page.evaluate(
        "() => document.fonts.ready.then(() => [...document.fonts].some(font => font.status === 'loaded'))"
    )
    assert loaded, "the fonts of formulas came"
    assert tab.reply.locator("li").count() == 0


def test_prices_are_no_formulas_and_a_broken_formula_is_its_source(tab: Tab) -> None:
    tab.told(says("It costs $5 and $6. Broken: \\(\\frac{a\\). Code: `$x$`."))
    expect(tab.reply).to_contain_text("It costs $5 and $6.")
    expect(tab.reply.locator(".maths.unreadable")).to_have_text(r"\frac{a")
    expect(tab.reply.locator("p > code")).to_have_text("$x$")
    assert tab.reply.locator("math").count() == 0


def test_a_formula_that_is_still_written_is_its_source(tab: Tab) -> None:
    tab.say(says("So \\(x^2 + y") + "\n/hang")
    expect(tab.reply.locator(".maths")).to_have_text("x^2 + y")
    assert tab.reply.locator("math").count() == 0


# Diagrams


def test_a_diagram_draws_itself_once_its_reply_has_ended(tab: Tab) -> None:
    tab.say(says(FLOW + "\n\nAnd more.") + "\n/hang")
    expect(tab.reply).to_contain_text("And more.")
    assert tab.page.locator("iframe").count() == 0
    tab.button("Stop").click()
    tab.ended()
    expect(block(tab, "mermaid").get_by_text("Water")).to_be_visible()
    tab.reply.get_by_role("button", name="Show code").click()
    expect(tab.reply.locator("pre")).to_contain_text("A[Water]")
    tab.reply.get_by_role("button", name="Show diagram").click()
    expect(block(tab, "mermaid").get_by_text("Water")).to_be_visible()


def test_a_diagram_far_from_the_window_is_drawn_when_one_comes_near(tab: Tab) -> None:
    tab.told(says(FLOW + "\n\n" + "\n\n".join(f"Line {number}." for number in range(120))))
    expect(tab.reply).to_contain_text("Line 119.")
    tab.reply.get_by_text("Line 119.").scroll_into_view_if_needed()
    tab.page.reload()
    expect(tab.reply.get_by_text("Line 119.")).to_be_in_viewport()
    assert tab.page.locator("iframe").count() == 0
    tab.reply.get_by_text("Line 0.").scroll_into_view_if_needed()
    expect(block(tab, "mermaid").get_by_text("Water")).to_be_visible()


def test_a_very_long_diagram_waits_to_be_asked_for(tab: Tab) -> None:
    tab.told(says("```mermaid\ngraph TD\n" + "".join(f"  A{n}[{'x' * 90}]\n" for n in range(110)) + "```"))
    expect(tab.button("Show diagram")).to_be_visible()
    assert tab.page.locator("iframe").count() == 0


def test_a_diagram_is_saved_as_a_drawing(tab: Tab, tmp_path: Path) -> None:
    tab.told(says(FLOW))
    with tab.page.expect_download() as download:
        tab.button("Download diagram").click()
    assert download.value.suggested_filename == "diagram.svg"
    download.value.save_as(tmp_path / "diagram.svg")
    drawing = (tmp_path / "diagram.svg").read_text()
    assert drawing.startswith("<svg")
    assert "Water" in drawing
    assert tab.page.locator("article svg[id^=diagram]").count() == 0, "it is never put into the page"


def test_a_diagram_has_the_colours_of_the_page(visit: Callable[..., Tab]) -> None:
    tab = visit(color_scheme="dark").open()
    tab.told(says(FLOW))
    drawn = block(tab, "mermaid").get_by_text("Water")
    expect(drawn).to_be_visible()
    scheme = block(tab, "mermaid").locator("html")
    expect(scheme).to_have_css("color-scheme", "dark")
    tab.page.emulate_media(color_scheme="light")
    expect(scheme).to_have_css("color-scheme", "light")
    expect(drawn).to_be_visible()


def test_a_diagram_that_cannot_be_drawn_says_why_and_shows_its_text(tab: Tab) -> None:
    tab.told(says("```mermaid\ngraph TD\n  A[Water --> B\n```"))
    expect(tab.reply.get_by_text("Can’t draw this diagram.")).to_be_visible()
    expect(tab.reply.get_by_text("Parse error")).to_be_visible()
    expect(tab.reply.locator("pre")).to_contain_text("A[Water --> B")


# Pictures

DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4IWeDFTEMLQkAd2xIgco4"
    "MNEAAAAASUVORK5CYII="
)


@pytest.fixture
def gallery(serve: Callable[..., Any]) -> Any:
    """A server that may ask loopback, where the pictures of these tests are."""
    return serve("--engine", "scripted", DUOLOGUE_TOOLS__PRIVATE_ADDRESSES=json.dumps(["127.0.0.1"])).ready()


def picture_note(tab: Tab) -> Locator:
    return tab.reply.locator(".web-picture").get_by_role("status")


def drawn(picture: Locator) -> None:
    expect(picture).to_be_visible()
    picture.page.wait_for_function("image => image.naturalWidth > 0", arg=picture.element_handle())


def test_a_picture_in_the_text_is_drawn_at_once(tab: Tab) -> None:
    tab.told(says(f"Here: ![a dot]({DOT})"))
    drawn(tab.reply.get_by_role("img", name="a dot"))


def test_a_picture_on_the_web_is_fetched_by_the_server_when_asked_for(
    gallery: Any, visit: Callable[..., Tab]
) -> None:
    picture = base64.b64decode(DOT.partition(",")[2])
    tab = visit(on=gallery).open()
    with site({"/cat.png": (200, {"content-type": "image/png"}, picture)}) as (port, seen):
        tab.told(says(f"Look: ![a cat](http://127.0.0.1:{port}/cat.png)"))
        expect(tab.reply.get_by_role("link", name="a cat")).to_be_visible()
        assert tab.reply.locator("img").count() == 0
        assert seen == []
        tab.button(f"Show picture from 127.0.0.1:{port}").click()
        drawn(tab.reply.get_by_role("img", name="a cat"))
        assert [path for path, _ in seen] == ["/cat.png"]
        assert tab.complaints(AXE) == []
        tab.told(says("Thank you."))
        expect(tab.replies.first.get_by_role("img", name="a cat")).to_be_visible()
        assert len(seen) == 1
    # The tab itself asked only its own server: `visit` fails the test otherwise.


def test_a_picture_that_cannot_be_shown_says_why(gallery: Any, visit: Callable[..., Tab]) -> None:
    tab = visit(on=gallery).open()
    page = b"<!doctype html><script>window.owned = 1</script>"
    with site({"/cat.png": (200, {"content-type": "image/png"}, page)}) as (port, _):
        tab.told(says(f"![a cat](http://127.0.0.1:{port}/cat.png)"))
        tab.button(re.compile("^Show picture")).click()
        expect(picture_note(tab)).to_contain_text("The picture cannot be read")
    expect(tab.button(re.compile("^Show picture"))).to_be_enabled()
    assert tab.reply.locator("img").count() == 0
    assert tab.page.evaluate("() => window.owned") is None
    tab.forgive("400")


def test_a_picture_of_this_machine_s_network_is_not_fetched(tab: Tab) -> None:
    with site({"/cat.png": (200, {}, b"x")}) as (port, seen):
        tab.told(says(f"![a cat](http://127.0.0.1:{port}/cat.png)"))
        tab.button(re.compile("^Show picture")).click()
        expect(picture_note(tab)).to_contain_text("private network")
        assert seen == []
    tab.forgive("403")


# Previews

PROBES = {
    "parent": "parent.document.title = 'taken'",
    "storage": "localStorage.setItem('a', 'b')",
    "cookie": "document.cookie",
}


def test_a_preview_runs_and_reaches_nothing(tab: Tab) -> None:
    tries = "".join(f"try {{ {probe}; told.push('{name}') }} catch {{}} " for name, probe in PROBES.items())
    page = (
        "<h1>Hello</h1><script>const told = []; "
        f"{tries} fetch('/api/capabilities').then(() => told.push('server'), () => 0).then(() => document.body.append("
        "`reached: ${told.join(' ') || 'nothing'}`))</script><img src=/mark.svg><a href=/api/settings>away</a>"
    )
    tab.told(says(f"```html\n{page}\n```"))
    tab.button("Preview").click()
    frame = block(tab, "html")
    expect(frame.get_by_role("heading", name="Hello")).to_be_visible()
    expect(frame.get_by_text("reached: nothing")).to_be_visible()
    frame.get_by_role("link", name="away").click()
    expect(frame.get_by_role("heading", name="Hello")).to_be_visible()
    expect(tab.page).not_to_have_title("taken")
    tab.forgive("Content Security Policy|Blocked opening|sandboxed")
    tab.button("Show code").click()
    expect(tab.reply.locator("pre")).to_contain_text("<h1>Hello</h1>")


def test_a_drawing_is_previewed(tab: Tab) -> None:
    tab.told(says('```svg\n<svg viewBox="0 0 10 10"><title>Dot</title><circle r="5"/></svg>\n```'))
    tab.button("Preview").click()
    expect(block(tab, "svg").locator("circle")).to_be_visible()
    expect(tab.page.locator("iframe")).to_have_attribute("title", "Preview of svg")


# For everybody


def test_nothing_in_a_block_is_hard_to_see_or_name(visit: Callable[..., Tab]) -> None:
    tab = visit(reduced_motion="reduce").open()
    diff = "```diff\n-old\n+new\n```"
    config = '```json\n{"a": [1, true, "b"]}\n```'
    page = "```html\n<p class='a'>b</p><!-- c -->\n```"
    tasks = "- [x] done\n- [ ] open\n\n![cat](https://example.org/cat.png)"
    tab.told(says("\n\n".join([PYTHON, diff, config, page, FLOW, "\\(x^2\\)", "$$\ny\n$$", tasks, "All."])))
    expect(tab.reply.locator(".maths.drawn")).to_have_count(2)
    expect(tab.reply.locator(".code-added, .code-number, .code-mark").first).to_be_visible()
    expect(tab.reply.get_by_role("img", name="done")).to_be_visible()
    assert tab.complaints_in_both_themes(AXE) == []


def test_blocks_fit_a_narrow_screen(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 320, "height": 640}).open()
    wide = "$$\n" + " + ".join(f"a_{{{number}}}" for number in range(40)) + "\n$$"
    tab.told(says("\n\n".join([PYTHON, FLOW, wide, "```html\n<p>b</p>\n```", "All."])))
    expect(tab.reply.locator(".maths.drawn")).to_have_count(1)
    expect(tab.reply.get_by_role("group", name="Formula, scrolls horizontally")).to_be_visible()
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 320
    for button in tab.reply.locator(".code-bar button").all():
        assert button.evaluate("button => button.getBoundingClientRect().left") >= 0
        assert button.evaluate("button => button.getBoundingClientRect().right") <= 320


def test_the_words_around_blocks_follow_the_language(visit: Callable[..., Tab]) -> None:
    tab = visit(locale="de-DE")
    tab.page.goto(tab.url)
    box = tab.page.get_by_role("textbox").last
    box.fill(says(f"{PYTHON}\n\n- [x] a\n\n  ```\n  b\n  ```"))
    box.press("Enter")
    expect(tab.reply.get_by_role("button", name="Code kopieren")).to_be_visible()
    expect(tab.reply.get_by_role("img", name="erledigt")).to_be_visible()
    expect(tab.reply.locator("li").get_by_role("button", name="Kopieren")).to_be_visible()

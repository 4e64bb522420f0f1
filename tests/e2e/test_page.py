"""The page in a real Chromium against the real server with the scripted engine: what a person sees and does.

Every test also fails on a request to another origin, an error on the console or a violated content policy.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    WebSocketRoute,
    expect,
    sync_playwright,
)

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "src/duologue/gateway/page/index.html"
AXE = ROOT / "web/node_modules/axe-core/axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESK = {"width": 1280, "height": 800}
RICH = (
    r"## Tea\n\nIt needs **three things** and *patience*, see [the guide](https://example.org/tea).\n\n"
    r"1. water\n2. leaves\n   - green\n   - black\n\n| Tea | Minutes |\n|---|--:|\n| Sencha | 1.5 |\n\n"
    r"```python\ndef brew():\n    return 'tea'  # a comment that is long enough to scroll sideways, even on a desk's wide screen\n```"
    r"\n\n- [x] warm the pot\n\n> Wait.\n\nThat is all."
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One Chromium for this file; ended with it, as its event loop would be in the way of asynchronous tests."""
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("no Chromium on this machine: install the package `chromium` to run the browser tests")
    if not BUILT.exists():
        pytest.skip("the page is not built: run `make web` to run the browser tests")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=QUIET)
        yield running
        running.close()


class Tab:
    """A tab on the page, with a person's verbs. `errors` is what the console complained about."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.url = url
        self.context = context
        self.page: Page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def open(self) -> "Tab":
        self.page.goto(self.url)
        expect(self.composer).to_be_visible()
        return self

    def forgive(self, pattern: str) -> None:
        """Complaints the test provoked on purpose."""
        self.errors = [error for error in self.errors if not re.search(pattern, error)]

    @property
    def composer(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def replies(self) -> Locator:
        return self.page.locator("article[aria-busy]")

    @property
    def reply(self) -> Locator:
        return self.replies.last

    @property
    def said(self) -> Locator:
        return self.page.locator("article:not([aria-busy])")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.button("Send").click()

    def told(self, text: str) -> None:
        """Say something and wait for the end of the reply."""
        self.say(text)
        self.ended()

    def ended(self) -> None:
        expect(self.reply).to_have_attribute("aria-busy", "false")

    def capabilities(self, **changes: Any) -> None:
        """From now on the server says this of itself."""
        model = {
            "name": "duologue-mini",
            "engine": "llama",
            "context": 4096,
            "parameters": 5_200_000,
            "description": "",
            "bundled": True,
            "verbs": ["prefill", "thinking"],
        }
        body = {
            "version": "0.1.0",
            "build": None,
            "state": "ready",
            "detail": "",
            "default_model": "duologue-mini",
            "models": [model],
        }
        self.fulfil("**/api/capabilities", body | changes)

    def fulfil(self, address: str, body: object, status: int = 200) -> None:
        self.page.unroute(address)
        self.page.route(
            address,
            lambda route: route.fulfill(
                status=status, content_type="application/json", body=json.dumps(body)
            ),
        )


@pytest.fixture
def visit(chromium: Browser, server: Any) -> Iterator[Callable[..., Tab]]:
    """Opens tabs, each in a profile of its own."""
    tabs: list[Tab] = []

    def make(**options: Any) -> Tab:
        context = chromium.new_context(**({"viewport": DESK} | options))
        context.set_default_timeout(15_000)
        tabs.append(Tab(context, server.url.rstrip("/") + "/"))
        return tabs[-1]

    yield make
    for tab in tabs:
        tab.context.close()
        home = urlsplit(tab.url).netloc
        foreign = [url for url in tab.requests if urlsplit(url).netloc not in (home, "")]
        assert foreign == [], "requests to another origin"
        assert tab.errors == [], "complaints on the console"


@pytest.fixture
def tab(visit: Callable[..., Tab]) -> Tab:
    return visit().open()


def play(tab: Tab, *messages: dict[str, Any], then_close: bool = False) -> list[dict[str, Any]]:
    """Answer every request on the chat socket with these messages; gives the list of what was asked."""
    asked: list[dict[str, Any]] = []

    def serve(socket: WebSocketRoute) -> None:
        def answer(frame: str | bytes) -> None:
            request = json.loads(frame)
            asked.append(request)
            for message in messages if "messages" in request else ():
                socket.send(json.dumps({"id": request["id"]} | message))
            if then_close:
                socket.close(code=1011)

        socket.on_message(answer)

    tab.page.route_web_socket("**/ws/chat", serve)
    return asked


# The empty page


def test_the_empty_page_says_who_answers_that_it_is_small_and_how_to_bring_another(
    visit: Callable[..., Tab],
) -> None:
    tab = visit()
    tab.capabilities()
    tab.open()
    expect(tab.page.get_by_role("heading", name="Say something to duologue-mini")).to_be_visible()
    expect(tab.page.get_by_role("main")).to_contain_text("5.2 million parameters. That is small.")
    for command in ("duologue serve --model FILE.gguf", "duologue serve --upstream URL"):
        expect(tab.page.get_by_text(command)).to_be_visible()
    expect(tab.composer).to_be_focused()


def test_a_model_of_ones_own_is_not_called_small(tab: Tab) -> None:
    expect(tab.page.get_by_role("heading", name="Say something to scripted")).to_be_visible()
    expect(tab.page.get_by_role("main")).not_to_contain_text("small")


def test_an_example_starts_the_conversation(tab: Tab) -> None:
    tab.button("Hello! Who are you?").click()
    expect(tab.reply).to_contain_text("You said: Hello! Who are you?")
    expect(tab.page).to_have_title("Hello! Who are you? · Duologue")
    expect(tab.composer).to_be_focused()


# Talking


def test_a_reply_streams_in_as_markdown(tab: Tab) -> None:
    tab.say(f"/say {RICH}\n/hang")
    expect(tab.reply.get_by_text("That is all.")).to_be_visible()
    expect(tab.reply).to_have_attribute("aria-busy", "true")
    expect(tab.reply.get_by_role("heading", name="Tea", level=3)).to_be_visible()
    expect(tab.reply.locator("strong")).to_have_text("three things")
    expect(tab.reply.locator("ol > li")).to_have_count(2)
    expect(tab.reply.get_by_role("columnheader")).to_have_text(["Tea", "Minutes"])
    expect(tab.reply.locator("pre")).to_contain_text("return 'tea'")
    expect(tab.reply.locator(".language")).to_have_text("python")
    link = tab.reply.get_by_role("link", name="the guide")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")
    expect(tab.reply).not_to_contain_text("**")


def test_unfinished_markdown_never_shows_its_marks(tab: Tab) -> None:
    tab.say("/say It is **very\n/hang")
    expect(tab.reply.locator("strong")).to_have_text("very")
    expect(tab.reply).not_to_contain_text("*")


def test_a_streaming_code_block_is_code_at_once(tab: Tab) -> None:
    tab.say("/say ```js\\nlet a = 1;\n/hang")
    expect(tab.reply.locator("pre")).to_have_text("let a = 1;")
    expect(tab.reply.locator(".language")).to_have_text("js")


def test_what_the_model_writes_is_never_run_and_loads_nothing(tab: Tab) -> None:
    tab.told(
        "/say <img src=x onerror=document.title='taken'> ![cat](https://example.org/cat.png)"
        " <script>document.title='taken'</script> [x](javascript:document.title='taken')"
    )
    expect(tab.reply).to_contain_text("<img src=x")
    assert tab.reply.locator("img, script, [onerror], a[href^=javascript]").count() == 0
    expect(tab.reply.get_by_role("link", name="[image: cat]")).to_be_visible()
    expect(tab.page).not_to_have_title("taken")


def test_code_and_replies_are_copied(visit: Callable[..., Tab]) -> None:
    tab = visit(permissions=["clipboard-read", "clipboard-write"]).open()
    tab.told("/say **Look:**\\n\\n```\\na\\n  b\\n```\\n\\n- in a list\\n\\n  ```\\n  c\\n  ```")
    clipboard = "navigator.clipboard.readText()"
    tab.button("Copy code").click()
    expect(tab.button("Copy code")).to_have_text("Copied")
    assert tab.page.evaluate(clipboard) == "a\n  b"
    tab.reply.locator("li").get_by_role("button", name="Copy").click()
    expect(tab.reply.locator("li button")).to_have_text("Copied")
    assert tab.page.evaluate(clipboard) == "c"
    tab.button("Copy reply").click()
    tab.page.wait_for_function(
        "() => navigator.clipboard.readText().then(text => text.startsWith('**Look:**'))"
    )


def test_the_next_question_carries_the_conversation(tab: Tab) -> None:
    frames: list[dict[str, Any]] = []
    tab.page.on(
        "websocket",
        lambda socket: socket.on("framesent", lambda frame: frames.append(json.loads(frame))),
    )
    tab.told("/say one")
    tab.told("/say two")
    assert len(frames) == 2
    assert [message["content"] for message in frames[1]["messages"]] == ["/say one", "one", "/say two"]


def test_a_reply_tells_what_it_cost(tab: Tab) -> None:
    tab.told("/pace 20\n/repeat 5 word ")
    expect(tab.reply).to_contain_text(re.compile(r"5 tokens · [\d.]+ per second · first after 0\.\d\d\ss"))


# Stopping


def test_stop_stands_where_send_stood_and_keeps_the_words(tab: Tab) -> None:
    tab.composer.fill("/say half a\n/hang")
    place = tab.button("Send").bounding_box()
    tab.button("Send").click()
    expect(tab.reply).to_contain_text("half a")
    assert tab.button("Stop").bounding_box() == place
    tab.button("Stop").click()
    tab.ended()
    expect(tab.reply).to_contain_text("Stopped.")
    expect(tab.reply).to_contain_text("half a")
    expect(tab.composer).to_be_focused()
    tab.told("/say and on")
    expect(tab.reply).to_contain_text("and on")


def test_escape_stops_and_what_had_no_answer_comes_back_to_the_composer(tab: Tab) -> None:
    tab.say("/hang")
    expect(tab.button("Stop")).to_be_visible()
    tab.page.keyboard.press("Escape")
    tab.ended()
    expect(tab.composer).to_have_value("/hang")
    tab.told("/say instead")
    expect(tab.said).to_have_count(1)
    expect(tab.said).to_contain_text("/say instead")


# Waiting


def test_the_place_in_the_queue_is_told(visit: Callable[..., Tab]) -> None:
    tab = visit()
    play(tab, {"type": "queued", "position": 2, "queue_length": 3, "estimated_wait_s": 40})
    tab.open().say("hello")
    expect(tab.reply).to_contain_text(re.compile(r"Waiting in the queue, place 2 of 3, about \d\d\ss"))


def test_reading_a_long_prompt_is_told_in_per_cent(tab: Tab) -> None:
    tab.say("/read 20 60\n/say done")
    expect(tab.reply).to_contain_text(re.compile(r"Reading, \d+ %"))
    expect(tab.reply.get_by_role("progressbar")).to_be_visible()
    expect(tab.reply).to_contain_text("done")
    expect(tab.reply.get_by_role("progressbar")).to_have_count(0)


def test_reasoning_is_folded_and_opens(tab: Tab) -> None:
    tab.say("/pace 30\n/say <think>start at **two** and count on for a little while</think>Five.\n/hang")
    expect(tab.reply.get_by_role("button", name="Thinking")).to_be_visible()
    thought = tab.reply.get_by_role("button", name="Thought for")
    expect(thought).to_have_attribute("aria-expanded", "false")
    expect(tab.reply).to_contain_text("Five.")
    expect(tab.reply.get_by_text("start at")).to_be_hidden()
    thought.click()
    expect(thought).to_have_attribute("aria-expanded", "true")
    expect(tab.reply.get_by_text("start at two")).to_be_visible()


def test_the_thinking_switch_is_sent_and_remembered(visit: Callable[..., Tab]) -> None:
    tab = visit()
    asked = play(tab, {"type": "done", "text": "yes"})
    tab.open()
    tab.told("one")
    tab.button("Think first").click()
    tab.told("two")
    tab.page.reload()
    expect(tab.button("Think first")).to_have_attribute("aria-pressed", "true")
    assert [request["enable_thinking"] for request in asked] == [False, True]


def test_tool_calls_are_shown_plainly(visit: Callable[..., Tab]) -> None:
    tab = visit()
    call = {"index": 0, "id": "c1", "function": {"name": "weather", "arguments": '{"city":'}}
    rest = {"index": 0, "function": {"arguments": '"Lisbon"}'}}
    play(
        tab,
        {"type": "chunk", "tool_calls": [call]},
        {"type": "chunk", "tool_calls": [rest]},
        {"type": "done", "text": "", "finish_reason": "tool_calls"},
    )
    tab.open().told("weather?")
    expect(tab.reply).to_contain_text("Wants to call weather")
    expect(tab.reply.locator("pre")).to_have_text('{\n  "city": "Lisbon"\n}')


# Errors


def test_an_error_is_on_the_message_with_its_sentence_and_the_text_is_kept(tab: Tab) -> None:
    tab.told("/fail The tea is out.")
    expect(tab.reply.get_by_role("alert")).to_contain_text("The tea is out.")
    expect(tab.composer).to_have_value("/fail The tea is out.")
    tab.reply.get_by_role("button", name="Retry").click()
    expect(tab.reply.get_by_role("alert")).to_contain_text("The tea is out.")
    expect(tab.replies).to_have_count(1)
    tab.told("/say there is more")
    expect(tab.said).to_have_count(1)
    expect(tab.reply).to_contain_text("there is more")


def test_an_error_in_the_middle_keeps_both_the_words_and_what_is_being_typed(tab: Tab) -> None:
    tab.say("/say half\n/wait 400\n/fail The tea is out.")
    tab.composer.fill("my next thought")
    expect(tab.reply.get_by_role("alert")).to_be_visible()
    expect(tab.reply).to_contain_text("half")
    expect(tab.composer).to_have_value("my next thought")


def test_a_lost_connection_keeps_the_words_and_retry_asks_again(visit: Callable[..., Tab]) -> None:
    tab = visit()
    asked = play(tab, {"type": "chunk", "text_delta": "half a rep"}, then_close=True)
    tab.open().told("hello")
    expect(tab.reply).to_contain_text("half a rep")
    expect(tab.reply.get_by_role("alert")).to_contain_text("The connection to the server was lost")
    tab.reply.get_by_role("button", name="Retry").click()
    expect(tab.reply.get_by_role("group", name="Versions")).to_contain_text("2 / 2")
    assert len(asked) == 2


def test_a_crashed_worker_shows_as_such_and_the_page_recovers(tab: Tab) -> None:
    tab.told("/say half\n/wait 200\n/crash")
    expect(tab.reply).to_contain_text("half")
    expect(tab.reply.get_by_role("alert")).to_be_visible()
    # The worker may be back before the page has looked; what it shows until then is the next test's.
    expect(tab.page.get_by_role("status").filter(has_text="restart")).to_have_count(0, timeout=20_000)
    tab.told("/say back again")
    expect(tab.reply).to_contain_text("back again")


def test_a_restarting_model_shows_as_such_until_it_is_back(tab: Tab) -> None:
    tab.capabilities(state="restarting", detail="The model scripted is restarting.")
    tab.told("/fail The model tripped.")
    expect(tab.page.get_by_role("status").filter(has_text="is restarting")).to_be_visible()
    tab.capabilities()
    expect(tab.page.get_by_role("status").filter(has_text="is restarting")).to_have_count(0)


def test_a_loading_model_shows_as_such_until_it_is_ready(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities(
        state="loading", detail="The model duologue-mini is loading.", models=[], default_model=None
    )
    tab.open()
    expect(tab.page.get_by_text("The model duologue-mini is loading.")).to_be_visible()
    tab.capabilities()
    expect(tab.page.get_by_role("heading", name="Say something to duologue-mini")).to_be_visible()
    expect(tab.page.get_by_text("is loading")).to_have_count(0)


def test_a_server_that_does_not_answer_shows_as_such(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.page.route("**/api/capabilities", lambda route: route.abort("connectionrefused"))
    tab.open()
    expect(tab.page.get_by_text("The server does not answer.")).to_be_visible()
    tab.page.unroute("**/api/capabilities")
    expect(tab.page.get_by_text("The server does not answer.")).to_have_count(0)
    tab.forgive("ERR_CONNECTION_REFUSED")


# Logging in


def test_a_key_opens_the_page_when_one_is_needed(visit: Callable[..., Tab]) -> None:
    tab = visit()
    locked = {"error": {"code": "unauthorized", "message": "A key is needed."}}
    tab.fulfil("**/api/capabilities", locked, 401)
    tab.fulfil("**/api/session", {"error": {"message": "The key is wrong."}}, 401)
    tab.page.goto(tab.url)
    expect(tab.page.get_by_label("Key")).to_be_focused()
    tab.page.keyboard.type("guess")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("alert")).to_have_text("The key is wrong.")
    tab.fulfil("**/api/session", {"user": "local"})
    tab.capabilities()
    with tab.page.expect_request("**/api/session") as sent:
        tab.button("Log in").click()
    assert sent.value.post_data_json == {"key": "guess"}
    expect(tab.composer).to_be_focused()
    tab.forgive("401")


# Coming back


def test_a_reload_keeps_the_draft_and_the_conversation(tab: Tab) -> None:
    tab.told("/say **kept**")
    tab.composer.fill("a thought not yet sent")
    tab.page.reload()
    expect(tab.reply.locator("strong")).to_have_text("kept")
    expect(tab.composer).to_have_value("a thought not yet sent")


def test_a_reload_in_the_middle_keeps_the_words(tab: Tab) -> None:
    tab.say("/say half a reply\n/hang")
    expect(tab.reply).to_contain_text("half a reply")
    tab.page.reload()
    expect(tab.reply).to_contain_text("half a reply")
    expect(tab.reply).to_contain_text("The page was reloaded")
    expect(tab.reply.get_by_role("button", name="Retry")).to_be_visible()


def test_a_new_chat_is_empty_and_the_old_one_comes_back(tab: Tab) -> None:
    tab.told("/say one")
    tab.page.keyboard.press("Control+Shift+O")
    expect(tab.replies).to_have_count(0)
    expect(tab.composer).to_be_focused()
    tab.button("Back to the previous chat").click()
    expect(tab.reply).to_contain_text("one")


def test_another_reply_leaves_the_first_one_reachable(tab: Tab) -> None:
    tab.told("/say one")
    tab.button("Another reply").click()
    versions = tab.reply.get_by_role("group", name="Versions")
    expect(versions).to_contain_text("2 / 2")
    tab.ended()
    versions.get_by_role("button", name="Earlier version").click()
    expect(versions).to_contain_text("1 / 2")


def test_up_edits_the_last_message_and_the_old_branch_stays(tab: Tab) -> None:
    tab.told("/say one")
    tab.composer.press("ArrowUp")
    editor = tab.page.get_by_label("Edit your message")
    expect(editor).to_be_focused()
    editor.press("Escape")
    expect(tab.composer).to_be_focused()
    tab.composer.press("ArrowUp")
    editor.fill("/say two")
    editor.press("Enter")
    expect(tab.reply).to_contain_text("two")
    tab.ended()
    expect(tab.replies).to_have_count(1)
    tab.said.get_by_role("button", name="Earlier version").click()
    expect(tab.reply).to_contain_text("one")


# Keyboard, sight, sound


def test_the_keyboard_alone_is_enough(tab: Tab) -> None:
    keyboard = tab.page.keyboard
    keyboard.type("/say first line")
    keyboard.press("Shift+Enter")
    keyboard.type("/say and second")
    expect(tab.composer).to_have_value("/say first line\n/say and second")
    keyboard.press("Enter")
    tab.ended()
    expect(tab.reply).to_contain_text("first lineand second")
    expect(tab.composer).to_be_focused()
    for _ in range(20):
        keyboard.press("Shift+Tab")
        if tab.page.evaluate("() => document.activeElement.ariaLabel") == "Another reply":
            break
    expect(tab.button("Another reply")).to_be_focused()
    keyboard.press("Enter")
    expect(tab.reply.get_by_role("group", name="Versions")).to_contain_text("2 / 2")


def test_an_input_method_s_enter_does_not_send(tab: Tab) -> None:
    tab.composer.fill("にほん")
    for fields in ({"isComposing": True}, {"keyCode": 229}):
        tab.composer.dispatch_event("keydown", {"key": "Enter", "bubbles": True} | fields)
    expect(tab.composer).to_have_value("にほん")
    expect(tab.said).to_have_count(0)


def test_the_thread_follows_only_a_reader_at_its_end(tab: Tab) -> None:
    scroller = tab.page.locator(".scroller")
    from_end = "box => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop)"
    tab.told("/repeat 40 line\\n\\n")
    assert scroller.evaluate(from_end) <= 1
    tab.say("/pace 15\n/repeat 100 line\\n\\n\n/hang")
    expect(tab.button("Stop")).to_be_visible()
    scroller.hover()
    tab.page.mouse.wheel(0, -500)
    expect(tab.button("Latest")).to_be_visible()
    tab.page.wait_for_function("() => document.querySelector('.scroller').scrollTop > 0")
    before = scroller.evaluate("box => [box.scrollTop, box.scrollHeight]")
    tab.page.wait_for_function(
        "(height) => document.querySelector('.scroller').scrollHeight > height + 300", arg=before[1]
    )
    assert scroller.evaluate("box => box.scrollTop") == before[0]
    tab.button("Latest").click()
    expect(tab.button("Latest")).to_have_count(0)
    assert scroller.evaluate(from_end) <= 1


def test_unfolding_a_thought_does_not_move_it(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 800, "height": 400}).open()
    tab.told("/say <think>" + "line\\n\\n" * 40 + "</think>Done.")
    thought = tab.reply.get_by_role("button", name="Thought for")
    before = thought.bounding_box()
    thought.click()
    expect(tab.button("Latest")).to_be_visible()
    assert thought.bounding_box() == before


def test_the_theme_follows_the_system_until_one_is_chosen(visit: Callable[..., Tab]) -> None:
    tab = visit(color_scheme="dark").open()
    paper = "() => getComputedStyle(document.body).backgroundColor"
    dark = tab.page.evaluate(paper)
    tab.button("Theme: as the system").click()
    light = tab.page.evaluate(paper)
    assert light != dark
    tab.page.reload()
    expect(tab.button("Theme: light")).to_be_visible()
    assert tab.page.evaluate(paper) == light
    tab.button("Theme: light").click()
    assert tab.page.evaluate(paper) == dark
    tab.page.emulate_media(color_scheme="light")
    assert tab.page.evaluate(paper) == dark
    tab.button("Theme: dark").click()
    assert tab.page.evaluate(paper) == light


def test_a_screen_reader_hears_the_beginning_and_the_end(tab: Tab) -> None:
    region = tab.page.locator("[aria-live=polite]:not([role=log])").last
    tab.say("/say **Four**\n/hang")
    expect(tab.reply).to_contain_text("Four")
    expect(region).to_have_text("scripted is answering.")
    expect(tab.page.get_by_role("log")).to_have_attribute("aria-live", "off")
    tab.button("Stop").click()
    expect(region).to_have_text("Stopped.")
    tab.told("/say **Five**")
    expect(region).to_have_text("scripted: Five")


def empty(tab: Tab) -> None:
    tab.open()


def conversation(tab: Tab) -> None:
    tab.open().told(f"/say <think>a\\n\\n- b</think>{RICH}")
    tab.button(re.compile("^Thought")).click()
    tab.button("Another reply").click()
    tab.ended()


def failure(tab: Tab) -> None:
    tab.open().told("/fail The tea is out.")


def running(tab: Tab) -> None:
    tab.open().say(f"/say {RICH}\n/hang")
    expect(tab.reply).to_contain_text("That is all.")


def editing(tab: Tab) -> None:
    tab.open().told("/say one")
    tab.composer.press("ArrowUp")
    expect(tab.page.get_by_label("Edit your message")).to_be_focused()


def login(tab: Tab) -> None:
    tab.fulfil("**/api/capabilities", {"error": {"message": "A key is needed."}}, 401)
    tab.page.goto(tab.url)
    expect(tab.page.get_by_label("Key")).to_be_visible()
    tab.forgive("401")


def loading(tab: Tab) -> None:
    tab.capabilities(state="loading", detail="The model is loading.", models=[], default_model=None)
    tab.open()
    expect(tab.page.get_by_text("The model is loading.")).to_be_visible()


SCREENS = [empty, conversation, failure, running, editing, login, loading]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_axe_finds_nothing(visit: Callable[..., Tab], screen: Callable[[Tab], None], theme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: run `npm ci` in web/ to run the accessibility checks")
    tab = visit(color_scheme=theme, reduced_motion="reduce")
    screen(tab)
    tab.page.evaluate(AXE.read_text())
    found = tab.page.evaluate("() => axe.run()")
    complaints = [
        (violation["id"], node["html"], node["failureSummary"])
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
    assert complaints == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("width", [320, 360, 768])
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_nothing_is_cut_off_on_a_narrow_screen(
    visit: Callable[..., Tab], screen: Callable[[Tab], None], width: int
) -> None:
    tab = visit(viewport={"width": width, "height": 640})
    screen(tab)
    wide = tab.page.evaluate(
        """() => [...document.querySelectorAll('body, main, .scroller, footer, header, form')]
            .filter(box => box.scrollWidth > box.clientWidth).map(box => box.outerHTML.slice(0, 120))"""
    )
    assert wide == []
    assert tab.page.evaluate("() => document.documentElement.scrollHeight <= innerHeight"), (
        "the page itself scrolls"
    )


RIGHT_TO_LEFT = r"مرحبا\n\n- واحد\n- اثنان\n\n```py\nx = 1\n```\n\nBack to the left."


def test_text_runs_in_its_own_direction(tab: Tab) -> None:
    tab.told(f"שלום\n/say {RIGHT_TO_LEFT}")
    directions = tab.reply.evaluate(
        """reply => ['p:first-of-type', 'ul', 'pre', '.block:last-child p'].map(
            part => getComputedStyle(reply.querySelector('.prose ' + part)).direction)"""
    )
    assert directions == ["rtl", "rtl", "ltr", "ltr"]
    assert tab.said.last.locator("p").evaluate("said => getComputedStyle(said).direction") == "rtl"
    tab.composer.fill("שלום")
    assert tab.composer.evaluate("area => getComputedStyle(area).direction") == "rtl"


def test_what_a_person_types_is_shown_as_typed(tab: Tab) -> None:
    typed = "**Ada** & <b>Bob</b> `x`\n# no heading\n- one\n\n    deep   in\n1) *y* _z_ \\\\* &amp; $x^2$"
    tab.told(typed)
    assert tab.said.last.locator("p").inner_text() == typed


def test_the_apis_are_described_under_the_strict_policy(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.page.goto(tab.url + "docs")
    tab.page.locator(".opblock-summary", has_text="/v1/chat/completions").click()
    expect(tab.page.get_by_text("repetition_penalty").first).to_be_visible()
    tab.button("Try it out").click()
    expect(tab.button("Execute")).to_be_visible()


def test_the_description_of_the_apis_needs_the_key_and_comes_after_the_login(
    chromium: Browser, serve: Callable[..., Any]
) -> None:
    address = serve("--engine", "scripted", DUOLOGUE_KEY="a-key-of-some-length").ready().url
    page = chromium.new_page()
    answer = page.goto(f"{address}/docs")
    assert answer is not None
    assert answer.status == 401
    page.get_by_label("Key", exact=True).fill("a-key-of-some-length")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".opblock-summary", has_text="/v1/chat/completions")).to_be_visible()
    page.close()


def test_on_a_phone_enter_breaks_the_line(visit: Callable[..., Tab]) -> None:
    tab = visit(viewport={"width": 360, "height": 640}, is_mobile=True, has_touch=True).open()
    expect(tab.composer).not_to_be_focused()
    tab.composer.press_sequentially("/say one\n/say two")
    expect(tab.composer).to_have_value("/say one\n/say two")
    tab.button("Send").tap()
    tab.ended()
    expect(tab.reply).to_contain_text("onetwo")


def test_the_page_works_under_a_base_path(visit: Callable[..., Tab]) -> None:
    tab = visit()
    home = tab.url

    def strip(route: Route) -> None:
        route.fulfill(response=route.fetch(url=home + route.request.url.removeprefix(home + "talk/")))

    tab.page.route(home + "talk/**", strip)
    asked = play(tab, {"type": "done", "text": "from below"})
    tab.url = home + "talk/"
    tab.open().told("hello")
    expect(tab.reply).to_contain_text("from below")
    assert len(asked) == 1
    assert all(url.startswith(tab.url) for url in tab.requests if url.startswith("http"))

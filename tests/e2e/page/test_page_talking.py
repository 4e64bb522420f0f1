"""Talking on the page, in a real Chromium against the real server with the scripted engine: what a person sees."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect
from tests.support.tabs import RICH, Tab

pytestmark = pytest.mark.browser

# The empty page


def test_the_empty_page_is_one_field_and_says_who_answers(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.capabilities()
    tab.open()
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("duologue-mini answers. It’s tiny")
    expect(main.locator("code")).to_have_count(0)
    expect(tab.composer).to_be_focused()


def test_a_model_of_ones_own_is_not_called_small(tab: Tab) -> None:
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("scripted answers.")
    expect(main).not_to_contain_text("small")


def test_an_example_starts_the_conversation(tab: Tab) -> None:
    tab.button("Plan a weekend in Lisbon").click()
    expect(tab.reply).to_contain_text("You said: Plan a weekend in Lisbon")
    expect(tab.page).to_have_title("Plan a weekend in Lisbon · Duologue")
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


def test_what_was_written_before_the_page_could_mend_it_is_mended_then(visit: Callable[..., Tab]) -> None:
    tab = visit()
    # What closes emphasis is fetched when the browser has nothing to do, after two seconds at the latest.
    tab.page.add_init_script(
        "const idle = window.requestIdleCallback; window.requestIdleCallback = (task, how) => "
        "how.timeout === 2000 ? (window.learn = task) : idle(task, how)"
    )
    tab.open()
    tab.say("/say It is **very\n/hang")
    expect(tab.reply).to_contain_text("It is")
    expect(tab.reply.locator("strong")).to_have_count(0)
    tab.page.evaluate("() => window.learn()")
    expect(tab.reply.locator("strong")).to_have_text("very")


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
    expect(tab.reply.get_by_role("link", name="cat")).to_be_visible()
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
    asked = tab.asked("POST", "/runs")
    tab.told("/say one")
    tab.told("/say two")
    expect(tab.replies).to_have_text([re.compile("one"), re.compile("two")])
    assert [run["message"]["content"][0]["text"] for run in asked] == ["/say one", "/say two"]
    assert [run["parent"] is None for run in asked] == [True, False]


def test_a_reply_tells_what_it_cost(tab: Tab) -> None:
    tab.told("/pace 20\n/repeat 5 word ")
    tab.more(tab.reply, "Details")
    expect(tab.reply).to_contain_text(re.compile(r"5 tokens · [\d.]+/s · first after [\d.]+\sm?s"))


# Stopping


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.long), 390])
def test_a_second_press_on_send_neither_stops_the_reply_nor_starts_a_call(
    visit: Callable[..., Tab], width: int
) -> None:
    tab = visit(viewport={"width": width, "height": 844}).with_voice().open()
    tab.told("/say hello")  # the field of a new chat moves with the first message
    call = tab.button("Call").bounding_box()
    tab.composer.fill("/say half a\n/hang")
    place = tab.button("Send").bounding_box()
    assert place is not None
    middle = (place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    under = "([x, y]) => document.elementFromPoint(x, y).closest('button').ariaLabel"
    assert tab.button("Call").bounding_box() == call
    tab.page.mouse.click(*middle)
    expect(tab.button("Stop")).to_be_visible()
    assert tab.page.evaluate(under, middle) == "Send"
    tab.page.mouse.click(*middle)
    expect(tab.reply).to_contain_text("half a")
    assert tab.button("Call").bounding_box() == call
    tab.button("Stop").click()
    tab.ended()
    assert tab.page.evaluate(under, middle) == "Send"
    assert tab.button("Call").bounding_box() == call
    expect(tab.page.get_by_role("dialog", name="Call")).to_have_count(0)


def test_stop_keeps_the_words(tab: Tab) -> None:
    tab.say("/say half a\n/hang")
    expect(tab.reply).to_contain_text("half a")
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
    tab.told_instead("/say instead")
    expect(tab.said).to_have_count(1)
    expect(tab.said).to_contain_text("/say instead")


def test_a_stopped_reply_goes_on_where_it_was(tab: Tab) -> None:
    tab.say("/pace 50\n/repeat 120 more \n/say that is all.")
    expect(tab.reply).to_contain_text("more more")
    tab.button("Stop").click()
    tab.ended()
    tab.reply.get_by_role("button", name="Continue").click()
    expect(tab.reply).to_contain_text("that is all.")
    tab.ended()
    expect(tab.reply).to_contain_text(re.compile(r"^\D*(more ){120}that is all\.", re.DOTALL))
    expect(tab.reply.get_by_role("group", name="Versions")).to_have_count(0)


def test_a_reply_that_was_cut_off_goes_on(tab: Tab) -> None:
    tab.told("/say one \n/length\n/say and two")
    expect(tab.reply).to_contain_text("Cut off")
    tab.reply.get_by_role("button", name="Continue").click()
    expect(tab.reply).to_contain_text("one and two")
    expect(tab.reply).not_to_contain_text("Cut off")
    expect(tab.replies).to_have_count(1)


def test_a_model_that_cannot_go_on_says_so_beforehand(tab: Tab) -> None:
    plain = {"name": "scripted", "engine": "x", "context": 1, "parameters": 0, "description": ""}
    tab.capabilities(models=[plain | {"bundled": False, "verbs": []}], default_model="scripted")
    tab.page.reload()
    tab.told("/say one \n/length")
    expect(tab.reply.get_by_role("button", name="Continue")).to_be_disabled()


# Waiting


def test_the_place_in_the_queue_is_told(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.hears({"type": "progress", "waiting": "queue", "position": 2, "wait": 40})
    tab.open().say("hello")
    expect(tab.reply).to_contain_text(re.compile(r"Queued, position 2, about \d\d\ss"))


def test_reading_a_long_prompt_is_told_in_per_cent(tab: Tab) -> None:
    tab.say("/read 20 250\n/say done")
    expect(tab.reply).to_contain_text(re.compile(r"Reading, \d+ %"))
    expect(tab.reply.get_by_role("progressbar")).to_be_visible()
    expect(tab.reply).to_contain_text("done")
    expect(tab.reply.get_by_role("progressbar")).to_have_count(0)


def test_reasoning_that_goes_on_is_folded(tab: Tab) -> None:
    tab.say("/say <think>start at **two**\n/hang")
    expect(tab.reply.get_by_role("button", name="Thinking")).to_have_attribute("aria-expanded", "false")


def test_reasoning_is_folded_and_opens(tab: Tab) -> None:
    tab.say("/say <think>start at **two** and count on for a little while</think>Five.\n/hang")
    thought = tab.reply.get_by_role("button", name="Thought for")
    expect(thought).to_have_attribute("aria-expanded", "false")
    expect(tab.reply).to_contain_text("Five.")
    expect(tab.reply.get_by_text("start at")).to_be_hidden()
    thought.click()
    expect(thought).to_have_attribute("aria-expanded", "true")
    expect(tab.reply.get_by_text("start at two")).to_be_visible()


def test_the_thinking_switch_is_sent_and_remembered(visit: Callable[..., Tab]) -> None:
    tab = visit()
    asked = tab.asked("POST", "/runs")
    tab.open()
    tab.told("/say one")
    tab.add("Thinking", "No limit")
    tab.told("/say two")
    tab.page.reload()
    expect(tab.button("Thinking: No limit")).to_be_visible()
    assert [run["options"]["thinking"] for run in asked] == [False, True]


# Errors


def test_an_error_is_on_the_message_with_its_sentence_and_the_question_stands_once(tab: Tab) -> None:
    tab.told("/fail The tea is out.")
    expect(tab.reply.get_by_role("alert")).to_contain_text("The tea is out.")
    expect(tab.composer).to_have_value("")
    tab.reply.get_by_role("button", name="Try again").click()
    expect(tab.reply.get_by_role("alert")).to_contain_text("The tea is out.")
    expect(tab.replies).to_have_count(1)
    tab.told_instead("/say there is more")
    expect(tab.said).to_have_count(1)
    expect(tab.reply).to_contain_text("there is more")


def test_an_error_in_the_middle_keeps_both_the_words_and_what_is_being_typed(tab: Tab) -> None:
    tab.say("/say half\n/wait 400\n/fail The tea is out.")
    tab.composer.fill("my next thought")
    expect(tab.reply.get_by_role("alert")).to_be_visible()
    expect(tab.reply).to_contain_text("half")
    expect(tab.composer).to_have_value("my next thought")


def test_a_failed_reply_is_asked_for_again_and_the_first_stays_reachable(tab: Tab) -> None:
    tab.told("/say half\n/fail The tea is out.")
    tab.reply.get_by_role("button", name="Try again").click()
    expect(tab.reply.get_by_role("group", name="Versions")).to_contain_text("2 / 2")
    expect(tab.reply.get_by_role("alert")).to_contain_text("The tea is out.")


def test_what_the_server_did_not_take_is_said_on_the_message_and_can_be_sent_again(tab: Tab) -> None:
    tab.page.route("**/runs", lambda route: route.abort("connectionrefused"))
    tab.told("/say hello")
    expect(tab.reply.get_by_role("alert")).to_contain_text("The server isn’t responding.")
    expect(tab.composer).to_have_value("")
    tab.page.unroute("**/runs")
    tab.reply.get_by_role("button", name="Try again").click()
    expect(tab.reply).to_contain_text("hello")
    expect(tab.composer).to_have_value("")
    expect(tab.said).to_have_count(1)
    tab.forgive("ERR_CONNECTION_REFUSED")


def test_a_broken_line_mends_without_a_word_lost_or_said_twice(tab: Tab) -> None:
    cut: list[str] = []

    def breaks(route: Route) -> None:
        if len(cut) < 3:
            cut.append(route.request.headers.get("last-event-id", ""))
            route.abort("connectionreset")
        else:
            route.continue_()

    tab.page.route("**/api/runs/*/events", breaks)
    tab.told("/pace 20\n/repeat 30 word \n/say end")
    expect(tab.reply).to_contain_text(re.compile(r"^\D*(word ){30}end", re.DOTALL))
    assert len(cut) == 3
    tab.forgive("ERR_CONNECTION_RESET")


def test_a_crashed_worker_shows_as_such_and_the_page_recovers(tab: Tab) -> None:
    tab.told("/say half\n/wait 200\n/crash")
    expect(tab.reply).to_contain_text("half")
    expect(tab.reply.get_by_role("alert")).to_be_visible()
    # The worker may be back before the page has looked; what it shows until then is the next test's.
    expect(tab.page.get_by_role("status").filter(has_text="restart")).to_have_count(0)
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
    expect(tab.page.get_by_role("heading", name="What can I help with?")).to_be_visible()
    expect(tab.page.get_by_text("is loading")).to_have_count(0)


def test_a_server_that_does_not_answer_shows_as_such(visit: Callable[..., Tab]) -> None:
    tab = visit()
    tab.page.route("**/api/capabilities", lambda route: route.abort("connectionrefused"))
    tab.open()
    expect(tab.page.get_by_text("Can’t reach the server. Retrying…")).to_be_visible()
    tab.page.unroute("**/api/capabilities")
    expect(tab.page.get_by_text("Can’t reach the server. Retrying…")).to_have_count(0)
    tab.forgive("ERR_CONNECTION_REFUSED")

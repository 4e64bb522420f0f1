"""Conversations that belong to the server, seen from outside: what issue and protocol promise, with real processes."""

import json
import os
import signal
from typing import Any

import anyio
import httpx
import pytest
from tests.support.conversation_client import (
    ConversationClient,
    content,
    displayed_texts,
    event_types,
    fetch,
    new_id,
    text_of,
)

from duologue.client.http import Client
from duologue.errors import Problem

pytestmark = [pytest.mark.system, pytest.mark.anyio]

SLOW = "/pace 150\n/say one two three four five six seven eight nine ten"
ENDLESS = "/say begun\n/hang"


@pytest.fixture
async def client(server):
    async with Client(server.url) as client:
        yield client


@pytest.fixture
async def talk(client):
    return await ConversationClient.begin(client)


@pytest.fixture
def again(serve, tmp_path):
    """Start a server on the same data folder every time."""
    return lambda *arguments: serve(
        "--engine", "scripted", "--data", str(tmp_path / "data"), *arguments
    ).ready()


async def refused(awaitable) -> Problem:
    with pytest.raises(Problem) as problem:
        await awaitable
    return problem.value


# ---- sending and streaming


async def test_a_conversation_is_listed_first_as_soon_as_it_is_begun_and_when_it_is_written_in(client):
    first, second = await ConversationClient.begin(client), await ConversationClient.begin(client)

    async def newest() -> str:
        return (await client.api("GET", "/api/conversations?limit=1"))["conversations"][0]["id"]

    assert await newest() == second.id
    await first.ask("/say hello")
    assert await newest() == first.id


async def test_the_message_and_an_empty_answer_are_there_before_the_model_says_a_word(talk):
    run = await talk.say("/hang")
    whole = await talk.load()
    user, answer = whole["messages"]
    assert (user["role"], answer["role"], answer["status"]) == ("user", "assistant", "running")
    assert (answer["parent"], whole["conversation"]["leaf"]) == (user["id"], answer["id"])
    assert (whole["conversation"]["running"], whole["run"]["id"]) == (run, run)
    await talk.stop(run)


async def test_a_page_that_is_reloaded_in_mid_stream_shows_what_was_said_so_far(talk):
    run = await talk.say("/say one two three\n/hang")
    await talk.until_text(run, "three")
    assert text_of(await talk.last()) == "one two three"
    await talk.stop(run)


async def test_text_thought_model_and_timings_each_come_to_their_own_place(talk):
    run = await talk.say("/read 3 1\n/say <think>hm</think>yes")
    events = await talk.events(run)
    assert event_types(events)[:3] == ["run_started", "message_added", "message_added"]
    assert event_types(events)[-2:] == ["message_done", "run_done"]
    assert any(event["type"] == "progress" and event.get("total") for _, event in events)
    answer = await talk.last()
    assert (text_of(answer), answer["reasoning"], answer["model"]) == ("yes", "hm", "scripted")
    assert answer["usage"]["output"] > 0
    assert answer["timings"]
    assert (await talk.load()).get("run") is None


async def test_two_conversations_stream_beside_each_other_and_stopping_one_leaves_the_other(client):
    one, other = await ConversationClient.begin(client), await ConversationClient.begin(client)
    run, going_on = await one.say(ENDLESS), await other.say(SLOW)
    await one.until_text(run, "begun")
    assert (await one.stop(run))["outcome"] == "stopped"
    assert displayed_texts(await other.events(going_on))[(await other.last())["id"]].endswith("ten")


async def test_the_model_gets_the_branch_that_is_shown_and_nothing_of_the_others(talk):
    await talk.ask("/say first answer")
    question = await talk.last("user")
    run = await talk.start(
        "edit", message=question["id"], new={"id": new_id(), "content": content("/say second answer")}
    )
    await talk.events(run)
    gauge = await talk.client.api("GET", f"{talk.path}/context")
    await talk.client.api("PATCH", talk.path, {"leaf": question["id"]})
    before = await talk.client.api("GET", f"{talk.path}/context")
    # A token of this engine is a byte.
    assert gauge["tokens"] - before["tokens"] == 2 * len("second") - 2 * len("first")


# ---- leaving and joining again


async def test_a_stream_left_and_joined_again_at_any_number_gives_the_same_text(talk):
    run = await talk.say("/say <think>now then</think>one two three four")
    whole = await talk.events(run)
    expected, numbers = displayed_texts(whole), [number for number, _ in whole]
    assert numbers == sorted(set(numbers))
    for after in range(numbers[-1] + 2):
        before = [event for event in whole if event[0] <= after]
        # Where a joined delta spans `after`, a viewer has had a part of it: the rest is cut exactly there.
        assert event_types(await talk.events(run, after))[-1] == "run_done" if after < numbers[-1] else True
        if before and before[-1][0] == after:
            rest = await talk.events(run, after)
            assert displayed_texts(before + rest) == expected, after


async def test_a_viewer_that_leaves_after_every_event_misses_nothing_while_the_reply_is_written(talk):
    run = await talk.say(SLOW)
    events: list[Any] = []
    while not events or events[-1][1]["type"] != "run_done":
        events += await talk.until(run, lambda event: True, after=events[-1][0] if events else 0)
    assert (
        displayed_texts(events)[(await talk.last())["id"]]
        == "one two three four five six seven eight nine ten"
    )
    assert displayed_texts(events) == displayed_texts(await talk.events(run))


async def test_two_viewers_and_one_that_comes_late_see_the_same(talk, server):
    run = await talk.say(SLOW)
    heard = {}
    async with Client(server.url) as other, anyio.create_task_group() as tasks:

        async def follow(name, client, after=0):
            heard[name] = displayed_texts(await ConversationClient(client, talk.id).events(run, after))

        tasks.start_soon(follow, "one", talk.client)
        tasks.start_soon(follow, "two", other)
        await talk.until_text(run, "five")
        tasks.start_soon(follow, "late", other)
    assert heard["one"] == heard["two"] == heard["late"]
    assert (await talk.last())["id"] in heard["one"]


async def test_last_event_id_of_a_browser_is_understood(talk, server):
    run = await talk.say("/say one two")
    last = (await talk.events(run))[-1][0]
    answer = fetch(f"{server.url}/api/runs/{run}/events", headers={"Last-Event-ID": str(last - 1)})
    assert answer.headers["content-type"].startswith("text/event-stream")
    [data] = [line for line in answer.text.splitlines() if line.startswith("data:")]
    assert json.loads(data[5:])["type"] == "run_done"


async def test_a_reply_goes_on_when_nobody_looks(talk):
    run = await talk.say(SLOW)
    await talk.until_text(run, "two")
    assert (await talk.events(run))[-1][1]["outcome"] == "done"
    assert text_of(await talk.last()).endswith("ten")


# ---- stop, continue, regenerate, edit


async def test_a_stopped_reply_keeps_its_words_at_once_and_is_no_error(talk):
    run = await talk.say("/say half a sen\n/hang")
    await talk.until_text(run, "sen")
    assert (await talk.stop(run))["outcome"] == "stopped"
    answer = await talk.last()
    assert (text_of(answer), answer["status"], answer.get("error")) == ("half a sen", "stopped", None)
    done = (await talk.events(run))[-1][1]
    assert (done["outcome"], done.get("error")) == ("stopped", None)
    assert (await talk.load())["conversation"].get("running") is None


async def test_a_reply_stopped_in_mid_word_goes_on_in_the_same_message(talk):
    run = await talk.say("/pace 500\n/say one two three four five six seven eight")
    await talk.until_text(run, "three")
    await talk.stop(run)
    stopped = await talk.last()
    events = await talk.events(await talk.start("continue", message=stopped["id"]))
    answer = await talk.last()
    assert (answer["id"], answer.get("status", "done")) == (stopped["id"], "done")
    assert text_of(answer) == "one two three four five six seven eight"
    assert displayed_texts(events)[answer["id"]] == text_of(answer)
    assert len(await talk.messages()) == 2


async def test_a_complete_reply_has_nothing_to_continue(talk):
    await talk.ask("/say all of it")
    problem = await refused(talk.start("continue", message=(await talk.last())["id"]))
    assert (problem.status, problem.code) == (400, "nothing_to_continue")


async def test_asking_again_makes_a_sibling_and_the_old_answer_stays_reachable(talk):
    await talk.ask("/say hello")
    old = await talk.last()
    await talk.events(await talk.start("regenerate", message=old["id"]))
    new = await talk.last()
    assert (new["parent"], new["id"] != old["id"]) == (old["parent"], True)
    await talk.client.api("PATCH", talk.path, {"leaf": old["id"]})
    assert (await talk.last())["id"] == old["id"]


async def test_an_edited_message_is_a_branch_with_its_answer_and_the_old_one_is_whole(talk):
    await talk.ask("/say one")
    await talk.ask("/say two")
    question = (await talk.branch())[0]
    run = await talk.start(
        "edit", message=question["id"], new={"id": "n" + new_id(), "content": content("/say three")}
    )
    await talk.events(run)
    assert await talk.texts() == ["/say three", "three"]
    await talk.client.api("PATCH", talk.path, {"leaf": question["id"]})
    assert await talk.texts() == ["/say one", "one", "/say two", "two"]


async def test_edits_in_place_deleting_and_forking_leave_a_whole_tree(talk):
    await talk.ask("/say one")
    await talk.ask("/say two")
    first, answer, second, _ = await talk.branch()
    await talk.client.api("PATCH", f"{talk.path}/messages/{answer['id']}", {"content": content("One.")})
    fork = await talk.client.api("POST", f"{talk.path}/fork", {"id": new_id(), "message": answer["id"]})
    assert await ConversationClient(talk.client, fork["id"]).texts() == ["/say one", "One."]
    counts = await talk.client.api("GET", f"{talk.path}/messages/{second['id']}/deletion")
    assert (counts["messages"], counts["user"], counts["assistant"]) == (2, 1, 1)
    gone = await talk.client.api("DELETE", f"{talk.path}/messages/{second['id']}")
    assert (len(gone["deleted"]), gone["leaf"]) == (2, answer["id"])
    assert await talk.texts() == ["/say one", "One."]
    assert first["parent"] is None


# ---- what goes wrong


async def test_a_failed_reply_keeps_what_was_said_and_why_it_ended(talk):
    run = await talk.say("/say so far\n/fail The model tripped.")
    done = (await talk.events(run))[-1][1]
    answer = await talk.last()
    assert (done["outcome"], answer["status"], text_of(answer)) == ("failed", "failed", "so far")
    assert answer["error"]["code"] == "scripted_failure"
    assert answer["error"]["message"] == "The model tripped."


async def test_what_is_not_understood_is_named(talk):
    message = {"id": "m", "content": content("hello")}
    problem = await refused(talk.start("send", message=message, mesage={}))
    assert (problem.status, problem.param) == (400, "mesage")
    problem = await refused(talk.start("sing"))
    assert (problem.status, problem.param) == (400, "verb")
    problem = await refused(talk.say("hello", parent="nobody"))
    assert (problem.status, problem.code) == (400, "unknown_parent")


# ---- while a reply is running


async def test_a_second_message_is_refused_while_a_reply_is_running_unless_told_what_becomes_of_it(talk):
    run = await talk.say(ENDLESS)
    problem = await refused(talk.say("/say too early"))
    assert (problem.status, problem.code) == (409, "run_in_progress")
    await talk.stop(run)


async def test_a_queued_message_is_the_next_turn_when_the_reply_is_done(talk):
    run = await talk.say("/pace 400\n/say one two three four")
    waiting = await talk.wait("/say five", "queue", "q" + talk.id[:30])
    assert waiting["pending"]["content"] == content("/say five")
    assert [one["id"] for one in (await talk.load())["pending"]] == ["q" + talk.id[:30]]
    await talk.events(run)
    again = await talk.wait("/say five", "queue", "q" + talk.id[:30])
    await talk.events(again["id"])
    assert await talk.texts() == [
        "/pace 400\n/say one two three four",
        "one two three four",
        "/say five",
        "five",
    ]
    assert (await talk.load())["pending"] == []


async def test_a_queued_message_can_be_changed_and_taken_back(talk):
    run = await talk.say(ENDLESS)
    waiting = (await talk.wait("/say five", "queue"))["pending"]
    path = f"{talk.path}/pending/{waiting['id']}"
    changed = await talk.client.api("PATCH", path, {"content": content("/say six")})
    assert changed["content"] == content("/say six")
    await talk.client.api("DELETE", path)
    await talk.client.api("DELETE", path)
    await talk.stop(run)
    assert (await talk.load())["pending"] == []


async def test_what_waits_behind_a_stopped_reply_stays_and_is_not_sent(talk):
    run = await talk.say(ENDLESS)
    await talk.wait("/say five", "queue")
    await talk.stop(run)
    whole = await talk.load()
    assert len(whole["pending"]) == 1
    assert len(whole["messages"]) == 2


async def test_a_message_that_steers_goes_into_the_run_at_its_next_step(talk):
    run = await talk.say("/pace 500\n/say one two three four")
    await talk.until_text(run, "one")
    await talk.wait("/say turned", "steer")
    events = await talk.events(run)
    assert (events[-1][1]["outcome"], events[-1][1]["turns"]) == ("done", 2)
    assert (await talk.texts())[1:] == ["one two three four", "/say turned", "turned"]


async def test_a_message_that_steered_and_is_sent_again_is_not_taken_twice(talk):
    run = await talk.say("/pace 300\n/say one two three four")
    steering = {"id": new_id(), "content": content("/pace 400\n/say turned and turned again")}
    await talk.client.api("POST", f"/api/runs/{run}/steer", steering)
    await talk.until_text(run, "turned")
    again = await talk.client.api("POST", f"/api/runs/{run}/steer", steering)
    assert again["pending"]["id"] == steering["id"]
    assert (await talk.events(run))[-1][1]["turns"] == 2
    again = await talk.client.api("POST", f"/api/runs/{run}/steer", steering)
    assert again["pending"]["id"] == steering["id"]
    assert len(await talk.messages()) == 4


async def test_of_many_messages_at_once_one_is_answered_and_the_others_are_told(talk):
    answers: list[str] = []

    async def send() -> None:
        try:
            answers.append(await talk.say(ENDLESS))
        except Problem as problem:
            answers.append(problem.code)

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(send)
    assert answers.count("run_in_progress") == 7
    assert len(await talk.messages()) == 2
    [run] = set(answers) - {"run_in_progress"}
    await talk.stop(run)


async def test_a_conversation_deleted_in_mid_reply_ends_the_reply_and_comes_back_with_its_text(talk):
    run = await talk.say("/say so far\n/hang")
    await talk.until_text(run, "far")
    await talk.client.api("DELETE", talk.path)
    assert (await talk.events(run))[-1][1]["outcome"] == "stopped"
    assert (await refused(talk.load())).code == "not_found"
    await talk.client.api("POST", f"{talk.path}/restore")
    assert text_of(await talk.last()) == "so far"


# ---- room


async def test_a_conversation_that_grows_beyond_the_context_is_folded_visibly_and_unfolded(serve):
    server = serve("--engine", "scripted", "--context", "6000").ready()
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client, options={"tools": False})
        for number in range(12):
            word = f"word{number} "
            assert (await talk.ask("/say " + word * 60)).count(word.strip()) == 60
        summaries = [row for row in await talk.messages() if row.get("kind") == "summary"]
        assert summaries
        assert any("word11" in text for text in await talk.texts())
        gauge = await client.api("GET", f"{talk.path}/context")
        assert gauge["tokens"] <= gauge["context"] == 6000
        await client.api("DELETE", f"{talk.path}/messages/{summaries[-1]['id']}")
        rows = {row["id"]: row for row in await talk.messages()}
        assert summaries[-1]["id"] not in rows
        assert all(row["parent"] is None or row["parent"] in rows for row in rows.values())
        assert any("word0" in text for text in await talk.texts())


async def test_the_model_writes_a_title_when_it_is_asked_to(talk):
    await talk.ask("/say The tide rises.")
    assert (await talk.load())["conversation"]["title"]
    titled = await talk.client.api("POST", f"{talk.path}/title")
    assert titled["title"]


async def test_other_parameters_are_those_of_one_reply(talk):
    await talk.ask("/say one two three")
    run = await talk.start(
        "regenerate", message=(await talk.last())["id"], options={"sampling": {"max_tokens": 1}}
    )
    await talk.events(run)
    answer = await talk.last()
    assert (text_of(answer).strip(), answer["finish"]) == ("one", "length")
    assert await talk.ask("/say one two") == "one two"


# ---- repeating


async def test_every_command_that_is_sent_twice_happens_once_and_answers_the_same(client, server):
    with httpx.Client(base_url=server.url, timeout=60) as http:

        def twice(method: str, path: str, body: dict | None = None, *, same: bool = True) -> dict:
            one, other = http.request(method, path, json=body), http.request(method, path, json=body)
            assert one.status_code < 300, f"{method} {path}: {one.text}"
            assert other.status_code in (200, one.status_code), f"{method} {path}: {other.text}"
            if same:
                assert other.text == one.text, f"{method} {path}"
            return one.json() if one.content else {}

        id, fork, folder = new_id(), new_id(), new_id()
        path = f"/api/conversations/{id}"
        twice("POST", "/api/conversations", {"id": id, "system": "Be brief."})
        twice("PUT", f"/api/folders/{folder}", {"name": "Work"})
        twice("PATCH", path, {"folder": folder, "title": "T", "pinned": True, "tags": ["a"]})
        twice("PUT", f"/api/drafts/{id}", {"text": "not yet"})
        twice("PATCH", "/api/settings", {"theme": "dark"})
        run, edit, more, message, new = (new_id() for _ in range(5))
        said = {"id": message, "content": content("/say hello")}
        twice("POST", f"{path}/runs", {"verb": "send", "run": run, "message": said}, same=False)
        talk = ConversationClient(client, id)
        await talk.events(run)
        ended = twice("POST", f"/api/runs/{run}/stop")
        assert ended["outcome"] == "done"
        answer = (await talk.last())["id"]
        twice("POST", f"{path}/runs", {"verb": "regenerate", "run": more, "message": answer}, same=False)
        await talk.events(more)
        edited = {
            "verb": "edit",
            "run": edit,
            "message": message,
            "new": {"id": new, "content": content("/say hi")},
        }
        twice("POST", f"{path}/runs", edited, same=False)
        await talk.events(edit)
        twice("POST", f"{path}/fork", {"id": fork, "message": answer})
        twice("PUT", f"{path}/system", {"text": "Be briefer."})
        twice("PATCH", f"{path}/messages/{answer}", {"content": content("Hello.")}, same=False)
        twice("POST", "/api/conversations/bulk", {"ids": [fork], "do": "archive"})
        twice("DELETE", f"{path}/messages/{new}", same=False)
        twice("DELETE", f"/api/conversations/{fork}")
        twice("POST", f"/api/conversations/{fork}/restore")
        twice("DELETE", f"/api/drafts/{id}")
        twice("DELETE", f"/api/folders/{folder}")
    roles = [row["role"] for row in await talk.messages()]
    assert sorted(roles) == ["assistant", "assistant", "system", "user"]


# ---- finding, and the list of another tab


async def test_another_tab_hears_of_a_conversation_and_of_its_run(client, server):
    events = []
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=60) as http,
        http.stream("GET", "/api/events") as feed,
    ):
        talk = await ConversationClient.begin(client)
        await talk.ask("/say hello")
        async for line in feed.aiter_lines():
            if line.startswith("data:"):
                events.append(json.loads(line[5:]))
            if events and events[-1].get("outcome") == "done" and events[-1]["conversation"] == talk.id:
                break
    mine = [event for event in events if event.get("conversation") == talk.id]
    assert mine[0]["type"] == "changed"
    assert "run" in [event["type"] for event in mine]


async def test_words_that_were_said_are_found_with_the_text_around_them(client, talk):
    word = "w" + new_id()[:12]
    await talk.ask(f"/say The boat is called {word} and it is red.")
    hits = (await client.api("GET", f"/api/search?q={word}"))["hits"]
    assert {hit["conversation"] for hit in hits} == {talk.id}
    hit = next(hit for hit in hits if hit["role"] == "assistant")
    [(start, end)] = hit["marks"]
    assert hit["snippet"][start:end] == word


# ---- the server goes and comes


async def test_a_killed_server_comes_back_with_the_text_and_the_reply_is_continued(again):
    server = again()
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client)
        run = await talk.say("/pace 10\n/say " + " ".join(f"word{n}" for n in range(200)))
        before = await talk.until_text(run, "word80")
    server.stop(signal.SIGKILL)
    server = again()
    async with Client(server.url) as client:
        talk.client = client
        rest = await talk.events(run, before[-1][0])
        assert (rest[-1][1]["outcome"], event_types(rest)[-2]) == ("interrupted", "message_done")
        answer = await talk.last()
        assert answer["status"] == "interrupted"
        assert "word20 " in text_of(answer)
        assert (await talk.load())["conversation"].get("running") is None
        events = await talk.events(await talk.start("continue", message=answer["id"]))
        assert events[-1][1]["outcome"] == "done"
        assert text_of(await talk.last()) == " ".join(f"word{n}" for n in range(200))


async def test_a_server_that_is_stopped_in_order_loses_nothing_and_tells_its_viewers(again):
    server = again()
    async with Client(server.url) as client, anyio.create_task_group() as tasks:
        talk = await ConversationClient.begin(client)
        run = await talk.say("/say one two three\n/hang")
        await talk.until_text(run, "three")
        heard = []

        async def follow():
            heard.extend(await talk.events(run))

        tasks.start_soon(follow)
        await client.status()
        server.process.send_signal(signal.SIGTERM)
    assert heard[-1][1]["outcome"] == "interrupted"
    server.process.wait(60)
    server = again()
    async with Client(server.url) as client:
        talk.client = client
        answer = await talk.last()
        assert (answer["status"], text_of(answer)) == ("interrupted", "one two three")


async def test_a_worker_that_dies_in_mid_reply_leaves_the_text_and_the_next_one_answers(serve):
    server = serve("--engine", "scripted").ready()
    async with Client(server.url) as client:
        talk = await ConversationClient.begin(client)
        run = await talk.say("/say so far\n/hang")
        await talk.until_text(run, "so far")
        os.kill(
            int(server.wait_for(r"worker_0 started").split(": process ")[1].split(",")[0]), signal.SIGKILL
        )
        done = (await talk.events(run))[-1][1]
        assert (done["outcome"], done["error"]["code"]) == ("failed", "worker_lost")
        answer = await talk.last()
        assert (text_of(answer), answer["status"]) == ("so far", "failed")
        assert await talk.ask("/say here again") == "here again"

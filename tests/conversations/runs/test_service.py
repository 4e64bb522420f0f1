"""Runs as a client has them: the verbs, stopping, waiting messages, viewers, the end of the process. The store is real,
in memory; the model, the tools and the attachments are played."""

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import CARD, fails, says
from tests.conversations.fakes.world import appended, opened, seen
from tests.support.store_fixtures import Clock

from duologue.conversations.runs.commands import FileContent, NewMessage, Send
from duologue.conversations.runs.model_turns import ModelTurns
from duologue.conversations.runs.record import RunRecord
from duologue.errors import BadRequest, Busy, ModelNotFound, NotFound, Unavailable, Unsupported
from duologue.store.pending import Pending
from duologue.values.conversations import GenerationOptions, PendingMessage, TextContent
from duologue.values.events import Done, ReasoningDelta, Started, TextDelta, Usage
from duologue.values.requests import ModelCard, Sampling
from duologue.values.runs import (
    ListChanged,
    ListRun,
    MessageAdded,
    MessageDone,
    Run,
    RunDelta,
    RunDone,
    RunStarted,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(anyio_backend):
    async with opened(Clock()) as world, world.serving():
        yield world


def is_text(event):
    return isinstance(event, RunDelta) and event.kind == "text"


# ---- send


async def test_a_message_is_answered_and_both_are_kept(world):
    world.model.plays(says("Good morning to you"))
    end = await world.said("Hello")
    assert end == RunDone("done", turns=1, usage=Usage(10, 4))
    assert await world.shown() == ["user: Hello", "assistant: Good morning to you"]
    answer = (await world.path())[-1]
    assert (answer.status, answer.finish, answer.model, answer.usage) == (
        "done",
        "stop",
        "mini",
        Usage(10, 4),
    )
    assert world.model.open == 0


async def test_both_rows_are_kept_before_the_model_is_asked(world):
    seen_by_the_model = []

    async def peek(user, rows, card):
        seen_by_the_model.extend(await world.all())
        return ()

    world.around.attachments.messages = peek
    await world.said("Hello")
    assert [(row.role, row.status) for row in seen_by_the_model] == [
        ("user", "done"),
        ("assistant", "running"),
    ]


async def test_the_events_of_a_run_tell_all_of_it_in_order(world):
    world.model.plays(says("One two"))
    run = await world.send("Hello")
    events = await world.events(run)
    assert isinstance(events[0], RunStarted)
    assert events[0].message == "user1"
    assert [event.message.role for event in events if isinstance(event, MessageAdded)] == [
        "user",
        "assistant",
    ]
    assert isinstance(events[-2], MessageDone)
    assert isinstance(events[-1], RunDone)
    assert appended(events) == seen(events)


async def test_the_first_words_become_the_title_unless_there_is_one(world):
    await world.said("How do bees fly?")
    kept = await world.store().conversations.get("ann", "c")
    assert (kept.title, kept.title_source) == ("How do bees fly", "first")
    await world.said("And birds?")
    assert (await world.store().conversations.get("ann", "c")).title == "How do bees fly"


async def test_the_next_message_follows_the_shown_branch(world):
    world.model.plays(says("First"), says("Second"))
    await world.said("One")
    await world.said("Two")
    assert await world.shown() == ["user: One", "assistant: First", "user: Two", "assistant: Second"]
    texts = [message.text for message in world.model.requests[-1].messages]
    assert texts == ["One", "First", "Two"]


async def test_a_message_may_follow_another_row_than_the_leaf(world):
    world.model.plays(says("First"), says("Second"), says("Third"))
    await world.said("One")
    await world.said("Two")
    await world.said("Other", parent=None)
    assert await world.shown() == ["user: Other", "assistant: Third"]


async def test_the_same_run_again_is_the_same_run(world):
    first = await world.send("Hello", run="r", id="m")
    again = await world.send("Hello", run="r", id="m")
    assert again.id == first.id
    await world.done(first)
    ended = await world.send("Hello", run="r", id="m")
    assert ended.outcome == "done"
    assert len(await world.all()) == 2
    assert len(world.model.requests) == 1


async def test_the_same_run_asked_twice_at_once_begins_once(world):
    found = []

    async def ask():
        found.append(await world.send("Hello", run="r", id="m"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
    assert [run.id for run in found] == ["r", "r"]
    await world.done(found[0])
    assert len(await world.all()) == 2


async def test_an_empty_message_is_refused(world):
    with pytest.raises(BadRequest):
        await world.send("  ")
    assert await world.all() == ()


async def test_what_the_model_cannot_take_is_refused_before_anything_is_kept(world):
    message = NewMessage("m", (TextContent("Look"), FileContent("aa")))
    with pytest.raises(Unsupported):
        await world.runs.start("ann", "c", Send("r", message))
    assert await world.all() == ()
    await world.said("Hello")


async def test_files_are_kept_as_what_a_model_can_take(world):
    world.around.cards["mini"] = ModelCard("mini", "scripted", 0, modalities=("text", "image"))
    run = await world.runs.start("ann", "c", Send("r", NewMessage("m", (FileContent("aa", "a.png"),))))
    await world.done(run)
    assert (await world.path())[0].content[0].blob == "aa"


async def test_an_unknown_model_is_refused_and_the_conversation_stays_free(world):
    with pytest.raises(ModelNotFound):
        await world.send("Hello", options=GenerationOptions("other"))
    await world.said("Hello")


async def test_options_are_inherited_from_the_conversation_and_the_settings(world):
    world.around.defaults = GenerationOptions(sampling=Sampling(temperature=0.1, top_p=0.5), stop=("END",))
    await world.store().conversations.change(
        "ann", "c", {"options": GenerationOptions(sampling=Sampling(temperature=0.7), thinking=True)}
    )
    await world.said("Hello", options=GenerationOptions(sampling=Sampling(max_tokens=5)))
    request = world.model.requests[0]
    assert request.sampling == Sampling(temperature=0.7, top_p=0.5, max_tokens=5)
    assert (request.stop, request.thinking, request.model) == (("END",), True, "mini")


async def test_nobody_finds_the_things_of_another_user(world):
    run = await world.send("Hello")
    with pytest.raises(NotFound):
        await world.send("Hello", user="bob")
    for ask in (world.runs.lookup.get, world.runs.stop):
        with pytest.raises(NotFound):
            await ask("bob", run.id)
    with pytest.raises(NotFound):
        async for _ in world.runs.viewer("bob", run.id):
            pass
    await world.done(run)


async def test_conversations_write_beside_each_other_and_stopping_one_leaves_the_other(world):
    await world.create("d")
    go_on = anyio.Event()
    world.model.plays([TextDelta("one"), None], [TextDelta("two"), go_on, Done("stop")])
    one, two = await world.send("Hello"), await world.send("Hello", conversation="d")
    await world.until(one, is_text)
    await world.until(two, is_text)
    assert (await world.runs.stop("ann", one.id)).outcome == "stopped"
    go_on.set()
    assert (await world.done(two)).outcome == "done"


async def test_lists_are_told_of_the_beginning_the_wait_and_the_end(world):
    run = await world.send("Hello")
    await world.done(run)
    await world.runs.close()
    told = [event for user, event in world.around.told if user == "ann"]
    assert ListChanged("c") in told
    assert ListRun("c", run.id) in told
    assert ListRun("c", run.id, "model") in told
    assert ListRun("c", run.id, outcome="done") in told
    assert [(user, ended.outcome) for user, ended in world.around.ended] == [("ann", "done")]


async def test_a_temporary_conversation_is_kept_nowhere_but_in_memory(world):
    await world.create("t", temporary=True)
    end = await world.said("Hello", conversation="t")
    assert end.outcome == "done"
    assert len(await world.all("t")) == 2
    assert await world.stores.durable.messages.all("t") == ()
    with pytest.raises(NotFound):
        await world.stores.durable.runs.get("ann", "run1")


# ---- stop and failure


async def test_stopping_keeps_what_was_written_at_once(world):
    world.model.plays([Started("mini"), ReasoningDelta("Hm."), TextDelta("Half a"), None])
    run = await world.send("Hello")
    await world.until(run, is_text)
    assert (await world.runs.stop("ann", run.id)).outcome == "stopped"
    row = (await world.path())[-1]
    assert (row.text, row.reasoning, row.status, row.error) == ("Half a", "Hm.", "stopped", None)
    assert (await world.runs.stop("ann", run.id)).outcome == "stopped"
    assert (await world.events(run))[-1].outcome == "stopped"
    assert world.model.open == 0


async def test_a_reply_ends_with_the_access_of_its_user_and_says_so(world):
    world.model.plays([Started("mini"), TextDelta("Half"), None])
    run = await world.send("Hello")
    await world.until(run, is_text)
    for _ in range(2):  # it is called until the run has ended
        world.around.ends["ann"]()
    done = await world.done(run)
    assert (done.outcome, done.error.code) == ("failed", "access_revoked")
    row = (await world.path())[-1]
    assert (row.text, row.status, row.error.code) == ("Half", "failed", "access_revoked")
    assert world.model.open == 0
    await anyio.wait_all_tasks_blocked()
    assert world.around.ends == {}


async def test_after_a_stop_the_next_message_goes_out_at_once(world):
    world.model.plays([TextDelta("Half"), None], says("Whole"))
    run = await world.send("Hello")
    await world.until(run, is_text)
    await world.runs.stop("ann", run.id)
    assert (await world.said("Again")).outcome == "done"
    assert (await world.shown())[-1] == "assistant: Whole"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("engine_failed", "model"),
        ("queue_full", "queue"),
        ("context_length_exceeded", "context"),
        ("worker_lost", "server"),
    ],
)
async def test_a_failed_reply_keeps_its_text_and_says_why(world, code, kind):
    world.model.plays(fails(code, "It broke.", TextDelta("Half")))
    end = await world.said("Hello")
    assert (end.outcome, end.error.kind, end.error.code) == ("failed", kind, code)
    row = (await world.path())[-1]
    assert (row.text, row.status, row.error.message) == ("Half", "failed", "It broke.")


async def test_a_model_that_says_nothing_ends_as_timeout(world):
    world.settings = world.settings.model_copy(update={"model_silence_s": 0.02})
    async with world.serving():
        world.model.plays([TextDelta("Half"), None])
        end = await world.said("Hello")
    assert (end.outcome, end.error.kind) == ("failed", "timeout")
    assert (await world.path())[-1].text == "Half"
    assert world.model.open == 0


async def test_a_reply_that_breaks_off_is_failed(world):
    world.model.plays([TextDelta("Half")])
    assert (await world.said("Hello")).error.code == "worker_lost"


async def test_a_bug_in_the_way_of_a_turn_ends_the_run_without_its_trace(world, caplog):
    world.model.plays([RuntimeError("a secret")])
    end = await world.said("Hello")
    assert (end.error.code, "secret" in end.error.message) == ("internal_error", False)
    assert "a secret" in caplog.text


# ---- regenerate, edit, continue


async def test_regenerating_makes_a_sibling_with_other_options(world):
    world.model.plays(says("First"), says("Second"))
    world.around.cards["maxi"] = CARD
    await world.said("Hello")
    first = (await world.path())[-1]
    await world.done(await world.regenerate(first.id, options=GenerationOptions("maxi")))
    second = (await world.path())[-1]
    assert (first.parent, first.text) == (second.parent, "First")
    assert second.text == "Second"
    assert len(await world.all()) == 3


async def test_regenerating_at_what_the_user_wrote_answers_it_again(world):
    world.model.plays(says("First"), says("Second"))
    await world.said("Hello", id="m")
    await world.done(await world.regenerate("m"))
    assert await world.shown() == ["user: Hello", "assistant: Second"]


async def test_editing_makes_a_branch_beside_the_old_message_and_answers_it(world):
    world.model.plays(says("First"), says("Second"))
    await world.said("Hello", id="m")
    await world.done(await world.edit("m", "Goodbye"))
    assert await world.shown() == ["user: Goodbye", "assistant: Second"]
    assert [row.text for row in await world.all()] == ["Hello", "First", "Goodbye", "Second"]
    with pytest.raises(BadRequest):
        await world.edit((await world.path())[-1].id, "No")


async def test_a_stopped_reply_goes_on_in_the_same_row(world):
    world.model.plays([ReasoningDelta("Hm."), TextDelta("Half a "), None], says("loaf"))
    run = await world.send("Hello")
    await world.until(run, is_text)
    await world.runs.stop("ann", run.id)
    row = (await world.path())[-1]
    again = await world.carry_on(row.id)
    events = await world.events(again)
    assert await world.shown() == ["user: Hello", "assistant: Half a loaf"]
    whole = (await world.path())[-1]
    assert (whole.id, whole.status, whole.reasoning, len(await world.all())) == (row.id, "done", "Hm.", 2)
    assert appended(events)[row.id] == "Half a loaf"
    request = world.model.requests[-1]
    assert request.continue_final
    assert request.messages[-1].text == "Half a "
    assert request.messages[-1].reasoning == "Hm."


async def test_a_reply_cut_by_its_length_goes_on_and_its_figures_add_up(world):
    world.model.plays(
        says("One ", finish="length", usage=Usage(10, 2)), says("two", usage=Usage(12, 3, cached=12))
    )
    await world.said("Hello")
    row = (await world.path())[-1]
    await world.done(await world.carry_on(row.id))
    assert (await world.path())[-1].usage == Usage(10, 5, cached=12)


async def test_a_reply_without_a_word_is_written_anew_in_its_row(world):
    world.model.plays(fails(), says("Now it works"))
    await world.said("Hello")
    row = (await world.path())[-1]
    await world.done(await world.carry_on(row.id))
    again = (await world.path())[-1]
    assert (again.id, again.text, again.error) == (row.id, "Now it works", None)
    assert not world.model.requests[-1].continue_final


async def test_a_complete_reply_has_nothing_to_go_on_with(world):
    await world.said("Hello")
    with pytest.raises(BadRequest) as caught:
        await world.carry_on((await world.path())[-1].id)
    assert caught.value.code == "nothing_to_continue"


async def test_a_model_that_cannot_continue_is_refused_with_a_sentence(world):
    world.model.plays(says("One", finish="length"))
    await world.said("Hello")
    world.around.cards["mini"] = ModelCard("mini", "remote", 100)
    with pytest.raises(Unsupported, match="mini cannot continue"):
        await world.carry_on((await world.path())[-1].id)


async def test_a_user_row_without_answer_is_answered_by_continue(world):
    world.model.plays(says("First"), says("Second"))
    await world.said("Hello", id="m")
    await world.done(await world.carry_on("m"))
    assert (await world.shown())[-1] == "assistant: Second"


async def test_a_verb_on_a_row_that_is_not_there_is_not_found(world):
    for ask in (world.regenerate, world.carry_on):
        with pytest.raises(NotFound):
            await ask("nowhere")
    with pytest.raises(NotFound):
        await world.edit("nowhere", "Hello")


# ---- while a reply is running


async def test_a_second_message_is_refused_while_a_reply_is_running(world):
    world.model.plays([TextDelta("Half"), None])
    run = await world.send("Hello")
    for ask in (world.send("More"), world.regenerate(run.id), world.edit("user1", "x")):
        with pytest.raises(Busy) as caught:
            await ask
        assert (caught.value.code, caught.value.status) == ("run_in_progress", 409)
    await world.runs.stop("ann", run.id)


async def test_a_queued_message_is_sent_when_the_reply_is_done(world):
    go_on = anyio.Event()
    world.model.plays([TextDelta("First"), go_on, Done("stop")], says("Second"))
    run = await world.send("One")
    waiting = await world.send("Two", busy="queue", id="later")
    assert isinstance(waiting, PendingMessage)
    assert await world.send("Two", busy="queue", id="later") == waiting
    assert len(await world.store().pending.of("c")) == 1
    go_on.set()
    await world.done(run)
    following = await next_run(world, run)
    assert (await world.done(following)).outcome == "done"
    assert await world.shown() == ["user: One", "assistant: First", "user: Two", "assistant: Second"]
    assert await world.store().pending.of("c") == []
    repeated = await world.send("Two", busy="queue", id="later", parent=(await world.all())[1].id)
    assert isinstance(repeated, Run)


async def next_run(world, run):
    """The run that begins in the conversation after this one."""
    with anyio.fail_after(60):
        while (live := world.runs.live("c")) is None or live.view.id == run.id:
            await anyio.lowlevel.checkpoint()
    return live.view


async def test_a_queued_message_stays_when_the_reply_was_stopped(world):
    world.model.plays([TextDelta("Half"), None])
    run = await world.send("One")
    await world.until(run, is_text)
    await world.send("Two", busy="queue", id="later")
    await world.runs.stop("ann", run.id)
    assert [message.id for message in await world.store().pending.of("c")] == ["later"]
    await world.said("Two", id="later")
    assert await world.store().pending.of("c") == []


async def held(world):
    """The messages that wait for the user, once there are any."""
    with anyio.fail_after(30):
        while not (found := [one.id for one in await world.store().pending.of("c") if one.how == "hold"]):
            await anyio.lowlevel.checkpoint()
    return found


async def test_messages_behind_a_stopped_reply_wait_for_the_user(world):
    """Not for the next reply, which the user may want to read first."""
    world.model.plays([TextDelta("Half"), None], says("Three."), says("Two."), says("Four."))
    run = await world.send("One")
    await world.until(run, is_text)
    await world.send("Two", busy="queue", id="two")
    await world.send("Four", busy="steer", id="four")
    await world.runs.stop("ann", run.id)
    assert await held(world) == ["two", "four"]
    await world.said("Three")
    assert await held(world) == ["two", "four"]
    for id in ("two", "four"):
        await world.store().pending.change("c", id, {"how": "queue"})
    await world.runs.send_pending("ann", "c")
    with anyio.fail_after(30):
        while await world.store().pending.of("c") or world.runs.live("c") is not None:
            await anyio.lowlevel.checkpoint()
    said = [line for line in await world.shown() if line.startswith("user")]
    assert said == ["user: One", "user: Three", "user: Two", "user: Four"]


async def test_a_pending_message_that_cannot_be_sent_waits_for_the_user(world):
    go_on = anyio.Event()
    world.model.plays([TextDelta("First"), go_on, Done("stop")])
    run = await world.send("One")
    await world.until(run, is_text)
    await world.send("Two", busy="queue", id="two")
    await world.store().pending.change("c", "two", {"options": GenerationOptions(model="gone")})
    go_on.set()
    await world.done(run)
    assert await held(world) == ["two"]


async def test_only_so_many_messages_may_wait(world):
    world.settings = world.settings.model_copy(update={"pending": 1})
    async with world.serving():
        world.model.plays([TextDelta("Half"), None])
        run = await world.send("One")
        await world.send("Two", busy="queue")
        with pytest.raises(Busy) as caught:
            await world.send("Three", busy="queue")
        assert caught.value.code == "too_many_pending"
        await world.runs.stop("ann", run.id)


async def test_a_steering_message_becomes_the_next_turn_of_the_same_run(world):
    go_on = anyio.Event()
    world.model.plays([TextDelta("First"), go_on, Done("stop")], says("Second"))
    run = await world.send("One")
    await world.until(run, is_text)
    await world.runs.steer("ann", run.id, PendingMessage("s", "c", (TextContent("Two"),), "steer"))
    go_on.set()
    end = await world.done(run)
    assert (end.outcome, end.turns) == ("done", 2)
    assert await world.shown() == ["user: One", "assistant: First", "user: Two", "assistant: Second"]
    assert {row.run for row in await world.all()} == {run.id}
    assert await world.store().pending.of("c") == []


async def test_a_steering_message_that_is_sent_again_after_it_was_taken_is_not_taken_twice(world):
    go_on, end = anyio.Event(), anyio.Event()
    world.model.plays([TextDelta("First"), go_on, Done("stop")], [TextDelta("Second"), end, Done("stop")])
    run = await world.send("One")
    await world.until(run, is_text)
    message = PendingMessage("s", "c", (TextContent("Two"),), "steer")
    await world.runs.steer("ann", run.id, message)
    go_on.set()
    await world.until(run, lambda event: is_text(event) and event.text == "Second")
    assert (await world.runs.steer("ann", run.id, message)).id == "s"
    end.set()
    assert (await world.done(run)).turns == 2
    assert (await world.runs.steer("ann", run.id, message)).id == "s"
    assert await world.shown() == ["user: One", "assistant: First", "user: Two", "assistant: Second"]
    assert await world.store().pending.of("c") == []


async def test_a_steering_message_that_was_taken_back_is_no_turn(world):
    go_on = anyio.Event()
    world.model.plays([TextDelta("First"), go_on, Done("stop")])
    run = await world.send("One")
    await world.until(run, is_text)
    await world.send("Two", busy="steer", id="s")
    await world.store().pending.remove("c", "s")
    go_on.set()
    assert (await world.done(run)).turns == 1
    assert await world.shown() == ["user: One", "assistant: First"]


async def test_steering_a_run_that_has_ended_is_refused(world):
    run = await world.send("One")
    await world.done(run)
    with pytest.raises(Busy) as caught:
        await world.runs.steer("ann", run.id, PendingMessage("s", "c", (TextContent("Two"),), "steer"))
    assert caught.value.code == "run_ended"


async def test_a_steering_message_left_over_by_a_stop_waits_to_be_sent(world):
    world.model.plays([TextDelta("First"), None])
    run = await world.send("One")
    await world.until(run, is_text)
    await world.send("Two", busy="steer")
    await world.runs.stop("ann", run.id)
    with anyio.fail_after(60):
        while [message.how for message in await world.store().pending.of("c")] != ["hold"]:
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(("stops", "waits"), [(False, []), (True, ["hold"])])
async def test_a_steering_message_that_comes_as_the_reply_ends_is_sent_next_or_waits(
    world, monkeypatch, stops, waits
):
    """The reply was under way when the message was taken in, and has ended when it is stored."""
    go_on = anyio.Event()
    world.model.plays([TextDelta("First"), go_on, Done("stop")], says("Second"))
    run = await world.send("One")
    await world.until(run, is_text)
    add = Pending.add

    async def late(self, *args, **fields):
        if stops:
            await world.runs.stop("ann", run.id)
        go_on.set()
        with anyio.fail_after(30):
            while world.runs.live("c") is not None:
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
        return await add(self, *args, **fields)

    monkeypatch.setattr(Pending, "add", late)
    await world.send("Two", busy="steer", id="s")
    with anyio.fail_after(30):
        while world.runs.live("c") is not None:
            await anyio.lowlevel.checkpoint()
    assert [message.how for message in await world.store().pending.of("c")] == waits
    said = [line for line in await world.shown() if line.startswith("user")]
    assert said == ["user: One"] + ([] if stops else ["user: Two"])


# ---- viewers


async def test_viewers_who_come_late_or_leave_and_return_have_the_same_text(world):
    gates = [anyio.Event() for _ in range(4)]
    steps = [step for at, gate in enumerate(gates) for step in (TextDelta(f"piece {at} "), gate)]
    world.model.plays([Started("mini"), *steps, Done("stop")])
    run = await world.send("Hello")
    seen_by = {}

    async def watch(name, leave_at=None):
        events, at = [], 0
        async for logged in world.runs.viewer("ann", run.id, at):
            events.append(logged.event)
            at = logged.seq
            if leave_at is not None and len(events) == leave_at:
                break
        if leave_at is not None:
            events += [logged.event async for logged in world.runs.viewer("ann", run.id, at)]
        seen_by[name] = events

    async with anyio.create_task_group() as tasks:
        for leave_at in (None, 1, 2, 3, 4, 5):
            tasks.start_soon(watch, leave_at, leave_at)
        for gate in gates:
            await anyio.wait_all_tasks_blocked()
            gate.set()
    seen_by["afterwards"] = await world.events(run)
    answer = (await world.path())[-1]
    assert answer.text == "piece 0 piece 1 piece 2 piece 3 "
    for events in seen_by.values():
        assert appended(events)[answer.id] == answer.text
        assert isinstance(events[-1], RunDone)


async def test_a_viewer_of_a_forgotten_log_is_told_the_end(world):
    run = await world.send("Hello")
    await world.done(run)
    await world.stores.durable.runs.append(run.id, [])
    async with world.stores.durable.writing() as connection:
        from sqlalchemy import delete

        from duologue.store.schema.tables import run_log

        await connection.execute(delete(run_log))
    (end,) = await world.events(run)
    assert (end.outcome, end.turns) == ("done", 1)


# ---- a store that fails


class FailingStore:
    """Makes the durable database refuse to write while `broken`."""

    def __init__(self, world):
        self._database = world.stores.durable.database
        self._writing = self._database.writing
        self._database.writing = self.writing
        self.broken = False
        self.refused = anyio.Event()

    def writing(self, within=None):
        if self.broken and within is None:
            self.refused.set()
            raise Unavailable("The disk is full.", code="storage_unavailable")
        return self._writing(within)


async def test_a_full_disk_keeps_the_running_text_says_so_and_is_tried_again(world):
    disk = FailingStore(world)
    go_on = anyio.Event()
    world.model.plays([TextDelta("Half "), go_on, TextDelta("whole"), Done("stop")])
    run = await world.send("Hello")
    disk.broken = True
    told = await world.until(
        run, lambda event: isinstance(event, MessageAdded) and event.message.error is not None
    )
    assert (told.message.error.kind, told.message.error.code) == ("server", "storage_unavailable")
    disk.broken = False
    go_on.set()
    assert (await world.done(run)).outcome == "done"
    row = (await world.path())[-1]
    assert (row.text, row.error) == ("Half whole", None)


async def test_an_end_that_cannot_be_kept_is_said_and_kept_as_soon_as_it_can(world):
    disk = FailingStore(world)
    go_on = anyio.Event()
    world.model.plays([TextDelta("Whole"), go_on, Done("stop")], says("More"))
    run = await world.send("Hello")
    await world.until(run, is_text)
    disk.broken = True
    go_on.set()
    end = await world.done(run)
    assert end.error.code == "storage_unavailable"
    disk.broken = False
    await world.said("Again")
    assert (await world.runs.lookup.get("ann", run.id)).outcome == "done"
    assert (await world.shown())[1] == "assistant: Whole"
    assert (await world.path())[1].status == "done"


async def test_a_message_that_cannot_be_kept_is_refused(world):
    disk = FailingStore(world)
    disk.broken = True
    with pytest.raises(Unavailable):
        await world.send("Hello")
    disk.broken = False
    await world.said("Hello")


# ---- the end of the process


async def test_closing_interrupts_with_the_text_kept_and_the_reply_can_go_on():
    async with opened(Clock()) as world:
        async with world.serving():
            world.model.plays([TextDelta("Half "), None])
            run = await world.send("Hello")
            await world.until(run, is_text)
        row = (await world.path())[-1]
        assert (row.text, row.status) == ("Half ", "interrupted")
        async with world.serving():
            assert (await world.runs.lookup.get("ann", run.id)).outcome == "interrupted"
            assert (await world.events(run))[-1].outcome == "interrupted"
            world.model.plays(says("whole"))
            await world.done(await world.carry_on(row.id))
            assert (await world.shown())[-1] == "assistant: Half whole"


async def test_nothing_begins_once_the_server_is_closing(world):
    await world.runs.close()
    with pytest.raises(Unavailable) as caught:
        await world.send("Hello")
    assert caught.value.code == "server_stopping"


# ---- bugs


async def test_one_broken_run_takes_no_other_with_it(world, monkeypatch, caplog):
    await world.create("d")
    go_on = anyio.Event()
    world.model.plays([TextDelta("one"), go_on, Done("stop")], says("Two"))
    one = await world.send("Hello")
    await world.until(one, is_text)

    def broken(self, turn):
        monkeypatch.undo()
        raise RuntimeError("a secret")

    monkeypatch.setattr(ModelTurns, "finish", broken)
    go_on.set()
    end = await world.done(one)
    assert (end.outcome, end.error.code) == ("failed", "internal_error")
    assert "a secret" in caplog.text
    assert (await world.said("Hello", conversation="d")).outcome == "done"
    assert (await world.said("Again")).outcome == "done"


async def test_a_run_whose_saving_breaks_ends_as_failed(world, monkeypatch):
    async def broken(self, **_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(RunRecord, "keep", broken)
    run = await world.send("Hello")
    with anyio.fail_after(60):
        end = await world.done(run)
    assert end.error.code == "internal_error"
    monkeypatch.undo()
    assert (await world.said("Again")).outcome == "done"

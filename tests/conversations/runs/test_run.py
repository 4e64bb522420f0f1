"""The loop of one run with tools and people in it: calls, approvals, stopping, steering, limits, room in the context."""

from contextlib import suppress
from itertools import count

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import CARD, calls, fails, says
from tests.conversations.fakes.world import appended, opened, seen
from tests.support.store_fixtures import Clock

from duologue.conversations.agent import loop
from duologue.conversations.runs.plan import ENDED_CALLS
from duologue.errors import Busy, NotFound, Unavailable
from duologue.tools.values import ToolOutcome
from duologue.values.conversations import (
    Approval,
    GenerationOptions,
    ImageContent,
    PendingMessage,
    StoredMessage,
    TextContent,
)
from duologue.values.events import Done, TextDelta, ToolCallDelta
from duologue.values.requests import ModelCard
from duologue.values.runs import (
    ApprovalAnswered,
    ApprovalRequested,
    ListRun,
    MessageAdded,
    RunProgress,
    ToolOutput,
    ToolResult,
    ToolStarted,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(anyio_backend):
    async with opened(Clock()) as world, world.serving():
        yield world


async def asked(world, run):
    """The question a run asks next."""
    return (await world.until(run, lambda event: isinstance(event, ApprovalRequested))).approval


async def tool_rows(world):
    return [row for row in await world.path() if row.role == "tool"]


# ---- calls


async def test_calls_are_made_and_the_model_goes_on_with_their_results(world):
    world.tools.add("clock")
    world.model.plays(calls(("clock", '{"zone": "UTC"}'), text="Let me see."), says("It is noon"))
    run = await world.send("What time is it?")
    end = await world.done(run)
    assert (end.outcome, end.turns, end.calls, end.usage.output) == ("done", 2, 1, 8)
    path = await world.path()
    assert [row.role for row in path] == ["user", "assistant", "tool", "assistant"]
    assert [row.parent for row in path] == [None, *(row.id for row in path[:-1])]
    call = path[2]
    assert (call.call.state, call.call.server, call.call.arguments) == ("done", "desk", '{"zone": "UTC"}')
    assert (call.status, call.text) == ("done", 'clock of {"zone":"UTC"}')
    assert [message.role for message in world.model.requests[1].messages] == ["user", "assistant", "tool"]
    assert world.model.requests[1].messages[2].tool_call_id == "call_0"


async def test_no_slot_is_held_while_a_tool_runs(world):
    held = []

    async def look(arguments, **_):
        held.append(world.model.open)
        return "seen"

    world.tools.add("look", look)
    world.model.plays(calls(("look", "{}")), says("Done"))
    await world.said()
    assert held == [0]


async def test_independent_calls_run_beside_each_other_and_their_rows_stand_in_call_order(world):
    gates = {name: anyio.Event() for name in "abc"}

    def slow(name):
        async def run(arguments, **_):
            await gates[name].wait()
            return name

        return run

    for name in gates:
        world.tools.add(name, slow(name))
    world.settings = world.settings.model_copy(update={"parallel_calls": 2})
    async with world.serving():
        world.model.plays(calls(("a", ""), ("b", ""), ("c", "")), says("Done"))
        run = await world.send()
        await world.until(run, lambda event: isinstance(event, ToolStarted))
        gates["b"].set()
        gates["c"].set()
        await world.until(run, lambda event: isinstance(event, ToolResult) and event.message.text == "c")
        gates["a"].set()
        await world.done(run)
    assert [row.text for row in await tool_rows(world)] == ["a", "b", "c"]
    assert [message.text for message in world.model.requests[1].messages[2:]] == ["a", "b", "c"]
    assert world.tools.most_running == 2


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("clock", "{oops"), "not valid JSON"),
        (("clock", "[1]"), "JSON object"),
        (("clok", "{}"), "no tool called"),
    ],
    ids=["bad JSON", "no object", "unknown tool"],
)
async def test_a_call_that_cannot_be_made_is_answered_to_the_model(world, call, told):
    world.tools.add("clock")
    world.model.plays(calls(call), says("Sorry"))
    assert (await world.said()).outcome == "done"
    (row,) = await tool_rows(world)
    assert (row.status, row.call.state) == ("failed", "failed")
    assert told in row.text
    assert told in world.model.requests[1].messages[-1].text
    assert world.tools.called == []


async def test_a_tool_that_fails_breaks_or_takes_too_long_is_answered_to_the_model(world):
    async def failing(arguments, **_):
        return ToolOutcome((TextContent("No such page."),), failed=True)

    async def breaking(arguments, **_):
        raise RuntimeError("a secret")

    async def down(arguments, **_):
        raise Unavailable("The server is down.")

    async def hanging(arguments, **_):
        await anyio.sleep_forever()

    world.settings = world.settings.model_copy(update={"tool_s": 0.05})
    for name, function in (("a", failing), ("b", breaking), ("c", down), ("d", hanging)):
        world.tools.add(name, function)
    async with world.serving():
        world.model.plays(calls(("a", ""), ("b", ""), ("c", ""), ("d", "")), says("Sorry"))
        assert (await world.said()).outcome == "done"
    rows = await tool_rows(world)
    assert {row.call.state for row in rows} == {"failed"}
    texts = [row.text for row in rows]
    assert texts[0] == "No such page."
    assert "secret" not in texts[1]
    assert texts[2] == "The server is down."
    assert "0.05 seconds" in texts[3]
    assert world.tools.running == 0


async def test_what_a_tool_reports_and_keeps_is_told_and_kept(world):
    async def draw(arguments, *, report, keep, **_):
        world.around.seconds += 1
        await report("halfway", 1, 2)
        await report("too soon after that", 1.5, 2)
        world.around.seconds += 2
        return ToolOutcome((await keep(b"four", "a.png", "image/png"),))

    world.tools.add("draw", draw)
    world.model.plays(calls(("draw", "")), says("Here"))
    run = await world.send()
    events = await world.events(run)
    (row,) = await tool_rows(world)
    assert [event for event in events if isinstance(event, ToolOutput)] == [
        ToolOutput(row.id, "halfway", 1, 2)
    ]
    assert row.content == (ImageContent("hash_of_4", "image/png", "a.png"),)
    assert row.call.ms == 3000
    assert events[-1].tools_ms == 3000


async def test_a_model_without_tools_and_a_user_without_them_are_offered_none(world):
    world.tools.add("clock")
    world.tools.system = "About the tools: use them."
    await world.said(options=GenerationOptions(tools=False))
    world.around.cards["mini"] = ModelCard("mini", "scripted", 100, verbs=())
    await world.said()
    world.around.cards["mini"] = CARD
    await world.said()
    assert [len(request.tools) for request in world.model.requests] == [0, 0, 1]
    assert world.model.requests[2].messages[0].text == "About the tools: use them."
    assert world.tools.offered[0][2] == CARD.context // 3


async def test_half_a_call_is_no_call_and_the_reply_says_so(world):
    world.tools.add("clock")
    half = [TextDelta("I will"), ToolCallDelta(0, '{"zo', "call_0", "clock"), Done("length")]
    world.model.plays(half)
    assert (await world.said()).outcome == "failed"
    row = (await world.path())[-1]
    assert (row.text, row.tool_calls, row.finish) == ("I will", (), "length")
    assert row.error is not None
    assert row.error.code == "call_cut"


async def test_a_call_without_an_id_is_given_one(world):
    world.tools.add("clock")
    world.model.plays([ToolCallDelta(0, "{}", None, "clock"), Done("tool_calls")], says("Done"))
    await world.said()
    path = await world.path()
    assert path[1].tool_calls[0].id == path[2].tool_call_id != ""


async def test_turns_are_limited_and_continuing_goes_on(world):
    world.tools.add("clock")
    world.model.plays(calls(("clock", "")), calls(("clock", "")), says("At last"))
    run = await world.send(options=GenerationOptions(max_turns=2))
    assert (await world.done(run)).outcome == "limit"
    path = await world.path()
    assert [row.role for row in path] == ["user", "assistant", "tool", "assistant", "tool"]
    assert path[-1].call.state == "done"
    assert (await world.done(await world.carry_on(path[-1].id))).outcome == "done"
    assert (await world.shown())[-1] == "assistant: At last"


# ---- approvals


async def test_a_tool_that_changes_things_asks_first(world):
    world.tools.add("write", read_only=False)
    world.model.plays(calls(("write", '{"a": 1}')), says("Done"))
    run = await world.send()
    approval = await asked(world, run)
    assert (approval.server, approval.tool, approval.arguments) == ("desk", "write", '{"a": 1}')
    assert await world.store().approvals.pending("ann") == [approval]
    row = (await world.store().messages.all("c"))[-1]
    assert row.id == approval.id
    assert world.tools.called == []
    await anyio.wait_all_tasks_blocked()
    assert world.runs.live("c").view.waiting == "approval"
    answered = await world.runs.answer("ann", approval.id, "once")
    assert answered.decision == "once"
    end = await world.done(run)
    assert (end.outcome, end.calls) == ("done", 1)
    assert ("ann", ListRun("c", run.id, "approval")) in world.around.told
    assert (await world.runs.answer("ann", approval.id, "deny")).decision == "once"


async def test_another_user_cannot_answer(world):
    world.tools.add("write", read_only=False)
    world.model.plays(calls(("write", "")), says("Done"))
    run = await world.send()
    approval = await asked(world, run)
    with pytest.raises(NotFound):
        await world.runs.answer("bob", approval.id, "once")
    await world.runs.stop("ann", run.id)


async def test_a_denied_call_is_told_to_the_model(world):
    world.tools.add("write", read_only=False)
    world.model.plays(calls(("write", "")), says("As you wish"))
    run = await world.send()
    await world.runs.answer("ann", (await asked(world, run)).id, "deny")
    assert (await world.done(run)).outcome == "done"
    (row,) = await tool_rows(world)
    assert (row.call.state, row.text) == ("denied", loop.DENIED)
    assert world.tools.called == []


async def test_a_question_nobody_answers_expires_as_denied(world):
    world.tools.add("write", read_only=False)
    world.settings = world.settings.model_copy(update={"approval_s": 0.02})
    async with world.serving():
        world.model.plays(calls(("write", "")), says("Without it, then"))
        run = await world.send()
        events = await world.events(run)
    (row,) = await tool_rows(world)
    assert (row.call.state, row.call.expires) == ("expired", 0)
    assert ApprovalAnswered(row.id, None) in events
    assert await world.store().approvals.pending("ann") == []


@pytest.mark.parametrize(
    ("decision", "asks"), [("tool", ["erase"]), ("server", []), ("once", ["write", "erase"])]
)
async def test_what_is_always_allowed_is_remembered(world, decision, asks):
    world.tools.add("write", read_only=False).add("erase", read_only=False)
    world.model.plays(calls(("write", "")), says("Done"))
    run = await world.send()
    await world.runs.answer("ann", (await asked(world, run)).id, decision)
    await world.done(run)
    world.model.plays(calls(("write", ""), ("erase", "")), says("Done"))
    run = await world.send("Again")
    if asks:
        await asked(world, run)
        await anyio.wait_all_tasks_blocked()
    found = [approval.tool for approval in await world.store().approvals.pending("ann")]
    assert sorted(found) == sorted(asks)
    await world.runs.stop("ann", run.id)


async def test_allowing_a_server_answers_the_other_open_questions_about_it(world):
    world.tools.add("write", read_only=False).add("erase", read_only=False)
    world.tools.add("other", read_only=False, server="else")
    world.model.plays(calls(("write", ""), ("erase", ""), ("other", "")), says("Done"))
    run = await world.send()
    await world.until(
        run, lambda event: isinstance(event, ApprovalRequested) and event.approval.tool == "other"
    )
    await anyio.wait_all_tasks_blocked()
    first = next(one for one in await world.store().approvals.pending("ann") if one.tool == "write")
    await world.runs.answer("ann", first.id, "server")
    (left,) = await world.store().approvals.pending("ann")
    assert left.tool == "other"
    await world.runs.answer("ann", left.id, "once")
    assert (await world.done(run)).calls == 3


async def test_a_server_may_ask_while_its_tool_runs_and_its_time_stands_still(world):
    async def form(arguments, *, ask, **_):
        answer = await ask(Approval("form1", "", "", "form", "desk", "form", message="Who?", schema={"a": 1}))
        return f"{answer.decision} {answer.values}"

    world.tools.add("form", form)
    world.settings = world.settings.model_copy(update={"tool_s": 0.05})
    async with world.serving():
        world.model.plays(calls(("form", "")), says("Done"))
        run = await world.send()
        approval = await asked(world, run)
        assert (approval.run, approval.conversation, approval.kind) == (run.id, "c", "form")
        with anyio.move_on_after(0.1):
            await anyio.sleep_forever()
        await world.runs.answer("ann", approval.id, "accept", {"name": "Ann"})
        await world.done(run)
    (row,) = await tool_rows(world)
    assert row.text == "accept {'name': 'Ann'}"


# ---- stopping and steering among calls


async def test_stopping_among_calls_leaves_a_whole_history(world):
    async def hanging(arguments, **_):
        await anyio.sleep_forever()

    world.tools.add("slow", hanging).add("write", read_only=False)
    world.settings = world.settings.model_copy(update={"parallel_calls": 1})
    async with world.serving():
        world.model.plays(calls(("slow", ""), ("write", ""), ("slow", "")))
        run = await world.send()
        approval = await asked(world, run)
        await world.until(run, lambda event: isinstance(event, ToolStarted))
        await world.runs.stop("ann", run.id)
        events = await world.events(run)
    rows = await tool_rows(world)
    assert [row.call.state for row in rows] == ["skipped", "skipped", "skipped"]
    assert [row.text for row in rows] == [loop.STOPPED_RUNNING, loop.STOPPED, loop.STOPPED]
    assert {row.status for row in rows} == {"stopped"}
    assert ApprovalAnswered(approval.id, None) in events
    assert await world.store().approvals.pending("ann") == []
    assert world.tools.running == 0
    assert (await world.runs.answer("ann", approval.id, "once")).decision is None


async def test_what_the_user_says_again_before_it_was_heard_is_one_fact(world):
    async def hanging(arguments, **_):
        await anyio.sleep_forever()

    world.tools.add("slow", hanging)
    async with world.serving():
        world.model.plays(calls(("slow", "")))
        run = await world.send()
        await world.until(run, lambda event: isinstance(event, ToolStarted))
        running = world.runs.live("c")
        for _ in range(100):
            running.steer()
            running.stop()
        await world.runs.stop("ann", run.id)
    assert (await world.runs.lookup.get("ann", run.id)).outcome == "stopped"


async def troubled(world, conversation, events, trouble):
    """A run with every kind of call, its questions answered, and `trouble` after so many of its events."""
    world.model.plays(
        calls(("clock", ""), ("write", "{}"), ("clock", "{oops"), ("hang", ""), text="Let me see."),
        calls(("clock", "")),
        says("It is noon"),
        says("As you say"),
    )
    run = await world.send("Hello", conversation=conversation)
    came = 0
    async for logged in world.runs.viewer("ann", run.id):
        if isinstance(logged.event, ApprovalRequested):
            await world.runs.answer("ann", logged.event.approval.id, "once")
        came += 1
        if came == events:
            await trouble(run)
    return came


async def check_whole(world, conversation, run):
    """Every call has its result in its place, nothing runs or is asked, and viewers have what is kept."""
    rows = await world.all(conversation)
    assert not [row.id for row in rows if row.status == "running"]
    # What came too late to steer is a run of its own.
    assert {row.id: row.text for row in rows if row.run == run.id} == seen(await world.events(run))
    path = await world.path(conversation)
    assert [row.id for row in path] == [row.id for row in rows]
    for at, row in enumerate(path):
        answers = path[at + 1 : at + 1 + len(row.tool_calls)]
        assert [answer.tool_call_id for answer in answers] == [call.id for call in row.tool_calls]
        assert all(answer.text and answer.call.state in ENDED_CALLS for answer in answers)
    assert await world.store().approvals.pending("ann") == []
    assert (await world.store().conversations.get("ann", conversation)).running is None


@pytest.mark.parametrize("kind", ["stop", "steer", "close"])
async def test_trouble_anywhere_leaves_a_whole_history(kind):
    """After each single event of a run, once."""

    async def hang(arguments, **_):
        await anyio.lowlevel.checkpoint()
        return "hung"

    async with opened(Clock()) as world:
        world.tools.add("clock").add("write", read_only=False).add("hang", hang)
        outcomes = []

        async def trouble(run):
            if kind == "stop":
                await world.runs.stop("ann", run.id)
            elif kind == "close":
                await world.runs.close()
            else:
                message = PendingMessage("s", run.conversation, (TextContent("Wait"),), "steer")
                with suppress(Busy):
                    await world.runs.steer("ann", run.id, message)

        for events in range(1, 100):
            conversation = f"c{events}"
            await world.create(conversation)
            async with world.serving():
                came = await troubled(world, conversation, events, trouble)
                outcomes.append((await world.runs.lookup.get("ann", f"run{events}")).outcome)
            run = await world.store().runs.get("ann", f"run{events}")
            async with world.serving():
                await check_whole(world, conversation, run)
                world.model.plays(says("Fine"))
                assert (
                    await world.said("Again", conversation=conversation, run=f"again{events}")
                ).outcome == "done"
                world._numbers = count(events + 1)
            if came < events:
                break
        expected = {"stop": "stopped", "close": "interrupted", "steer": "done"}[kind]
        assert len(outcomes) > 15
        assert set(outcomes[:-1]) <= {expected, "done"}
        assert outcomes.count(expected) > 10


async def test_a_stopped_run_with_results_goes_on_with_the_next_turn(world):
    world.tools.add("write", read_only=False)
    world.model.plays(calls(("write", "")), says("Never mind"))
    run = await world.send()
    await asked(world, run)
    await world.runs.stop("ann", run.id)
    (row,) = await tool_rows(world)
    await world.done(await world.carry_on(row.id))
    assert (await world.shown())[-1] == "assistant: Never mind"
    assert world.model.requests[-1].messages[-1].text == loop.STOPPED


async def test_calls_whose_rows_were_never_made_are_made_when_the_run_goes_on(world):
    world.tools.add("clock")
    world.model.plays(calls(("clock", "")))
    store = world.store()
    await world.said("x", options=GenerationOptions(max_turns=1))
    path = await world.path()
    await store.messages.delete("c", [path[-1].id])
    world.model.plays(says("It is noon"))
    end = await world.done(await world.carry_on(path[1].id))
    assert (end.outcome, end.calls, end.turns) == ("done", 1, 1)
    assert [row.role for row in await world.path()] == ["user", "assistant", "tool", "assistant"]


async def test_an_open_call_of_an_earlier_run_is_asked_about_again(world):
    world.tools.add("write", read_only=False)
    world.model.plays(calls(("write", "")))
    run = await world.send()
    await asked(world, run)
    await world.runs.stop("ann", run.id)
    (row,) = await tool_rows(world)
    open_again = StoredMessage(
        row.id,
        "c",
        row.parent,
        "tool",
        status="interrupted",
        tool_call_id=row.tool_call_id,
        call=type(row.call)("write", "", "desk", "write", "waiting"),
    )
    await world.store().messages.save(open_again)
    world.model.plays(says("Done"))
    again = await world.carry_on(row.id)
    approval = await asked(world, again)
    assert approval.id != row.id
    await world.runs.answer("ann", approval.id, "once")
    assert (await world.done(again)).calls == 1
    assert (await tool_rows(world))[0].call.state == "done"


async def test_steering_among_calls_skips_what_has_not_begun(world):
    gate = anyio.Event()

    async def slow(arguments, **_):
        await gate.wait()
        return "slow result"

    world.tools.add("slow", slow).add("write", read_only=False)
    world.model.plays(calls(("slow", ""), ("write", "")), says("I see"))
    run = await world.send("One")
    await asked(world, run)
    await world.until(run, lambda event: isinstance(event, ToolStarted))
    steering = await world.runs.steer("ann", run.id, PendingMessage("s", "c", (TextContent("Two"),), "steer"))
    assert steering.how == "steer"
    await world.until(
        run, lambda event: isinstance(event, ToolResult) and event.message.call.state == "skipped"
    )
    gate.set()
    assert (await world.done(run)).outcome == "done"
    assert await world.shown() == [
        "user: One",
        "assistant: ",
        "tool: slow result",
        f"tool: {loop.STEERED}",
        "user: Two",
        "assistant: I see",
    ]


async def test_what_the_run_waits_for_is_told(world):
    world.tools.add("clock")
    world.model.plays(calls(("clock", "")), says("Noon"))
    run = await world.send()
    events = await world.events(run)
    assert RunProgress("tool") in events
    await world.runs.close()
    assert [event.waiting for _, event in world.around.told if isinstance(event, ListRun)][:4] == [
        "",
        "model",
        "",
        "tool",
    ]


async def test_a_run_that_fails_among_calls_ends_them(world):
    gate = anyio.Event()
    world.tools.add("write", read_only=False)

    async def broken(user, approval, **_):
        await gate.wait()
        raise Unavailable("The disk is full.", code="storage_unavailable")

    world.store().approvals.ask = broken
    world.model.plays(calls(("write", "")))
    run = await world.send()
    gate.set()
    end = await world.done(run)
    assert (end.outcome, end.error.code) == ("failed", "storage_unavailable")
    (row,) = await tool_rows(world)
    assert (row.call.state, row.text) == ("skipped", loop.FAILED)


# ---- room in the context


async def folding(world, user, conversation, leaf, card):
    await world.store().messages.add(
        [StoredMessage("fold", "c", None, "user", (TextContent("In short: bees."),), kind="summary")]
    )
    await world.store().messages.reparent("c", {leaf: "fold"})
    return leaf


async def test_room_is_made_when_the_prompt_leaves_too_little(world):
    made = []

    class Long:
        tokens, context = 9_000, 10_000

    async def count(request, user):
        return Long

    async def make_room(*asked):
        made.append(asked)
        return await folding(world, *asked)

    world.around.count, world.around.make_room = count, make_room
    async with world.serving():
        await world.said("short")
        assert made == []
        await world.said("x" * 9_000, parent=None, id="long")
    assert [asked[2] for asked in made] == ["long"]
    assert "In short: bees." in world.model.requests[-1].messages[0].text


async def test_a_prompt_that_proves_too_long_makes_room_and_is_tried_once_more(world):
    async def make_room(*asked):
        return await folding(world, *asked)

    world.around.make_room = make_room
    async with world.serving():
        world.model.plays(fails("context_length_exceeded", "Too long."), says("Fits now"))
        run = await world.send("Hello")
        events = await world.events(run)
        assert events[-1].outcome == "done"
        assert len([event for event in events if isinstance(event, MessageAdded)]) == 2
        assert appended(events)[(await world.path())[-1].id] == "Fits now"


async def test_a_prompt_that_stays_too_long_fails_as_context(world):
    async def make_room(*asked):
        return None

    world.around.make_room = make_room
    async with world.serving():
        world.model.plays(fails("context_length_exceeded"), fails("context_length_exceeded"), says("never"))
        end = await world.said("Hello")
    assert (end.outcome, end.error.kind) == ("failed", "context")
    assert len(world.model.requests) == 2

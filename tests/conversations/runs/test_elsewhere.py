"""Runs seen and commanded at a gateway that does not write them, over one PostgreSQL."""

from __future__ import annotations

from unittest.mock import AsyncMock

import anyio
import pytest
from tests.support.gateway_sites import GatewaySite, die, opened_gateway, schema, sites, until

from duologue.conversations.runs.event_log import RESTART_GAP

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio
TEXT = "You said: Hello there, are you well?"


async def held(site: GatewaySite, number: int = 1) -> anyio.Event:
    """A reply that has begun at this gateway and waits for the event."""
    site.model.hold = release = anyio.Event()
    begun = await site.send("Hello there, are you well?", number)
    assert begun.status_code == 202, begun.text
    return release


async def stored(site: GatewaySite, run: str = "r1") -> None:
    """Wait until something of the text is stored."""

    async def has_text() -> bool:
        return any(b"delta" in entry.event for entry in await site.service.stores.durable.runs.log(run))

    await until(has_text)


async def until_said(site: GatewaySite, text: str) -> None:
    """Wait until this is a message of the conversation."""

    async def is_there() -> bool:
        return text in await site.texts()

    await until(is_there)


async def outcome(site: GatewaySite, run: str = "r1") -> str | None:
    return (await site.ann.get(f"/api/runs/{run}")).json().get("outcome")


async def test_a_viewer_elsewhere_reads_the_same_numbers_and_the_same_end(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    seen = {}

    async def watch(site: GatewaySite) -> None:
        seen[site] = await site.events("r1")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, one)
        tasks.start_soon(watch, two)
        await stored(one)
        assert await outcome(two) is None
        release.set()
    assert joined(seen[two]) == joined(seen[one]) == TEXT
    assert seen[two][-1] == seen[one][-1]
    numbers = [number for number, _ in seen[two]]
    assert numbers == sorted(set(numbers))
    assert await two.texts() == ["Hello there, are you well?", TEXT]


async def test_a_viewer_goes_from_one_gateway_to_the_other_in_the_middle_of_a_word(sites):
    one, two = sites
    await one.conversation()
    await one.say("Hello there, are you well?", 1)
    whole = await one.events("r1")
    for number, _ in whole[:-1]:
        assert await two.events("r1", number) == [entry for entry in whole if entry[0] > number]


async def test_a_conversation_has_one_run_over_all_gateways(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    refused = await two.send("Me too", 2)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "run_in_progress")
    again = await two.send("Hello there, are you well?", 1)
    assert (again.status_code, again.json()["id"]) == (200, "r1")
    release.set()
    await one.events("r1")
    two.model.hold = None
    await two.say("Me too", 2)
    assert len(await one.texts()) == 4


async def test_of_two_starts_at_the_same_time_one_is_refused(sites):
    one, two = sites
    await one.conversation()
    one.model.hold = two.model.hold = release = anyio.Event()
    answers = []

    async def send(site: GatewaySite, number: int) -> None:
        answers.append(await site.send(f"From {number}", number))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send, one, 1)
        tasks.start_soon(send, two, 2)
    assert sorted(answer.status_code for answer in answers) == [202, 409]
    release.set()


async def test_the_same_command_at_both_gateways_is_one_run(sites):
    one, two = sites
    await one.conversation()
    answers = []

    async def send(site: GatewaySite) -> None:
        answers.append(await site.send("Hello", 1))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send, one)
        tasks.start_soon(send, two)
    assert {answer.json()["id"] for answer in answers} == {"r1"}
    await two.events("r1")
    assert len(one.model.asked) + len(two.model.asked) == 1


async def test_a_stop_elsewhere_stops_the_reply_and_keeps_its_text(sites):
    one, two = sites
    await one.conversation()
    await held(one)
    await stored(one)
    stopped = await two.ann.post("/api/runs/r1/stop")
    assert stopped.json()["outcome"] == "stopped"
    assert await one.texts() == ["Hello there, are you well?", "You "]
    again = await two.ann.post("/api/runs/r1/stop")
    assert again.json() == stopped.json()


async def test_a_message_queued_elsewhere_is_sent_when_the_reply_has_ended(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    queued = await two.send("And then?", 2, busy="queue")
    assert queued.json()["pending"]["id"] == "m2"
    one.model.hold = None
    release.set()
    await one.end("r1", "done")
    await until_said(two, "You said: And then?")
    assert (await two.texts())[2] == "And then?"


async def test_a_message_that_steers_reaches_the_owner(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    steering = {"id": "s1", "content": [{"type": "text", "text": "Shorter, please"}]}
    taken = await two.ann.post("/api/runs/r1/steer", json=steering)
    assert taken.status_code == 202, taken.text
    one.model.hold = None
    release.set()
    await until_said(two, "Shorter, please")


async def test_a_gateway_that_starts_leaves_the_runs_of_its_neighbours_alone(sites, schema, tmp_path):
    one, _ = sites
    await one.conversation()
    release = await held(one)
    await stored(one)
    async with opened_gateway(schema, tmp_path, "three") as three:
        assert await outcome(three) is None
    release.set()
    await one.end("r1", "done")
    assert (await one.texts())[1] == TEXT


async def test_the_next_process_of_a_data_folder_ends_the_runs_of_the_last(
    sites, schema, tmp_path, monkeypatch
):
    one, two = sites
    await one.conversation()
    await held(one)
    await stored(one)
    # Its process would be gone, and would not put its row back when it hears of the next one.
    monkeypatch.setattr(one.membership, "_look", AsyncMock())
    async with opened_gateway(schema, tmp_path, "one") as again:
        assert await outcome(again) == "interrupted"
    assert await outcome(two) == "interrupted"


async def test_the_runs_of_a_dead_gateway_end_once_and_go_on_elsewhere(sites, schema, tmp_path):
    one, two = sites
    await one.conversation()
    await held(one)
    await stored(one)
    async with opened_gateway(schema, tmp_path, "three") as three, anyio.create_task_group() as tasks:
        seen = []

        async def watch() -> None:
            seen.extend(await two.events("r1"))

        tasks.start_soon(watch)
        await die(one)
        two.look()
        three.look()
        await two.end("r1", "interrupted")
    assert [event["type"] for _, event in seen].count("run_done") == 1
    assert seen[-1][0] > RESTART_GAP
    row = (await two.whole())["messages"][-1]
    assert row["status"] == "interrupted"
    go_on = {"verb": "continue", "run": "r2", "message": row["id"]}
    assert (await two.ann.post("/api/conversations/c/runs", json=go_on)).status_code == 202
    await two.end("r2", "done")


async def test_an_owner_that_was_taken_for_dead_writes_nothing_over_the_end(sites):
    one, two = sites
    await one.conversation()
    release = await held(one)
    await stored(one)
    seen = []

    async def watch() -> None:
        seen.extend(await one.events("r1"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        await die(one)
        two.look()
        await two.end("r1", "interrupted")
        before = await two.whole()
        release.set()

    async def is_over() -> bool:
        return not one.service.runs.active

    await until(is_over)
    assert await two.whole() == before
    assert all(event["type"] != "run_done" for _, event in seen)
    resumed = await one.events("r1", seen[-1][0])
    assert resumed[-1][1]["outcome"] == "interrupted"


async def test_a_start_does_not_wait_for_a_gateway_that_is_gone(sites):
    one, two = sites
    await one.conversation()
    await held(one)
    await die(one)
    begun = await two.send("Are you there?", 2)
    assert begun.status_code == 202, begun.text
    assert await outcome(two) == "interrupted"


def joined(events: list[tuple[int, dict[str, object]]]) -> str:
    return "".join(str(event["text"]) for _, event in events if event["type"] == "delta")

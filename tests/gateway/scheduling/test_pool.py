"""The pool over workers that run in the test's own loop: leases are lent and come back on every exit."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

import anyio
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from duologue import caller
from duologue.errors import Busy, Problem, QueueFull, Unavailable, Unsupported, WorkerLost
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.roster import alike
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.workers import process
from duologue.supervisor import crash_loop
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import RESTARTED, STOPPING, WORKER_LOST, Done, Failed, TextDelta
from duologue.values.messages import user
from duologue.values.questions.worker_answers import Counted, TemplateUsed, Tokenized
from duologue.values.questions.worker_questions import TokenizeText, UseTemplate
from duologue.values.requests import (
    ChatRequest,
    ModelCard,
    ModelPreset,
    PresetEntry,
    RawFormat,
    UpstreamModel,
)
from duologue.wire import worker_protocol
from duologue.worker.connection import GatewayConnection

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((user("hello"),))


class Adapter:
    """A websockets connection as the worker's link wants it."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes:
        try:
            frame = await self._connection.recv()
        except ConnectionClosed as error:
            raise EOFError from error
        assert isinstance(frame, bytes)
        return frame

    async def send(self, frame: bytes) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as error:
            raise EOFError from error


class Workers:
    """Stands in for the processes: starts a link for each, remembers what runs, can make one die."""

    def __init__(self, slots: int = 1) -> None:
        self.slots = slots
        self.starts = 0
        self.report: worker_protocol.Report | None = None
        self.sockets: list[ServerConnection] = []
        self.ended: list[int] = []
        self.stillborn = 0
        """How many of the next starts end before the worker says anything."""
        self.dying = anyio.Event()
        """A process is gone only once this is set."""
        self.dying.set()
        self.died = anyio.Event()
        self.counted: list[str] = []
        """The prompts that were counted, one after another."""
        self.counting = anyio.Event()
        self.context = 100
        self.templates: list[str] = []
        """The templates that were chosen."""

    async def talk(self, begin, emit, controls):
        try:
            await emit(TextDelta("hello"))
            text = begin.request.messages[-1].text
            if text == "hang" or (text == "hang in slot 1" and begin.slot == 1):
                await anyio.sleep_forever()
            if text == "hang on":
                with anyio.CancelScope(shield=True):
                    await self.died.wait()
            await emit(Done("stop"))
        finally:
            self.ended.append(begin.slot)

    async def answer(self, question):
        if isinstance(question, UseTemplate):
            self.templates.append(question.source)
            if question.source == "broken":
                raise Unsupported("No.", code="template_error")
            return TemplateUsed()
        if isinstance(question, TokenizeText):
            return Tokenized(tuple(question.text.encode()))
        text = question.request.messages[-1].text
        self.counted.append(text)
        if text == "hang":
            await anyio.sleep_forever()
        if text == "slow":
            await self.counting.wait()
        return Counted(len(text), self.context)

    @asynccontextmanager
    async def started(self, loadout, secret, port, log):
        self.starts += 1
        card = ModelCard("m", loadout.engine, 100, slots=self.slots)
        ready = self.report or worker_protocol.Report(loadout.worker, "ready", card=card)
        link = GatewayConnection(self.talk, self.answer, lambda: ready)

        async def connected(connection: ServerConnection) -> None:
            assert connection.request is not None
            if self.starts <= self.stillborn:
                connection.transport.abort()
                return
            self.sockets.append(connection)
            run = link.run_live if connection.request.path == "/live" else link.run_bulk
            await run(Adapter(connection))

        async with serve(connected, "127.0.0.1", 0) as server:
            number = server.sockets[0].getsockname()[1]
            yield SimpleNamespace(
                address=f"127.0.0.1:{number}",
                port=number,
                process=SimpleNamespace(pid=self.starts, returncode=70),
                log=SimpleNamespace(last_line="RuntimeError: the card is gone"),
            )
            await self.dying.wait()

    def die(self) -> None:
        for socket in self.sockets:
            socket.transport.abort()
        self.sockets.clear()
        self.died.set()


@asynccontextmanager
async def running(monkeypatch, workers: Workers, limit: int = 100, started=None):
    monkeypatch.setattr(process, "started", started or workers.started)
    changed = anyio.Event()
    pool = Pool(
        [worker_protocol.LoadSpec("w", "scripted", "m")], Scheduler(limit), on_change=lambda: changed.set()
    )

    async def until(true):
        with anyio.fail_after(60):
            while not true():
                await anyio.wait_all_tasks_blocked()

    async with anyio.create_task_group() as tasks:
        await tasks.start(pool.run)
        await until(lambda: pool.ready or pool.workers["w"].state == "failed")
        yield pool, until
        tasks.cancel_scope.cancel()


async def lent(lease):
    async for _ in lease.places():
        pass


async def heard(lease) -> list:
    events: list = []
    while not events or not isinstance(events[-1], Done):
        events.extend(event for _, event in await lease.take())
    return events


async def test_a_lease_runs_a_request_and_its_slot_comes_back(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        with pool.lease("m") as lease:
            await lent(lease)
            lease.begin(0, REQUEST, "r")
            assert await heard(lease) == [TextDelta("hello"), Done("stop")]
        await until(lambda: pool.scheduler.busy("w") == 0)


async def test_leaving_early_cancels_the_work_before_the_slot_is_lent_again(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until):
        with pool.lease("m") as lease:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
        assert pool.scheduler.busy("w") == 1
        await until(lambda: pool.scheduler.busy("w") == 0)
        assert workers.ended == [0]


async def test_an_unused_lease_gives_its_slot_back_at_once(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease:
            await lent(lease)
        assert pool.scheduler.busy("w") == 0


async def test_the_second_waits_and_is_told_its_place(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as first:
            await lent(first)
            with pool.lease("m") as second:
                place = await anext(second.places())
                assert (place.position, place.length) == (1, 1)
            assert pool.scheduler.entries() == []


async def test_a_waiting_lease_is_lent_the_slot_that_returns(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        places = []
        async with anyio.create_task_group() as tasks:
            with pool.lease("m") as first:
                await lent(first)

                async def wait():
                    with pool.lease("m") as second:
                        places.extend([place.position async for place in second.places()])
                        assert second.idle == 1

                tasks.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
        assert places == [1]


async def test_a_full_queue_is_a_problem(monkeypatch):
    async with running(monkeypatch, Workers(), limit=1) as (pool, _):
        with pool.lease("m") as first, pool.lease("m") as second, pool.lease("m") as third:
            await lent(first)
            assert (await anext(second.places())).position == 1
            with pytest.raises(QueueFull):
                await lent(third)


async def test_a_lost_worker_ends_its_stream_and_is_started_again(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until):
        with pool.lease("m") as lease:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            workers.die()
            assert (0, WORKER_LOST) in await lease.take()
        await until(lambda: pool.ready and workers.starts == 2)
        assert pool.workers["w"].restarts == 1
        assert pool.scheduler.busy("w") == 0
        with pool.lease("m") as lease:
            await lent(lease)
            lease.begin(0, REQUEST, "r")
            assert (await heard(lease))[-1] == Done("stop")


async def test_who_asks_while_a_lost_process_is_still_ending_waits_for_the_next_one(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until):
        workers.dying = anyio.Event()
        workers.die()
        await until(lambda: not pool.ready)
        with pool.lease("m") as lease:
            workers.dying.set()
            with anyio.fail_after(60):
                await lent(lease)
            lease.begin(0, REQUEST, "r")
            assert (await heard(lease))[-1] == Done("stop")


async def test_who_waits_is_not_lent_the_slot_that_a_lost_worker_gives_up(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        with pool.lease("m") as leaving:
            await lent(leaving)
            leaving.begin(0, ChatRequest((user("hang on"),)), "r")
            await leaving.take()
        # Its work was cancelled but has not ended, so that its slot comes back only by the loss of the worker.
        with pool.lease("m") as waiting:
            assert (await anext(waiting.places())).position == 1
            workers.die()
            with anyio.fail_after(60):
                await lent(waiting)
                assert workers.starts == 2
                waiting.begin(0, REQUEST, "r")
                assert (await heard(waiting))[-1] == Done("stop")


async def test_choices_that_were_to_follow_on_a_lost_worker_get_a_slot_once_it_is_back(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        with pool.lease("m", need=2) as lease:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            workers.die()
            assert (0, WORKER_LOST) in await lease.take()
            with anyio.fail_after(60):
                while not lease.idle:
                    await lease.take()
                lease.begin(1, REQUEST, "r")
                while not any(choice == 1 and event == Done("stop") for choice, event in await lease.take()):
                    pass


async def test_a_choice_that_has_ended_gives_its_slot_to_whoever_waits(monkeypatch):
    async with running(monkeypatch, Workers(slots=2)) as (pool, _):
        with pool.lease("m", need=2) as lease:
            await lent(lease)
            for choice in range(2):
                lease.begin(choice, ChatRequest((user("hang in slot 1"),)), "r")
            lease.release_idle()
            with pool.lease("m") as waiting, anyio.fail_after(60):
                await lent(waiting)
                assert waiting.idle == 1


async def test_whoever_waits_is_told_a_fresh_estimate_now_and_then(monkeypatch):
    monkeypatch.setattr("duologue.gateway.scheduling.pool.REFRESH", 0.01)
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as first, pool.lease("m") as second:
            await lent(first)
            places = second.places()
            with anyio.fail_after(60):
                assert [(await anext(places)).position for _ in range(3)] == [1, 1, 1]
            await places.aclose()


async def test_a_worker_whose_model_could_not_be_loaded_is_tried_again(monkeypatch):
    monkeypatch.setattr(crash_loop, "LONGEST", 0.0)
    workers = Workers()
    workers.report = worker_protocol.Report("w", "failed", detail="Too little memory.")
    async with running(monkeypatch, workers) as (pool, until):
        assert pool.workers["w"].state == "failed"
        workers.report = None
        await until(lambda: pool.ready)
        with pool.lease("m") as lease:
            await lent(lease)


async def test_a_worker_that_keeps_dying_before_it_is_ready_refuses_and_is_tried_on(monkeypatch):
    monkeypatch.setattr(crash_loop, "backoff", lambda failures: 0.0)
    workers = Workers()
    workers.stillborn = 1000
    async with running(monkeypatch, workers) as (pool, until):
        with (
            pool.lease("m") as lease,
            pytest.raises(
                Unavailable,
                match=r"ended \d+ times before it was ready, at last with this: exit code 70\. Its log ended with: RuntimeError: the card is gone\.",
            ),
        ):
            await lent(lease)
        workers.stillborn = 0
        await until(lambda: pool.ready)
        assert pool.workers["w"].restarts >= crash_loop.STARTS
        with pool.lease("m") as lease:
            await lent(lease)


async def test_a_process_that_cannot_be_started_is_no_end_of_the_pool(monkeypatch, caplog):
    workers = Workers()
    attempts = []

    @asynccontextmanager
    async def started(*loadout):
        attempts.append(loadout)
        if len(attempts) == 1:
            raise OSError("Too many open files")
        async with workers.started(*loadout) as process:
            yield process

    async with running(monkeypatch, workers, started=started) as (pool, _):
        assert pool.workers["w"].restarts == 1
    assert "Too many open files" in caplog.text


async def test_a_worker_that_cannot_serve_refuses_with_its_sentence(monkeypatch):
    workers = Workers()
    workers.report = worker_protocol.Report("w", "failed", detail="The file is broken.")
    async with running(monkeypatch, workers) as (pool, _):
        with pool.lease("m") as lease, pytest.raises(Unavailable, match=r"The file is broken\."):
            await lent(lease)


async def test_stopping_ends_what_runs_and_what_waits(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        ends = []

        async def run(text: str) -> None:
            with pool.lease("m") as lease:
                try:
                    await lent(lease)
                except Unavailable as problem:
                    ends.append(problem.code)
                    return
                lease.begin(0, ChatRequest((user(text),)), "r")
                while (0, STOPPING) not in await lease.take():
                    pass
                ends.append("told")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, "hang")
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(run, "waits")
            await anyio.wait_all_tasks_blocked()
            await pool.stop(5)
            tasks.start_soon(run, "late")
        assert sorted(ends) == ["server_stopping", "server_stopping", "told"]


async def test_the_queue_knows_a_model_by_its_workers_name_and_by_its_own(monkeypatch):
    monkeypatch.setattr(process, "started", Workers().started)
    pool = Pool([worker_protocol.LoadSpec("w", "scripted", "from-settings")], Scheduler())
    assert [card.name for card in pool.cards()] == ["from-settings"]
    async with anyio.create_task_group() as tasks:
        await tasks.start(pool.run)
        with anyio.fail_after(60):
            while not pool.ready:
                await anyio.wait_all_tasks_blocked()
        assert [card.name for card in pool.cards()] == ["m"]
        for name in ("", "m", "from-settings"):
            with pool.lease(name) as lease:
                await lent(lease)
                assert lease.idle == 1
        tasks.cancel_scope.cancel()


async def test_a_prompt_is_counted_while_every_slot_is_lent(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease:
            await lent(lease)
            for model in ("", "m"):
                counted = await pool.count(ChatRequest((user("hello"),), model=model))
                assert (counted.tokens, counted.context, counted.estimated) == (5, 100, False)


async def test_a_model_that_nobody_serves_cannot_be_counted_for(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pytest.raises(Unavailable, match="'other'"):
            await pool.count(ChatRequest((user("hello"),), model="other"))


async def test_a_worker_that_ends_while_it_counts_is_told(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        workers.dying = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_die_later, workers)
            with pytest.raises(WorkerLost):
                await pool.count(ChatRequest((user("hang"),)))
        with pytest.raises(Unavailable):
            await pool.count(REQUEST)
        workers.dying.set()


async def _die_later(workers: Workers) -> None:
    await anyio.wait_all_tasks_blocked()
    workers.die()


async def test_a_count_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("duologue.gateway.scheduling.pool.ASK_PATIENCE", 0.01)
    async with running(monkeypatch, Workers()) as (pool, _):
        with pytest.raises(Unavailable) as met:
            await pool.count(ChatRequest((user("hang"),)))
        assert met.value.code == "count_timeout"


async def test_a_user_who_has_many_prompts_counted_keeps_nobody_waiting(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _), anyio.create_task_group() as tasks:
        refused = []

        async def count(text: str, name: str) -> None:
            try:
                await pool.count(ChatRequest((user(text),)), name)
            except Busy:
                refused.append(name)

        for _ in range(worker_protocol.MAX_ASKS + 10):
            tasks.start_soon(count, "slow", "ada")
        tasks.start_soon(count, "hello", "ben")
        with anyio.fail_after(60):
            while not workers.counted or not refused:
                await anyio.lowlevel.checkpoint()
        workers.counting.set()
        with anyio.fail_after(60):
            while "hello" not in workers.counted:
                await anyio.lowlevel.checkpoint()
        assert workers.counted[:2] == ["slow", "hello"]
        assert set(refused) == {"ada"}
        tasks.cancel_scope.cancel()


async def test_other_questions_need_no_slot_either(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease:
            await lent(lease)
            found = await pool.ask(TokenizeText("hi", model="m"), Tokenized, "ada")
            assert found == Tokenized((104, 105))


async def test_a_template_is_used_by_the_worker_now_and_at_its_next_start(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        await pool.use_template("m", "/data/plain.jinja", "{{ messages }}")
        [name] = pool.workers
        assert (workers.templates, pool.load_spec(name).template) == (["{{ messages }}"], "/data/plain.jinja")
        with pytest.raises(Problem) as met:
            await pool.use_template("m", "/data/broken.jinja", "broken")
        assert (met.value.code, pool.load_spec(name).template) == ("template_error", "/data/plain.jinja")
        await pool.use_template("", "", "")
        assert pool.load_spec(name).template == ""


def test_one_more_worker_of_a_model_is_like_the_others():
    other = worker_protocol.LoadSpec(
        "a", "llama", "m", {"slots": 1, "loras": {"x": 1.0}}, template="/plain.jinja"
    )
    added = alike(worker_protocol.LoadSpec("b", "llama", "m", {"slots": 2}), other)
    assert (added.worker, added.template) == ("b", "/plain.jinja")
    assert added.options == {"slots": 2, "loras": {"x": 1.0}}


async def test_requests_carry_what_was_chosen_for_their_model(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        assert pool.addressed(REQUEST) == REQUEST
        pool.tuning.preset = ModelPreset({"top_k": PresetEntry(3)})
        assert pool.addressed(REQUEST).chosen_preset == pool.tuning.preset
        pool.tuning.use_scales("m", {"a": 0.5})
        [name] = pool.workers
        await pool.remove(name)
        assert pool.tuning.scales("m") is None


async def test_a_pool_that_stops_counts_no_more(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        await pool.stop(0)
        with pytest.raises(Unavailable) as met:
            await pool.count(REQUEST)
        assert met.value.code == "server_stopping"


async def test_a_worker_is_added_while_the_pool_runs_and_serves(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until):
        view = pool.add(worker_protocol.LoadSpec("whatever", "scripted", "second"))
        assert (view.worker, view.model, view.added) == ("worker_1", "second", True)
        await until(lambda: view.state == "ready")
        assert workers.starts == 2
        with pool.lease("second") as lease:
            await lent(lease)
            lease.begin(0, REQUEST, "r")
            assert (await heard(lease))[-1] == Done("stop")
        assert pool.load_spec("worker_1").worker == "worker_1"


async def test_an_added_worker_never_takes_a_name_that_is_there(monkeypatch):
    monkeypatch.setattr(process, "started", Workers().started)
    pool = Pool(
        [worker_protocol.LoadSpec(f"worker_{number}", "scripted", "m") for number in (0, 2)], Scheduler()
    )
    async with anyio.create_task_group() as tasks:
        await tasks.start(pool.run)
        names = [pool.add(worker_protocol.LoadSpec("", "scripted", "m")).worker for _ in range(2)]
        tasks.cancel_scope.cancel()
    assert names == ["worker_3", "worker_4"]


async def test_a_worker_that_is_removed_ends_what_it_runs_and_refuses_who_waits(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease, pool.lease("m") as waiting:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            with anyio.fail_after(60):
                await pool.remove("w")
            ends = [event for _, event in await lease.take()]
            assert [event.code for event in ends] == ["model_unloaded"]
            with pytest.raises(Unavailable) as met:
                await lent(waiting)
            assert met.value.code == "model_unloaded"
        assert (pool.workers, pool.cards(), pool.ready) == ({}, [], False)
        assert pool.scheduler.tasks(pool.now()) == []


async def test_a_worker_that_is_retired_ends_what_it_runs_in_peace(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            added = pool.add(pool.load_spec("w"))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pool.retire, "w")
                with anyio.fail_after(30), pool.lease("m") as other:
                    await lent(other)
                    assert list(pool.workers) == [added.worker, "w"]
                    assert pool.scheduler.busy("w") == 1
                lease.give_back()
        assert list(pool.workers) == [added.worker]


async def test_a_worker_that_drains_serves_nobody_new_and_ends_what_outlives_its_grace(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as lease, pool.lease("m") as waiting:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pool.retire, "w", 0.05)
                await anyio.wait_all_tasks_blocked()
                assert (pool.cards(), pool.ready, pool.workers["w"].draining) == ([], False, True)
                with pytest.raises(Unavailable) as met:
                    await lent(waiting)
                assert met.value.code == "model_unloaded"
            ends = [event for _, event in await lease.take()]
            assert [event.code for event in ends] == ["model_unloaded"]
        assert pool.workers == {}


async def test_who_waits_for_a_worker_that_is_removed_for_a_reason_hears_it(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        added = pool.add(worker_protocol.LoadSpec("", "scripted", "second"))
        with pool.lease("second") as waiting:
            await pool.remove(added.worker, Failed("load_failed", "It broke.", 500))
            with pytest.raises(Unavailable, match="broke") as met:
                await lent(waiting)
            assert met.value.code == "load_failed"


async def test_with_no_worker_left_nobody_waits_and_nothing_is_counted(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        await pool.remove("w")
        with pool.lease("m") as lease, pytest.raises(Unavailable) as met:
            await lent(lease)
        assert met.value.code == "model_empty"
        with pytest.raises(Unavailable) as met:
            await pool.count(REQUEST)
        assert met.value.code == "model_empty"
        with pytest.raises(KeyError):
            await pool.remove("w")


SERVER = worker_protocol.LoadSpec("", "remote", "box", upstream="box")
PRESET = ModelPreset({"temperature": PresetEntry(0.2)})
MODELS = (UpstreamModel("m", 8192), UpstreamModel("big", format=RawFormat("pythonic"), preset=PRESET))


async def test_one_worker_serves_all_models_of_a_server_and_is_told_which(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        view = pool.add(SERVER)
        pool.set_models(view.worker, MODELS)
        await until(lambda: view.state == "ready")
        assert [card.name for card in pool.cards()] == ["m", "box/m", "big"]
        for name, own in (("box/m", "m"), ("big", "big"), ("box/big", "big")):
            request = pool.addressed(ChatRequest((user("hi"),), model=name))
            assert request.upstream_model == own
            assert request.upstream_format == (RawFormat("pythonic") if own == "big" else None)
            assert request.upstream_preset == (PRESET if own == "big" else None)
            with pool.lease(request.model) as lease:
                await lent(lease)
                assert pool.scheduler.busy(view.worker) == 1
        assert pool.addressed(ChatRequest((user("hi"),), model="m")).upstream_model == ""


async def test_models_of_a_server_share_its_slots_and_one_line(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        view = pool.add(SERVER)
        pool.set_models(view.worker, MODELS)
        await until(lambda: view.state == "ready")
        with pool.lease("box/m") as first:
            await lent(first)
            with pool.lease("big") as second:
                place = await anext(second.places())
                assert (place.position, place.length) == (1, 1)


async def test_a_count_has_the_context_of_the_servers_model(monkeypatch):
    workers = Workers()
    workers.context = 0
    async with running(monkeypatch, workers) as (pool, until):
        view = pool.add(SERVER)
        pool.set_models(view.worker, MODELS)
        await until(lambda: view.state == "ready")
        counted = await pool.count(ChatRequest((user("hello"),), model="box/m"))
        assert (counted.tokens, counted.context) == (5, 8192)


async def test_a_server_that_is_disconnected_ends_what_it_runs_with_a_sentence_about_it(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        view = pool.add(SERVER)
        pool.set_models(view.worker, MODELS)
        await until(lambda: view.state == "ready")
        with pool.lease("big") as lease, pool.lease("box/m") as waiting:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            await pool.remove(view.worker)
            [(_, failed)] = await lease.take()
            assert failed.code == "model_unloaded"
            assert "'box' was disconnected" in failed.message
            with pytest.raises(Unavailable, match="'box' was disconnected"):
                await lent(waiting)
        assert [card.name for card in pool.cards()] == ["m"]


async def test_the_default_model_is_the_first_that_is_left(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, until):
        pool.workers["w"].card = None
        view = pool.add(worker_protocol.LoadSpec("", "scripted", "second"))
        await until(lambda: view.state == "ready")
        await pool.remove("w")
        assert pool.ready
        with pool.lease("") as lease:
            await lent(lease)
            assert lease.idle == 1


async def test_a_worker_may_be_removed_before_it_began(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        view = pool.add(worker_protocol.LoadSpec("", "scripted", "second"))
        with anyio.fail_after(60):
            await pool.remove(view.worker)
        assert list(pool.workers) == ["w"]
        assert workers.starts == 1


async def test_a_pool_that_does_not_run_takes_no_worker():
    with pytest.raises(Unavailable):
        Pool([], Scheduler()).add(worker_protocol.LoadSpec("", "scripted", "m"))


async def test_how_far_a_worker_is_with_loading_is_in_its_view(monkeypatch):
    workers = Workers()
    workers.report = worker_protocol.Report("w", "loading", detail="The model is loading.", progress=0.25)
    monkeypatch.setattr(process, "started", workers.started)
    pool = Pool([worker_protocol.LoadSpec("w", "scripted", "m")], Scheduler())
    async with anyio.create_task_group() as tasks:
        await tasks.start(pool.run)
        with anyio.fail_after(60):
            while pool.workers["w"].progress is None:
                await anyio.wait_all_tasks_blocked()
        assert pool.workers["w"].progress == 0.25
        tasks.cancel_scope.cancel()


async def test_a_worker_is_started_anew_and_says_so_to_what_it_ran_while_others_wait_on(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, _):
        with pool.lease("m") as lease, pool.lease("m") as waiting:
            await lent(lease)
            lease.begin(0, ChatRequest((user("hang"),)), "r")
            await lease.take()
            assert (await anext(waiting.places())).position == 1
            pool.restart("w")
            assert (0, RESTARTED) in await lease.take()
            with anyio.fail_after(60):
                await lent(waiting)
            assert workers.starts == 2
            waiting.begin(0, REQUEST, "r")
            assert (await heard(waiting))[-1] == Done("stop")
        view = pool.workers["w"]
        assert (view.restarts, view.attempts, view.state) == (1, 0, "ready")
        with pytest.raises(KeyError):
            pool.restart("nobody")


async def test_a_worker_that_has_failed_is_tried_at_once_and_waited_for(monkeypatch):
    workers = Workers()
    workers.report = worker_protocol.Report("w", "failed", detail="Too little memory.")
    async with running(monkeypatch, workers) as (pool, until):
        workers.report = None
        pool.restart("w")
        with pool.lease("m") as lease, anyio.fail_after(60):
            await lent(lease)
        assert workers.starts == 2
        await until(lambda: pool.ready)


async def test_told_twice_a_worker_is_started_anew_once(monkeypatch):
    workers = Workers()
    async with running(monkeypatch, workers) as (pool, until):
        pool.restart("w")
        pool.restart("w")
        await until(lambda: pool.ready)
        assert workers.starts == 2


async def test_who_waits_can_be_made_to_give_up_by_its_owner_or_an_admin(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        with pool.lease("m") as first:
            await lent(first)
            with pool.lease("m", user="ada") as second, pool.lease("m", user="ada") as third:
                assert not pool.cancel(first.ticket, "ada")
                assert not pool.cancel(second.ticket, "bob")
                assert pool.cancel(second.ticket, "ada")
                assert pool.cancel(third.ticket)
                assert not pool.cancel(third.ticket)
                assert pool.scheduler.entries() == []
                with pytest.raises(Unavailable, match="was cancelled") as refused:
                    await lent(second)
                assert refused.value.code == "cancelled"


def test_tickets_of_two_pools_can_be_told_apart():
    pools = [
        Pool([worker_protocol.LoadSpec("w", "scripted", "m")], Scheduler(1), ticket_prefix=name)
        for name in ("q_", "q_v")
    ]
    tickets = []
    for pool in pools:
        with pool.lease("m") as lease:
            tickets.append(lease.ticket)
    assert tickets == ["q_1", "q_v1"]


def test_the_default_model_is_the_first_and_the_settings_order_is_kept_otherwise():
    changes = []
    specs = [worker_protocol.LoadSpec(f"w{number}", "scripted", name) for number, name in enumerate("abab")]
    pool = Pool(specs, Scheduler(), on_change=lambda: changes.append(list(pool.workers)))
    pool.prefer("b")
    assert list(pool.workers) == ["w1", "w3", "w0", "w2"]
    assert [spec.worker for spec in pool.load_specs()] == ["w1", "w3", "w0", "w2"]
    assert [card.name for card in pool.cards()] == ["b", "a"]
    pool.prefer("nobody")
    pool.prefer("")
    assert changes[-2:] == [["w0", "w1", "w2", "w3"]] * 2


def test_a_default_that_is_known_by_the_name_of_its_engine_comes_first_once_it_is_ready():
    specs = [worker_protocol.LoadSpec(name, "remote", name) for name in ("a", "b")]
    pool = Pool(specs, Scheduler())
    pool.prefer("Engine's name")
    pool.workers["b"].card = ModelCard("Engine's name", "remote", 100)
    pool.worker_ready(pool.workers["b"], 1)
    assert list(pool.workers) == ["b", "a"]


def test_what_does_not_chat_stands_behind_the_others_and_is_nobodys_default():
    specs = [
        worker_protocol.LoadSpec("w0", "llama", "vectors", task="embed"),
        worker_protocol.LoadSpec("w1", "llama", "tiny"),
    ]
    pool = Pool(specs, Scheduler())
    assert list(pool.workers) == ["w1", "w0"]
    pool.prefer("vectors")
    assert list(pool.workers) == ["w1", "w0"]
    assert [card.name for card in pool.cards()] == ["tiny", "vectors"]
    assert [status.worker for status in pool.workers_of("")] == ["w1"]


async def test_vectors_are_asked_of_a_servers_model_by_its_own_name(monkeypatch):
    async with running(monkeypatch, Workers()) as (pool, _):
        status = pool.add(SERVER)
        pool.set_models(status.worker, (UpstreamModel("nomic", task="embed"),))
        request = pool.addressed(EmbeddingRequest(("a",), "box/nomic"))
        assert (request.model, request.upstream_model) == ("nomic", "nomic")
        assert pool.addressed(RerankRequest("q", ("a",), "m")).upstream_model == ""


async def test_requests_wait_in_the_share_of_their_key_or_else_of_their_user():
    pool = Pool(
        [worker_protocol.LoadSpec("w", "scripted", "m")],
        Scheduler(),
        weight_of=lambda share: 3.0 if share == "key-7" else 1.0,
    )
    with pool.lease("m", user="ada"):
        token = caller.key_id.set("key-7")
        try:
            with pool.lease("m", user="ada", prompt=120.0, most=50):
                entries = pool.scheduler.entries()
        finally:
            caller.key_id.reset(token)
    assert sorted((entry.share, entry.weight) for entry in entries) == [("key-7", 3.0), ("user:ada", 1.0)]
    [keyed] = [entry for entry in entries if entry.share == "key-7"]
    assert (keyed.job.prompt, keyed.job.most, keyed.job.ticket) == (120.0, 50, keyed.ticket)

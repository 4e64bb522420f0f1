"""Room in the context: what is counted, what is folded, and how the summary comes about."""

from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
import msgspec
import pytest
from tests.support.conversation_service import CARD, Counted, Model

from duologue.conversations.history.compaction import Compaction
from duologue.conversations.history.summary_prompt import HEAD
from duologue.errors import BadRequest, Busy, NotFound, Unavailable
from duologue.store.database import Database
from duologue.store.stores import Stores
from duologue.tools.values import Offer, OfferedTool
from duologue.values.conversations import Conversation, GenerationOptions, StoredMessage, TextContent
from duologue.values.events import Failed
from duologue.values.messages import Message, TextPart
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.runs import ListEvent, Run

pytestmark = pytest.mark.anyio


class Attachments:
    """Text alone."""

    async def messages(self, user: str, rows: Any, card: ModelCard | None) -> tuple[Message, ...]:
        return tuple(Message(row.role, (TextPart(row.text),)) for row in rows)


class Toolbox:
    async def offer(self, user: str, options: GenerationOptions, **_: Any) -> Offer:
        return Offer((OfferedTool("look", "s", "look", description="x" * 400),))


class Bench:
    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self.model = Model()
        self.model.says = lambda request: "They talked."
        self.card = CARD
        self.tokens: int | None = None
        self.told: list[tuple[str, ListEvent]] = []
        self.compaction = Compaction(
            stores,
            self.model,
            lambda name: self.card,
            lambda conversation: Attachments(),  # type: ignore[arg-type,return-value]
            count=self.count,
            toolbox=cast(Any, Toolbox()),
            defaults=self.defaults,
            publish=lambda *told: self.told.append(told),
        )

    async def defaults(self, user: str) -> GenerationOptions:
        return GenerationOptions()

    async def count(self, request: ChatRequest, user: str) -> Counted:
        assert user == "ann"
        if self.tokens is None:
            raise Unavailable("No worker counts.")
        return Counted(self.tokens)

    async def turns(self, number: int, text: str = "some words ") -> None:
        """So many questions and answers, the last question open."""
        rows, parent = [], None
        for at in range(1, number + 1):
            for role in ("user", "assistant"):
                id = f"{role[0]}{at}"
                words = (TextContent(f"{id}: {text * 20}"),)
                rows.append(StoredMessage(id, "c", parent, role, words))
                parent = id
        rows.append(StoredMessage("last", "c", parent, "user", (TextContent("and now?"),)))
        await self.stores.of("c").messages.add(rows, leaf="last")

    async def parents(self) -> dict[str, str | None]:
        return {row.id: row.parent for row in await self.stores.of("c").messages.all("c")}


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with Database.memory() as durable, Database.memory() as temporary:
        made = Bench(Stores(durable, temporary, lambda: 1000))
        await made.stores.create("ann", Conversation("c", "Talk"))
        yield made


async def test_the_gauge_is_what_the_model_counts_with_the_tools_in_it(bench: Bench) -> None:
    await bench.turns(2)
    bench.tokens = 900
    gauge = await bench.compaction.gauge("ann", "c")
    assert (gauge.tokens, gauge.context, gauge.estimated) == (900, 4096, False)
    assert {part.what for part in gauge.parts} == {"tools", "user", "assistant"}


async def test_where_nobody_counts_the_gauge_is_an_estimate_and_says_so(bench: Bench) -> None:
    await bench.turns(1)
    gauge = await bench.compaction.gauge("ann", "c")
    assert gauge.estimated
    assert gauge.tokens > 50


async def test_an_empty_conversation_has_a_gauge_too(bench: Bench) -> None:
    gauge = await bench.compaction.gauge("ann", "c")
    assert gauge.tokens == gauge.parts[0].tokens, "the tools alone"


async def test_the_oldest_turns_are_folded_into_a_row_between(bench: Bench) -> None:
    await bench.turns(4)
    bench.tokens = 3000
    row = await bench.compaction.compact("ann", "c", "sum")
    parents = await bench.parents()
    assert (row.id, row.kind, row.text) == ("sum", "summary", f"{HEAD}\nThey talked.")
    assert row.parent is not None
    assert row.parent.startswith("a")
    below = [id for id, parent in parents.items() if parent == "sum"]
    assert [id[0] for id in below] in (["u"], ["l"])
    assert parents["u1"] is None, "what is folded stays"
    assert (await bench.stores.of("c").conversations.get("ann", "c")).leaf == "last"


async def test_every_branch_goes_on_from_the_summary(bench: Bench) -> None:
    await bench.turns(1)
    other = StoredMessage("other", "c", "a1", "user", (TextContent("or else?"),))
    await bench.stores.of("c").messages.add([other])
    bench.tokens = 4000
    await bench.compaction.compact("ann", "c", "sum")
    parents = await bench.parents()
    assert (parents["sum"], parents["last"], parents["other"]) == ("a1", "sum", "sum")


async def test_the_same_compaction_again_is_the_same_row(bench: Bench) -> None:
    await bench.turns(4)
    first = await bench.compaction.compact("ann", "c", "sum")
    asked = len(bench.model.asked)
    assert (await bench.compaction.compact("ann", "c", "sum")).id == first.id
    assert len(bench.model.asked) == asked


async def test_a_tiny_model_is_not_asked(bench: Bench) -> None:
    bench.card = msgspec.structs.replace(CARD, bundled=True)
    await bench.turns(3)
    row = await bench.compaction.compact("ann", "c")
    assert bench.model.asked == []
    assert row.text.startswith(f"{HEAD}\nUser: u1: some words")
    assert row.model == ""


@pytest.mark.parametrize("reply", [Failed("engine_failed", "It broke.", 500), "", "   "])
async def test_a_model_that_writes_no_summary_is_replaced_by_first_sentences(
    bench: Bench, reply: str | Failed
) -> None:
    bench.model.says = lambda request: reply
    await bench.turns(3)
    row = await bench.compaction.compact("ann", "c")
    assert "User: u1: some words" in row.text
    assert row.model == ""


async def test_a_long_past_is_summed_up_piece_by_piece(bench: Bench) -> None:
    await bench.turns(40, "some quite long words ")
    bench.tokens = 20_000
    await bench.compaction.compact("ann", "c")
    assert len(bench.model.asked) > 2
    assert "Summary so far: They talked." in bench.model.asked[1].messages[1].text
    assert all(len(asked.messages[1].text) < 4096 * 3.6 for asked in bench.model.asked)


async def test_a_second_compaction_goes_on_from_the_first(bench: Bench) -> None:
    await bench.turns(2)
    bench.tokens = 4000
    await bench.compaction.compact("ann", "c", "one")
    store = bench.stores.of("c")
    more = [
        StoredMessage("a9", "c", "last", "assistant", (TextContent("Now this."),)),
        StoredMessage("u9", "c", "a9", "user", (TextContent("And then?"),)),
    ]
    await store.messages.add(more, leaf="u9")
    second = await bench.compaction.compact("ann", "c", "two")
    assert second.parent == "a9"
    assert "Summary so far: Earlier in this conversation: They talked." in " ".join(
        bench.model.asked[-1].messages[1].text.split()
    )


async def test_a_run_gets_room_and_its_leaf_stays(bench: Bench) -> None:
    await bench.turns(4)
    bench.tokens = 4000
    await bench.stores.of("c").runs.begin(Run("r", "c", 1), "ann", b"{}")
    assert await bench.compaction.make_room("ann", "c", "last", CARD) == "last"
    assert any(row.kind == "summary" for row in await bench.stores.of("c").messages.path("c", "last"))


async def test_where_there_is_nothing_to_gain_no_room_is_made(bench: Bench) -> None:
    await bench.turns(0)
    bench.tokens = 4000
    assert await bench.compaction.make_room("ann", "c", "last", CARD) is None
    with pytest.raises(BadRequest) as raised:
        await bench.compaction.compact("ann", "c")
    assert raised.value.code == "nothing_to_fold"


async def test_compaction_by_hand_waits_for_the_running_reply(bench: Bench) -> None:
    await bench.turns(2)
    await bench.stores.of("c").runs.begin(Run("r", "c", 1), "ann", b"{}")
    with pytest.raises(Busy) as raised:
        await bench.compaction.compact("ann", "c")
    assert raised.value.code == "run_in_progress"


async def test_another_users_context_does_not_exist(bench: Bench) -> None:
    await bench.turns(2)
    for attempt in (
        bench.compaction.gauge("bob", "c"),
        bench.compaction.compact("bob", "c"),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await bench.compaction.make_room("bob", "c", "last", CARD) is None
    assert not any(row.kind == "summary" for row in await bench.stores.of("c").messages.all("c"))


async def test_two_compactions_at_the_same_time_leave_one_summary(bench: Bench) -> None:
    await bench.turns(3)
    async with anyio.create_task_group() as group:
        for id in ("one", "two"):
            group.start_soon(bench.compaction.compact, "ann", "c", id)
    rows = await bench.stores.of("c").messages.all("c")
    assert sum(row.kind == "summary" for row in rows) == 1


async def test_rows_that_were_deleted_meanwhile_leave_no_room(bench: Bench) -> None:
    await bench.turns(3)
    messages = bench.stores.of("c").messages

    bench.model.hold = anyio.Event()
    async with anyio.create_task_group() as group:
        made: list[str | None] = []

        async def make() -> None:
            made.append(await bench.compaction.make_room("ann", "c", "last", CARD))

        bench.tokens = 4000
        group.start_soon(make)
        while not bench.model.asked:
            await anyio.lowlevel.checkpoint()
        await messages.delete("c", [row.id for row in await messages.all("c")])
        bench.model.hold.set()
    assert made == [None]

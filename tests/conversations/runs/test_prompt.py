"""The request of a turn, over a real store with everything else played."""

import pytest
from tests.conversations.fakes.run_dependencies import CARD, Surroundings
from tests.support.store_fixtures import Clock, conversation, memory, row

from duologue.conversations.runs.prompt import PromptBuilder
from duologue.conversations.runs.repository import RunRepository
from duologue.errors import Unavailable
from duologue.store.stores import Store
from duologue.values.conversations import GenerationOptions
from duologue.values.messages import ImagePart, Message
from duologue.values.requests import ModelCard

__all__ = ["memory"]
pytestmark = pytest.mark.anyio

ANSWER = row("c", "a", "m2", "", "assistant", status="running")


class Desk:
    def __init__(self, store):
        self.store = store
        self.around = Surroundings(Clock())
        self.counted = []
        self.tokens = 0
        self.room = []
        self.around.count = self._count
        self.around.make_room = self._make_room

    async def _count(self, request, user):
        self.counted.append(request)
        if isinstance(self.tokens, Exception):
            raise self.tokens
        return type("Counted", (), {"tokens": self.tokens, "context": 10_000})

    async def _make_room(self, user, conversation, leaf, card):
        self.room.append((user, conversation, leaf))
        return leaf

    def prompting(self, options=None):
        options = options or GenerationOptions("mini")
        return PromptBuilder("ann", "c", options, RunRepository(self.store), self.around.dependencies())


@pytest.fixture
async def desk(memory):
    store = Store(memory, Clock())
    await conversation(store, "One", "Two", "Three", id="c", user="ann")
    return Desk(store)


async def test_the_path_above_the_row_is_sent_and_nothing_of_other_branches(desk):
    await desk.store.messages.add([row("c", "other", "m0", "Elsewhere", "assistant")])
    request = await desk.prompting().request(ANSWER, {}, continues=False)
    assert [message.text for message in request.messages] == ["One", "Two", "Three"]


async def test_rows_of_the_run_are_sent_as_they_stand_where_the_store_is_behind(desk):
    newer = row("c", "m1", "m0", "Two and more", "assistant")
    request = await desk.prompting().request(ANSWER, {"m1": newer}, continues=False)
    assert request.messages[1].text == "Two and more"


async def test_a_row_that_goes_on_is_last(desk):
    half = row("c", "a", "m2", "Half", "assistant", status="running")
    request = await desk.prompting().request(half, {}, continues=True)
    assert [message.text for message in request.messages] == ["One", "Two", "Three", "Half"]


async def test_the_tools_stay_the_same_for_the_run_and_get_a_third_of_the_context(desk):
    desk.around.toolbox.add("clock")
    prompting = desk.prompting()
    await prompting.request(ANSWER, {}, continues=False)
    desk.around.toolbox.add("later")
    request = await prompting.request(ANSWER, {}, continues=False)
    assert [tool.name for tool in request.tools] == ["clock"] == list(prompting.tools)
    assert [budget for _, _, budget in desk.around.toolbox.offered] == [3333]


async def test_a_model_that_still_loads_is_offered_tools_without_a_budget(desk):
    desk.around.toolbox.add("clock")
    desk.around.cards["mini"] = ModelCard("mini", "llama", 0)
    request = await desk.prompting().request(ANSWER, {}, continues=False)
    assert len(request.tools) == 1
    assert desk.around.toolbox.offered[0][2] is None


async def test_a_short_prompt_is_not_even_counted(desk):
    await desk.prompting().request(ANSWER, {}, continues=False)
    assert (desk.counted, desk.room) == ([], [])


@pytest.mark.parametrize(("tokens", "made"), [(8_750, 0), (8_751, 1), (Unavailable("Gone."), 0)])
async def test_room_is_made_when_less_than_an_eighth_is_left(desk, tokens, made):
    assert CARD.context == 10_000
    long = row("c", "m2", "m1", "x" * 9_000)
    desk.tokens = tokens
    await desk.prompting().request(ANSWER, {"m2": long}, continues=False)
    assert len(desk.counted) == 1
    assert desk.room == [("ann", "c", "m2")] * made


async def test_room_is_made_without_counting_when_the_prompt_proved_too_long(desk):
    await desk.prompting().request(ANSWER, {}, continues=False, make_room=True)
    assert (len(desk.counted), len(desk.room)) == (0, 1)


async def test_pictures_count_as_what_they_may_take(desk):
    async def pictures(user, rows, card):
        return (Message("user", tuple(ImagePart(b"") for _ in rows)),)

    desk.around.attachments.messages = pictures
    await desk.prompting().request(ANSWER, {}, continues=False)
    assert len(desk.counted) == 1


async def test_without_anybody_to_make_room_nothing_is_counted(desk):
    desk.around.make_room = None
    prompting = desk.prompting()
    assert not prompting.can_make_room
    long = row("c", "m2", "m1", "x" * 20_000)
    await prompting.request(ANSWER, {"m2": long}, continues=False)
    assert desk.counted == []

"""The oldest turns are left out until the rest fits, as few as possible."""

from __future__ import annotations

import pytest

from duologue.errors import Unsupported
from duologue.gateway.responses.truncation import fitted_to_context, turn_starts
from duologue.values.messages import Message, TextPart, assistant, system, user
from duologue.values.questions.worker_answers import Counted
from duologue.values.requests import ChatRequest, ModelCard, Sampling

pytestmark = pytest.mark.anyio

CARD = ModelCard("mini", "scripted", 100, verbs=("count",))


async def ten_each(request: ChatRequest, user: str) -> Counted:
    return Counted(10 * len(request.messages), 100)


async def fitted(*messages: Message, most: int | None = None) -> list[str]:
    request = ChatRequest(messages, sampling=Sampling(max_tokens=most))
    return [message.text for message in (await fitted_to_context(request, CARD, ten_each, "ann")).messages]


def turns(count: int) -> list[Message]:
    return [message for number in range(count) for message in (user(f"u{number}"), assistant(f"a{number}"))]


async def test_what_fits_stays_whole() -> None:
    assert len(await fitted(system("s"), *turns(3))) == 7


async def test_as_few_turns_as_possible_go_and_the_instructions_stay() -> None:
    left = await fitted(system("s"), *turns(6), user("last"))
    assert left == ["s", "u4", "a4", "u5", "a5", "last"]


async def test_a_short_reply_leaves_more_room() -> None:
    assert len(await fitted(*turns(6), user("last"), most=1)) > len(await fitted(*turns(6), user("last")))


async def test_the_last_turn_stays_even_where_it_does_not_fit() -> None:
    many = [Message("tool", (TextPart("r"),), tool_call_id="c")] * 12
    assert (await fitted(*turns(3), user("last"), assistant(""), *many))[0] == "last"


def test_a_turn_begins_with_the_user_and_keeps_its_tools() -> None:
    tool = Message("tool", (TextPart("r"),), tool_call_id="c")
    assert turn_starts([system("s"), user("a"), user("b"), assistant("c"), tool, user("d")]) == [1, 5]


async def test_a_model_whose_tokens_cannot_be_counted_is_refused() -> None:
    with pytest.raises(Unsupported):
        await fitted_to_context(ChatRequest((user("a"),)), ModelCard("x", "remote", 0), ten_each, "ann")

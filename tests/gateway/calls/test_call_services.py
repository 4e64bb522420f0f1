"""What calls need of the server: a voice that is there, a history of the right kind, and a sentence where something is missing."""

import pytest
from tests.gateway.fake_seats import FakeGenerate, FakeSeats

from duologue.errors import Problem
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.models.registry import ModelRegistry
from duologue.values.call_events import CallSetup
from duologue.values.requests import ModelCard
from duologue.wire.calls.caller_messages import StartCall

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048)


def services() -> CallServices:
    return CallServices(FakeSeats(), FakeGenerate(), ModelRegistry(lambda: [MINI], {}))  # type: ignore[arg-type]


def told(problem: Problem) -> None:
    raise AssertionError(problem)


async def test_a_call_without_a_conversation_begins_with_its_instructions_and_the_default_model():
    start = StartCall(CallSetup(), instructions="Be kind.")
    history = await services().history("ada", start, told)
    assert isinstance(history, EphemeralHistory)
    assert (history.model, history.messages[0].text) == ("mini", "Be kind.")


async def test_a_conversation_is_refused_where_there_are_none():
    with pytest.raises(Problem) as raised:
        await services().history("ada", StartCall(CallSetup(), conversation_id="c1"), told)
    assert raised.value.param == "conversation_id"


async def test_the_context_of_a_model_is_known_or_0():
    assert (services().context_of("mini"), services().context_of("nobody")) == (2048, 0)


async def test_without_recordings_a_sentence_says_so():
    with pytest.raises(Problem) as raised:
        _ = services().recordings
    assert raised.value.code == "recording_unavailable"

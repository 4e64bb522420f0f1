"""Ending the thought of a running completion: by its own user, as long as it runs, where the model can."""

from contextlib import ExitStack

import pytest
from tests.support.asked_pool import AskedPool, asking
from tests.support.stand_in import StandIn

from duologue.engines.scripted.language import ScriptedChatEngine
from duologue.gateway.scheduling.running_replies import RunningReplies
from duologue.gateway.tokens.control_routes import router
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio
END = {"id": "chatcmpl-1", "action": "reasoning_end"}


class Lease(StandIn):
    ended = 0

    def end_thought(self) -> None:
        self.ended += 1


async def told(running: RunningReplies, pool: AskedPool, body: object = END, name: str = "ada"):
    async with asking(router(running, pool.registry), role="user", user=name) as http:
        return await http.post("/v1/chat/completions/control", json=body)


async def test_a_reply_is_told_by_its_own_user_while_it_runs():
    running, lease, pool = RunningReplies(), Lease(), AskedPool()
    with running.entered("ada", ChatRequest((user("a"),), model="m", reply_id="chatcmpl-1"), lease):
        assert (await told(running, pool)).json() == {"success": True}
        other = await told(running, pool, name="ben")
        assert (other.status_code, other.json()["error"]["code"]) == (404, "reply_not_found")
    assert (await told(running, pool)).status_code == 404
    assert lease.ended == 1


async def test_a_model_whose_thoughts_cannot_be_ended_says_so():
    running, pool = RunningReplies(), AskedPool(ScriptedChatEngine("m"))
    with running.entered("ada", ChatRequest((user("a"),), model="m", reply_id="chatcmpl-1"), Lease()):
        assert (await told(running, pool)).json()["error"]["code"] == "unsupported"


@pytest.mark.parametrize(
    "body", [{}, {"id": "a"}, {"id": "a", "action": "stop"}, {"action": "reasoning_end"}]
)
async def test_a_wrong_body_names_its_field(body):
    refused = await told(RunningReplies(), AskedPool(), body)
    assert (refused.status_code, refused.json()["error"]["param"]) in ((400, "id"), (400, "action"))


async def test_a_reply_without_an_id_is_known_to_nobody():
    running = RunningReplies()
    with ExitStack() as stack:
        stack.enter_context(running.entered("ada", ChatRequest((user("a"),)), Lease()))
        assert (await told(running, AskedPool(), {"id": "x", "action": "reasoning_end"})).status_code == 404

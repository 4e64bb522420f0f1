import anyio
import pytest
from tests.tools.servers import npm
from tests.tools.servers.talk import open_talk
from tests.tools.test_pinned_transport import site

from duologue.errors import BadRequest, Forbidden, Unavailable
from duologue.tools.mcp.login import LoginNeeded
from duologue.tools.ssrf_guard import AddressGuard, AllowList

pytestmark = pytest.mark.anyio


async def refusal(kind, **server):
    with pytest.raises(kind) as refused:
        async with open_talk(**server):
            pytest.fail("it was let in")
    return refused.value


async def test_the_phases_are_told_as_they_come():
    command, *arguments = npm.ours("odd")
    async with open_talk(command=command, args=tuple(arguments)) as talk:
        assert talk.phases == ["starting", "handshake"]
        assert talk.session.about.title == "An odd server"


async def test_without_a_transport_in_the_settings_both_are_tried():
    with npm.everything("sse") as port:
        async with open_talk(url=f"http://127.0.0.1:{port}/sse") as talk:
            assert talk.phases == ["starting", "handshake"]
    with npm.everything("streamableHttp") as port:
        async with open_talk(url=f"http://127.0.0.1:{port}/mcp") as talk:
            assert talk.phases == ["starting", "handshake"]


async def test_the_other_transport_is_tried_when_the_first_is_not_answered():
    with npm.everything("sse") as port:
        # The reference server has its stream of events under /sse and nothing else there.
        async with open_talk(url=f"http://127.0.0.1:{port}/sse?x=1") as talk:
            assert talk.phases == ["starting", "handshake", "starting", "handshake"]
            assert "Trying the other transport" in talk.log()


async def test_a_command_there_is_not_cannot_be_mended_by_waiting():
    problem = await refusal(BadRequest, command="/no/such/program")
    assert "/no/such/program" in problem.message


async def test_a_program_that_ends_at_once_is_said():
    problem = await refusal(Unavailable, command="true")
    assert problem.message == "The connection ended before the server answered."


async def test_nobody_listening_is_said():
    problem = await refusal(Unavailable, url="http://127.0.0.1:1/mcp", type="http")
    assert problem.code == "tool_server_unreachable"
    assert "connection" in problem.message.lower()


async def test_a_server_that_answers_something_else_is_said():
    with site({"/mcp": (200, {"content-type": "text/html"}, b"<h1>Hello</h1>")}) as (port, _):
        problem = await refusal(Unavailable, url=f"http://127.0.0.1:{port}/mcp", type="http")
        assert "501" in problem.message


async def test_a_server_that_wants_a_sign_in_is_told_from_one_that_is_down():
    with npm.listening(npm.ours("guarded")) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        await refusal(LoginNeeded, url=url)
        wrong = await refusal(Forbidden, url=url, headers={"Authorization": "Bearer wrong-wrong"})
        assert "key" in wrong.message


async def test_an_added_server_cannot_lead_inside():
    problem = await refusal(Forbidden, url="http://127.0.0.1:1/mcp", addresses=AddressGuard(AllowList()))
    assert problem.code == "private_address"


async def test_an_added_server_may_be_where_the_setting_allows():
    with npm.everything("streamableHttp") as port:
        addresses = AddressGuard(AllowList(("127.0.0.1",)))
        async with open_talk(url=f"http://127.0.0.1:{port}/mcp", addresses=addresses) as talk:
            assert (await talk.session.listing()).tools


async def test_a_silent_server_can_be_given_up():
    command, *arguments = npm.ours("odd", "silent")
    with anyio.move_on_after(0.5) as scope:
        async with open_talk(command=command, args=tuple(arguments)):
            pytest.fail("it said something")
    assert scope.cancelled_caught

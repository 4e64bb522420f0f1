import anyio
import pytest

from duologue.errors import BadRequest, Forbidden
from duologue.tools.mcp.login import (
    FINISH_SECONDS,
    WAIT_SECONDS,
    AuthorizationResponse,
    LoginNeeded,
    McpLogin,
)

pytestmark = pytest.mark.anyio
URL = "https://auth.example/authorize?state=abc&client_id=1"


async def test_a_person_who_asked_gets_the_address_and_time_to_use_it():
    seen = []
    with anyio.CancelScope() as limit:
        login = McpLogin("ann", "http://here/back", interactive=True)
        login.begin(limit, lambda: seen.append(login.address))
        await login.open(URL)
        assert seen == [URL]
        assert limit.deadline > anyio.current_time() + WAIT_SECONDS / 2
        login.complete(AuthorizationResponse("code", "abc"))
        assert (await login.wait_for_response()).code == "code"
        assert limit.deadline <= anyio.current_time() + FINISH_SECONDS


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)//?state=abc", "file:///etc/passwd?state=abc", "https://a/?state=" + "x" * 100_000],
)
async def test_nobody_is_sent_to_an_address_that_is_not_of_the_web(url):
    login = McpLogin("ann", "http://here/back", interactive=True)
    login.begin(anyio.CancelScope(), lambda: None)
    with pytest.raises(Forbidden):
        await login.open(url)
    assert login.address == ""


async def test_a_state_in_the_servers_own_address_does_not_count():
    login = McpLogin("ann", "", interactive=True)
    login.begin(anyio.CancelScope(), lambda: None)
    await login.open("https://auth.example/authorize?state=theirs?client_id=1&state=ours")
    with pytest.raises(BadRequest):
        login.complete(AuthorizationResponse("code", "theirs"))
    login.complete(AuthorizationResponse("code", "ours"))


async def test_nobody_is_sent_anywhere_who_did_not_ask():
    login = McpLogin("ann", "", interactive=False)
    login.begin(anyio.CancelScope(), lambda: None)
    with pytest.raises(LoginNeeded):
        await login.open(URL)
    assert login.address == ""
    assert not login.fail()


async def test_an_answer_counts_once_and_only_with_its_state():
    login = McpLogin("ann", "", interactive=True)
    login.begin(anyio.CancelScope(), lambda: None)
    with pytest.raises(BadRequest):
        login.complete(AuthorizationResponse("code", ""))
    await login.open(URL)
    with pytest.raises(BadRequest):
        login.complete(AuthorizationResponse("code", "other"))
    login.complete(AuthorizationResponse("code", "abc"))
    with pytest.raises(BadRequest):
        login.complete(AuthorizationResponse("code", "abc"))


async def test_a_failure_for_another_reason_is_no_matter_of_signing_in():
    login = McpLogin("ann", "", interactive=True)
    login.begin(anyio.CancelScope(), lambda: None)
    assert login.fail()


async def test_once_signed_in_nobody_is_sent_there_again_unasked():
    login = McpLogin("ann", "", interactive=True)
    login.begin(anyio.CancelScope(), lambda: None)
    await login.open(URL)
    login.finish()
    with pytest.raises(LoginNeeded):
        await login.open(URL)

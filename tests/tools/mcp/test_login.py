import anyio
import pytest

from duologue.errors import BadRequest
from duologue.tools.mcp.login import WAIT_SECONDS, AuthorizationResponse, LoginNeeded, McpLogin

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
        assert limit.deadline <= anyio.current_time() + 60


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

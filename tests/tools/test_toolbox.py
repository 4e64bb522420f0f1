from contextlib import asynccontextmanager

import pytest
from tests.tools.fakes import SCHEMA, FakeSession, Person, Rows, Servers, Time, until

from duologue.config import Settings
from duologue.errors import BadRequest, NotFound, Unavailable
from duologue.tools.mcp.capabilities import ServerTool
from duologue.tools.mcp.login import LoginNeeded
from duologue.tools.toolbox import Toolbox
from duologue.values.conversations import GenerationOptions

pytestmark = pytest.mark.anyio
ANY = GenerationOptions()


class Named(Servers):
    """A session for each server by its name, or what it fails with."""

    def __init__(self, **by_name):
        super().__init__()
        self.by_name = by_name

    @asynccontextmanager
    async def server(self, config, journal, login, on_phase):
        answer = self.by_name[config.name]
        if isinstance(answer, Exception):
            raise answer
        yield answer


@asynccontextmanager
async def toolbox(builtin=("clock", "calculator"), **by_name):
    time = Time()
    settings = Settings.model_validate(
        {"mcp": {"servers": {name: {"command": "true"} for name in by_name}}, "tools": {"builtin": builtin}}
    )
    toolbox = Toolbox(settings, Rows(), now=time.now, sleep=time.sleep, open_server=Named(**by_name).server)
    async with toolbox.running():
        for name in by_name:
            await (await toolbox.registry.connection(name, "ann")).wait_for_attempt()
        yield toolbox


def one(name, description="Does it.", read_only=False, schema=SCHEMA):
    return ServerTool(name, "", description, schema, read_only)


async def call(box, tool, arguments="{}", user="ann", person=None):
    person = person or Person()
    return await box.call_tool(
        tool,
        arguments,
        user=user,
        conversation="c",
        report=person.report,
        ask=person.ask,
        keep=person.keep,
    )


async def test_built_in_tools_and_servers_are_offered_together():
    async with toolbox(files=FakeSession((one("read", read_only=True), one("write")))) as box:
        offer = await box.offer("ann", ANY)
        assert [(tool.name, tool.server, tool.read_only) for tool in offer.tools] == [
            ("calculator", "builtin", True),
            ("clock", "builtin", True),
            ("read", "files", True),
            ("write", "files", False),
        ]
        assert offer.system == "About the tools of files: Use echo to echo."


async def test_a_clash_of_names_shows_whose_tools_they_are():
    async with toolbox(web=FakeSession((one("clock"),))) as box:
        offer = await box.offer("ann", ANY)
        assert {tool.name for tool in offer.tools} == {"calculator", "builtin_clock", "web_clock"}


async def test_names_stay_when_a_server_is_switched_off():
    async with toolbox(web=FakeSession((one("clock"),))) as box:
        offer = await box.offer("ann", GenerationOptions(servers={"web": False}))
        assert {tool.name for tool in offer.tools} == {"calculator", "builtin_clock"}


async def test_tools_and_servers_can_be_switched_off():
    async with toolbox(web=FakeSession((one("open"),))) as box:
        assert (await box.offer("ann", GenerationOptions(tools=False))).tools == ()
        offer = await box.offer("ann", GenerationOptions(servers={"builtin": False}))
        assert [tool.name for tool in offer.tools] == ["open"]


async def test_servers_that_cannot_be_used_now_are_named_with_the_reason():
    async with toolbox(
        bad=Unavailable("It answered 502."), guarded=LoginNeeded(), good=FakeSession((one("a"),))
    ) as box:
        offer = await box.offer("ann", ANY)
        assert {one.server: one.reason for one in offer.left_out} == {
            "bad": "It is unavailable: It answered 502.",
            "guarded": "You need to sign in to this server first.",
        }


async def test_a_chat_does_not_wait_for_servers_that_are_starting():
    time = Time()
    box = Toolbox(
        Settings.model_validate({"mcp": {"servers": {"slow": {"command": "true"}}}}),
        Rows(),
        now=time.now,
        open_server=Named(slow=FakeSession()).server,
    )
    async with box.running():
        assert [(one.server, one.reason) for one in (await box.offer("ann", ANY)).left_out] == [
            ("slow", "It is still starting.")
        ]


async def test_the_server_used_last_keeps_its_place_when_there_is_little_room():
    large = one("x", description="word " * 150)
    async with toolbox((), a=FakeSession((large,)), b=FakeSession((one("y", "word " * 150),))) as box:
        everything = (await box.offer("ann", ANY)).tools
        await call(box, next(tool for tool in everything if tool.server == "b"), '{"word": "x"}')
        offer = await box.offer("ann", ANY, budget_tokens=350)
        assert [tool.server for tool in offer.tools] == ["b"]
        assert [left.server for left in offer.left_out] == ["a"]


async def test_where_tokens_can_be_counted_they_are_and_only_once():
    requests = []

    class Counted:
        def __init__(self, tokens):
            self.tokens = tokens

    async def count(request, user):
        assert user == "ann"
        requests.append(request)
        return Counted(10 + 100 * len(request.tools))

    async with toolbox(("clock",), a=FakeSession((one("x"), one("y")))) as box:
        for _ in range(2):
            offer = await box.offer("ann", GenerationOptions(model="m"), budget_tokens=250, count=count)
            assert [tool.server for tool in offer.tools] == ["builtin"]
            assert "200 tokens" in offer.left_out[0].reason
        assert len(requests) == 4
        assert {request.model for request in requests} == {"m"}


async def test_a_count_that_fails_is_estimated():
    async def count(request, user):
        raise Unavailable("No worker.")

    async with toolbox(("clock",)) as box:
        assert (await box.offer("ann", ANY, budget_tokens=4000, count=count)).tools


async def test_calls_go_to_where_the_tool_lives():
    session = FakeSession((one("echo"),))
    async with toolbox(web=session) as box:
        tools = {tool.name: tool for tool in (await box.offer("ann", ANY)).tools}
        assert (await call(box, tools["echo"], '{"word": "hi"}')).content[0].text == "echo hi"
        assert (await call(box, tools["calculator"], {"expression": "1+1"})).content[0].text == "2"


async def test_what_is_wrong_with_a_call_is_told_before_it_is_made():
    session = FakeSession((one("echo"),))
    async with toolbox(web=session) as box:
        (tool,) = [tool for tool in (await box.offer("ann", ANY)).tools if tool.server == "web"]
        for arguments, said in (("{", "JSON"), ("{}", "'word' is a required property"), ("[]", "object")):
            outcome = await call(box, tool, arguments)
            assert outcome.failed
            assert said in outcome.content[0].text
        session.changed()
        await until(lambda: not session.stale)
        outcome = await call(box, tool, '{"word": "x"}')
        assert "no longer has" in outcome.content[0].text
        assert session.calls == []


async def test_a_tool_of_a_server_that_is_gone_fails_with_a_sentence():
    async with toolbox(web=FakeSession((one("echo"),))) as box:
        (tool,) = [tool for tool in (await box.offer("ann", ANY)).tools if tool.server == "web"]
    async with toolbox() as box:
        outcome = await call(box, tool)
        assert outcome.failed
        assert "no tool server 'web'" in outcome.content[0].text


async def test_health_names_every_server_the_built_in_tools_first():
    async with toolbox(web=FakeSession(), bad=Unavailable("Down.")) as box:
        health = await box.servers("ann")
        assert [(one.name, one.phase, one.tools) for one in health] == [
            ("builtin", "ready", 2),
            ("bad", "waiting", 0),
            ("web", "ready", 1),
        ]
        assert set(await box.tools("ann")) == {"builtin", "bad", "web"}
        assert [line.text for line in await box.log("bad", "ann")] == ["starting", "waiting: Down."]


async def test_reconnecting_tells_what_came_of_it():
    async with toolbox(bad=Unavailable("Down.")) as box:
        assert (await box.reconnect("bad", "ann")).message == "Down."
        with pytest.raises(NotFound):
            await box.reconnect("none", "ann")


async def test_a_prompt_without_what_it_needs_is_refused():
    from duologue.tools.mcp.capabilities import Listing, PromptArgument, ServerPrompt

    class Prompting(FakeSession):
        async def listing(self):
            return Listing(
                prompts=(ServerPrompt("letter", arguments=(PromptArgument("to", required=True),)),)
            )

    async with toolbox(web=Prompting()) as box:
        person = Person()
        assert [prompt.name for prompt in (await box.prompts("ann"))["web"]] == ["letter"]
        with pytest.raises(BadRequest):
            await box.prompt("web", "letter", {}, user="ann", keep=person.keep)
        filled = await box.prompt("web", "letter", {"to": "Bob"}, user="ann", keep=person.keep)
        assert filled.messages == (("user", "{'to': 'Bob'}"),)
        assert await box.complete("web", "prompt", "letter", "to", "Bo", {}, user="ann") == ("Bo!",)
        assert (await box.read("web", "a://b", user="ann", keep=person.keep))[0].text == "a://b"

"""The replies of a call: tools run in between, questions are asked aloud and on the screen, and what the caller says over them
answers, or ends them."""

from collections.abc import Sequence

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import FunctionTools
from tests.gateway.call_fixture import RunningCall
from tests.gateway.fake_seats import FakeGenerate, FakeLease, failed, words

from duologue.conversations.agent.call_agent import CallContext
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.errors import BadRequest
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.calls.spoken_approvals import SORRY
from duologue.tools.values import OfferedTool
from duologue.values import call_events
from duologue.values.call_events import CallSetup
from duologue.values.conversations import Approval
from duologue.values.events import Done, Event, TextDelta, ToolCallDelta, Usage
from duologue.values.messages import Tool
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio

QUESTION = "May I use write of desk, with text milk?"


def calling(*names: str, text: str = "", arguments: str = '{"text": "milk"}') -> list[Event]:
    said: list[Event] = [TextDelta(text)] if text else []
    deltas = [ToolCallDelta(at, arguments, f"c{at}", name) for at, name in enumerate(names)]
    return [*said, *deltas, Done("tool_calls")]


class Desk(EphemeralHistory):
    """A conversation whose replies may look, and write when they are allowed to."""

    def __init__(self, toolbox: FunctionTools) -> None:
        super().__init__("Be kind.", "m", ())
        numbers = iter(range(1000))
        self.allowed: set[tuple[str, str]] = set()

        async def permissions() -> set[tuple[str, str]]:
            return self.allowed

        async def allow(server: str, tool: str) -> None:
            self.allowed.add((server, tool))

        self._context = CallContext(
            dependencies=ToolDependencies(lambda: 0, lambda: 0.0, lambda: f"id{next(numbers)}", toolbox),
            tools={
                name: OfferedTool(name, server, name, read_only=read_only)
                for name, (_, read_only, server) in toolbox.functions.items()
            },
            permissions=permissions,
            allow=allow,
        )

    @property
    def turns(self) -> list[tuple[str, str]]:
        """What is remembered, but for the instructions."""
        return [(message.role, message.text) for message in self.messages[1:]]


class Talk:
    """A call whose caller has said one thing, and what came of it."""

    def __init__(self, *turns: Sequence[Event], tools: FunctionTools | None = None, context: int = 0) -> None:
        self.tools = tools or FunctionTools().add("look").add("write", read_only=False)
        self.seat = FakeLease()
        self.desk = Desk(self.tools)
        self.generate = FakeGenerate(*turns)
        self.fixture = RunningCall(self.seat, generate=self.generate, history=self.desk, context=context)
        self.client = self.fixture.client

    def __call__(self, setup: CallSetup | None = None):
        return self.fixture.running(setup or CallSetup(pauses=True, marks=True))

    async def say(self, *events: object) -> None:
        self.seat.say(*events)
        await anyio.wait_all_tasks_blocked()

    async def wants(self, reply: int = 1, text: str = "do it", *, sure: bool = True) -> None:
        await self.say(call_events.ReplyRequested(0, reply, reply, 1, text))
        if sure:
            await self.say(call_events.TurnConfirmed(0, reply))

    async def interrupts(self, reply: int, heard: str = "", *, turn: int = 1, text: str = "do it") -> None:
        """The caller speaks over it."""
        kept = call_events.UserSaid(0, turn, text)
        over = call_events.AssistantSaid(1, reply, heard, "", "interrupted")
        await self.say(kept, call_events.Cut(1, reply), call_events.CancelReply(1, reply), over)

    async def is_spoken(self, reply: int, heard: str, *, turn: int = 1, text: str = "do it") -> None:
        await self.say(
            call_events.UserSaid(0, turn, text), call_events.AssistantSaid(0, reply, heard, "", "spoken")
        )

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.tools.called]

    @property
    def states(self) -> list[str]:
        return [message["state"] for message in self.client.of("tool")]


# ---- tools


async def test_a_tool_of_the_server_runs_and_its_result_is_spoken():
    talk = Talk(calling("look", text="Let me see. "), words("It is milk."))
    async with talk():
        await talk.wants(sure=False)
        assert talk.seat.controls == [
            call_events.Text(1, "Let me see. "),
            call_events.ToolsRunning(1),
            call_events.ToolsRunning(1, busy=False),
            call_events.Text(1, "It is milk."),
            call_events.Text(1, "", last=True),
        ]
        await talk.is_spoken(1, "Let me see. It is milk.")
    assert talk.desk.turns == [
        ("user", "do it"),
        ("assistant", "Let me see. "),
        ("tool", 'look of {"text":"milk"}'),
        ("assistant", "It is milk."),
    ]
    assert talk.desk.messages[2].tool_calls[0].name == "look"
    assert [message.role for message in talk.generate.requests[1].messages] == [
        "system", "user", "assistant", "tool",
    ]  # fmt: skip


async def test_replies_are_asked_for_in_the_language_of_the_call():
    talk = Talk(calling("look"), words("Guten Tag."))
    async with talk(CallSetup(pauses=True, marks=True, language="de-AT")):
        await talk.wants()
    assert [request.spoken_language for request in talk.generate.requests] == ["de-AT", "de-AT"]


async def test_what_is_said_after_a_tool_is_a_paragraph_of_its_own_and_each_turn_keeps_its_text():
    talk = Talk(calling("look", text="Let me see."), words("It is milk."))
    async with talk():
        await talk.wants()
        written = [each.text for each in talk.seat.controls if isinstance(each, call_events.Text)]
        assert "".join(written) == "Let me see.\n\nIt is milk."
        await talk.is_spoken(1, "Let me see.\n\nIt is milk.")
    assert [text for role, text in talk.desk.turns if role == "assistant"] == ["Let me see.", "It is milk."]


async def test_the_client_sees_what_becomes_of_each_call():
    talk = Talk(calling("look", "nothing"), words("So."))
    async with talk():
        await talk.wants()
        ended = await talk.client.until("tool", call_id="c0", state="done")
        failed = await talk.client.until("tool", call_id="c1", state="failed")
    assert (ended["name"], ended["server"], ended["reply_id"]) == ("look", "desk", 1)
    assert ended["text"] == 'look of {"text":"milk"}'
    assert "no tool called 'nothing'" in failed["text"]
    assert "running" in talk.states


async def test_what_may_have_effects_waits_until_the_caller_has_ended_for_sure():
    talk = Talk(calling("write"), words("Written."))
    talk.desk.allowed.add(("desk", "write"))
    async with talk():
        await talk.wants(sure=False)
        assert talk.called == []
        await talk.say(call_events.TurnConfirmed(0, 1))
        assert talk.called == ["write"]


async def test_what_was_done_for_a_turn_that_goes_on_is_not_done_again_for_want_of_knowing():
    talk = Talk(calling("write"), [], calling("look"), words("Both."))
    talk.desk.allowed.add(("desk", "write"))
    async with talk():
        await talk.wants()
        await talk.say(
            call_events.CancelReply(0, 1), call_events.ReplyRequested(0, 2, 1, 2, "do it and look")
        )
        again = talk.generate.requests[2]
    assert [(message.role, message.text) for message in again.messages[1:]] == [
        ("user", "do it and look"),
        ("assistant", ""),
        ("tool", 'write of {"text":"milk"}'),
    ]


async def test_who_talks_over_a_running_tool_ends_it_and_the_history_says_so():
    tools = FunctionTools()

    async def hang(*_: object, **__: object) -> str:
        await anyio.sleep_forever()
        return ""

    talk = Talk(calling("look", text="Let me see. "), words("Well."), tools=tools.add("look", hang))
    async with talk():
        await talk.wants()
        await talk.interrupts(1, "Let me")
        assert tools.running == 0
        await talk.wants(2, "never mind")
    assert talk.states[-1] == "skipped"
    assert [role for role, _ in talk.desk.turns] == ["user", "assistant", "tool", "user"]
    assert talk.desk.turns[1] == ("assistant", "Let me")
    assert "stopped" in talk.desk.turns[2][1]
    assert [message.text for message in talk.generate.requests[1].messages][-1] == "never mind"


async def test_a_model_that_never_stops_calling_is_apologised_for():
    talk = Talk(*[calling("look") for _ in range(10)])
    async with talk():
        await talk.wants()
        assert isinstance(talk.seat.controls[-1], call_events.ReplyFailed)
    assert len(talk.generate.requests) == 10


async def test_hanging_up_keeps_what_was_done_and_heard():
    talk = Talk(calling("look", text="Let me see. "), words("It is milk."))
    async with talk():
        await talk.wants()
        await talk.say(call_events.UserSaid(0, 1, "do it"))
    assert [role for role, _ in talk.desk.turns] == ["user", "assistant", "tool"]


# ---- a call that outgrows its model

LONG = failed("context_length_exceeded", "Too long.")


async def test_a_call_that_outgrows_its_model_goes_on_without_its_oldest_turns():
    talk = Talk(LONG, words("Yes."), words("Again."))
    for number in range(1, 5):
        talk.desk.add_user_turn(f"question {number}")
        talk.desk.add_reply(f"answer {number}.", "", "spoken")
    async with talk():
        await talk.wants(text="well?")
        assert talk.seat.controls == [call_events.Text(1, "Yes."), call_events.Text(1, "", last=True)]
        await talk.is_spoken(1, "Yes.", text="well?")
        await talk.wants(2, "sure?")
    left = ["Be kind.", "question 4", "answer 4.", "well?"]
    assert [message.text for message in talk.generate.requests[1].messages] == left
    # The next prompt begins there at once, so it is read from the cache.
    assert [message.text for message in talk.generate.requests[2].messages] == [*left, "Yes.", "sure?"]
    assert talk.client.of("error") == []


async def test_a_prompt_that_nearly_filled_its_model_is_shortened_before_a_reply_is_cut_short():
    said: list[Event] = [TextDelta("Yes."), Done("stop", Usage(input=800, output=20))]
    talk = Talk(said, words("Sure."), context=1000)
    for number in range(1, 5):
        talk.desk.add_user_turn(f"question {number}")
        talk.desk.add_reply(f"answer {number}.", "", "spoken")
    async with talk():
        await talk.wants(text="well?")
        await talk.is_spoken(1, "Yes.", text="well?")
        await talk.wants(2, "sure?")
    left = ["Be kind.", "question 4", "answer 4.", "well?", "Yes.", "sure?"]
    assert [message.text for message in talk.generate.requests[0].messages][1] == "question 1"
    assert [message.text for message in talk.generate.requests[1].messages] == left


async def test_it_leaves_out_more_until_only_the_turn_itself_is_left():
    talk = Talk(*[LONG] * 4)
    for number in range(1, 4):
        talk.desk.add_user_turn(f"question {number}")
        talk.desk.add_reply(f"answer {number}.", "", "spoken")
    async with talk():
        await talk.wants(text="well?")
        assert talk.seat.controls == [call_events.ReplyFailed(1, SORRY["en"])]
        assert (await talk.client.until("error"))["code"] == "context_length_exceeded"
    assert [message.text for message in talk.generate.requests[-1].messages] == ["Be kind.", "well?"]


async def test_what_its_tools_did_stays_when_the_rest_is_left_out():
    talk = Talk(calling("look"), LONG, words("It is milk."))
    talk.desk.add_user_turn("before")
    talk.desk.add_reply("Yes.", "", "spoken")
    async with talk():
        await talk.wants()
    roles = [message.role for message in talk.generate.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "tool"]
    assert talk.called == ["look"]


async def test_nothing_is_asked_anew_once_something_was_said():
    talk = Talk([TextDelta("Well, "), *LONG], words("Again."))
    talk.desk.add_user_turn("before")
    async with talk():
        await talk.wants()
    assert talk.seat.controls == [call_events.Text(1, "Well, "), call_events.ReplyFailed(1, SORRY["en"])]


# ---- questions


async def test_a_call_that_needs_leave_is_asked_about_aloud_and_on_the_screen():
    talk = Talk(calling("write"), words("Written."))
    async with talk():
        await talk.wants(sure=False)
        assert not talk.client.of("approval_asked")
        await talk.say(call_events.TurnConfirmed(0, 1))
        asked = await talk.client.until("approval_asked")
        assert (asked["question"], asked["approval"]["tool"], asked["reply_id"]) == (QUESTION, "write", 1)
        assert call_events.ToolsRunning(1, question=QUESTION) in talk.seat.controls
        assert await talk.fixture.call.replies.answer_approval(asked["approval"]["id"], "once", {})
        answered = await talk.client.until("approval_answered")
        assert (answered["id"], answered["decision"]) == (asked["approval"]["id"], "once")
        await anyio.wait_all_tasks_blocked()
        assert talk.called == ["write"]
        assert talk.seat.controls[-2:] == [
            call_events.Text(1, "Written."),
            call_events.Text(1, "", last=True),
        ]
        assert not await talk.fixture.call.replies.answer_approval(asked["approval"]["id"], "deny", {})


async def test_a_spoken_yes_answers_it_and_is_no_turn():
    talk = Talk(calling("write", text="I will. "), words("Written."))
    async with talk():
        await talk.wants()
        await talk.interrupts(1, "I will. ")
        assert talk.client.of("approval_answered") == []
        await talk.wants(2, "Yes, please.", sure=False)
        assert talk.called == []
        await talk.say(call_events.TurnConfirmed(0, 2))
        assert talk.called == ["write"]
        assert talk.seat.controls[-2:] == [
            call_events.Text(2, "Written."),
            call_events.Text(2, "", last=True),
        ]
        await talk.is_spoken(2, "Written.", turn=2, text="Yes, please.")
    assert [role for role, _ in talk.desk.turns] == ["user", "assistant", "tool", "assistant"]
    assert talk.desk.turns[1] == ("assistant", "I will. ")
    assert talk.desk.turns[3] == ("assistant", "Written.")
    assert talk.client.of("approval_answered")[0]["decision"] == "once"


async def test_a_spoken_no_is_a_no_and_the_model_is_told():
    talk = Talk(calling("write"), words("Fine."))
    async with talk():
        await talk.wants()
        await talk.interrupts(1)
        await talk.wants(2, "no")
        assert talk.called == []
        assert "denied" in talk.generate.requests[1].messages[-1].text
        assert talk.seat.controls[-1] == call_events.Text(2, "", last=True)
    assert talk.states[-1] == "denied"


async def test_a_typed_yes_answers_it_too():
    talk = Talk(calling("write"), words("Written."))
    async with talk():
        await talk.wants()
        await talk.interrupts(1)
        await talk.say(call_events.UserSaid(1, 2, "yes", typed=True))
        await talk.wants(2, "yes")
        assert talk.called == ["write"]
    assert [role for role, _ in talk.desk.turns] == ["user", "assistant", "tool"]


async def test_a_typed_turn_is_in_its_prompt_once():
    talk = Talk(words("Hello."))
    async with talk():
        await talk.say(call_events.UserSaid(0, 1, "hi", typed=True))
        await talk.wants(1, "hi")
    assert [message.text for message in talk.generate.requests[0].messages] == ["Be kind.", "hi"]


async def test_a_turn_that_goes_on_over_a_waiting_reply_is_one_turn():
    talk = Talk(calling("write"), calling("look"), words("Both."))
    talk.desk.allowed.add(("desk", "write"))
    async with talk():
        await talk.wants()
        # Of a reply that is taken back nothing was heard, and nothing is told.
        await talk.say(
            call_events.Cut(1, 1),
            call_events.CancelReply(1, 1),
            call_events.ReplyRequested(1, 2, 1, 2, "do it and look"),
        )
        roles = [message.role for message in talk.generate.requests[-1].messages]
    assert roles[:4] == ["system", "user", "assistant", "tool"]


async def test_a_yes_that_goes_on_is_no_yes():
    talk = Talk(calling("write"), words("Which one?"))
    async with talk():
        await talk.wants()
        await talk.interrupts(1)
        await talk.wants(2, "yes", sure=False)
        await talk.say(call_events.CancelReply(1, 2))
        await talk.wants(3, "yes but not today")
        assert talk.called == []
        assert talk.states[-1] == "skipped"
        assert talk.generate.requests[1].messages[-1].text == "yes but not today"
    assert talk.client.of("approval_answered")[0]["decision"] is None


async def test_a_yes_after_something_else_still_counts_while_the_question_is_open():
    talk = Talk(calling("write"), words("Written."))
    async with talk():
        await talk.wants()
        await talk.interrupts(1)
        await talk.wants(2, "yes", sure=False)
        await talk.say(call_events.CancelReply(1, 2))
        await talk.wants(3, "yes")
        assert talk.called == ["write"]


async def test_silence_by_button_ends_the_question_too():
    talk = Talk(calling("write"))
    async with talk():
        await talk.wants()
        talk.fixture.call.send(call_events.Interrupt())
        await talk.interrupts(1)
        assert talk.states[-1] == "skipped"
        assert talk.client.of("approval_answered")[0]["decision"] is None


async def test_one_question_is_asked_at_a_time_and_a_yes_for_good_answers_the_next():
    talk = Talk(calling("write", "write"), words("Both."))
    async with talk():
        await talk.wants()
        [asked] = talk.client.of("approval_asked")
        assert await talk.fixture.call.replies.answer_approval(asked["approval"]["id"], "tool", {})
        await anyio.wait_all_tasks_blocked()
        assert talk.called == ["write", "write"]
    assert talk.desk.allowed == {("desk", "write")}
    assert len(talk.client.of("approval_asked")) == 1


async def test_an_answer_on_the_screen_after_the_caller_spoke_is_carried_out_and_told():
    talk = Talk(calling("write"), words("Written."))
    async with talk():
        await talk.wants()
        await talk.interrupts(1)
        [asked] = talk.client.of("approval_asked")
        assert await talk.fixture.call.replies.answer_approval(asked["approval"]["id"], "once", {})
        await anyio.wait_all_tasks_blocked()
        assert talk.seat.controls[-1] == call_events.Speak("Written.")
        await talk.say(call_events.AssistantSaid(1, 2, "Written.", "", "spoken"))
    assert [role for role, _ in talk.desk.turns] == ["user", "assistant", "tool", "assistant"]


async def test_the_question_itself_is_no_part_of_the_conversation():
    talk = Talk(calling("write"), words("Written."))
    async with talk():
        await talk.wants()
        await talk.say(call_events.AssistantSaid(0, 2, QUESTION, "", "spoken"))
        await talk.say(call_events.AssistantSaid(0, 3, "Hello there.", "", "spoken"))
        assert talk.desk.turns == [("assistant", "Hello there.")]


async def test_an_answer_of_the_wrong_kind_is_refused():
    talk = Talk(calling("write"))
    async with talk():
        await talk.wants()
        [asked] = talk.client.of("approval_asked")
        with pytest.raises(BadRequest):
            await talk.fixture.call.replies.answer_approval(asked["approval"]["id"], "accept", {})


async def test_what_a_tool_asks_while_it_runs_is_answered_on_the_screen():
    tools = FunctionTools()

    async def cover(arguments: object, *, ask: object, **_: object) -> str:
        answer = await ask(Approval("form1", "", "", "form", "desk", "cover", message="Which?"))  # type: ignore[operator]
        return f"{answer.decision} {answer.values}"

    talk = Talk(calling("cover"), words("Red."), tools=tools.add("cover", cover))
    async with talk():
        await talk.wants()
        asked = await talk.client.until("approval_asked")
        assert asked["approval"]["kind"] == "form"
        assert await talk.fixture.call.replies.answer_approval("form1", "accept", {"colour": "red"})
        await talk.client.until("tool", state="done", text="accept {'colour': 'red'}")


# ---- the client's own tools, and reading ahead


async def test_a_clients_own_tool_asks_nobody_and_is_shown_to_nobody():
    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(calling("lamp"), words("On.")), tools=(Tool("lamp"),))
    async with fixture.running():
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "light"), call_events.TurnConfirmed(0, 1))
        asked = await fixture.client.until("tool_call")
        assert (asked["call_id"], asked["arguments"]) == ("c0", '{"text": "milk"}')
    assert fixture.client.of("tool") == []
    assert fixture.client.of("approval_asked") == []


async def test_the_prompt_is_read_ahead_of_what_the_caller_says_so_far():
    read: list[ChatRequest] = []

    async def ahead(request: ChatRequest, user: str) -> None:
        read.append(request)

    seat = FakeLease()
    fixture = RunningCall(seat, generate=FakeGenerate(words("Hi.")), read_ahead=ahead)
    async with fixture.running():
        seat.say(call_events.PartialTurn(0, 1, "tell me"))
        await anyio.wait_all_tasks_blocked()
        seat.say(call_events.ReplyRequested(0, 1, 1, 1, "tell me a story"))
        await seat.until(2)
    # What was said before the call is read before anybody speaks.
    assert [message.text for message in read[0].messages] == ["Be kind.", ""]
    assert [message.text for message in read[1].messages] == ["Be kind.", "tell me"]
    assert read[1].messages[:-1] == fixture.generate.requests[0].messages[:-1]

"""What goes to the process of a template and comes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from duologue.engines.message_stream import MessageReader, pack
from duologue.engines.templates.render_messages import (
    PROMPT,
    CompileTemplate,
    RenderLimits,
    RenderPrompt,
    as_problem,
    compile_template,
    local_time,
    prompt_rendered,
    render_prompt,
    rendered_prompt,
    template_failed,
)
from duologue.errors import BadRequest, Problem
from duologue.text.templates.prompt_request import PromptRequest, RenderedPrompt
from duologue.values.messages import ImagePart, Message, TextPart, Tool, ToolCall, user

SUMMER = timezone(timedelta(hours=2), "CEST")


def sent(request: PromptRequest, now: datetime) -> RenderPrompt:
    """The request as the other side reads it."""
    reader = MessageReader[RenderPrompt](RenderPrompt)
    reader.add(pack(render_prompt(request, now)))
    message = reader.take()
    assert message is not None
    return message


def test_a_request_comes_as_it_was_sent() -> None:
    call = Message("assistant", reasoning="hm", tool_calls=(ToolCall("1", "f", '{"a":1.10}'),))
    request = PromptRequest(
        (user("ü"), call, Message("tool", (TextPart("42"),), tool_call_id="1", name="f")),
        tools=(Tool("f", "does f", {"type": "object", "properties": {"a": {}}}),),
        thinking=False,
        variables={"mood": ["calm", None, 1.5, {"deep": True}]},
        form="head",
    )
    assert sent(request, datetime(2031, 5, 4, tzinfo=UTC)).request == request


def test_pictures_stay_here() -> None:
    message = Message("user", (TextPart("a"), ImagePart(b"x" * 100), TextPart("b")))
    assert sent(PromptRequest((message,)), datetime(2031, 5, 4)).request.messages == (user("ab"),)


@pytest.mark.parametrize("zone", [None, UTC, SUMMER])
def test_the_time_is_local_and_its_zone_has_a_name(zone: timezone | None) -> None:
    now = datetime(2031, 5, 4, 12, 30, 1, 250, tzinfo=zone)
    received = local_time(sent(PromptRequest(()), now))
    assert received == now
    assert received.strftime("%d %b %Y %H:%M:%S %z %Z") == now.strftime("%d %b %Y %H:%M:%S %z %Z")


@pytest.mark.parametrize(
    ("text", "head"), [("hé<A>", "hé"), ("same", "same"), ("other", "head"), ("", ""), ("A:", "")]
)
def test_a_prompt_comes_with_its_beginning(text: str, head: str) -> None:
    assert rendered_prompt(prompt_rendered(RenderedPrompt(text, head), last=False)) == RenderedPrompt(
        text, head
    )


def test_half_a_surrogate_pair_does_no_harm() -> None:
    assert rendered_prompt(prompt_rendered(RenderedPrompt("a\ud800b", "a"), last=True)).text == "a?b"
    order = compile_template("{{ '\ud800' }}", "\udc00", "", RenderLimits())
    reader = MessageReader[CompileTemplate](CompileTemplate)
    reader.add(pack(order))
    assert reader.take() == CompileTemplate("{{ '?' }}", "?", "", RenderLimits())


def test_a_prompt_that_no_model_takes_is_refused() -> None:
    with pytest.raises(BadRequest, match="prompt of more than"):
        prompt_rendered(RenderedPrompt("x" * (PROMPT + 1), ""), last=False)


def test_a_problem_comes_as_it_was() -> None:
    problem = Problem("No.", code="template_error", status=400, param="messages")
    received = as_problem(template_failed(problem, last=True))
    assert (received.message, received.code, received.status, received.param) == (
        *("No.", "template_error"),
        *(400, "messages"),
    )

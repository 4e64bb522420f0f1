"""One model turn, on the scripted engine: what events come, in what order, and what is refused."""

from datetime import UTC, datetime
from typing import Any

import anyio
import msgspec
import pytest

from duologue.engines.llama import request as llama_request
from duologue.engines.openai_remote import server_kinds
from duologue.engines.scripted.duplex_view import WORD
from duologue.engines.scripted.language import TEMPLATE, ScriptedChatEngine, ScriptedEngine, ScriptedTemplate
from duologue.engines.scripted.omni import ScriptedOmniEngine
from duologue.engines.templates.render_messages import RenderLimits
from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.errors import BadRequest, ContextExceeded
from duologue.sessions.chat.chat import count, ignored, reply
from duologue.sessions.chat.prompt_size import MEDIA_TOKENS
from duologue.sessions.chat.thinking_budget import MAX_CLOSINGS, THINKING_TOKENS
from duologue.values.events import (
    AudioDelta,
    Done,
    Failed,
    Prefilled,
    Progress,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
)
from duologue.values.messages import ImagePart, Message, TextPart, Tool, ToolCall, assistant, system, user
from duologue.values.requests import ChatRequest, MediaOptions, ModelCard, OutputFormat, Sampling
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 20, tzinfo=UTC)
CLOCK = Tool("clock", "tells the time", {"type": "object", "properties": {"zone": {"type": "string"}}})

SAMPLE = VoiceSample(b"\0\x10\0\xf0" * 8000)


class Ticking:
    """A clock that moves a second at every look."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1.0
        return self.time


async def ask(*messages, engine=None, **more):
    heard = []

    async def emit(event):
        heard.append(event)

    engine = engine or ScriptedEngine("m")
    await reply(engine, 0, ChatRequest(messages, **more), emit, now=NOW, clock=Ticking())
    return heard


def text(events) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def thought(events) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


async def test_a_turn_starts_prefills_writes_and_is_done():
    heard = await ask(user("/say one two"))
    assert [type(event) for event in heard] == [Started, Prefilled, TextDelta, TextDelta, Done]
    assert heard[0] == Started("m", 1_000_000)
    assert text(heard) == "one two"


async def test_input_tokens_count_the_generation_prompt_and_are_the_same_at_both_ends():
    messages = (system("s"), user("/say x"))
    heard = await ask(*messages)
    prefilled = next(event for event in heard if isinstance(event, Prefilled))
    template = ScriptedEngine().template.chat
    whole = template.render(messages, generation_prompt=True, thinking=None, now=NOW)
    assert prefilled.input == heard[-1].usage.input == len(whole.encode())


async def test_reasoning_is_told_apart_and_counted():
    heard = await ask(user("/say <think>let me see </think>Four."))
    assert thought(heard) == "let me see "
    assert text(heard) == "Four."
    assert 0 < heard[-1].usage.reasoning < heard[-1].usage.output


async def test_a_tool_call_ends_the_turn_with_tool_calls():
    call = '<tool_call>{"name": "clock", "arguments": {"zone": "UTC"}}</tool_call>'
    heard = await ask(user(f"/say {call}"), tools=(CLOCK,))
    calls = [event for event in heard if isinstance(event, ToolCallDelta)]
    assert calls[0].name == "clock"
    assert calls[0].id.startswith("call_")
    assert "".join(delta.arguments for delta in calls) == '{"zone": "UTC"}'
    assert heard[-1].finish == "tool_calls"
    assert text(heard) == ""


async def test_without_parallel_calls_the_turn_ends_with_the_first():
    call = '<tool_call>{"name": "clock", "arguments": {"zone": "UTC"}}</tool_call>'
    for script in (f"/say {call}{call} more", f"/repeat 1 {call}{call}", f"/repeat 1 {call}<tool_call>{{"):
        heard = await ask(user(script), tools=(CLOCK,), parallel_tool_calls=False)
        calls = [event for event in heard if isinstance(event, ToolCallDelta)]
        assert {delta.index for delta in calls} == {0}
        assert "".join(delta.arguments for delta in calls) == '{"zone": "UTC"}'
        assert heard[-1].finish == "tool_calls"


async def test_without_tools_or_with_tool_choice_none_a_call_is_text():
    call = '<tool_call>{"name": "clock", "arguments": {}}</tool_call>'
    assert text(await ask(user(f"/say {call}"))) == call
    assert text(await ask(user(f"/say {call}"), tools=(CLOCK,), tool_choice="none")) == call


async def test_a_call_that_was_cut_ends_with_length_and_is_never_closed_for_the_model():
    heard = await ask(
        user('/say <tool_call>{"name": "clock", "arguments": {"zone": "U\n/length'), tools=(CLOCK,)
    )
    joined = "".join(event.arguments for event in heard if isinstance(event, ToolCallDelta))
    assert not joined.endswith("}")
    assert heard[-1].finish == "length"


async def test_a_stop_string_ends_the_turn_and_is_never_shown():
    heard = await ask(user("/say one two STOP three"), stop=("STOP",))
    assert text(heard) == "one two "
    assert heard[-1].finish == "stop"
    assert heard[-1].stop == "STOP"


async def test_a_stop_string_across_pieces_is_never_partly_shown():
    heard = await ask(user("/say a E N D b"), stop=("E N D",))
    assert text(heard) == "a "
    assert heard[-1].stop == "E N D"


async def test_a_stop_string_inside_a_thought_does_not_end_the_turn():
    heard = await ask(user("/say <think>STOP </think>go on"), stop=("STOP",))
    assert text(heard) == "go on"


async def test_what_looked_like_a_stop_and_was_none_is_said_at_the_end():
    assert text(await ask(user("/say almost ST"), stop=("STOP",))) == "almost ST"


async def test_the_token_limit_is_told():
    heard = await ask(user("/repeat 10 a"), sampling=Sampling(max_tokens=3))
    assert heard[-1].finish == "length"
    assert heard[-1].usage.output == 3


async def test_fields_the_engine_cannot_apply_are_listed():
    heard = await ask(
        user("hi"),
        sampling=Sampling(length_penalty=1.1, max_tokens=5),
        unknown=("colour",),
        unapplied=("tts.mode",),
        media=MediaOptions(max_slices=1),
    )
    prefilled = next(event for event in heard if isinstance(event, Prefilled))
    assert prefilled.ignored == ("length_penalty", "max_slices", "tts.mode", "colour")


async def test_reading_the_prompt_reports_progress():
    heard = await ask(user("/read 3 0\n/say x"))
    steps = [event for event in heard if isinstance(event, Progress)]
    assert len(steps) == 3
    assert all(step.processed < step.total for step in steps)


async def test_logprobs_belong_to_the_visible_text():
    heard = await ask(user("/say <think>hm </think>a b"), sampling=Sampling(logprobs=0))
    entries = [entry for event in heard if isinstance(event, TextDelta) for entry in event.logprobs]
    assert "".join(entry.token for entry in entries).endswith("b")
    assert not any("hm" in entry.token for entry in entries)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [("two four", "one two three"), ("three four", "one two three"), ("three", "one two ")],
)
async def test_logprobs_of_what_was_held_back_for_a_stop_come_with_it(stop, expected):
    heard = await ask(user("/say one two three"), stop=(stop,), sampling=Sampling(logprobs=0))
    entries = [entry for event in heard if isinstance(event, TextDelta) for entry in event.logprobs]
    assert "".join(entry.token for entry in entries) == text(heard) == expected


async def test_a_prompt_that_does_not_fit_is_refused_with_both_numbers():
    [failed] = await ask(user("x" * 500), engine=ScriptedEngine(context=100))
    assert failed.code == "context_length_exceeded"
    assert failed.status == 400
    assert "100" in failed.message


async def test_a_part_the_model_cannot_take_is_named():
    [failed] = await ask(user("hi"), Message("user", (TextPart("look"), ImagePart(b"x"))))
    assert failed.code == "modality_unsupported"
    assert failed.param == "messages[1].content[1]"
    assert "image" in failed.message


async def test_no_messages_is_a_sentence():
    [failed] = await ask()
    assert failed.param == "messages"


async def test_a_format_the_engine_cannot_keep_is_refused():
    [failed] = await ask(user("hi"), format=OutputFormat("json_object"))
    assert failed.param == "response_format"


async def test_an_engine_failure_keeps_what_was_said_and_ends_with_its_sentence():
    heard = await ask(user("/say half\n/fail out of paper"))
    assert text(heard) == "half"
    assert heard[-1] == Failed("scripted_failure", "out of paper", 503)


async def test_a_cancelled_turn_says_nothing_more():
    heard = []
    scope = anyio.CancelScope()

    async def emit(event):
        heard.append(event)

    async def run():
        request = ChatRequest((user("/say a\n/hang"),))
        with scope:
            await reply(ScriptedEngine(), 0, request, emit, now=NOW, clock=Ticking())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        scope.cancel()
    assert scope.cancelled_caught
    assert isinstance(heard[-1], TextDelta)


async def test_a_continued_message_is_left_open():
    heard = await ask(user("/say more"), assistant("Once upon"), continue_final=True)
    prefilled = next(event for event in heard if isinstance(event, Prefilled))
    template = ScriptedEngine().template.chat
    left_open = template.render_open((user("/say more"), assistant("Once upon")), thinking=None, now=NOW)
    assert left_open.endswith("Once upon")
    assert prefilled.input == len(left_open.encode())


async def test_the_beginning_of_a_reply_is_written_into_the_prompt_and_not_repeated():
    heard = await ask(user("/say more"), prefix="Once ")
    plain = await ask(user("/say more"))
    prefilled, usual = (
        next(event for event in events if isinstance(event, Prefilled)) for events in (heard, plain)
    )
    assert prefilled.input == (usual.input or 0) + len("Once ")
    assert text(heard) == text(plain)


async def test_a_beginning_may_open_a_thought():
    heard = await ask(user("/say hm</think>Yes."), prefix="<think>")
    assert (thought(heard), text(heard)) == ("hm", "Yes.")


async def test_a_prompt_may_leave_out_that_the_assistants_turn_begins():
    heard = await ask(user("/say more"), generation_prompt=False)
    template = ScriptedEngine().template.chat
    head = template.render((user("/say more"),), generation_prompt=False, thinking=None, now=NOW)
    assert next(event for event in heard if isinstance(event, Prefilled)).input == len(head.encode())


@pytest.mark.parametrize(
    ("more", "param"),
    [({"prefix": "Once"}, "response_prefix"), ({"generation_prompt": False}, "add_generation_prompt")],
)
async def test_a_model_that_takes_messages_has_no_prompt_to_write_into(more, param):
    [failed] = await ask(user("hi"), engine=ScriptedChatEngine("m"), **more)
    assert (failed.code, failed.param, failed.status) == ("unsupported", param, 400)


async def test_a_thought_may_be_limited_to_a_number_of_tokens(two_tokens):
    heard = await ask(user(THINKS), thinking_tokens=2)
    assert (thought(heard).strip(), text(heard)) == ("one two", "Four.")
    assert thought(await ask(user(THINKS), thinking_tokens=3, effort="low")).strip() == "one two three"


@pytest.mark.system
async def test_a_template_that_never_ends_is_an_error_and_the_next_turn_is_written():
    shared = "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}"
    attack = "{% if messages[0].content == 'attack' %}" + shared + "{{ n.l | tojson }}{% endif %}"
    engine: Any = ScriptedEngine("m")
    engine.template = TemplateRenderer(attack + TEMPLATE, limits=RenderLimits(render_seconds=1.0))
    await engine.template.start()
    await engine.template.compiled()
    request = ChatRequest((user("attack"),))
    [failed] = await ask(*request.messages, engine=engine)
    assert (failed.code, failed.status, failed.param) == ("template_error", 400, "messages")
    assert "took longer than 1 s" in failed.message
    [ahead] = await ask(*request.messages, engine=engine, ahead=True)
    assert ahead.message == failed.message
    with pytest.raises(BadRequest, match="took longer"):
        await count(engine, request, now=NOW)
    assert text(await ask(user("/say hello"), engine=engine)) == "hello"
    await engine.template.close()


async def test_the_history_of_calls_reaches_the_model():
    heard = await ask(
        user("what time?"),
        Message("assistant", tool_calls=(ToolCall("c1", "clock", '{"zone": "UTC"}'),)),
        Message("tool", (TextPart("noon"),), tool_call_id="c1"),
        user("/say noon it is"),
        tools=(CLOCK,),
    )
    assert text(heard) == "noon it is"


async def test_a_chat_engine_is_relayed_with_what_it_ignores():
    heard = await ask(user("/say hi"), engine=ScriptedChatEngine("m"), sampling=Sampling(top_k=3))
    assert Prefilled(None, 0, ("top_k",)) in heard
    assert text(heard) == "hi"


LONG = "Once upon a time there was a server. " * 20


async def test_what_a_template_says_ends_a_reply_ends_it_beside_the_stops_of_the_request():
    engine = ScriptedEngine("m")
    engine.template = ScriptedTemplate("{% set stop_strings = ['<end>'] %}" + TEMPLATE)
    heard = await ask(user("/say one <end> two"), engine=engine)
    assert (text(heard), heard[-1].stop) == ("one ", "<end>")
    heard = await ask(user("/say one STOP two <end>"), engine=engine, stop=("STOP",))
    assert (text(heard), heard[-1].stop) == ("one ", "STOP")


async def test_what_was_read_ahead_is_not_read_again_and_nothing_was_written():
    engine = ScriptedEngine("m")
    ahead = await ask(system(LONG), user("tell me"), engine=engine, spoken=True, ahead=True)
    assert isinstance(ahead[-1], Done)
    assert text(ahead) == ""
    heard = await ask(system(LONG), user("tell me a story"), engine=engine, spoken=True)
    [read] = [event for event in heard if isinstance(event, Prefilled)]
    assert read.input is not None
    assert read.cached > 0.9 * read.input
    # What is written is the same as without.
    cold = await ask(system(LONG), user("tell me a story"), spoken=True)
    assert (text(heard), heard[-1].usage.input) == (text(cold), cold[-1].usage.input)
    assert cold[-1].usage.cached == 0


async def test_what_would_be_read_in_no_time_is_not_read_ahead():
    engine = ScriptedEngine("m")
    await ask(system("s"), user("tell me"), engine=engine)
    again = await ask(system("s"), user("tell me"), engine=engine, ahead=True)
    assert [type(event) for event in again] == [Done]


async def test_a_prompt_that_does_not_fit_is_refused_when_its_reply_is_asked_for():
    engine = ScriptedEngine("m", context=100)
    ahead = await ask(system(LONG), user("tell me"), engine=engine, ahead=True)
    assert [type(event) for event in ahead] == [Done]


async def test_a_chat_engine_reads_nothing_ahead():
    assert await ask(user("/say hi"), engine=ScriptedChatEngine("m"), ahead=True) == [Done("stop")]


@pytest.fixture
def two_tokens(monkeypatch):
    """A low effort is two tokens of thought."""
    monkeypatch.setitem(THINKING_TOKENS, "low", 2)


THINKS = "/say <think>one two three four </think>Four."
OPENS = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}{# </think> #}"
)


async def test_a_thought_is_closed_where_it_is_as_long_as_it_may_be_and_the_reply_follows(two_tokens):
    heard = await ask(user(THINKS), effort="low")
    assert (thought(heard).strip(), text(heard)) == ("one two", "Four.")
    assert (heard[-1].finish, heard[-1].usage.reasoning, heard[-1].usage.output) == ("stop", 2, 3)
    assert sum(isinstance(event, Prefilled) for event in heard) == 1


async def test_a_thought_that_the_prompt_leaves_open_is_closed_too(two_tokens):
    engine = Counted(OPENS)
    heard = await ask(user("/say one two three </think>Four."), engine=engine, effort="low")
    assert (thought(heard).strip(), text(heard)) == ("one two", "Four.")
    assert engine.read[-1] == "one two \n</think>\n\n"


async def test_a_thought_that_is_short_enough_ends_by_itself(two_tokens):
    for more in ({"effort": "low"}, {"effort": "high"}, {}):
        heard = await ask(user("/say <think>one </think>Four."), **more)
        assert (thought(heard), text(heard)) == ("one ", "Four.")
        assert heard[-1].usage.output == 2
    assert thought(await ask(user(THINKS))) == "one two three four "


async def test_what_a_thought_had_counts_against_the_token_limit(two_tokens):
    assert text(await ask(user(THINKS + " Five."), effort="low", sampling=Sampling(max_tokens=3))) == "Four. "
    heard = await ask(user(THINKS), effort="low", sampling=Sampling(max_tokens=2))
    assert (thought(heard).strip(), text(heard), heard[-1].finish) == ("one two", "", "length")


async def test_a_call_within_a_thought_is_not_cut(two_tokens):
    call = '<tool_call>{"name": "clock", "arguments": {"zone": "a b c d"}}</tool_call>'
    heard = await ask(user(f"/say <think>now {call}"), tools=(CLOCK,), effort="low")
    joined = "".join(event.arguments for event in heard if isinstance(event, ToolCallDelta))
    assert (joined, heard[-1].finish) == ('{"zone": "a b c d"}', "tool_calls")


async def test_logprobs_still_belong_to_their_text_behind_a_closed_thought(two_tokens):
    heard = await ask(user(THINKS), effort="low", sampling=Sampling(logprobs=0))
    entries = [entry for event in heard if isinstance(event, TextDelta) for entry in event.logprobs]
    assert "".join(entry.token for entry in entries) == "Four."


async def test_a_model_that_begins_to_think_again_every_time_is_let_go_in_the_end(two_tokens):
    class Stubborn(ScriptedEngine):
        begun = 0

        def generate(self, slot, tokens, generation):
            self.begun += 1
            prompt = tuple(
                self.template.chat.render(
                    (user(THINKS),), generation_prompt=True, thinking=None, now=NOW
                ).encode()
            )
            return super().generate(slot, prompt, generation)

    engine = Stubborn("m")
    heard = await ask(user(THINKS), engine=engine, effort="low")
    assert engine.begun == MAX_CLOSINGS + 1
    assert text(heard).endswith("Four.")


async def test_an_effort_is_told_to_templates_that_know_the_word():
    engine = Counted("{% for message in messages %}{{ reasoning_effort }}{% endfor %}")
    await ask(user("hi"), engine=engine, effort="medium")
    await ask(user("hi"), engine=engine, effort="medium", template_variables={"reasoning_effort": "xhigh"})
    assert engine.read[0] == "medium"
    assert engine.read[-1] == "xhigh"


async def test_an_effort_that_changes_nothing_is_listed_unless_nothing_is_thought_anyway():
    async def left_out(**more):
        heard = await ask(user("hi"), engine=ScriptedChatEngine("m"), **more)
        return next(event for event in heard if isinstance(event, Prefilled)).ignored

    assert await left_out(effort="low") == ("reasoning_effort",)
    assert await left_out(effort="low", thinking=False) == ()


async def test_the_bundled_models_thoughts_can_be_limited(monkeypatch):
    from duologue.engines.llama.engine import load

    monkeypatch.setitem(THINKING_TOKENS, "low", 8)
    engine = await load({"log": 0})
    question = user("What is 12 times 7? Explain why the sky is blue.")
    greedy = Sampling(temperature=0.0, max_tokens=200)
    try:
        whole = await ask(question, engine=engine, thinking=True, sampling=greedy)
        short = await ask(question, engine=engine, thinking=True, sampling=greedy, effort="low")
    finally:
        await engine.close()
    assert len(thought(whole)) > len(thought(short).strip()) > 0
    assert thought(whole).strip().startswith(thought(short).strip())
    assert short[-1].usage.reasoning < whole[-1].usage.reasoning
    assert text(short)
    assert "think>" not in text(short)
    assert short[-1].finish == "stop"


class Counted(ScriptedEngine):
    """The scripted engine, noting what it tokenizes and prefills."""

    def __init__(self, template: str | None = None) -> None:
        super().__init__("m")
        self.read: list[str] = []
        self.prefilled: list[int] = []
        if template is not None:
            self.template = ScriptedTemplate(template)

    async def tokenize(self, text, *, start=True):
        self.read.append(text)
        return await super().tokenize(text, start=start)

    def prefill(self, slot, tokens):
        self.prefilled.append(len(tokens))
        return super().prefill(slot, tokens)


class Held(ScriptedEngine):
    """The scripted engine, noting what it was asked to hold a reply to; it could be held to anything."""

    def __init__(self) -> None:
        super().__init__("m")
        self.card = msgspec.structs.replace(self.card, verbs=(*self.card.verbs, "tool_choice", "format"))
        self.asked: list[Any] = []

    def generate(self, slot, tokens, generation):
        self.asked.append(generation)
        return super().generate(slot, tokens, generation)


SEARCH = Tool("search", "looks for words", {"type": "object", "properties": {"words": {"type": "string"}}})
JSON = OutputFormat("json_object")


async def held_to(**more):
    engine = Held()
    await ask(user("/say x"), engine=engine, tools=(CLOCK, SEARCH), **more)
    [generation] = engine.asked
    return generation


async def test_a_reply_is_held_to_a_shape_or_to_a_format():
    calling = await held_to()
    assert calling.grammar.trigger in calling.preserved
    answering = await held_to(format=JSON, tool_choice="none", thinking=False)
    assert (answering.format, answering.grammar.trigger) == (None, "")
    either = await held_to(format=JSON)
    assert (either.format, either.grammar.trigger) == (None, "")


async def test_a_thought_that_is_over_in_the_prompt_does_not_begin_again():
    assert "thought" not in (await held_to(tool_choice="required", thinking=False)).grammar.text
    assert "thought" in (await held_to(tool_choice="required", thinking=True)).grammar.text


async def test_behind_a_thought_that_was_cut_none_begins(two_tokens):
    engine = Held()
    await ask(
        user(THINKS), engine=engine, effort="low", tools=(CLOCK,), tool_choice="required", thinking=True
    )
    assert ["thought" in generation.grammar.text for generation in engine.asked] == [True, False]


async def test_a_call_that_goes_round_in_circles_is_cut():
    circles = '/say <tool_call>{"name": "clock", "arguments": {"zone": "so\n/repeat 20000  and on'
    heard = await ask(user(circles), tools=(CLOCK,))
    assert heard[-1].finish == "length"
    assert heard[-1].usage.output < 10_000
    events = await ask(user("/repeat 1000  and on"), tools=(CLOCK,))
    assert (text(events), events[-1].finish) == (" and on" * 1000, "stop")


@pytest.mark.parametrize("tools", [(), (CLOCK,)])
async def test_content_of_a_format_that_goes_round_in_circles_is_cut_and_no_complete_answer(tools):
    """A grammar allows anything inside a string but leaving it: a small model never did."""
    circles = '/say {"title": "so\n/repeat 20000  and on\n/say "}'
    heard = await ask(user(circles), engine=Held(), format=OutputFormat("json_object"), tools=tools)
    assert heard[-1].finish == "length"
    assert heard[-1].usage.output < 10_000
    assert text(heard).startswith('{"title": "so and on and on')
    assert not text(heard).endswith("}")


LONG = "Tell me more about it. " * 20


async def test_a_short_prompt_is_tokenized_and_read_in_one_piece():
    engine = Counted()
    heard = await ask(user("/say x"), engine=engine)
    whole = engine.template.chat.render((user("/say x"),), generation_prompt=True, thinking=None, now=NOW)
    assert engine.read == [whole]
    assert engine.prefilled == []
    assert [type(event) for event in heard[:3]] == [Started, Prefilled, TextDelta]


async def test_a_long_prompt_is_read_before_the_generation_prompt_is_appended():
    engine = Counted()
    messages = (user(LONG), assistant("No."), user("/say x"))
    heard = await ask(*messages, engine=engine)
    head, whole = (
        engine.template.chat.render(messages, generation_prompt=appended, thinking=None, now=NOW)
        for appended in (False, True)
    )
    assert engine.read == [whole, whole.removeprefix(head)]
    assert engine.prefilled == [len(head)]
    assert heard[-1].usage.input == len(whole)


async def test_a_template_that_renders_the_two_differently_prefills_what_they_share():
    template = (
        "{% for message in messages %}<|im_start|>user\n{{ message.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}Answer:{% else %}The end.{% endif %}"
    )
    engine = Counted(template)
    messages = (user(LONG), user("/say x"))
    heard = await ask(*messages, engine=engine)
    whole = engine.template.chat.render(messages, generation_prompt=True, thinking=None, now=NOW)
    assert engine.prefilled == [len(whole.removesuffix("Answer:"))]
    assert heard[-1].usage.input == len(whole)
    assert text(heard) == "x"


async def test_what_the_slot_kept_from_the_last_turn_is_told():
    engine = Counted()
    first = await ask(user("/say x"), engine=engine)
    again = await ask(user("/say x"), assistant("x"), user("/say y"), engine=engine)
    assert first[-1].usage.cached == 0
    kept = next(event for event in again if isinstance(event, Prefilled)).cached
    assert kept == again[-1].usage.cached > 0


async def test_a_long_chat_with_little_new_is_read_in_one_piece():
    engine = Counted()
    await ask(user(LONG), engine=engine)
    before = list(engine.prefilled)
    heard = await ask(user(LONG), assistant("No."), user("/say x"), engine=engine)
    assert engine.prefilled == before
    assert text(heard) == "x"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tools": (CLOCK,)},
        {"tools": (CLOCK,), "tool_choice": "none"},
        {"thinking": False},
        {"continue_final": True, "messages": (user("/say more"), assistant("Once upon"))},
    ],
    ids=["plain", "tools", "no tools", "no thinking", "continued"],
)
async def test_a_count_is_what_the_reply_will_begin_with(more):
    request = ChatRequest(**({"messages": (system("s"), user("/say ça va"))} | more))
    heard = await ask(*request.messages, **{key: more[key] for key in more if key != "messages"})
    counted = await count(ScriptedEngine("m"), request, now=NOW)
    assert (counted.tokens, counted.context, counted.estimated) == (heard[-1].usage.input, 1_000_000, False)


async def test_a_picture_that_no_engine_counts_makes_an_estimate():
    with_picture = ChatRequest((Message("user", (TextPart("see"), ImagePart(b"png"))),))
    plain = await count(ScriptedEngine("m"), ChatRequest((user("see"),)), now=NOW)
    counted = await count(ScriptedEngine("m"), with_picture, now=NOW)
    assert counted.tokens == plain.tokens + MEDIA_TOKENS[ImagePart]
    assert counted.estimated


async def test_a_chat_engine_is_estimated_by_size_messages_tools_and_calls():
    async def tokens(*messages, **more):
        counted = await count(ScriptedChatEngine("m"), ChatRequest(messages, **more), now=NOW)
        assert counted.estimated
        return counted.tokens

    assert await tokens(user("x" * 36)) == 10 + 4
    assert await tokens(user("x" * 36), assistant("x" * 18)) == 15 + 8
    assert await tokens(user("é" * 18)) == 10 + 4
    call = Message("assistant", tool_calls=(ToolCall("c", "clock", "x" * 36),), reasoning="x" * 36)
    assert await tokens(call) == 20 + 4
    assert await tokens(user("hi"), tools=(CLOCK,)) > await tokens(user("hi"))
    assert await tokens(user("hi"), tools=(CLOCK,), tool_choice="none") == await tokens(user("hi"))


async def test_an_empty_conversation_counts_nothing_and_a_wrong_one_says_why():
    assert (await count(ScriptedEngine("m"), ChatRequest(()), now=NOW)).tokens == 0
    with pytest.raises(BadRequest, match="the assistant's"):
        await count(ScriptedEngine("m"), ChatRequest((user("hi"),), continue_final=True), now=NOW)


async def test_what_cannot_fit_is_refused_before_it_is_rendered():
    engine = Counted()
    engine.card = msgspec.structs.replace(engine.card, context=100)
    heard: list[Any] = []

    async def emit(event):
        heard.append(event)

    for messages in ((user("a"),) * 51, (user("x" * 13_000),)):
        heard.clear()
        await reply(engine, 0, ChatRequest(messages), emit, now=NOW, clock=lambda: 0.0)
        assert [type(event) for event in heard] == [Failed]
        assert (heard[0].code, heard[0].status) == ("context_length_exceeded", 400)
    assert engine.read == []


async def test_a_count_of_far_too_many_messages_renders_nothing():
    engine = Counted()
    engine.card = msgspec.structs.replace(engine.card, context=100)
    counted = await count(engine, ChatRequest((user("a"),) * 1000), now=NOW)
    assert (counted.estimated, counted.tokens, engine.read) == (True, 1000 * 4 + 278, [])


async def test_an_engine_that_gives_up_counting_leaves_an_estimate():
    class GivesUp(Counted):
        async def tokenize(self, text, *, start=True):
            raise ContextExceeded("too long")

    engine = GivesUp()
    engine.card = msgspec.structs.replace(engine.card, context=100)
    counted = await count(engine, ChatRequest((user("x" * 300),)), now=NOW)
    assert (counted.estimated, counted.tokens) == (True, 400)


async def test_what_is_far_too_long_is_estimated_and_keeps_nobody_waiting():
    engine = Counted()
    engine.card = msgspec.structs.replace(engine.card, context=100)
    near = await count(engine, ChatRequest((user("x" * 1000),)), now=NOW)
    assert (near.estimated, len(engine.read)) == (False, 1)
    far = await count(engine, ChatRequest((user("x" * 3600),)), now=NOW)
    assert (far.estimated, len(engine.read)) == (True, 1)
    assert 1000 < far.tokens < 1100


def test_no_engine_has_beams_so_each_names_the_length_penalty():
    applied = (
        llama_request.FIELDS,
        server_kinds.FIELDS,
        ScriptedEngine().card.sampling,
        ScriptedChatEngine().card.sampling,
    )
    request = ChatRequest((user("hi"),), sampling=Sampling(length_penalty=1.1))
    for fields in applied:
        card = ModelCard("m", "any", 1, sampling=tuple(fields))
        assert ignored(card, request) == ("length_penalty",)


# ---- models that speak


def order(events) -> list[str]:
    """What is said and heard, in order: texts, and "~" for the sound of a word."""
    return [
        "~" if isinstance(event, AudioDelta) else event.text
        for event in events
        if isinstance(event, AudioDelta | TextDelta)
    ]


async def test_the_sound_of_a_word_follows_its_text_and_comes_before_the_next():
    heard = await ask(user("/say one two"), engine=ScriptedOmniEngine("m"), speak_as="")
    assert order(heard) == ["one ", "~", "two", "~"]
    assert all(len(event.pcm) == 2 * WORD for event in heard if isinstance(event, AudioDelta))
    assert isinstance(heard[-1], Done)
    assert order(await ask(user("/say one two"), engine=ScriptedOmniEngine("m"))) == ["one ", "two"]


async def test_a_model_that_only_writes_is_not_asked_to_speak():
    assert order(await ask(user("/say one"), engine=ScriptedEngine("m"), speak_as="")) == ["one"]


async def test_the_voice_is_one_of_the_models_own_or_like_a_recording():
    sounds = set()
    for more in ({"speak_as": "low"}, {"speak_as": "high"}, {"speak_as": "", "speak_like": SAMPLE}):
        heard = await ask(user("/say one"), engine=ScriptedOmniEngine("m"), **more)
        sounds |= {event.pcm for event in heard if isinstance(event, AudioDelta)}
    assert len(sounds) == 3
    [failed] = (await ask(user("/say one"), engine=ScriptedOmniEngine("m"), speak_as="nobody"))[-1:]
    assert failed.code == "voice_not_found"


async def test_a_stop_string_is_not_heard_either():
    heard = await ask(
        user("/say one two three four"), engine=ScriptedOmniEngine("m"), speak_as="", stop=("two three",)
    )
    assert order(heard) == ["one ", "~"]
    assert heard[-1].stop == "two three"


async def test_sound_waits_for_text_that_might_have_been_a_stop_string():
    heard = await ask(
        user("/say one two four"), engine=ScriptedOmniEngine("m"), speak_as="", stop=("two three",)
    )
    assert order(heard) == ["one ", "~", "two four", "~", "~"]
    heard = await ask(user("/say one two"), engine=ScriptedOmniEngine("m"), speak_as="", stop=("two three",))
    assert order(heard) == ["one ", "~", "two", "~"], "the end shows that it was none"


async def test_a_tool_call_is_written_and_not_spoken_and_what_is_said_around_it_is():
    said = 'let me look <tool_call>{"name": "clock", "arguments": {"zone": "the far one"}}</tool_call>'
    heard = await ask(user(f"/say {said}"), engine=ScriptedOmniEngine("m"), speak_as="", tools=(CLOCK,))
    assert order(heard).count("~") == 3
    assert any(isinstance(event, ToolCallDelta) for event in heard)
    assert heard[-1].finish == "tool_calls"
    heard = await ask(
        user("/say <think>well now</think>yes"), engine=ScriptedOmniEngine("m"), speak_as="", thinking=True
    )
    assert thought(heard) == "well now"
    assert order(heard) == ["yes", "~"]

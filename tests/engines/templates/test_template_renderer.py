"""A hostile template costs its own request an error, and nobody else anything."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import anyio
import pytest

from duologue.engines.templates.render_messages import RenderLimits
from duologue.engines.templates.template_renderer import RENDERERS, TemplateRenderer
from duologue.errors import BadRequest, Problem, Unsupported
from duologue.text.output.reasoning_tags import ReasoningTags
from duologue.text.templates.chat_template import ChatTemplate
from duologue.text.templates.chatml import CHATML
from duologue.text.templates.prompt_request import PromptForm, PromptRequest, TemplateFacts
from duologue.values.messages import ImagePart, Message, TextPart, Tool, ToolCall, assistant, system, user

pytestmark = [pytest.mark.anyio, pytest.mark.system]

NOW = datetime(2031, 5, 4, 12, 30)
MEMORY = 192 * 1024 * 1024
LIMITS = RenderLimits(compile_seconds=20.0, render_seconds=1.0, memory=MEMORY)

SHARED = "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}"
TWICE = SHARED + "{% set a = n.l %}" + SHARED
HUGE = "{% set huge = size.huge %}"  # a constant would be refused when the template is compiled

FILL_MEMORY = {
    "a width as an argument": HUGE + "{{ '%*s' | format(huge, 'a') }}",
    "a width in an operator": HUGE + "{{ '%*s' % (huge, 'a') }}",
    "a precision": HUGE + "{{ '%.*f' % (huge, 1.0) }}",
    "a width in a map": HUGE + "{{ '{a:>{b}}'.format_map({'a': 'a', 'b': huge}) }}",
    "many widths": "{{ ('{0:9999}' * 100000).format(1) }}",
    "an indented list": HUGE + "{{ [1] | tojson(indent=huge) }}",
    "a batch": HUGE + "{{ [1] | batch(huge, 0) | list | length }}",
    "joined bytes": "{% set b = ('x' * 1000000).encode() %}{{ b.join([b] * 10000) | length }}",
    "padded bytes": HUGE + "{{ 'x'.encode().ljust(huge) | length }}",
    "bytes of a number": HUGE + "{{ (1).to_bytes(huge, 'big') | length }}",
    "a translation": "{{ ('a' * 1000000).translate({97: 'b' * 1000000}) | length }}",
    "tabs": HUGE + "{{ '\\t'.expandtabs(tabsize=huge) }}",
    "arguments of a macro": "{% macro m() %}{{ varargs }}{% endmacro %}{{ m(*('a' * 16000000)) }}",
    "a block that is set": "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s %}{{ n.s }}{{ n.s }}"
    "{% endset %}{% endfor %}",
}
NEVER_END = {
    "slices": HUGE + "{{ [1] | slice(huge * huge) | list | length }}",
    "a sum of lists": "{{ range(99999) | batch(1) | sum(start=[]) | length }}{{ ([[1] * 100000] * 9000) | sum(start=[]) }}",
    "a shared list as JSON": SHARED + "{{ n.l | tojson }}",
    "a shared list as text": SHARED + "{{ n.l ~ '' }}",
    "a shared list in a format": SHARED + "{{ '%r' % [n.l] }}",
    "a shared list joined": SHARED + "{{ [n.l] | join }}",
    "shared lists compared": TWICE + "{{ a == n.l }}",
    "shared lists sorted": TWICE + "{{ [a, n.l] | sort }}",
    "a shared tuple as a key": "{% set n = namespace(l=(1,)) %}{% for i in range(60) %}{% set n.l = (n.l, n.l) %}{% endfor %}"
    "{{ {n.l: 1} }}",
    "a list that holds itself": "{% set d = {} %}{% set x = dict.update(d, {'a': d}) %}{{ d | tojson }}",
    "large texts in a loop": "{% for i in range(99999) %}{% set x = ('ba' * 8000000) | reverse %}{% endfor %}",
    "an encoding": "{{ ('\\u1234' * 1000000 ~ 'a').encode('punycode') | length }}",
}
REFUSED = {
    "a deep list": "{% set n = namespace(x=1) %}{% for i in range(3000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x | tojson }}",
    "an own error": "{{ raise_exception('\\ud800' ~ 'x' * 15000000) }}",
    "an assertion": "{{ ('a' * 50) | truncate(9, end='x' * 1000) }}",
    "all steps back": "{{ duologue_budget.spend(-1000000000000) }}",
    "a file": "{% include '/etc/passwd' %}",
}
ENDS = ("took longer than 1 s", "needed more than 192 MB")
"""A slow machine may reach the deadline before the memory is full, and a fast one the other way round."""
TEMPLATE = "{{ messages[0].content }}" + "".join(
    f"{{% if attack == {name!r} %}}{source}{{% endif %}}"
    for name, source in (FILL_MEMORY | NEVER_END | REFUSED).items()
)


@asynccontextmanager
async def rendering(source: str, limits: RenderLimits = LIMITS) -> AsyncIterator[TemplateRenderer]:
    renderer = TemplateRenderer(source, bos="<s>", eos="</s>", limits=limits)
    await renderer.start()
    try:
        await renderer.compiled()
        yield renderer
    finally:
        await renderer.close()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def hostile() -> AsyncIterator[TemplateRenderer]:
    """One process with every attack in its template."""
    async with rendering(TEMPLATE) as renderer:
        yield renderer


async def show(renderer: TemplateRenderer, text: str, **variables: object) -> str:
    request = PromptRequest((user(text),), variables=variables, form="full")
    return (await renderer.render(request, NOW)).text


def read_process_file(pid: int, name: str) -> str:
    """What Linux tells about a process."""
    file = Path(f"/proc/{pid}/{name}")
    if not file.exists():
        pytest.skip("this system does not tell such things about processes")
    return file.read_text()


async def attacked(renderer: TemplateRenderer, attack: str) -> str:
    """The sentence that the attack's own request is told; the next request is served."""
    with pytest.raises(Problem) as caught:
        await show(renderer, "x", attack=attack, size={"huge": 1_500_000_000})
    assert (caught.value.code, caught.value.status) == ("template_error", 400)
    assert await show(renderer, "hello") == "hello"
    return caught.value.message


@pytest.mark.parametrize("attack", FILL_MEMORY)
async def test_what_would_fill_memory_is_stopped(hostile: TemplateRenderer, attack: str) -> None:
    process = hostile.process
    said = await attacked(hostile, attack)
    assert any(end in said for end in ENDS), said
    assert hostile.process is process


async def test_one_text_that_is_too_large_says_that_memory_was_the_reason(hostile: TemplateRenderer) -> None:
    assert "needed more than 192 MB" in await attacked(hostile, "a width as an argument")


async def test_what_never_ends_is_stopped(hostile: TemplateRenderer) -> None:
    process = hostile.process
    said: dict[str, str] = {}

    async def attack(name: str) -> None:
        said[name] = await attacked(hostile, name)

    async with anyio.create_task_group() as tasks:
        for name in NEVER_END:
            tasks.start_soon(attack, name)
    assert {name: words for name, words in said.items() if not any(end in words for end in ENDS)} == {}
    assert hostile.process is process


@pytest.mark.parametrize("attack", REFUSED)
async def test_what_cannot_be_done_is_refused_in_few_words(hostile: TemplateRenderer, attack: str) -> None:
    message = await attacked(hostile, attack)
    assert len(message) < 1000
    assert message.encode().decode() == message


async def test_a_slow_prompt_keeps_no_other_waiting(hostile: TemplateRenderer) -> None:
    ended: list[str] = []

    async def slow() -> None:
        await attacked(hostile, "a shared list as JSON")
        ended.append("slow")

    async def quick() -> None:
        assert await show(hostile, "hello") == "hello"
        ended.append("quick")

    async with anyio.create_task_group() as tasks:
        for _ in range(RENDERERS - 1):
            tasks.start_soon(slow)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(quick)
    assert ended[0] == "quick"


async def test_more_prompts_than_renderers_take_turns(hostile: TemplateRenderer) -> None:
    shown: list[str] = []

    async def one(number: int) -> None:
        shown.append(await show(hostile, str(number)))

    async with anyio.create_task_group() as tasks:
        for number in range(4 * RENDERERS):
            tasks.start_soon(one, number)
    assert sorted(shown, key=int) == [str(number) for number in range(4 * RENDERERS)]


async def test_a_cancelled_prompt_leaves_the_others_alone(hostile: TemplateRenderer) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await show(hostile, "hello")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(show, hostile, "hello")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert await show(hostile, "again") == "again"


async def test_the_kernel_ends_a_template_before_the_worker(hostile: TemplateRenderer) -> None:
    assert hostile.process is not None
    score = read_process_file(hostile.process.pid, "oom_score_adj")
    assert score.strip() == "1000"


# -- the same prompts as here ------------------------------------------------------------------------------------------

CALLS = (ToolCall("one", "f", '{"a": 1.10}'), ToolCall("two", "g", "not json"))
CHAT = (
    system("S <|im_end|>"),
    Message("user", (TextPart("Ü <|im_end|> 漢\U0001f600"), ImagePart(b"x"), TextPart("!")), name="Ann"),
    Message("assistant", (TextPart("So"),), reasoning="hm", tool_calls=CALLS),
    Message("tool", (TextPart("42"),), tool_call_id="two"),
    Message("tool", (TextPart("41"),), tool_call_id="one"),
    assistant("Well"),
)
TOLD = CHATML + "{{ bos_token }}{{ mood }}{{ enable_thinking }}{{ strftime_now('%d %b %Y %H:%M:%S') }}<think>"


@pytest.fixture(scope="module")
async def told() -> AsyncIterator[TemplateRenderer]:
    async with rendering(TOLD) as renderer:
        yield renderer


async def test_what_a_template_tells_is_known(told: TemplateRenderer) -> None:
    assert told.facts == TemplateFacts(True, "hermes", True, ReasoningTags())
    assert told.reasoning == ReasoningTags()


@pytest.mark.parametrize("form", ["reply", "full", "head", "open"])
async def test_a_prompt_is_the_same_as_in_one_process(told: TemplateRenderer, form: PromptForm) -> None:
    request = PromptRequest(CHAT, (Tool("f"),), thinking=False, variables={"mood": "calm"}, form=form)
    here = ChatTemplate(TOLD, bos="<s>", eos="</s>").prompt(request, NOW)
    assert await told.render(request, NOW) == here
    assert "04 May 2031" in here.text or form == "open"


async def test_a_long_prompt_is_the_same_too(told: TemplateRenderer) -> None:
    request = PromptRequest((user("Wörter " * 500_000),))
    assert await told.render(request, NOW) == ChatTemplate(TOLD, bos="<s>").prompt(request, NOW)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "arguments",
    ["[" * 200_000, '{"a":' * 900 + "1" + "}" * 900, '{"a":' + "9" * 1_000_000 + "}", '{"a":NaN}'],
)
async def test_hostile_arguments_of_a_call_are_text(told: TemplateRenderer, arguments: str) -> None:
    request = PromptRequest((user("x"), Message("assistant", tool_calls=(ToolCall("1", "f", arguments),))))
    assert arguments in (await told.render(request, NOW)).text


async def test_hostile_variables_of_a_request_cost_that_request_at_most(told: TemplateRenderer) -> None:
    names = ("range", "loop", "messages", "namespace", "self", "duologue budget", "strftime_now")
    assert (await show(told, "hello", **dict.fromkeys(names, 1))).count("hello") == 1
    assert (await show(told, "hello", mood=nested(100))).count("hello") == 1
    with pytest.raises(BadRequest, match="cannot be given"):
        await show(told, "hello", mood=nested(5000))
    assert (await show(told, "again")).count("again") == 1


async def test_what_cannot_be_sent_is_refused(told: TemplateRenderer) -> None:
    with pytest.raises(BadRequest, match="cannot be given"):
        await show(told, "x", huge=10**30)
    with pytest.raises(BadRequest, match="last one must be the assistant"):
        await told.render(PromptRequest((user("x"),), form="open"), NOW)


# -- ends --------------------------------------------------------------------------------------------------------------


async def test_nothing_of_a_request_is_there_for_the_next() -> None:
    source = (
        "{% set n = namespace() %}{% macro m(l=[], d={}) %}{% set x = dict.update(d, {messages[0].content: 1}) %}"
        "{{ d | length }}{% endmacro %}{{ m() }}{{ m() }}{{ n.seen is defined }}{% set n.seen = 1 %}"
    )
    async with rendering(source) as renderer:
        assert [await show(renderer, text) for text in "abc"] == ["11False"] * 3


async def test_a_renderer_that_was_killed_is_replaced() -> None:
    async with rendering("{{ messages[0].content }}") as renderer:
        assert renderer.process is not None
        pid = renderer.process.pid
        [child] = read_process_file(pid, f"task/{pid}/children").split()
        os.kill(int(child), signal.SIGKILL)
        while child in read_process_file(pid, f"task/{pid}/children").split():
            await anyio.lowlevel.checkpoint()
        assert await show(renderer, "hello") == "hello"


async def test_a_process_that_died_is_started_once_for_all() -> None:
    async with rendering("{{ messages[0].content }}") as renderer:
        dead = renderer.process
        assert dead is not None
        dead.kill()
        await dead.wait()
        async with anyio.create_task_group() as tasks:
            for _ in range(RENDERERS):
                tasks.start_soon(show, renderer, "hello")
        assert renderer.process is not dead


async def test_a_renderer_outlives_its_process_and_ends_with_the_worker() -> None:
    async with rendering("{{ messages[0].content }}") as renderer:
        process = renderer.process
        assert process is not None
    assert process.returncode == 0
    assert renderer.process is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ a }}\n{% if %}", "line 2"),
        ("{{ " + "(" * 100_000 + "1" + ")" * 100_000 + " }}", "recursion"),
        ("x" * 1_000_001, "longer than 1,000,000 characters"),
        ("{% block a %}" * 30_000, "cannot be read"),
        ("{{ " + "9" * 900_000 + " }}", "cannot be read"),
    ],
)
async def test_a_source_that_cannot_be_read_says_why(source: str, words: str) -> None:
    with pytest.raises(Unsupported, match=words) as caught:
        async with rendering(source):
            pass
    assert caught.value.code == "template_error"


@pytest.mark.parametrize(
    "source",
    [
        "{{ [1] | slice(10000000000) | list }}",  # Jinja evaluates constants when it compiles
        "".join(f"<|marker{number}|>" for number in range(50_000)),
        "{{ a" + ".b" * 400_000 + " }}",
    ],
)
async def test_a_source_that_takes_for_ever_to_read_is_given_up(source: str) -> None:
    with pytest.raises(Unsupported, match=r"takes longer than 0\.5 s"):
        async with rendering(source, RenderLimits(compile_seconds=0.5)):
            pass


async def test_a_template_that_cannot_be_read_is_replaced_by_another() -> None:
    renderer = TemplateRenderer("{% if %}", limits=LIMITS)
    await renderer.start()
    with pytest.raises(Unsupported):
        await renderer.compiled()
    await renderer.replace("{{ messages[0].content }}")
    assert await show(renderer, "hello") == "hello"
    await renderer.close()


async def test_the_process_of_a_template_is_given_no_setting_and_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DUOLOGUE_UPSTREAM__KEY", "a key of an upstream")
    monkeypatch.setenv("KEPT_FOR_LIBRARIES", "1")
    async with rendering(CHATML) as renderer:
        assert renderer.process is not None
        given = read_process_file(renderer.process.pid, "environ")
    assert "KEPT_FOR_LIBRARIES" in given
    assert "DUOLOGUE_" not in given

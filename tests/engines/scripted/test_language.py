import anyio
import pytest

from duologue.engines.contracts import ChatEngine, Generation, GenerationEnded, Piece, PromptEngine
from duologue.engines.scripted.language import (
    ScriptedChatEngine,
    ScriptedEngine,
    ScriptStep,
    load,
    parse_script,
    remaining,
    turn_of,
)
from duologue.errors import BadRequest, EngineFailed
from duologue.values.events import Done, Prefilled, Progress, Started, TextDelta
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, user
from duologue.values.requests import ChatRequest, Sampling

pytestmark = pytest.mark.anyio


def prompt(text: str) -> bytes:
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n".encode()


async def written(text: str, **sampling) -> list[Piece | Progress | GenerationEnded]:
    engine = ScriptedEngine()
    async with engine.generate(0, tuple(prompt(text)), Generation(Sampling(**sampling))) as items:
        return [item async for item in items]


def test_a_message_without_steps_is_echoed():
    assert parse_script("hello\nyou") == [ScriptStep("say", text="You said: hello\nyou")]


def test_steps_are_read_in_order_and_other_lines_are_not_steps():
    assert parse_script("please\n/pace 5\n/say a\\nb \n/repeat 2 x y") == [
        ScriptStep("pace", 5),
        ScriptStep("say", text="a\nb "),
        ScriptStep("repeat", 2, "x y"),
    ]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("", "/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab"),
        ("one ", "/pace 1\n/say two\n/fail no\n/wait 5\n/repeat 2 ab"),
        ("one two", "/pace 1\n/wait 5\n/repeat 2 ab"),
        ("one twoa", "/pace 1\n/say bab"),
        ("one twoabab", "/pace 1"),
        ("something else", "/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab"),
        ("one twoabab and more", "/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab"),
    ],
)
def test_a_continued_reply_plays_what_it_has_not_said(said, left):
    steps = parse_script("/pace 1\n/say one two\n/fail no\n/wait 5\n/repeat 2 ab")
    assert remaining(steps, said) == parse_script(left)


def test_the_empty_thought_of_a_template_is_nothing_that_was_said() -> None:
    steps = parse_script("/fail 1\n/say <think>one</think>two")
    assert remaining(steps, "<think>\n\n</think>\n\n") == steps
    assert remaining(parse_script("/say one two"), "<think>\n\n</think>\n\none ") == parse_script("/say two")


@pytest.mark.parametrize("said", ["<think>one ", "<think>one two", "<think>something else"])
def test_a_thought_that_was_ended_early_is_behind_the_reply(said):
    steps = parse_script("/pace 1\n/say <think>one two </think>three four\n/length")
    assert remaining(steps, said + "\n</think>\n\n") == parse_script("/pace 1\n/say three four\n/length")
    assert remaining(steps, said + "\n</think>\n\nthree ") == parse_script("/pace 1\n/say four\n/length")
    assert remaining(parse_script("/say one"), said + "</think>") == parse_script("/say one")


async def test_a_message_left_open_is_written_on():
    engine = ScriptedEngine()
    async with engine.generate(0, tuple(prompt("/say one two three") + b"one "), Generation()) as items:
        assert [item.text async for item in items if isinstance(item, Piece)] == ["two ", "three"]


async def test_words_come_one_by_one_and_join_to_the_text():
    items = await written("/say one two  three")
    assert [item.text for item in items if isinstance(item, Piece)] == ["one ", "two  ", "three"]
    assert items[-1] == GenerationEnded("stop", 3)


async def test_the_token_limit_cuts():
    assert (await written("/repeat 9 a", max_tokens=4))[-1] == GenerationEnded("length", 4)


async def test_a_script_can_end_as_if_cut():
    assert (await written("/say a\n/length"))[-1] == GenerationEnded("length", 1)


async def test_a_script_can_fail_with_a_sentence():
    with pytest.raises(EngineFailed, match="out of paper"):
        await written("/say a\n/fail out of paper")


async def test_a_hanging_script_ends_when_it_is_cancelled():
    with anyio.move_on_after(0.01) as scope:
        await written("/hang")
    assert scope.cancelled_caught


async def test_only_the_last_user_message_is_played():
    both = prompt("/say old") + prompt("/say new")
    async with ScriptedEngine().generate(0, tuple(both), Generation()) as items:
        first = next(item for item in [item async for item in items] if isinstance(item, Piece))
    assert first.text == "new"


@pytest.mark.parametrize(("turns", "part"), [(0, "/say one\n"), (1, "/say two"), (7, "/say two")])
def test_a_reply_of_several_turns_plays_the_part_of_each(turns: int, part: str):
    assert turn_of("/say one\n/then\n/say two", turns) == part
    assert turn_of("/say always", turns) == "/say always"


async def test_behind_the_result_of_a_tool_the_next_part_is_played():
    between = (
        b"<|im_start|>assistant\ncalled<|im_end|>\n<|im_start|>tool\n4<|im_end|>\n<|im_start|>assistant\n"
    )
    asked = prompt("/say <tool_call>\n/then\n/say four").rpartition(b"<|im_start|>assistant")[0] + between
    async with ScriptedEngine().generate(0, tuple(asked), Generation()) as items:
        first = next(item for item in [item async for item in items] if isinstance(item, Piece))
    assert first.text == "four"


async def test_a_slot_remembers_what_it_has_read():
    engine = ScriptedEngine()
    for _ in range(2):
        async with engine.prefill(3, tuple(prompt("a"))) as steps:
            last = [step async for step in steps][-1]
    assert last.cached == last.total == len(prompt("a"))
    async with engine.prefill(4, tuple(prompt("a"))) as steps:
        assert [step async for step in steps][-1].cached == 0


async def test_reading_reports_its_progress():
    async with ScriptedEngine().prefill(0, tuple(prompt("/read 4 0"))) as steps:
        processed = [step.processed for step in [step async for step in steps]]
    assert processed == sorted(processed)
    assert len(processed) == 5


async def test_it_fulfils_both_kinds_of_engine():
    assert isinstance(await load({}), PromptEngine)
    assert isinstance(await load({"kind": "chat"}), ChatEngine)


async def test_as_a_chat_engine_it_makes_the_events_itself():
    async with ScriptedChatEngine("m").chat(0, ChatRequest((user("/say hi"),))) as events:
        heard = [event async for event in events]
    assert heard[:3] == [Started("m", 1_000_000), Prefilled(None), TextDelta("hi")]
    assert isinstance(heard[-1], Done)
    assert heard[-1].usage.estimated


@pytest.mark.parametrize("step", ["/repeat x y", "/wait inf", "/pace nan", "/wait -1", "/repeat 1e99 x"])
def test_a_number_that_is_none_is_refused_with_the_step_that_wants_it(step):
    with pytest.raises(BadRequest, match=step.split()[0]):
        parse_script(step)


async def test_it_writes_down_what_it_got_besides_text():
    engine = await load({"kind": "chat", "modalities": ["text", "image", "audio"]})
    assert isinstance(engine, ScriptedChatEngine)
    assert engine.card.modalities == ("text", "image", "audio")
    parts = (TextPart("/got"), ImagePart(bytes(3), "image/png"), AudioPart(bytes(64_000)))
    async with engine.chat(0, ChatRequest((Message("user", parts),))) as events:
        said = "".join([event.text async for event in events if isinstance(event, TextDelta)])
    assert said == "image/png:3 audio:1000ms"

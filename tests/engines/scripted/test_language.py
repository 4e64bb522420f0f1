from datetime import datetime

import anyio
import pytest

from duologue.engines.contracts import ChatEngine, Generation, GenerationEnded, Piece, PromptEngine
from duologue.engines.scripted.language import (
    ScriptedChatEngine,
    ScriptedEngine,
    ScriptedTemplate,
    load,
)
from duologue.errors import EngineFailed
from duologue.text.output.reply_format import named_format
from duologue.text.templates.prompt_request import PromptRequest
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


async def test_it_writes_down_what_it_got_besides_text():
    engine = await load({"kind": "chat", "modalities": ["text", "image", "audio"]})
    assert isinstance(engine, ScriptedChatEngine)
    assert engine.card.modalities == ("text", "image", "audio")
    parts = (TextPart("/got"), ImagePart(bytes(3), "image/png"), AudioPart(bytes(64_000)))
    async with engine.chat(0, ChatRequest((Message("user", parts),))) as events:
        said = "".join([event.text async for event in events if isinstance(event, TextDelta)])
    assert said == "image/png:3 audio:1000ms"


async def test_raw_pieces_are_written_as_they_are_one_token_each():
    items = await written('/raw ["<tool_", "call>\\n", " \\\\n"]')
    assert [item for item in items if isinstance(item, Piece)] == [
        Piece("<tool_"),
        Piece("call>\n"),
        Piece(" \\n"),
    ]


async def test_a_script_says_how_its_reply_is_written_and_what_its_prompt_leaves_open():
    asked = PromptRequest((user('/format glm47\n/open "<think>\\n"\n/raw "hm"'),))
    prompt = await ScriptedTemplate().render(asked, datetime(2026, 1, 1))
    assert prompt.text == f"{prompt.head}<|im_start|>assistant\n<think>\n"
    assert prompt.format == named_format("glm47")
    plain = await ScriptedTemplate().render(PromptRequest((user("/say hi"),)), datetime(2026, 1, 1))
    assert plain.format is None


async def test_what_the_prompt_leaves_open_is_nothing_that_was_said():
    asked = prompt('/open "<think>\\n"\n/raw ["a ", "b ", "c"]')
    async with ScriptedEngine().generate(0, tuple(asked + b"<think>\na b"), Generation()) as items:
        assert [item.text async for item in items if isinstance(item, Piece)] == [" ", "c"]

"""The order of things in a call that a model holds, over a sequence that is a list of words. The real networks are run by
make test-engines."""

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.contracts import DuplexOptions, DuplexView
from duologue.engines.decoding.token_choice import ChosenToken
from duologue.engines.qwen_omni.duplex.held_call import QwenDuplexView
from duologue.engines.qwen_omni.prompt.omni_prompt import OmniPrompt, PromptMedium, PromptText
from duologue.errors import ContextExceeded, EngineFailed, Unsupported
from duologue.text.templates.prompt_request import RenderedPrompt
from duologue.values.messages import AudioPart, ImagePart, system
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
SECOND = bytes(32_000)
END = 0


class Sequence(list):
    trace = ()

    @property
    def numbers(self):
        return self

    def crop(self, length: int) -> None:
        del self[length:]


class Thinker:
    def sequence(self) -> Sequence:
        return Sequence()

    def read(self, sequence: Sequence, pieces) -> None:
        sequence.extend(token for piece in pieces for token in piece.tokens)

    def remove(self, sequence: Sequence, start: int, end: int) -> None:
        del sequence[start:end]


class Reader:
    """Each letter is a token; a second of sound is -5 ten times, a picture -6 four times."""

    def tokens(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    def pieces(self, part):
        if isinstance(part, str):
            return (PromptText(self.tokens(part)),) if part else ()
        if isinstance(part, ImagePart):
            return (PromptMedium(part, -6, 4, 99, (2, 2)),)
        return (PromptMedium(part, -5, len(part.data) // 6400, 98),)

    def prompt(self, parts) -> OmniPrompt:
        return OmniPrompt([piece for part in parts for piece in self.pieces(part)])


class Template:
    async def render(self, request, now) -> RenderedPrompt:
        marks = {"user": "U", "assistant": "A", "system": "S"}
        text = "".join(f"{marks[message.role]}{message.text};" for message in request.messages)
        return RenderedPrompt(text + "A", text)


class Talker:
    """2,400 samples with each token."""

    def begin(self, trace, voice):
        made = SimpleNamespace(codes=0, vocoder_seconds=0.0, ended=False)

        def feed(_) -> bytes:
            made.codes += 1
            return bytes(4800)

        made.feed, made.finish = feed, lambda _: iter(())
        made.spoken_tokens = lambda samples: samples // 2400
        return made


async def call(function, *args):
    return function(*args)


TOKENIZER = SimpleNamespace(all_special_ids=[END], decode=lambda ids, **_: bytes(ids).decode())


def view_of(reply: str = "yes it is so indeed", context: int = 400, talker: Any = None) -> Any:
    def choice(generation):
        letters = [*map(ord, reply), END]
        return SimpleNamespace(choose=lambda logits, before: ChosenToken(letters.pop(0)))

    parts: Any = (Thinker(), Reader(), Template(), TOKENIZER, talker or Talker(), call, choice)
    return QwenDuplexView(*parts, ends={END}, context=context, batch=64)


async def prepared(
    reply: str = "yes it is so indeed", window: int | None = None, limit: int | None = None, **options
) -> Any:
    view = view_of(reply, **options)
    await view.prepare((system("be"),), DuplexOptions(Sampling(max_tokens=limit), window=window))
    return view


def words(view) -> str:
    """What is in the cache: letters, _ for sound, # for a picture."""
    return "".join({-5: "_", -6: "#"}.get(number) or chr(number) for number in view.sequence)


def is_a_view(view: DuplexView) -> DuplexView:
    return view


async def test_a_call_begins_with_the_callers_turn_open() -> None:
    view = view_of()
    assert await is_a_view(view).prepare((system("be"),), DuplexOptions()) == 5
    assert words(view) == "Sbe;U"
    assert not view.decides
    assert view.unit_samples == (3200, 32000)


async def test_units_go_into_the_callers_turn_frames_first() -> None:
    view = await prepared()
    answer = await view.unit(SECOND, [ImagePart(b"p"), ImagePart(b"q")], decision="listen")
    assert words(view) == "Sbe;U" + "########" + "_" * 10
    assert (answer.listens, answer.slices, answer.vision_tokens, answer.cached) == (True, 2, 8, 23)
    assert (await view.unit(b"", decision="model")).listens, "the session decides, not the model"


async def test_a_reply_is_spoken_a_unit_at_a_time_without_reading_sound() -> None:
    view = await prepared()
    first = await view.unit(SECOND, decision="speak")
    assert (first.listens, first.text, len(first.pcm), first.written) == (False, "yes it is ", 48_000, 10)
    second = await view.unit(SECOND, decision="speak")
    assert (second.text, second.end_of_turn, second.codes) == ("so indeed", True, 9)
    assert words(view) == "Sbe;U" + "_" * 10 + ";A" + "yes it is so indeed"
    await view.finalize()
    await view.finalize()
    assert words(view).endswith("so indeed;U")
    await view.unit(SECOND, decision="listen")
    assert words(view).endswith(";U" + "_" * 10)


async def test_a_recital_is_said_in_the_place_of_its_own_words_and_kept_like_them() -> None:
    view = await prepared(limit=3)
    await view.recite("good day")
    first = await view.unit(SECOND, decision="speak")
    assert (first.text, first.end_of_turn) == ("good day", True)
    assert words(view).endswith(";Agood day")
    await view.finalize()
    assert (await view.unit(SECOND, decision="speak")).text == "yes"


async def test_a_cut_goes_back_to_the_words_that_were_heard() -> None:
    view = await prepared()
    await view.unit(SECOND, decision="speak")
    assert await view.cut(2400 * 6) == "yes it"
    assert words(view) == "Sbe;U" + "_" * 10 + ";Ayes it;U"
    await view.unit(SECOND, decision="listen")
    assert words(view).endswith(";Ayes it;U" + "_" * 10)
    assert await view.cut(99999) == "", "there is no reply any more"


async def test_of_a_reply_that_nobody_heard_nothing_stays() -> None:
    view = await prepared()
    await view.unit(SECOND, decision="speak")
    assert await view.cut(100) == ""
    assert words(view) == "Sbe;U" + "_" * 10


async def test_a_reply_that_is_over_and_closed_can_still_be_cut() -> None:
    view = await prepared("oh yes")
    answer = await view.unit(SECOND, decision="speak")
    assert answer.end_of_turn
    await view.finalize()
    assert await view.cut(2400 * 3) == "oh "
    assert words(view).endswith(";Aoh ;U")


async def test_while_a_reply_is_open_nothing_is_listened_to() -> None:
    view = await prepared()
    await view.unit(SECOND, decision="speak")
    with pytest.raises(EngineFailed):
        await view.unit(SECOND, decision="listen")


async def test_what_is_typed_is_read_in_the_callers_turn() -> None:
    view = await prepared()
    await view.type("now")
    assert words(view) == "Sbe;Unow"
    await view.unit(SECOND, decision="speak")
    await view.type("no")
    await view.type("stop")
    await view.cut(2400 * 3)
    await view.unit(SECOND, decision="listen")
    assert words(view).endswith(";Ayes;Unostop" + "_" * 10)


async def test_the_oldest_units_leave_and_the_prompt_stays() -> None:
    view = await prepared("ok", window=120)
    for number in range(30):
        await view.unit(SECOND, decision="listen")
        if number % 4 == 3:
            await view.unit(b"", decision="speak")
        assert len(view.sequence) <= 120 + 10
        assert words(view).startswith("Sbe;U")
        # Whatever has left, what remains is a conversation.
        assert words(view).count("A") <= words(view).count("U")


async def test_a_conversation_without_room_is_refused_and_so_is_a_unit() -> None:
    view = view_of(context=60)
    with pytest.raises(ContextExceeded):
        await view.prepare((system("x" * 60),), DuplexOptions())
    view = await prepared(context=60)
    with pytest.raises(ContextExceeded):
        await view.unit(SECOND * 6, decision="listen")


async def test_before_it_is_prepared_there_is_no_call() -> None:
    with pytest.raises(EngineFailed):
        await view_of().unit(SECOND, decision="listen")


async def test_a_model_that_does_not_speak_holds_no_call() -> None:
    view = view_of()
    view._talker = None
    with pytest.raises(Unsupported):
        await view.prepare((system("be"),), DuplexOptions())


def test_a_sound_of_the_caller_is_a_medium() -> None:
    assert Reader().pieces(AudioPart(bytes(64_000)))[0].size == 10

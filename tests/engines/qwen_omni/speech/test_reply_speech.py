"""The order of things over stand-ins for the networks. The real ones are run by make test-engines."""

from array import array
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.contracts import ModelVoice
from duologue.engines.qwen_omni.speech.grouped_sound import GroupedSound
from duologue.engines.qwen_omni.speech.reply_speech import ReplySpeech, Speech, open_speech
from duologue.engines.qwen_omni.speech.speech_groups import GroupRule, GroupSize
from duologue.errors import NotFound

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")

PROMPT = [9, 9, 9]
STOP = 0
RATE = 10


class Ids:
    """The ids alone."""

    def __init__(self) -> None:
        self.ids = list(PROMPT)

    def __len__(self) -> int:
        return len(self.ids)


def new_trace() -> Any:
    return Ids()


class Steps:
    """A talker whose code is the number of its step; after `length` of them its speech ends. Writes down what it read."""

    def __init__(self, length: int = 10**6) -> None:
        self.length = length
        self.read: list[Any] = []

    def start(self, trace: Any, prompt: int, first: int) -> tuple[int, ...] | None:
        self.read.append((prompt, trace.ids[first]))
        return self._code()

    def follow(self, text: Any) -> tuple[int, ...] | None:
        self.read.append(text)
        return self._code()

    def _code(self) -> tuple[int, ...] | None:
        assert len(self.read) <= self.length + 1, "asked after its end"
        return None if len(self.read) > self.length else (len(self.read),)


class Talker:
    """The parts of a talker that belong to no reply."""

    layer, code_rate = -1, float(RATE)
    end_text, pad_text = "end", "pad"
    voices = ("Chelsie", "Ethan")

    def __init__(self, length: int = 10**6) -> None:
        self.length = length
        self.begun: list[tuple[str, object]] = []

    def text(self, trace: Any, start: int, end: int) -> Any:
        (token,) = trace.ids[start:end]
        return token

    def reply(self, voice: str, generator: object) -> Steps:
        self.begun.append((voice, generator))
        return Steps(self.length)


class Vocoder:
    """A code of 2,400 samples is heard as its number."""

    rule = GroupRule(2400, 0, (), GroupSize(3))

    def sound(self, codes: Any, begin: int) -> Any:
        return numpy.repeat([code / 1000 for (code,) in codes], 2400).astype(numpy.float32)

    def reply(self, voice: str, seed: int) -> "Vocoder":
        return self


def reply(steps: Steps) -> ReplySpeech:
    return ReplySpeech(
        Talker(),
        steps,
        GroupedSound(Vocoder()),
        prompt=len(PROMPT),
        ends={STOP},
        seconds=lambda token: token / 10,
        inference=nullcontext,
    )


def numbers(pcm: bytes) -> list[int]:
    """Which codes are heard."""
    return [round(value / 32767 * 1000) for value in array("h", pcm)[::2400]]


def say(speech: ReplySpeech, trace: Any, *tokens: int) -> bytes:
    pcm = b""
    for token in tokens:
        trace.ids.append(token)
        pcm += speech.feed(trace)
    return pcm


def test_one_code_is_made_beside_each_token_and_sound_begins_before_the_text_ends() -> None:
    steps, trace = Steps(8), new_trace()
    speech = reply(steps)
    assert numbers(say(speech, trace, 5, 6, 7)) == [1, 2, 3]
    assert speech.codes == 3
    assert say(speech, trace, 8) == b""
    assert steps.read == [(3, 5), 6, 7, 8]
    assert numbers(b"".join(speech.finish(trace))) == [4, 5, 6, 7, 8]
    assert steps.read[4:] == ["end", "pad", "pad", "pad", "pad"]


def test_the_end_is_made_a_code_at_a_time() -> None:
    speech, trace = reply(Steps(7)), new_trace()
    say(speech, trace, 5)
    pieces = [numbers(piece) for piece in speech.finish(trace)]
    assert pieces == [[], [], [1, 2, 3], [], [], [4, 5, 6], [], [], [7]]


def test_tokens_that_come_together_are_read_one_after_the_other() -> None:
    steps, trace = Steps(), new_trace()
    speech = reply(steps)
    trace.ids += [5, 6, 7, 8]
    assert numbers(speech.feed(trace)) == [1, 2, 3]
    assert steps.read == [(3, 5), 6, 7, 8]
    assert speech.feed(trace) == b""


def test_the_token_that_ends_a_reply_is_not_said() -> None:
    steps, trace = Steps(4), new_trace()
    speech = reply(steps)
    say(speech, trace, 5, STOP)
    list(speech.finish(trace))
    assert steps.read == [(3, 5), "end", "pad", "pad", "pad"]


def test_speech_that_has_ended_before_its_text_is_over() -> None:
    steps, trace = Steps(2), new_trace()
    speech = reply(steps)
    say(speech, trace, 5, 6, 7, 8)
    assert numbers(b"".join(speech.finish(trace))) == [1, 2]
    assert steps.read == [(3, 5), 6, 7]
    assert speech.spoken_tokens(2 * 2400) == 4


def test_a_reply_without_a_token_is_silent() -> None:
    steps, trace = Steps(), new_trace()
    assert b"".join(reply(steps).finish(trace)) == b""
    trace.ids.append(STOP)
    assert b"".join(reply(steps).finish(trace)) == b""
    assert steps.read == []


def test_speech_that_never_ends_is_stopped_and_what_was_made_is_heard() -> None:
    speech, trace = reply(Steps()), new_trace()
    say(speech, trace, 5)
    heard = numbers(b"".join(speech.finish(trace)))
    assert 10 < len(heard) == speech.codes < 100
    assert heard == list(range(1, len(heard) + 1))


def test_what_was_heard_is_told_by_the_pace_and_in_the_end_by_the_length_of_the_sound() -> None:
    speech, trace = reply(Steps(40)), new_trace()
    say(speech, trace, 10, 10, 10, 10)
    assert [speech.spoken_tokens(second * 24_000) for second in (0, 1, 2, 3)] == [0, 1, 2, 3]
    list(speech.finish(trace))
    assert [speech.spoken_tokens(second * 24_000) for second in (0, 1, 2, 3, 4)] == [0, 1, 2, 3, 4]
    short, trace = reply(Steps(20)), new_trace()
    say(short, trace, 10, 10, 10, 10)
    list(short.finish(trace))
    assert [short.spoken_tokens(half * 12_000) for half in range(5)] == [0, 1, 2, 3, 4]


class Generator:
    def __init__(self, device: str) -> None:
        self.device = device

    def manual_seed(self, seed: int) -> tuple[str, int]:
        return self.device, seed


TEXTS = ["<|im_end|>", "Hello", " **", "{", "<|x|>"]
TOKENIZER = SimpleNamespace(
    __len__=None,
    added_tokens_decoder={0: SimpleNamespace(special=True), 1: SimpleNamespace(special=False)},
    all_special_ids=[0, 4],
    eos_token_id=0,
    decode=lambda ids: TEXTS[ids[0]],
    batch_decode=lambda rows: [TEXTS[row[0]] for row in rows],
)


class Tokenizer(SimpleNamespace):
    def __len__(self) -> int:
        return len(TEXTS)


def speech_of(talker: Talker) -> Speech:
    torch = SimpleNamespace(Generator=Generator, inference_mode=nullcontext)
    head = SimpleNamespace(weight=numpy.zeros((7, 2)))
    model = SimpleNamespace(
        config=SimpleNamespace(),
        generation_config=SimpleNamespace(eos_token_id=[0, 3]),
        thinker=SimpleNamespace(generation_config=None, get_output_embeddings=lambda: head),
    )
    talker.pad_text = SimpleNamespace(device="cpu")  # type: ignore[assignment]
    return Speech(torch, model, Tokenizer(**vars(TOKENIZER)), talker, Vocoder())


def test_what_nobody_would_say_is_suppressed_but_never_what_ends_a_reply() -> None:
    speech = speech_of(Talker())
    tokenizer = Tokenizer(**vars(TOKENIZER))
    assert speech.suppressed(tokenizer) == {2, 4, 5, 6}
    assert speech.suppressed(tokenizer) is speech.suppressed(tokenizer)


@pytest.mark.parametrize(
    ("asked", "speaks"), [("", "Chelsie"), ("Ethan", "Ethan"), ("ethan", "Ethan"), ("CHELSIE", "Chelsie")]
)
def test_a_voice_is_chosen_by_its_name(asked: str, speaks: str) -> None:
    talker = Talker()
    speech_of(talker).begin(new_trace(), ModelVoice(asked), seed=5)
    assert talker.begun == [(speaks, ("cpu", 5))]


def test_a_voice_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(NotFound, match=r"There is no voice 'Bob'\. These are: Chelsie, Ethan\.") as refused:
        speech_of(Talker()).begin(new_trace(), ModelVoice("Bob"))
    assert refused.value.code == "voice_not_found"


def test_a_model_without_a_talker_has_no_speech() -> None:
    assert open_speech(SimpleNamespace(has_talker=False), SimpleNamespace()) is None

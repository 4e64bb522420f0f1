"""`duologue say`: what goes to the output, what beside it."""

import io
import wave
from contextlib import nullcontext

import pytest

from duologue.cli.say import Question, TerminalReply, say
from duologue.client import sound_card
from duologue.client.http import Client
from duologue.errors import BadRequest, Problem, Unauthorized, Unavailable, WorkerLost


def shown(*messages: dict) -> tuple[str, str]:
    output, asides = io.StringIO(), io.StringIO()
    voice = TerminalReply(output, asides)
    for message in messages:
        voice.show(message)
    return output.getvalue(), asides.getvalue()


def test_only_the_reply_goes_to_the_output():
    output, asides = shown(
        {"type": "queued", "position": 2},
        {"type": "queue_done"},
        {"type": "prefill_done", "input_tokens": 3},
        {"type": "chunk", "reasoning_delta": "They greet "},
        {"type": "chunk", "reasoning_delta": "me."},
        {"type": "chunk", "text_delta": "Hel"},
        {"type": "chunk", "text_delta": "lo."},
        {"type": "done", "text": "Hello.", "finish_reason": "stop"},
    )
    assert output == "Hello.\n"
    assert asides == "waiting, position 2 in the queue\nThey greet me.\n\n"


def test_a_tool_call_and_a_cut_reply_are_told_beside():
    call = {"index": 0, "function": {"name": "add", "arguments": '{"a":'}}
    rest = {"index": 0, "function": {"arguments": "1}"}}
    output, asides = shown(
        {"type": "chunk", "tool_calls": [call]},
        {"type": "chunk", "tool_calls": [rest]},
        {"type": "done", "finish_reason": "length"},
    )
    assert output == "\n"
    assert asides == '\nadd {"a":1}(cut off: the reply reached its length limit)\n'


def test_asides_are_dim_on_a_terminal_only():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    asides = Terminal()
    TerminalReply(io.StringIO(), asides).show({"type": "queued", "position": 1})
    assert asides.getvalue().startswith("\x1b[2m")


def test_a_question_asks_for_what_was_given_and_nothing_else():
    assert Question("hi").messages() == [{"role": "user", "content": "hi"}]
    assert Question("hi").options() == {"streaming": True}
    full = Question("hi", model="m", system="Be brief.", thinking=False)
    assert full.messages()[0] == {"role": "system", "content": "Be brief."}
    assert full.options() == {"streaming": True, "model": "m", "enable_thinking": False}


def said_by(problem: Problem | None) -> str:
    """What `say` shows when the server answers, or ends in `problem`."""

    class Answering(Client):
        async def chat(self, messages, **options):
            yield {"type": "chunk", "text_delta": "Hello."}
            if problem:
                raise problem
            yield {"type": "done"}

    output = io.StringIO()
    say(Question("hi"), Answering("http://x", "k"), output, io.StringIO())
    return output.getvalue()


def test_the_reply_is_shown():
    assert said_by(None) == "Hello.\n"


def test_a_reply_that_breaks_off_ends_its_line():
    output, asides = io.StringIO(), io.StringIO()
    voice = TerminalReply(output, asides)
    voice.break_off()
    assert (output.getvalue(), asides.getvalue()) == ("", "")
    voice.show({"type": "chunk", "reasoning_delta": "hm"})
    voice.break_off()
    assert (output.getvalue(), asides.getvalue()) == ("", "hm\n")
    voice.show({"type": "chunk", "text_delta": "Once upon"})
    voice.break_off()
    assert output.getvalue() == "Once upon\n"


def test_no_server_is_told_with_the_way_to_start_one():
    with pytest.raises(Problem, match=r"at http://x\. Start one with `duologue serve`"):
        said_by(Unavailable("no", code="unreachable"))


def test_a_wrong_key_is_told_with_the_way_to_set_one():
    with pytest.raises(Unauthorized, match="http://x needs another key: set DUOLOGUE_KEY"):
        said_by(Unauthorized("The key is wrong."))


def test_other_problems_are_the_servers_own():
    with pytest.raises(WorkerLost, match="died"):
        said_by(WorkerLost("The worker died."))


class Speaking(Client):
    """A server whose reply is two pieces of sound."""

    trouble: dict | None = None

    async def chat(self, messages, **options):
        self.options = options
        yield {"type": "chunk", "text_delta": "Hel", "audio_data": "AQA="}
        yield {"type": "chunk", "text_delta": "lo."}
        yield {"type": "chunk", "audio_data": "AgADAA=="}
        yield {"type": "done", "text": "Hello.", "audio_error": self.trouble}


def test_a_spoken_reply_goes_into_a_file(tmp_path):
    output, server = io.StringIO(), Speaking()
    say(Question("hi", voice=True, out=tmp_path / "reply.wav"), server, output, io.StringIO())
    assert output.getvalue() == "Hello.\n"
    assert server.options["tts"] == {"enabled": True}
    with wave.open(str(tmp_path / "reply.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        assert file.readframes(9) == b"\1\0\2\0\3\0"


def test_a_spoken_reply_goes_to_the_loudspeaker(monkeypatch):
    played = []

    class Speaker:
        def play(self, pcm):
            played.append(pcm)

        async def drained(self):
            played.append("drained")

    monkeypatch.setattr(sound_card, "loudspeaker", lambda: nullcontext(Speaker()))
    say(Question("hi", voice=True), Speaking(), io.StringIO(), io.StringIO())
    assert played == [b"\1\0", b"\2\0\3\0", "drained"]


def test_a_file_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path):
    with pytest.raises(BadRequest, match="cannot be written"):
        say(Question("hi", voice=True, out=tmp_path), Speaking(), io.StringIO(), io.StringIO())


def test_a_reply_whose_sound_failed_says_so_behind_its_text(tmp_path):
    server, output = Speaking(), io.StringIO()
    server.trouble = {"code": "voice_unavailable", "message": "There is no voice."}
    with pytest.raises(Problem, match="There is no voice"):
        say(Question("hi", voice=True, out=tmp_path / "reply.wav"), server, output, io.StringIO())
    assert output.getvalue() == "Hello.\n"

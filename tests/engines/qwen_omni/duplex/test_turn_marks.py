"""The marks between turns, cut out of what real templates write."""

import pytest

from duologue.engines.qwen_omni.duplex.turn_marks import cut_turns, with_turns
from duologue.errors import Unsupported
from duologue.text.templates.chat_template import ChatTemplate
from duologue.text.templates.chatml import CHATML
from duologue.text.templates.prompt_request import PromptRequest, RenderedPrompt
from duologue.values.messages import assistant, system, user


def marks_of(*messages):
    request = PromptRequest(with_turns(messages, "zz"), form="full")
    from datetime import datetime

    return cut_turns(ChatTemplate(CHATML).prompt(request, datetime(2026, 1, 1)), "zz")


def test_a_call_begins_with_the_messages_and_the_callers_open_turn() -> None:
    marks = marks_of(system("Be kind."), user("Hi"), assistant("Hello"))
    assert marks.prompt.endswith("<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\n")
    assert "Be kind." in marks.prompt
    assert marks.reply == "<|im_end|>\n<|im_start|>assistant\n"
    assert marks.caller == "<|im_end|>\n<|im_start|>user\n"


@pytest.mark.parametrize("text", ["zza zzb", "zzb zza zzc", "zza zzb zzc zza", ""])
def test_a_template_that_loses_or_repeats_a_turn_cannot_hold_a_call(text: str) -> None:
    with pytest.raises(Unsupported):
        cut_turns(RenderedPrompt(text, text), "zz")

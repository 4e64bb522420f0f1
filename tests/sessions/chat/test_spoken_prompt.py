"""What is added to a request whose reply will be read aloud."""

from duologue.sessions.chat.spoken_prompt import NEVER, speakable_request
from duologue.text.speech.prompt_style import UNSPOKEN, spoken_style
from duologue.values.messages import system, user
from duologue.values.requests import ChatRequest, ModelCard, OutputFormat, Sampling

BIASED = ModelCard("m", "llama", 100, sampling=("logit_bias",), verbs=("text_bias",))
PLAIN = ModelCard("m", "remote", 100)


def test_the_style_joins_the_system_message_there_is():
    asked = speakable_request(ChatRequest((system("Be kind."), user("hi"))), PLAIN)
    assert asked.messages[0].text == f"Be kind.\n\n{spoken_style()}"
    assert asked.messages[1] == user("hi")


def test_without_a_system_message_the_style_is_one():
    asked = speakable_request(ChatRequest((user("hi"),)), PLAIN)
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert asked.sampling.logit_bias is None


def test_symbols_are_kept_from_the_model_where_the_engine_can():
    asked = speakable_request(ChatRequest((user("hi"),), sampling=Sampling(logit_bias={"7": 1.0})), BIASED)
    assert asked.sampling.logit_bias == dict.fromkeys(UNSPOKEN, NEVER) | {"7": 1.0}


def test_a_format_keeps_its_symbols():
    asked = speakable_request(ChatRequest((user("hi"),), format=OutputFormat("json_object")), BIASED)
    assert asked.sampling.logit_bias is None

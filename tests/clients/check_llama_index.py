"""LlamaIndex' OpenAILike model against a server."""

from importlib.metadata import version
from typing import Literal

from features import KEY, MODEL, URL, feature, run
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

model = OpenAILike(
    model=MODEL,
    api_base=f"{URL}/v1",
    api_key=KEY,
    is_chat_model=True,
    is_function_calling_model=True,
    should_use_structured_outputs=True,
    max_tokens=100,
    max_retries=0,
)


class Answer(BaseModel):
    colour: Literal["red", "blue"]


@feature("complete")
def _() -> None:
    assert model.complete("Hello, who are you?").text


@feature("chat")
def _() -> None:
    assert model.chat([ChatMessage(role="user", content="Hello, who are you?")]).message.content


@feature("chat, streamed")
def _() -> None:
    assert list(model.stream_chat([ChatMessage(role="user", content="Hello, who are you?")]))


@feature("a required tool call")
def _() -> None:
    def weather(city: Literal["Oslo", "Rome"]) -> str:
        """The weather of a city."""
        return city

    reply = model.chat_with_tools(
        [FunctionTool.from_defaults(weather)], user_msg="The weather in Oslo?", tool_required=True
    )
    assert model.get_tool_calls_from_response(reply)[0].tool_name == "weather"


@feature("structured_predict")
def _() -> None:
    answer = model.as_structured_llm(Answer).complete("A colour?")
    assert Answer.model_validate_json(answer.text)


@feature("completion of a text")
def _() -> None:
    plain = OpenAILike(
        model=MODEL, api_base=f"{URL}/v1", api_key=KEY, is_chat_model=False, max_tokens=8, max_retries=0
    )
    assert plain.complete("One, two,").text


if __name__ == "__main__":
    run("llama-index", version("llama-index-llms-openai-like"))

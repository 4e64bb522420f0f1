"""The standard suite of LangChain for chat models, run by `check_langchain.py` on its model for OpenAI's API."""

from __future__ import annotations

from typing import Any

from features import KEY, MODEL, URL
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestServer(ChatModelIntegrationTests):
    """What the suite needs to know of the model: the bundled one is too small to decide by itself to call a tool."""

    @property
    def chat_model_class(self) -> type[ChatOpenAI]:
        return ChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {
            "model": MODEL,
            "base_url": f"{URL}/v1",
            "api_key": KEY,
            "max_retries": 0,
            "temperature": 0,
            "max_tokens": 200,
            "stream_usage": True,
            # So small a model seldom ends a string by itself.
            "extra_body": {"logit_bias": {'"': 5, '"}': 5}},
        }

    @property
    def has_tool_choice(self) -> bool:
        return True

    @property
    def supports_image_inputs(self) -> bool:
        return False

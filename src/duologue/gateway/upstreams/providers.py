"""The hosted services that need nothing but a key, and the model servers that run on one's own machine. Pure data.

The page offers them; `models/upstream_models.py` and `upstream_client` know what is special about some of them.
"""

from __future__ import annotations

from msgspec import Struct


class Provider(Struct, frozen=True):
    """A hosted service. `keys`: the page on which its keys are made."""

    kind: str
    title: str
    url: str
    keys: str


PROVIDERS = (
    Provider("openai", "OpenAI", "https://api.openai.com/v1", "https://platform.openai.com/api-keys"),
    Provider(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        "https://console.anthropic.com/settings/keys",
    ),
    Provider(
        "google",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "https://aistudio.google.com/apikey",
    ),
    Provider(
        "openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/settings/keys"
    ),
    Provider("mistral", "Mistral", "https://api.mistral.ai/v1", "https://console.mistral.ai/api-keys"),
    Provider("groq", "Groq", "https://api.groq.com/openai/v1", "https://console.groq.com/keys"),
    Provider(
        "together", "Together", "https://api.together.xyz/v1", "https://api.together.ai/settings/api-keys"
    ),
    Provider("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "https://platform.deepseek.com/api_keys"),
)

LOCAL = {
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama-server",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt_llm": "TensorRT-LLM",
    "aphrodite": "Aphrodite",
    "litellm": "LiteLLM",
    "tabbyapi": "tabbyAPI",
    "koboldcpp": "KoboldCpp",
    "duologue": "Duologue",
}
"""Servers on one's own machines: kind and title."""
PORTS = {
    11434: "ollama",
    1234: "lmstudio",
    8080: "llamacpp",
    8000: "vllm",
    5000: "tabbyapi",
    5001: "koboldcpp",
}
"""The ports on which they listen unless told otherwise."""
OTHER = "other"
KINDS = frozenset({OTHER, *LOCAL, *(provider.kind for provider in PROVIDERS)})


def title_of(kind: str) -> str:
    """The name of a kind of server; "" for an unknown one."""
    hosted = {provider.kind: provider.title for provider in PROVIDERS}
    return hosted.get(kind) or LOCAL.get(kind, "")


def is_hosted(kind: str) -> bool:
    return any(provider.kind == kind for provider in PROVIDERS)

"""What model servers say about their models, in the many forms they have. Pure.

The gateway's client of connected servers and the remote engine fetch these answers. A model of which a server says nothing has
None; a model of no use here (pictures, speech) is left out. Nothing is guessed from a name but what it is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from duologue.values.requests import Task, UpstreamModel

MOST_MODELS = 1000
"""Models of one server that are used; the longest known list has about 400."""
LONGEST_NAME = 200
LARGEST_CONTEXT = 100_000_000
CONTEXT_NAMES = (
    *("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx"),
    *("max_input_tokens", "inputTokenLimit"),
)
WRITES, SPEAKS = ("text",), ("text", "audio")
"""What a model gives."""
KINDS = ("text", "image", "audio", "video")
"""What a model can take, in this order."""
OLLAMA = {"image": "vision", "audio": "audio"}
"""A kind of part, and Ollama's word for a model that takes it."""
LLAMA = {"image": "vision", "audio": "audio", "video": "video"}
"""The same for llama-server."""
DETAILED = 40
"""Models of an Ollama that are asked about one by one."""
TASKS: Mapping[str, Task] = {
    **dict.fromkeys(("embed", "embedding", "embeddings", "text-embedding", "feature-extraction"), "embed"),
    **dict.fromkeys(("rerank", "reranker", "reranking", "score"), "rerank"),
}
"""Types, modes, abilities and outputs of models that make vectors or scores."""
TASK_NAMES: tuple[tuple[Task, re.Pattern[str]], ...] = (
    ("rerank", re.compile(r"rerank")),
    ("embed", re.compile(r"embed")),
)
"""Names by which lists without types tell the same, the first that fits."""
OTHER_TYPES = frozenset({"image", "video", "audio", "moderation", "transcribe", "tts", "stt"})
OTHER_NAMES = re.compile(
    r"whisper|(^|[-/])tts|dall-e|moderation|transcri|realtime|gpt-image|-image|imagen|sora|veo-"
    r"|babbage-002|davinci-002|guard|orpheus|(^|[-/])aqa$"
)
"""Names by which they tell that a model is of no use here."""
OWNERS = {"library": "ollama", "organization_owner": "lmstudio", "llamacpp": "llamacpp", "vllm": "vllm"}
OWNERS |= {"sglang": "sglang", "tensorrt_llm": "tensorrt_llm", "pygmalionai": "aphrodite"}
OWNERS |= {"tabbyapi": "tabbyapi", "koboldcpp": "koboldcpp", "duologue": "duologue"}
"""`owned_by` in the list of models, and the kind of server that writes it."""
LITELLM_DATE = 1677610602
"""When every model of a LiteLLM was created, by its own list."""
HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "openrouter.ai": "openrouter",
    "api.mistral.ai": "mistral",
    "api.groq.com": "groq",
    "api.together.xyz": "together",
    "api.deepseek.com": "deepseek",
}
"""Hosts of services, whose lists do not say whose they are."""


class ModelList(msgspec.Struct, frozen=True):
    """The models of a server, the kind of server by its own words ("" if it does not say), and how many were left out."""

    models: tuple[UpstreamModel, ...]
    kind: str = ""
    omitted: int = 0


def parse_models(content: bytes) -> ModelList:
    """The answer of `GET /models`. Raises ValueError if it is not the list of an OpenAI-compatible server."""
    try:
        body = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError("not JSON") from error
    entries = body.get("data") if isinstance(body, dict) else body
    if not isinstance(entries, list):
        raise ValueError("not a list of models")
    models: dict[str, UpstreamModel] = {}
    named = 0
    for entry in entries:
        if (name := _name(entry)) is None:
            continue
        named += 1
        if _task(name, entry) is not None:
            models.setdefault(name, model_of(name, entry))
    if entries and not named:
        raise ValueError("a list without models")
    kept = tuple(models.values())[:MOST_MODELS]
    return ModelList(kept, kind_of(entries), len(entries) - len(kept))


def _name(entry: object) -> str | None:
    name = entry.get("id") if isinstance(entry, dict) else None
    usable = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    return name if usable else None


def _task(name: str, entry: Mapping[str, Any]) -> Task | None:
    """What a model is for; None for one of no use here."""
    if entry.get("active") is False:
        return None
    for type in (str(entry.get(key, "")).lower() for key in ("type", "mode")):
        if type in OTHER_TYPES:
            return None
        if type in TASKS:
            return TASKS[type]
    able = entry.get("capabilities")
    if isinstance(able, list) and (task := _task_in(able)) is not None:
        return task
    if isinstance(able, dict) and able.get("completion_chat") is True:
        return "chat"
    outputs = _within(entry, "architecture", "output_modalities")
    if isinstance(outputs, list):
        return "chat" if "text" in outputs else _task_in(outputs)
    named = next((task for task, words in TASK_NAMES if words.search(name.lower())), None)
    if named is not None:
        return named
    if isinstance(able, dict) and able.get("completion_chat") is False:
        return None
    return None if OTHER_NAMES.search(name.lower()) else "chat"


def _task_in(words: Iterable[object]) -> Task | None:
    """The task that one of these words names, unless another says that the model writes too."""
    said = [word for word in words if isinstance(word, str)]
    if "completion" in said or "chat" in said:
        return None
    return next((TASKS[word] for word in said if word in TASKS), None)


def model_of(name: str, entry: Mapping[str, Any]) -> UpstreamModel:
    """The model of an entry in a server's list."""
    context = next((entry[key] for key in CONTEXT_NAMES if _is_context(entry.get(key))), None)
    task = _task(name, entry) or "chat"
    return UpstreamModel(name, context, _modalities(entry), _tools(entry), _outputs(entry), task=task)


def _modalities(entry: Mapping[str, Any]) -> tuple[str, ...] | None:
    """What a model takes: a list (OpenRouter, Hugging Face, Duologue), or yes and no for each kind (Mistral, LM Studio, LiteLLM).
    None where nothing is said of pictures."""
    if entry.get("untold"):  # a Duologue whose own server does not say
        return None
    for inputs in (
        _within(entry, "architecture", "input_modalities"),
        entry.get("input_modalities"),
        entry.get("modalities"),
    ):
        if isinstance(inputs, list):
            return taking(inputs)
    able = entry.get("capabilities")
    able = able if isinstance(able, dict) else {}
    sees = able.get("vision", entry.get("supports_vision"))
    hears = able.get("audio", entry.get("supports_audio_input"))
    if not isinstance(sees, bool):
        sees = True if entry.get("type") == "vlm" else None
    if sees is None and hears is not True:
        return None
    return taking(kind for kind, known in (("image", sees), ("audio", hears)) if known is True)


def taking(kinds: Iterable[object]) -> tuple[str, ...]:
    """What a model takes that takes these kinds: text too, in the usual order."""
    said = set(map(str, kinds))
    return tuple(kind for kind in KINDS if kind == "text" or kind in said)


def _outputs(entry: Mapping[str, Any]) -> tuple[str, ...]:
    for outputs in (
        _within(entry, "architecture", "output_modalities"),
        entry.get("output_modalities"),
        entry.get("outputs"),
    ):
        if isinstance(outputs, list):
            return SPEAKS if "audio" in outputs else WRITES
    return SPEAKS if entry.get("supports_audio_output") is True else WRITES


def _tools(entry: Mapping[str, Any]) -> bool | None:
    parameters = entry.get("supported_parameters")
    if isinstance(parameters, list):
        return "tools" in parameters
    able = entry.get("capabilities")
    if isinstance(able, dict):
        known = able.get("function_calling", able.get("trained_for_tool_use"))
        return known if isinstance(known, bool) else None
    if isinstance(able, list):
        return "tools" in able or "tool_use" in able
    return None


def kind_of(entries: Iterable[object]) -> str:
    """The kind of server that a list of models is from, "" if it does not say."""
    listed = [entry for entry in entries if isinstance(entry, dict)]
    if listed and all(
        entry.get("created") == LITELLM_DATE and entry.get("owned_by") == "openai" for entry in listed
    ):
        return "litellm"
    owner = listed[0].get("owned_by") if listed else None
    return OWNERS.get(owner.lower(), "") if isinstance(owner, str) else ""


# ---- what some servers say elsewhere


def questions(kind: str, models: Sequence[UpstreamModel]) -> tuple[tuple[str, object], ...]:
    """Where else this kind of server speaks of its models: paths from its root, each with a JSON body or None."""
    if kind == "ollama":
        return tuple(("/api/show", {"model": model.name}) for model in models[:DETAILED])
    if kind == "lmstudio":
        return ("/api/v1/models", None), ("/api/v0/models", None)
    paths = {"llamacpp": "/props", "sglang": "/model_info", "litellm": "/model/info"}
    return ((paths[kind], None),) if kind in paths else ()


def with_answers(
    kind: str, models: Sequence[UpstreamModel], answers: Sequence[bytes]
) -> tuple[UpstreamModel, ...]:
    """The models with the answers to these questions, empty where there was none. What nobody says stays unknown."""
    if kind == "ollama":
        names = (model.name for model in models)
        return tuple(with_ollama(models, dict(zip(names, answers, strict=False))))
    if kind == "lmstudio":
        return tuple(with_lm_studio(models, next(filter(None, answers), b"")))
    readers = {
        "llamacpp": with_llama_properties,
        "sglang": with_sglang_information,
        "litellm": with_litellm_information,
    }
    reader = readers.get(kind)
    return tuple(models if reader is None else reader(models, next(iter(answers), b"")))


def with_ollama(models: Iterable[UpstreamModel], shown: Mapping[str, bytes]) -> Iterator[UpstreamModel]:
    """With the answers of Ollama's `/api/show`, by model. The context it names is what the model was trained for and not
    what Ollama reads, so it stays unknown."""
    for model in models:
        able = _object(shown.get(model.name, b"")).get("capabilities")
        if not isinstance(able, list):
            yield model
        elif "completion" in able:
            kinds = [kind for kind, word in OLLAMA.items() if word in able]
            yield replace(model, modalities=taking(kinds), tools="tools" in able, task="chat")
        elif (task := _task_in(able)) is not None:
            yield replace(model, modalities=WRITES, task=task)


def with_lm_studio(models: Iterable[UpstreamModel], content: bytes) -> Iterator[UpstreamModel]:
    """With the answer of LM Studio's `/api/v1/models`, or of the `/api/v0/models` of older versions."""
    body = _object(content)
    entries = body.get("models") or body.get("data")
    by_name = {
        entry.get("key") or entry.get("id"): entry
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }
    for model in models:
        if (entry := by_name.get(model.name)) is None:
            yield model
        elif str(entry.get("type", "")).lower() not in OTHER_TYPES:
            loaded = entry.get("loaded_instances")
            first = loaded[0] if isinstance(loaded, list) and loaded else None
            used = _within(first, "config", "context_length") or entry.get("loaded_context_length")
            # The older list tells models that see by their type alone.
            takes = _modalities(entry) if entry.get("type") != "llm" or "key" in entry else WRITES
            context = used if _is_context(used) else None
            task = _task(model.name, entry) or "chat"
            yield UpstreamModel(model.name, context, takes, _tools(entry), task=task)


def with_llama_properties(models: Iterable[UpstreamModel], content: bytes) -> Iterator[UpstreamModel]:
    """With the answer of llama-server's `/props`: it has one model."""
    body = _object(content)
    used = _within(body, "default_generation_settings", "n_ctx")
    able = body.get("modalities")
    tools = _within(body, "chat_template_caps", "supports_tools")
    for model in models:
        yield replace(
            model,
            context=used if _is_context(used) else model.context,
            modalities=taking(kind for kind, word in LLAMA.items() if able.get(word) is True)
            if isinstance(able, dict)
            else model.modalities,
            tools=tools if isinstance(tools, bool) else model.tools,
        )


def with_sglang_information(models: Iterable[UpstreamModel], content: bytes) -> Iterator[UpstreamModel]:
    """With the answer of SGLang's `/model_info`: it has one model. Older versions do not speak of pictures."""
    body = _object(content)
    sees, hears = body.get("has_image_understanding"), body.get("has_audio_understanding")
    for model in models:
        if isinstance(sees, bool):
            said = [kind for kind, known in (("image", sees), ("audio", hears)) if known is True]
            model = replace(model, modalities=taking(said))
        yield model


def with_litellm_information(models: Iterable[UpstreamModel], content: bytes) -> Iterator[UpstreamModel]:
    """With the answer of LiteLLM's `/model/info`, which says null of models that it does not know."""
    entries = _object(content).get("data")
    by_name = {
        entry.get("model_name"): entry.get("model_info")
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }
    for model in models:
        said = by_name.get(model.name)
        if isinstance(said, dict):
            told = model_of(model.name, said)
            tools = said.get("supports_function_calling")
            model = UpstreamModel(
                model.name,
                told.context or model.context,
                model.modalities if told.modalities is None else told.modalities,
                tools if isinstance(tools, bool) else model.tools,
                told.outputs if "audio" in told.outputs else model.outputs,
                task=told.task,
            )
        yield model


def smallest_first(models: Iterable[UpstreamModel]) -> list[UpstreamModel]:
    """Those that chat, with the models first whose names promise a quick and cheap answer: one of them is asked when a server is
    tested."""
    small = re.compile(r"(^|[^a-z])(mini|nano|tiny|small|lite|flash|haiku|instant|[0-9]b)($|[^a-z])")
    quick: Callable[[UpstreamModel], bool] = lambda model: small.search(model.name.lower()) is None  # noqa: E731
    return sorted((model for model in models if model.task == "chat"), key=quick)


def _object(content: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(content) if content else {}
    except (msgspec.DecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _within(value: object, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _is_context(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_CONTEXT

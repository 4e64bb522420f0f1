"""What Aider sends, through the library it sends with: streamed chats with its prompts of edit formats, commit messages, and what it
asks a library about a model it does not know."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import litellm
from features import KEY, MODEL, OLLAMA_URL, URL, feature, run

NAME = f"openai/{MODEL}"
COMMON: dict[str, Any] = {
    "model": NAME,
    "api_base": f"{URL}/v1",  # It sets the environment instead: $OPENAI_API_BASE and $OPENAI_API_KEY.
    "api_key": KEY,
    "timeout": 600,
}
EDITING = """Act as an expert software developer.
Always use best practices when coding.
Take requests for changes to the supplied code.
Once you understand the request you MUST:
1. Think step-by-step and explain the needed changes in a few short sentences.
2. Describe each change with a *SEARCH/REPLACE block* per the examples below."""
BLOCK = """a.py
```python
<<<<<<< SEARCH
x = 1
=======
y = 1
>>>>>>> REPLACE
```"""


def conversation(question: str) -> list[dict[str, str]]:
    """The order of Aider's messages: rules, an example, the files, the question and a reminder."""
    return [
        {"role": "system", "content": EDITING},
        {"role": "user", "content": "Change x to y."},
        {"role": "assistant", "content": BLOCK},
        {"role": "user", "content": "I switched to a new code base. Please don't consider the above files."},
        {"role": "assistant", "content": "Ok."},
        {
            "role": "user",
            "content": "I have *added these files to the chat* so you can go ahead and edit them.\n\na.py\n```\nx = 1\n```\n",
        },
        {"role": "assistant", "content": "Ok, any changes I propose will be to those files."},
        {"role": "user", "content": question},
        {
            "role": "system",
            "content": "# *SEARCH/REPLACE block* Rules:\n\nEvery *SEARCH/REPLACE block* must use this format.",
        },
    ]


@feature("its question about the environment")
def _() -> None:
    import os

    os.environ["OPENAI_API_KEY"] = KEY
    assert litellm.validate_environment(NAME)["keys_in_environment"]


@feature("edits, streamed")
def _() -> None:
    stream: Any = litellm.completion(
        **COMMON, messages=conversation("Rename x to z."), stream=True, temperature=0, max_tokens=60
    )
    text, finish = "", None
    for chunk in stream:
        text += getattr(chunk.choices[0].delta, "content", None) or ""
        finish = chunk.choices[0].finish_reason or finish
    assert text
    assert finish in ("stop", "length")


@feature("edits at once, with usage")
def _() -> None:
    reply: Any = litellm.completion(
        **COMMON, messages=conversation("Rename x to z."), stream=False, temperature=0, max_tokens=60
    )
    assert reply.choices[0].message.content
    assert reply.usage.prompt_tokens > 100


@feature("a commit message")
def _() -> None:
    messages = [
        {
            "role": "system",
            "content": "You are an expert software engineer that generates concise, one-line Git commit messages.",
        },
        {"role": "user", "content": "diff --git a/a.py b/a.py\n-x = 1\n+y = 1\n"},
    ]
    reply: Any = litellm.completion(**COMMON, messages=messages, stream=False, temperature=0, max_tokens=60)
    assert reply.choices[0].message.content


@feature("an edit format by a forced function")
def _() -> None:
    function = {
        "name": "write_file",
        "description": "create or update one or more files",
        "parameters": {
            "type": "object",
            "required": ["explanation"],
            "properties": {"explanation": {"type": "string", "maxLength": 20}},
            "additionalProperties": False,
        },
    }
    reply: Any = litellm.completion(
        **COMMON,
        messages=conversation("Rename x to z."),
        tools=[{"type": "function", "function": function}],
        tool_choice={"type": "function", "function": {"name": "write_file"}},
        max_tokens=100,
        temperature=0,
    )
    assert reply.choices[0].message.tool_calls[0].function.name == "write_file"


@feature("a prompt that is too long has the error it looks for")
def _() -> None:
    long = [{"role": "user", "content": "word " * 60_000}]
    try:
        litellm.completion(**COMMON, messages=long, max_tokens=5)
    except litellm.ContextWindowExceededError:
        return
    raise AssertionError("a prompt of 60,000 words was taken")


@feature("its settings of effort and of the model's own sampling")
def _() -> None:
    reply: Any = litellm.completion(
        **COMMON,
        messages=conversation("Rename x to z."),
        stream=False,
        extra_body={"reasoning_effort": "low"},
        top_p=0.95,
        max_tokens=40,
    )
    assert reply.choices[0].finish_reason in ("stop", "length")


@feature("ollama_chat, with num_ctx")
def _() -> None:
    messages = conversation("Rename x to z.")
    stream: Any = litellm.completion(
        model=f"ollama_chat/{MODEL}",
        api_base=OLLAMA_URL,
        messages=messages,
        stream=True,
        temperature=0,
        # A quarter more than the prompt, and 8,192 for the reply.
        num_ctx=int(litellm.token_counter(model=NAME, messages=messages) * 1.25) + 8192,
        max_tokens=40,
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream)


if __name__ == "__main__":
    run("Aider (its calls)", f"0.86.2, litellm {version('litellm')}")

"""The Python client that `make client` generates, from its wheel: a conversation, a run, models, a completion and errors, all typed."""

from __future__ import annotations

import time
import uuid
from importlib.metadata import version

from duologue_client import AuthenticatedClient
from duologue_client.api.conversations import get_api_conversations_id, post_api_conversations
from duologue_client.api.open_ai import get_v1_models, get_v1_models_name, post_v1_chat_completions
from duologue_client.api.runs import get_api_runs_run, post_api_conversations_id_runs
from duologue_client.models import (
    ChatCompletion,
    ChatCompletionBody,
    CompletionMessageBody,
    Conversation,
    Error,
    ListedModels,
    MessageBody,
    NewConversationBody,
    OpenAIError,
    Run,
    SendBody,
    TextContentBody,
    WholeConversation,
)
from features import KEY, MODEL, URL, feature, run

client = AuthenticatedClient(URL, token=KEY, timeout=120, raise_on_unexpected_status=True)
HELLO = [CompletionMessageBody(role="user", content="Hello, who are you?")]


def new_id() -> str:
    return uuid.uuid4().hex


@feature("models")
def _() -> None:
    models = get_v1_models.sync(client=client)
    assert isinstance(models, ListedModels)
    entry = next(model for model in models.data if model.id == MODEL)
    assert entry.context_length
    one = get_v1_models_name.sync(MODEL, client=client)
    assert one == entry


@feature("a chat completion")
def _() -> None:
    body = ChatCompletionBody(messages=HELLO, model=MODEL, max_tokens=20)
    reply = post_v1_chat_completions.sync(client=client, body=body)
    assert isinstance(reply, ChatCompletion), reply
    assert reply.choices[0].message.content
    assert reply.usage.completion_tokens > 0


@feature("a conversation and a run")
def _() -> None:
    made = post_api_conversations.sync(client=client, body=NewConversationBody(title="Typed"))
    assert isinstance(made, Conversation)
    message = MessageBody(id=new_id(), content=[TextContentBody(type_="text", text="Hello")])
    started = post_api_conversations_id_runs.sync(
        made.id, client=client, body=SendBody(verb="send", run=new_id(), message=message)
    )
    assert isinstance(started, Run), started
    until = time.monotonic() + 60
    while True:
        state = get_api_runs_run.sync(started.id, client=client)
        assert isinstance(state, Run), state
        if state.outcome or time.monotonic() > until:
            break
        time.sleep(0.1)
    assert state.outcome == "done", state
    whole = get_api_conversations_id.sync(made.id, client=client)
    assert isinstance(whole, WholeConversation)
    assert [message.role for message in whole.messages][-2:] == ["user", "assistant"]


@feature("errors have their types")
def _() -> None:
    gone = get_api_runs_run.sync("nosuchrun", client=client)
    assert isinstance(gone, Error)
    assert gone.error.code == "not_found", gone
    body = ChatCompletionBody(messages=HELLO, model="no-such-model")
    refused = post_v1_chat_completions.sync(client=client, body=body)
    assert isinstance(refused, OpenAIError)
    assert refused.error.code == "model_not_found"


if __name__ == "__main__":
    run("duologue-client (Python, generated)", version("duologue-client"))

"""The commands that start a run: the union behind `POST /api/conversations/{id}/runs`.

Values only; `plan.py` and `service.py` carry them out. The client chooses the ids, and a command is idempotent by its `run`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from duologue.values.conversations import GenerationOptions, ResourceContent, TextContent

Id = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
BusyPolicy = Literal["refuse", "queue", "steer"]


class FileContent(Struct, frozen=True, tag="file", forbid_unknown_fields=True):
    """A stored file by its hash; the server converts it for the model. `given`: a document's text, or its pages as
    pictures; None lets the server choose."""

    blob: str
    name: str = ""
    mime: str = ""
    given: Literal["text", "pages"] | None = None


CommandContent = TextContent | FileContent | ResourceContent


class NewMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """A new message of the user."""

    id: Id
    content: tuple[CommandContent, ...]


class Send(Struct, frozen=True, tag_field="verb", tag="send", forbid_unknown_fields=True):
    """Add a message below `parent` and reply to it ("" is the conversation's leaf, None the root). `busy`: what to do while
    another reply is running."""

    run: Id
    message: NewMessage
    parent: str | None = ""
    options: GenerationOptions = GenerationOptions()
    busy: BusyPolicy = "refuse"


class Regenerate(Struct, frozen=True, tag_field="verb", tag="regenerate", forbid_unknown_fields=True):
    """Write another reply beside the assistant's row `message`, or below the user's row `message`."""

    run: Id
    message: Id
    options: GenerationOptions = GenerationOptions()


class Continue(Struct, frozen=True, tag_field="verb", tag="continue", forbid_unknown_fields=True):
    """Continue at `message`: append to the same row, run its tool calls, or take the next turn."""

    run: Id
    message: Id
    options: GenerationOptions = GenerationOptions()


class Edit(Struct, frozen=True, tag_field="verb", tag="edit", forbid_unknown_fields=True):
    """Add `new` beside the user's row `message` and reply to it."""

    run: Id
    message: Id
    new: NewMessage
    options: GenerationOptions = GenerationOptions()


RunCommand = Send | Regenerate | Continue | Edit


def new_message(command: RunCommand) -> NewMessage | None:
    """The user's message that a command adds."""
    match command:
        case Send(message=message):
            return message
        case Edit(new=new):
            return new
    return None

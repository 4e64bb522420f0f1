"""What can be asked of a conversation that makes a run: the union behind `POST /api/conversations/{id}/runs`.

Knows no way to carry it out. Ids are the client's: the same verb with the same `run` again is the same run.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from duologue.values.conversations import GenerationOptions, ResourceContent, TextContent

Id = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Busyness = Literal["refuse", "queue", "steer"]


class FileContent(Struct, frozen=True, tag="file", forbid_unknown_fields=True):
    """A kept file by its hash; the server makes of it what a model can take. `given`: a document's text or its pages
    as pictures; None lets the server choose."""

    blob: str
    name: str = ""
    mime: str = ""
    given: Literal["text", "pages"] | None = None


GivenContent = TextContent | FileContent | ResourceContent


class NewMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """What the user wrote."""

    id: Id
    content: tuple[GivenContent, ...]


class Send(Struct, frozen=True, tag_field="verb", tag="send", forbid_unknown_fields=True):
    """A message and its answer, after `parent`, or where the conversation stands ("" is the leaf, None the root).
    `busy` says what becomes of it while a reply is running."""

    run: Id
    message: NewMessage
    parent: str | None = ""
    options: GenerationOptions = GenerationOptions()
    busy: Busyness = "refuse"


class Regenerate(Struct, frozen=True, tag_field="verb", tag="regenerate", forbid_unknown_fields=True):
    """Another answer beside the assistant's row `message`, or below the user's row `message`."""

    run: Id
    message: Id
    options: GenerationOptions = GenerationOptions()


class Continue(Struct, frozen=True, tag_field="verb", tag="continue", forbid_unknown_fields=True):
    """Go on where `message` was left: write on in the same row, make its calls, or take the next turn."""

    run: Id
    message: Id
    options: GenerationOptions = GenerationOptions()


class Edit(Struct, frozen=True, tag_field="verb", tag="edit", forbid_unknown_fields=True):
    """The user's row `message` once more, as `new`, beside it and answered."""

    run: Id
    message: Id
    new: NewMessage
    options: GenerationOptions = GenerationOptions()


Verb = Send | Regenerate | Continue | Edit

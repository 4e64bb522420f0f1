"""The form of `POST /v1/files`, and files as answers have them.

Used by `gateway/files`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

import msgspec
from pydantic import Field

from duologue.errors import BadRequest, Unsupported
from duologue.values.batches.stored_batch import FilePurpose, StoredFile
from duologue.wire.validation import Body, validate

SHORTEST, LONGEST = 3600, 30 * 24 * 3600
"""Seconds after which a file may expire."""
UNSUPPORTED_PURPOSES = ("fine-tune", "evals")


class ExpiresAfterBody(Body):
    """When a file is deleted."""

    anchor: Literal["created_at"]
    seconds: int = Field(ge=SHORTEST, le=LONGEST)


class FileFields(Body):
    """What the form of a file has beside it. `expires_after` may be written as `expires_after[seconds]`, or as JSON."""

    purpose: Literal["batch", "user_data", "assistants", "vision"]
    expires_after: ExpiresAfterBody | None = None


def file_fields(form: Mapping[str, str]) -> FileFields:
    """The fields of the form. Raises BadRequest, and Unsupported for a purpose that nothing here serves."""
    purpose = form.get("purpose", "")
    if purpose in UNSUPPORTED_PURPOSES:
        raise Unsupported(
            f"The purpose {purpose} is not supported. Use batch, user_data, assistants or vision.",
            param="purpose",
        )
    fields: dict[str, object] = {"purpose": purpose} if purpose else {}
    if expires := _expires_after(form):
        fields["expires_after"] = expires
    return validate(FileFields, fields)


def _expires_after(form: Mapping[str, str]) -> object:
    if written := form.get("expires_after"):
        try:
            return msgspec.json.decode(written)
        except msgspec.DecodeError:
            raise BadRequest("expires_after must be an object.", param="expires_after") from None
    expires: dict[str, object] = {
        name: form[field]
        for name in ("anchor", "seconds")
        for field in (f"expires_after[{name}]", f"expires_after.{name}")
        if field in form
    }
    seconds = expires.get("seconds")
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdigit() and len(seconds) < 12:
        expires["seconds"] = int(seconds)
    return expires


class FileObject(msgspec.Struct, frozen=True):
    """A stored file. Times are in seconds since 1970; `expires_at` is null where it stays until it is deleted."""

    id: str
    bytes: int
    created_at: int
    filename: str
    purpose: FilePurpose
    expires_at: int | None
    object: Literal["file"] = "file"
    status: Literal["processed"] = "processed"

    @classmethod
    def of(cls, file: StoredFile) -> FileObject:
        return cls(
            file.id,
            file.size,
            file.created // 1000,
            file.name,
            file.purpose,
            file.expires // 1000 if file.expires else None,
        )


class FileList(msgspec.Struct, frozen=True):
    """A page of files."""

    data: list[FileObject]
    first_id: str | None
    last_id: str | None
    has_more: bool
    object: Literal["list"] = "list"

    @classmethod
    def of(cls, files: Sequence[StoredFile], limit: int) -> FileList:
        """The page of the first `limit` of these, of which one more tells that there are more."""
        page = files[:limit]
        first, last = (page[0].id, page[-1].id) if page else (None, None)
        return cls([FileObject.of(file) for file in page], first, last, len(files) > limit)


class FileDeleted(msgspec.Struct, frozen=True):
    """A file that was deleted."""

    id: str
    object: Literal["file"] = "file"
    deleted: bool = True


PURPOSES = ("batch", "batch_output", "user_data", "assistants", "vision")
"""Of stored files."""


def purpose_of(text: str) -> FilePurpose | Literal[""]:
    """A purpose to list, "" for all. Raises BadRequest."""
    if text in ("", *PURPOSES):
        return cast(FilePurpose, text)
    raise BadRequest(
        "purpose must be one of batch, batch_output, user_data, assistants and vision.", param="purpose"
    )

"""Changes to the messages of a conversation without a run: edits, deletions, forks, the system message, compaction, titles.

Owns these routes and their JSON; `history` does the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.conversations.history.context_window import ContextGauge
from duologue.conversations.history.editing import Deleted
from duologue.conversations.history.tree import RowCounts
from duologue.http.json_api import answer, checked_id, nothing, read_body, user_of
from duologue.http.openapi import documented
from duologue.values.conversations import Conversation, StoredMessage
from duologue.wire import api

if TYPE_CHECKING:
    from duologue.conversations.service import Service


def router(service: Service) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api/conversations/{id}", tags=["conversations"])
    _add_whole(routes, service)
    _add_messages(routes, service)
    return routes


def _add_whole(routes: APIRouter, service: Service) -> None:
    @routes.post(
        "/fork",
        summary="Copy a path into a conversation of its own",
        status_code=201,
        openapi_extra=documented(body=api.ForkBody, answers=Conversation, status=201),
    )
    async def fork_conversation(request: Request, id: str) -> Response:
        """The messages up to `message`, under new ids. Idempotent by `id`."""
        fork = await read_body(request, api.ForkBody)
        conversation = await service.editing.fork(
            user_of(request), checked_id(id), fork.id, fork.message, fork.title
        )
        return answer(conversation, 201)

    @routes.put(
        "/system",
        summary="Write or remove the system message",
        openapi_extra=documented(
            body=api.SystemMessageBody,
            answers=StoredMessage,
            says="The message",
            also={204: "It has none now"},
        ),
    )
    async def put_system_message(request: Request, id: str) -> Response:
        """It is above all other messages. An empty text removes it."""
        body = await read_body(request, api.SystemMessageBody)
        api.check_text([body.text], text_mb=service.limits.text_mb, param="text")
        row = await service.editing.put_system(user_of(request), checked_id(id), body.id, body.text)
        return answer(row) if row is not None else nothing()

    @routes.get(
        "/context",
        summary="How full the context is",
        openapi_extra=documented(
            answers=ContextGauge,
            query={"leaf": "the branch; by default the one that is shown"},
        ),
    )
    async def read_context(request: Request, id: str) -> Response:
        leaf = request.query_params.get("leaf") or None
        return answer(await service.compaction.gauge(user_of(request), checked_id(id), leaf))

    @routes.post(
        "/compact",
        summary="Fold the oldest turns into a summary",
        openapi_extra=documented(body=api.CompactBody, answers=StoredMessage),
    )
    async def compact(request: Request, id: str) -> Response:
        """The folded messages stay visible; a model gets the summary instead. Deleting the summary undoes it."""
        body = await read_body(request, api.CompactBody)
        row = await service.compaction.compact(user_of(request), checked_id(id), body.id, body.leaf)
        return answer(row)

    @routes.post(
        "/title",
        summary="Let the model write a title",
        openapi_extra=documented(answers=Conversation),
    )
    async def write_title(request: Request, id: str) -> Response:
        return answer(await service.titles.generate(user_of(request), checked_id(id)))


def _add_messages(routes: APIRouter, service: Service) -> None:
    @routes.patch(
        "/messages/{message}",
        summary="Edit a message in its place",
        openapi_extra=documented(body=api.ContentChangeBody, answers=StoredMessage),
    )
    async def edit_message(request: Request, id: str, message: str) -> Response:
        """The messages below stay, and no reply is written; the verb `edit` makes a new branch instead."""
        change, user = await read_body(request, api.ContentChangeBody), user_of(request)
        await service.stores.of(checked_id(id)).conversations.get(user, id)
        content = await service.contents.stored_content(user, id, change.content)
        return answer(await service.editing.edit(user, id, checked_id(message, "message"), content))

    @routes.get(
        "/messages/{message}/deletion",
        summary="How much deleting a message would delete",
        openapi_extra=documented(answers=RowCounts),
    )
    async def count_deletion(request: Request, id: str, message: str) -> Response:
        counts = await service.editing.count_deletion(
            user_of(request), checked_id(id), checked_id(message, "message")
        )
        return answer(counts)

    @routes.delete(
        "/messages/{message}",
        summary="Delete a message and all below it",
        openapi_extra=documented(answers=Deleted),
    )
    async def delete_message(request: Request, id: str, message: str) -> Response:
        """Can be undone with `restore` for an hour. A summary and the system message are deleted alone and for good, and the
        messages below move up."""
        deleted = await service.editing.delete(
            user_of(request), checked_id(id), checked_id(message, "message")
        )
        return answer(deleted)

    @routes.post(
        "/messages/{message}/restore",
        summary="Undo the deletion of a message",
        openapi_extra=documented(answers=Conversation),
    )
    async def restore_message(request: Request, id: str, message: str) -> Response:
        """Brings back all that was deleted with it."""
        conversation = await service.editing.restore(
            user_of(request), checked_id(id), checked_id(message, "message")
        )
        return answer(conversation)

"""`/api/conversations`: the list, single conversations, and changes to them that do not touch their messages.

Owns these routes and their JSON; `history/editing.py`, the store and the runs do the work.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.responses import Response

from duologue.errors import BadRequest, NotFound
from duologue.http.json_api import answer, checked_id, flag, nothing, read_body, user_of, whole_number
from duologue.http.openapi import FLAG, documented, whole_numbers
from duologue.values.conversations import Approval, Conversation, PendingMessage, StoredMessage
from duologue.values.runs import ListChanged, ListRemoved, Run
from duologue.wire import api

if TYPE_CHECKING:
    from duologue.conversations.service import Service

MOST_LISTED = 200


class ConversationPage(Struct, frozen=True):
    """Pinned conversations come first, on the first page. Pass `next` as `before` for the next page; null at the end."""

    conversations: list[Conversation]
    next: str | None


class WholeConversation(Struct, frozen=True):
    """`messages` is the whole tree, by sequence, or one path of it."""

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    run: Run | None
    pending: list[PendingMessage]
    approvals: list[Approval]
    draft: dict[str, Any] | None


class BulkDone(Struct, frozen=True):
    """`missing`: the ids that do not exist."""

    done: list[str]
    missing: list[str]


def router(service: Service) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api/conversations", tags=["conversations"])
    _add_list(routes, service)
    _add_many(routes, service)
    _add_one(routes, service)
    return routes


def _add_list(routes: APIRouter, service: Service) -> None:
    @routes.post(
        "",
        summary="Start a conversation",
        openapi_extra=documented(
            body=api.NewConversationBody,
            answers=Conversation,
            status=201,
            says="The conversation",
            also={200: "The conversation, which existed already"},
        ),
    )
    async def create_conversation(request: Request) -> Response:
        """Idempotent by id. A temporary conversation is stored in memory only."""
        new, user = await read_body(request, api.NewConversationBody), user_of(request)
        api.check_text([new.system], text_mb=service.limits.text_mb, param="system")
        if new.temporary and new.folder is not None:
            raise BadRequest("A temporary conversation cannot be in a folder.", param="folder")
        conversation = Conversation(
            new.id or uuid.uuid4().hex,
            new.title,
            "user" if new.title else "first",
            folder=new.folder,
            temporary=new.temporary,
            tags=_tags(new.tags),
            options=new.options.options(),
        )
        stored, is_new = await service.editing.begin(user, conversation, new.system)
        return answer(stored, 201 if is_new else 200)

    @routes.get(
        "",
        summary="The conversations, newest change first",
        openapi_extra=documented(
            answers=ConversationPage,
            query={
                "archived": ("true for the archived ones", FLAG),
                "folder": ("only those of a folder, by its id", api.ID_SCHEMA),
                "tag": "only those with a tag",
                "limit": ("how many; 50 without it", whole_numbers(MOST_LISTED)),
                "before": ("the `next` of the page before", CURSOR),
            },
        ),
    )
    async def list_conversations(request: Request) -> Response:
        limit = whole_number(request, "limit", 50, most=MOST_LISTED)
        page = await service.stores.durable.conversations.listed(
            user_of(request),
            archived=flag(request, "archived"),
            folder=request.query_params.get("folder") or None,
            tag=request.query_params.get("tag") or None,
            limit=limit,
            before=_cursor(request.query_params.get("before", "")),
        )
        unpinned = [conversation for conversation in page if not conversation.pinned]
        last = unpinned[-1] if len(unpinned) == limit else None
        return answer(ConversationPage(page, f"{last.updated}.{last.id}" if last else None))


def _add_many(routes: APIRouter, service: Service) -> None:
    @routes.post(
        "/bulk",
        summary="Do the same to many conversations",
        openapi_extra=documented(body=api.BulkBody, answers=BulkDone),
    )
    async def change_many(request: Request) -> Response:
        """Conversations that do not exist are listed in `missing`; the others are changed. For `move`, a `folder` of null means
        no folder."""
        bulk, user = await read_body(request, api.BulkBody), user_of(request)
        done: list[str] = []
        missing: list[str] = []
        for id in dict.fromkeys(bulk.ids):
            try:
                await _change(service, user, id, bulk)
                done.append(id)
            except NotFound:
                missing.append(id)
        return answer(BulkDone(done, missing))


def _add_one(routes: APIRouter, service: Service) -> None:
    @routes.get(
        "/{id}",
        summary="A conversation with its messages",
        openapi_extra=documented(
            answers=WholeConversation,
            also={204: "There is none, and `if_exists` is true"},
            query={
                "leaf": "only the path down to this message",
                "if_exists": ("true: 204 instead of 404 where there is none", FLAG),
            },
        ),
    )
    async def read_conversation(request: Request, id: str) -> Response:
        """Everything needed to show it, and the active run to follow, if there is one."""
        user, leaf = user_of(request), request.query_params.get("leaf")
        # For browsers, which report each 404 on the console and cannot be told not to.
        is_optional = flag(request, "if_exists")
        try:
            return answer(await whole(service, user, checked_id(id), leaf))
        except NotFound:
            if is_optional:
                return nothing()
            raise

    @routes.patch(
        "/{id}",
        summary="Change a conversation",
        openapi_extra=documented(body=api.ConversationChangeBody, answers=Conversation),
    )
    async def change_conversation(request: Request, id: str) -> Response:
        """`leaf` switches the branch, also during a reply; a `folder` of null removes it from its folder."""
        change = await read_body(request, api.ConversationChangeBody)
        changes = change.named()
        for name, value in changes.items():
            if value is None and name != "folder":
                raise BadRequest(f"{name} must not be null; leave it out to keep it.", param=name)
        if change.options is not None:
            changes["options"] = change.options.options()
        if change.tags is not None:
            changes["tags"] = _tags(change.tags)
        return answer(await service.editing.change(user_of(request), checked_id(id), changes))

    @routes.delete(
        "/{id}",
        summary="Delete a conversation",
        status_code=204,
        openapi_extra=documented(status=204, says="It is no longer in any list"),
    )
    async def delete_conversation(request: Request, id: str) -> Response:
        """It is removed permanently after an hour; until then it can be restored. A running reply is stopped."""
        await _delete(service, user_of(request), checked_id(id))
        return nothing()

    @routes.post(
        "/{id}/restore",
        summary="Restore a deleted conversation",
        openapi_extra=documented(answers=Conversation),
    )
    async def restore_conversation(request: Request, id: str) -> Response:
        return answer(await _restore(service, user_of(request), checked_id(id)))


async def whole(service: Service, user: str, id: str, leaf: str | None = None) -> WholeConversation:
    """A conversation for a viewer, with the rows of a running reply as they are now, ahead of the store. Raises NotFound."""
    conversation = await _read(service, user, id, leaf)
    run = conversation.run
    if run is not None and run.outcome is not None and service.runs.live(id) is None:
        # The run ended between two reads. Now everything of it is in the store.
        return await _read(service, user, id, leaf)
    return conversation


async def _read(service: Service, user: str, id: str, leaf: str | None) -> WholeConversation:
    store = service.stores.of(id)
    async with store.reading() as connection:
        conversation = await store.conversations.get(user, id, within=connection)
        if leaf:
            messages = await store.messages.path(id, leaf, within=connection)
        else:
            messages = await store.messages.all(id, within=connection)
        pending = await store.pending.of(id, within=connection)
    ahead = service.runs.rows(id)
    messages = tuple(ahead.get(row.id, row) for row in messages)
    run = await service.runs.lookup.get(user, conversation.running) if conversation.running else None
    approvals = await store.approvals.pending(user, id)
    draft = await store.drafts.get(user, id)
    return WholeConversation(conversation, messages, run, pending, approvals, draft)


async def _change(service: Service, user: str, id: str, bulk: api.BulkBody) -> None:
    match bulk.do:
        case "delete":
            await _delete(service, user, id)
        case "restore":
            await _restore(service, user, id)
        case "move":
            await service.editing.change(user, id, {"folder": bulk.folder})
        case "archive" | "unarchive":
            await service.editing.change(user, id, {"archived": bulk.do == "archive"})
        case "pin" | "unpin":
            await service.editing.change(user, id, {"pinned": bulk.do == "pin"})


async def _delete(service: Service, user: str, id: str) -> None:
    conversations = service.stores.of(id).conversations
    await conversations.delete(user, id)
    # Read afterwards: from then on no reply begins in it, at whichever gateway.
    conversation = await conversations.get(user, id, deleted=True)
    if conversation.running is not None:
        await service.runs.stop(user, conversation.running)
    service.feed.publish(user, ListRemoved(id))


async def _restore(service: Service, user: str, id: str) -> Conversation:
    restored = await service.stores.of(id).conversations.restore(user, id)
    service.feed.publish(user, ListChanged(id))
    return restored


def _tags(tags: list[str]) -> tuple[str, ...]:
    """The tags without duplicates, in the given order."""
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


CURSOR = {"type": "string", "pattern": r"^([0-9]{1,16}\.[A-Za-z0-9_-]{1,64})?$"}
"""What `_cursor` takes, for /docs."""


def _cursor(text: str) -> tuple[int, str] | None:
    if not text:
        return None
    number, _, id = text.partition(".")
    if not (number.isascii() and number.isdigit() and len(number) < 17):
        raise BadRequest("before must be the `next` of another page.", param="before")
    return int(number), checked_id(id, "before")

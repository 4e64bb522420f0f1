"""`/v1/conversations`: OpenAI's conversations and their items, which responses read and add to. Not the chats of the page."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import msgspec
from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.gateway.responses.item_storage import ItemStorage
from duologue.gateway.responses.response_routes import PAGES, asked_page, includes_images
from duologue.gateway.responses.service import ResponseService
from duologue.http.json_api import answer, body_of, user_of
from duologue.http.openapi import documented
from duologue.store.responses.response_record import ApiConversation, StoredItem
from duologue.wire.responses.conversation_bodies import (
    ConversationCreateBody,
    ConversationItemsBody,
    ConversationUpdateBody,
    conversation_object,
    deleted_object,
)
from duologue.wire.responses.item_bodies import AnyItem
from duologue.wire.responses.item_records import item_list, recorded
from duologue.wire.responses.response_body import check_item_counts
from duologue.wire.validation import validate


def router(service: ResponseService, limits: LimitSettings) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/v1/conversations", tags=["OpenAI conversations"])
    storage = service.storage

    @routes.post(
        "",
        openapi_extra=_described("The conversation", body=ConversationCreateBody),
        summary="Create a conversation",
    )
    async def create_conversation(request: Request) -> Response:
        fields, user = await body_of(request), user_of(request)
        check_item_counts(fields, limits, "items")
        body = validate(ConversationCreateBody, fields)
        conversation = ApiConversation(f"conv_{uuid.uuid4().hex}", user, dict(body.metadata))
        items = await _kept(storage, user, body.items)
        return _shown(await storage.conversations.create(conversation, items, service.most_bytes))

    @routes.get("/{id}", openapi_extra=_described("The conversation"), summary="Read a conversation")
    async def get_conversation(request: Request, id: str) -> Response:
        return _shown(await storage.conversations.get(user_of(request), id))

    @routes.post(
        "/{id}",
        openapi_extra=_described("The conversation", body=ConversationUpdateBody),
        summary="Replace a conversation's metadata",
    )
    async def update_conversation(request: Request, id: str) -> Response:
        body = validate(ConversationUpdateBody, await body_of(request))
        changed = await storage.conversations.update(
            user_of(request), id, dict(body.metadata), service.most_bytes
        )
        return _shown(changed)

    @routes.delete("/{id}", openapi_extra=_described("What was deleted"), summary="Delete a conversation")
    async def delete_conversation(request: Request, id: str) -> Response:
        """Its items are deleted with it; responses keep theirs."""
        await storage.conversations.delete(user_of(request), id)
        return answer(deleted_object(id, "conversation.deleted"))

    _add_item_routes(routes, service, limits)
    return routes


def _add_item_routes(routes: APIRouter, service: ResponseService, limits: LimitSettings) -> None:
    storage = service.storage

    @routes.post(
        "/{id}/items",
        openapi_extra=_described("The items that were added", body=ConversationItemsBody),
        summary="Add items to a conversation",
    )
    async def create_items(request: Request, id: str) -> Response:
        fields, user = await body_of(request), user_of(request)
        check_item_counts(fields, limits, "items")
        body = validate(ConversationItemsBody, fields)
        await storage.conversations.get(user, id)
        items = await _kept(storage, user, body.items)
        await storage.conversations.add_items(user, id, items, service.most_bytes)
        return answer(item_list(await storage.shown(user, items), more=False))

    @routes.get(
        "/{id}/items",
        openapi_extra=_described("A page of the items", query=True),
        summary="List the items of a conversation",
    )
    async def list_items(request: Request, id: str) -> Response:
        user = user_of(request)
        items, more = await storage.conversations.page(user, id, asked_page(request), storage.bounds)
        shown = await storage.shown(user, items, with_images=includes_images(request))
        return answer(item_list(shown, more=more))

    @routes.get(
        "/{id}/items/{item}", openapi_extra=_described("The item"), summary="Read an item of a conversation"
    )
    async def get_item(request: Request, id: str, item: str) -> Response:
        user = user_of(request)
        found = await storage.conversations.item(user, id, item)
        return answer((await storage.shown(user, [found], with_images=includes_images(request)))[0])

    @routes.delete(
        "/{id}/items/{item}",
        openapi_extra=_described("The conversation"),
        summary="Delete an item of a conversation",
    )
    async def delete_item(request: Request, id: str, item: str) -> Response:
        return _shown(await storage.conversations.delete_item(user_of(request), id, item))


async def _kept(storage: ItemStorage, user: str, items: Sequence[AnyItem]) -> tuple[StoredItem, ...]:
    resolved = await storage.resolved(user, items, "items")
    return await storage.keep(user, recorded(resolved, uuid.uuid4().hex))


def _described(says: str, *, body: type[BaseModel] | None = None, query: bool = False) -> dict[str, object]:
    return documented(body=body, answers=dict[str, object], says=says, query=PAGES if query else None)


def _shown(conversation: ApiConversation) -> Response:
    created = conversation.created // 1000
    shown = conversation_object(conversation.id, created, conversation.metadata)
    return answer(msgspec.to_builtins(shown))

"""A user's data besides the conversations: search, folders, drafts, settings, storage, and stored tool permissions.

Owns these routes, their JSON and their limits; the store does the work.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import APIRouter, Request
from msgspec import Struct
from starlette.responses import Response

from duologue.conversations.files.quota import StorageUse
from duologue.errors import BadRequest, NotFound, TooLarge
from duologue.http.json_api import (
    MAX_LIMIT,
    answer,
    body_of,
    checked_id,
    nothing,
    read_body,
    user_of,
    whole_number,
)
from duologue.http.openapi import documented, whole_numbers
from duologue.values.conversations import Folder, Hit
from duologue.values.runs import ListDraft, ListReset
from duologue.wire import api

if TYPE_CHECKING:
    from duologue.conversations.service import Service

MOST_QUERY_CHARACTERS = 1000
SETTINGS_BYTES = 256 * 1024
MOST_FOLDERS = 1000
JsonObject = dict[str, Any]


class HitList(Struct, frozen=True):
    hits: list[Hit]


class FolderList(Struct, frozen=True):
    folders: list[Folder]


class Permission(Struct, frozen=True):
    """A tool that runs without asking; "*" is every tool of its server."""

    server: str
    tool: str


class PermissionList(Struct, frozen=True):
    permissions: list[Permission]


class TagCounts(Struct, frozen=True):
    """Every tag, with the number of conversations that have it."""

    tags: dict[str, int]


def router(service: Service) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/api", tags=["conversations"])
    _add_search(routes, service)
    _add_folders(routes, service)
    _add_drafts(routes, service)
    _add_settings(routes, service)
    _add_storage(routes, service)
    _add_permissions(routes, service)
    return routes


def _add_search(routes: APIRouter, service: Service) -> None:
    @routes.get(
        "/search",
        summary="Search in your conversations",
        openapi_extra=documented(
            answers=HitList,
            query={
                "q": "words; the last one may be a prefix",
                "limit": ("50 without it", whole_numbers(MAX_LIMIT)),
            },
        ),
    )
    async def search(request: Request) -> Response:
        """The best of the newest hits first, each with an excerpt."""
        query = request.query_params.get("q", "")
        if len(query) > MOST_QUERY_CHARACTERS:
            raise BadRequest(
                f"q has {len(query):,} characters; {MOST_QUERY_CHARACTERS:,} are allowed.", param="q"
            )
        limit = whole_number(request, "limit", 50)
        return answer(HitList(await service.stores.durable.search.find(user_of(request), query, limit=limit)))

    @routes.get("/tags", summary="Your tags", openapi_extra=documented(answers=TagCounts))
    async def list_tags(request: Request) -> Response:
        return answer(TagCounts(await service.stores.durable.conversations.tags(user_of(request))))


def _add_folders(routes: APIRouter, service: Service) -> None:
    folders = service.stores.durable.folders

    @routes.get("/folders", summary="Your folders", openapi_extra=documented(answers=FolderList))
    async def list_folders(request: Request) -> Response:
        return answer(FolderList(await folders.all(user_of(request))))

    @routes.put(
        "/folders/{id}",
        summary="Create or change a folder",
        openapi_extra=documented(body=api.FolderBody, answers=Folder),
    )
    async def put_folder(request: Request, id: str) -> Response:
        body, user = await read_body(request, api.FolderBody), user_of(request)
        known = await folders.all(user)
        if len(known) >= MOST_FOLDERS and all(folder.id != id for folder in known):
            raise BadRequest(
                f"There are {MOST_FOLDERS:,} folders already, which is the limit.", code="too_many"
            )
        folder = await folders.put(user, Folder(checked_id(id), body.name, body.parent))
        service.feed.publish(user, ListReset())
        return answer(folder)

    @routes.delete(
        "/folders/{id}",
        summary="Remove a folder",
        status_code=204,
        openapi_extra=documented(status=204, says="Its content moves to where the folder was"),
    )
    async def delete_folder(request: Request, id: str) -> Response:
        user = user_of(request)
        with suppress(NotFound):  # deleted already
            await folders.delete(user, checked_id(id))
            service.feed.publish(user, ListReset())
        return nothing()


def _add_drafts(routes: APIRouter, service: Service) -> None:
    @routes.get(
        "/drafts/{conversation}",
        summary="A draft",
        openapi_extra=documented(answers=JsonObject, says="The draft; an empty object without one"),
    )
    async def read_draft(request: Request, conversation: str) -> Response:
        """`new` is the draft of a conversation that does not exist yet."""
        user = user_of(request)
        drafts = service.stores.of(checked_id(conversation, "conversation")).drafts
        return answer(await drafts.get(user, conversation) or {})

    @routes.put(
        "/drafts/{conversation}",
        summary="Save a draft",
        openapi_extra=documented(
            body=api.DraftBody, answers=JsonObject, says="The stored draft, with `updated`"
        ),
    )
    async def put_draft(request: Request, conversation: str) -> Response:
        """`text`, `files`, and any other fields of the page. Other tabs are notified through `/api/events`."""
        draft, user = await body_of(request), user_of(request)
        _check_size(draft, service.limits.text_mb * 2**20, "limits.text_mb")
        _check_files(api.read(api.DraftBody, draft), service.limits.attachments)
        store = service.stores.of(checked_id(conversation, "conversation"))
        if conversation != "new":
            await store.conversations.get(user, conversation)
        kept = await store.drafts.put(user, conversation, draft)
        service.feed.publish(user, ListDraft(conversation, kept["updated"]))
        return answer(kept)

    @routes.delete(
        "/drafts/{conversation}",
        summary="Delete a draft",
        status_code=204,
        openapi_extra=documented(status=204, says="There is no draft"),
    )
    async def delete_draft(request: Request, conversation: str) -> Response:
        store, user = service.stores.of(checked_id(conversation, "conversation")), user_of(request)
        if await store.drafts.delete(user, conversation):
            service.feed.publish(user, ListDraft(conversation))
        return nothing()


def _add_settings(routes: APIRouter, service: Service) -> None:
    settings = service.stores.durable.settings

    @routes.get("/settings", summary="Your settings", openapi_extra=documented(answers=JsonObject))
    async def read_settings(request: Request) -> Response:
        return answer(await settings.get(user_of(request)))

    @routes.patch(
        "/settings",
        summary="Change your settings",
        openapi_extra=documented(body=api.SettingsBody, answers=JsonObject),
    )
    async def change_settings(request: Request) -> Response:
        """A merge patch: objects are merged, null removes. `options` are the defaults of every reply."""
        patch, user = await body_of(request), user_of(request)
        api.read(api.SettingsBody, _without_nulls(patch))
        # Checked before merging: the stored settings are within the limit, so the merge is bounded too.
        _check_size(patch, SETTINGS_BYTES)
        _check_size(await settings.get(user) | patch, SETTINGS_BYTES)
        return answer(await settings.merge(user, patch))


def _add_storage(routes: APIRouter, service: Service) -> None:
    @routes.get("/storage", summary="How much your files take", openapi_extra=documented(answers=StorageUse))
    async def read_storage(request: Request) -> Response:
        """Bytes of all files you have stored, and the limit; `temporary_...` are those of temporary chats, in memory."""
        return answer(await service.quota.use(user_of(request)))


def _add_permissions(routes: APIRouter, service: Service) -> None:
    approvals = service.stores.durable.approvals

    @routes.get(
        "/permissions",
        summary="The tools that run without asking",
        openapi_extra=documented(answers=PermissionList),
    )
    async def list_permissions(request: Request) -> Response:
        allowed = sorted(await approvals.permissions(user_of(request)))
        return answer(PermissionList([Permission(server, tool) for server, tool in allowed]))

    @routes.delete(
        "/permissions",
        summary="Ask again",
        status_code=204,
        openapi_extra=documented(
            status=204,
            says="These ask again",
            query={"server": "only those of a server", "tool": "only this tool of it"},
        ),
    )
    async def forget_permissions(request: Request) -> Response:
        server, tool = (request.query_params.get(name) for name in ("server", "tool"))
        if tool is not None and server is None:
            raise BadRequest("A tool is named without its server.", param="server")
        await approvals.forget(user_of(request), server, tool)
        return nothing()


def _check_size(value: object, limit: int, setting: str = "") -> None:
    size = len(msgspec.json.encode(value))
    if size > limit:
        which = f" (setting {setting})" if setting else ""
        raise TooLarge(f"This is {size:,} bytes; {limit:,} are allowed{which}.")


def _check_files(draft: api.DraftBody, limit: int) -> None:
    if len(draft.files) > limit:
        raise TooLarge(
            f"The draft carries {len(draft.files):,} files; at most {limit:,} are allowed (setting "
            "limits.attachments).",
            param="files",
        )


def _without_nulls(value: Any) -> Any:
    """The object that results from a merge patch on an empty one: null removes."""
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return value

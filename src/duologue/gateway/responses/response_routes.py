"""`/v1/responses`: create, read, watch, cancel and delete responses, list their input, count tokens. The work is in `service`."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request
from msgspec import json
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.errors import BadRequest
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.responses.preparation import AskedResponse
from duologue.gateway.responses.service import FindAsked, ResponseService
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import answer, body_of, flag, user_of, whole_number
from duologue.http.openapi import FLAG, documented, json_body, whole_numbers
from duologue.http.whole_answer import WholeAnswer
from duologue.request_parsing import parsing
from duologue.store.responses.response_record import ItemPage
from duologue.wire.responses.conversation_bodies import deleted_object
from duologue.wire.responses.item_records import item_list
from duologue.wire.responses.response_body import IMAGE_URLS, ResponseBody, check_item_counts
from duologue.wire.validation import validate

MOST_LISTED, LISTED = 100, 20
MOST_EVENT = 99_999_999_999
PAGES: dict[str, str | tuple[str, Mapping[str, object]]] = {
    "after": "The id of the last item of the page before.",
    "limit": (f"Items of a page: 1 to {MOST_LISTED}, by default {LISTED}.", whole_numbers(MOST_LISTED)),
    "order": (
        "asc or desc (the default): the oldest or the newest first.",
        {"type": "string", "enum": ["desc", "asc"]},
    ),
    "include": f"{IMAGE_URLS}: with the pictures and files of the items.",
}


_READ = documented(
    answers=dict[str, object],
    says="The response; with `stream` its events",
    query={
        "stream": ("true: the events of a response that runs in the background.", FLAG),
        "starting_after": (
            "With stream: the number of the last event that was seen.",
            whole_numbers(MOST_EVENT, 0),
        ),
    },
)


def router(service: ResponseService, requested: RequestedModels, limits: LimitSettings) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/v1/responses", tags=["OpenAI responses"])
    created = json_body(
        ResponseBody,
        "application/json",
        "text/event-stream",
        description="A response object, or with `stream` its events as server-sent events.",
    )

    async def read_request(request: Request) -> tuple[ResponseBody, FindAsked]:
        """The body, and what finds its model, which may have to be loaded first."""
        fields = await body_of(request)
        size, user = len(await request.body()), user_of(request)
        check_item_counts(fields, limits)
        body = await parsing(size, validate, ResponseBody, fields, user=user)
        body.check()
        id, now = service.new_id(background=bool(body.background)), int(service.clock())

        async def find() -> AskedResponse:
            card = await requested.card(body.model, user)
            return AskedResponse(body, size, card, user, request_id_of(request.scope), id, now)

        return body, find

    @routes.post("", openapi_extra=created, summary="Create a response")
    async def create_response(request: Request) -> Response:
        return await service.create(*await read_request(request))

    counted = documented(body=ResponseBody, answers=dict[str, object], says="How many tokens the input has")

    @routes.post("/input_tokens", openapi_extra=counted, summary="Count the tokens of a response's input")
    async def count_input_tokens(request: Request) -> Response:
        _, find = await read_request(request)
        return _counted(service, find)

    @routes.get("/{id}", openapi_extra=_READ, summary="Read a stored response")
    async def get_response(request: Request, id: str) -> Response:
        user = user_of(request)
        if flag(request, "stream"):
            return await service.watch(user, id, _starting_after(request))
        return answer(await service.get(user, id))

    removed = documented(answers=dict[str, object], says="What was deleted")

    @routes.delete("/{id}", openapi_extra=removed, summary="Delete a stored response")
    async def delete_response(request: Request, id: str) -> Response:
        await service.delete(user_of(request), id)
        return answer(deleted_object(id, "response"))

    cancelled = documented(answers=dict[str, object], says="The response as it was left")

    @routes.post(
        "/{id}/cancel", openapi_extra=cancelled, summary="Cancel a response that runs in the background"
    )
    async def cancel_response(request: Request, id: str) -> Response:
        return answer(await service.cancel(user_of(request), id))

    items = documented(answers=dict[str, object], says="A page of the items of the request", query=PAGES)

    @routes.get("/{id}/input_items", openapi_extra=items, summary="List the input items of a response")
    async def list_input_items(request: Request, id: str) -> Response:
        user, storage = user_of(request), service.storage
        page = asked_page(request)
        await storage.responses.get(user, id)
        stored, more = await storage.responses.inputs(user, id, page, storage.bounds)
        shown = await storage.shown(user, stored, with_images=includes_images(request))
        return answer(item_list(shown, more=more))

    return routes


def asked_page(request: Request) -> ItemPage:
    """The page of a list that the query asks for. Raises BadRequest."""
    order = request.query_params.get("order") or "desc"
    if order not in ("asc", "desc"):
        raise BadRequest("order must be asc or desc.", param="order")
    limit = whole_number(request, "limit", LISTED, most=MOST_LISTED)
    return ItemPage(limit, request.query_params.get("after"), order == "asc")


def includes_images(request: Request) -> bool:
    """Whether the query asks for the media of items."""
    query = request.query_params
    return IMAGE_URLS in (*query.getlist("include"), *query.getlist("include[]"))


def _counted(service: ResponseService, find: FindAsked) -> WholeAnswer:
    async def work() -> bytes:
        return json.encode(await service.count(await find()))

    return WholeAnswer(work)


def _starting_after(request: Request) -> int:
    text = request.query_params.get("starting_after")
    if not text:
        return -1
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_EVENT):
        raise BadRequest("starting_after must be a whole number.", param="starting_after")
    return int(text)

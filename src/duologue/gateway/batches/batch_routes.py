"""`/v1/batches`: OpenAI's API of batches.

Owns the HTTP of batches. `service` makes and runs them. Nobody but its owner reaches a batch: to anyone else it does not exist.
"""

from __future__ import annotations

from typing import Annotated

import fastapi
from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.gateway.batches.service import BatchService
from duologue.http.json_api import answer, body_of, user_of, whole_number
from duologue.http.openapi import documented, whole_numbers
from duologue.wire.batches.batch_object import BatchBody, BatchList, BatchObject
from duologue.wire.validation import validate

BatchId = Annotated[str, fastapi.Path(max_length=256)]
PAGE, LARGEST_PAGE = 20, 100


def router(service: BatchService) -> APIRouter:
    """The endpoints."""
    routes = APIRouter(prefix="/v1/batches", tags=["Files and batches"])

    @routes.post("", summary="Create a batch", openapi_extra=documented(body=BatchBody, answers=BatchObject))
    async def create_batch(request: Request) -> Response:
        """Its requests are the lines of a stored file, and are carried out while nobody else wants their model."""
        body = validate(BatchBody, await body_of(request))
        return answer(BatchObject.of(await service.create(user_of(request), body)))

    @routes.get(
        "",
        summary="List your batches",
        openapi_extra=documented(
            answers=BatchList,
            query={"limit": ("the most there may be; 20", whole_numbers(LARGEST_PAGE)), "after": "an id"},
        ),
    )
    async def list_batches(request: Request) -> Response:
        """The newest first."""
        limit = whole_number(request, "limit", PAGE, most=LARGEST_PAGE)
        after = request.query_params.get("after", "")
        found = await service.list(user_of(request), after=after, limit=limit + 1)
        return answer(BatchList.of(found, limit))

    @routes.get("/{id}", summary="Read a batch", openapi_extra=documented(answers=BatchObject))
    async def get_batch(request: Request, id: BatchId) -> Response:
        return answer(BatchObject.of(await service.get(user_of(request), id)))

    @routes.post("/{id}/cancel", summary="Cancel a batch", openapi_extra=documented(answers=BatchObject))
    async def cancel_batch(request: Request, id: BatchId) -> Response:
        """Its results so far are kept."""
        return answer(BatchObject.of(await service.cancel(user_of(request), id)))

    return routes

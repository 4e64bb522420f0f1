"""`POST /v1/parse`: how a raw text of a model is read. The reading is a decoder job (`reply_parsing.py`)."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.decoder.service import decode
from duologue.gateway.models.registry import ModelRegistry
from duologue.http.json_api import body_of, user_of
from duologue.http.openapi import json_body
from duologue.reply_parsing import AUTO, RawReply, read_raw_reply
from duologue.wire.parse_body import ParseBody
from duologue.wire.validation import validate


def router(models: ModelRegistry) -> APIRouter:
    """The route. `models` tells the format of a model."""
    routes = APIRouter(prefix="/v1", tags=["parse"])
    schema = json_body(
        ParseBody,
        "application/json",
        description="`reasoning`, `content`, `tool_calls`, `deltas`, `finish_reason`, `format`, and `trace` if asked for.",
    )

    @routes.post("/parse", openapi_extra=schema, summary="Read a raw reply")
    async def parse(request: Request) -> Response:
        body = validate(ParseBody, await body_of(request))
        raw = RawReply(
            body.pieces,
            body.format,
            body.source,
            start_in_reasoning=body.start_in_reasoning,
            tools=body.offered,
        )
        if raw.format == AUTO and raw.template is None:
            card = models.resolve(body.model)
            raw = msgspec.structs.replace(raw, format=card.tool_format, thoughts=card.thoughts)
        found = await decode(read_raw_reply, msgspec.msgpack.encode(raw), body.trace, user=user_of(request))
        return Response(found, media_type="application/json", headers={"Cache-Control": "no-store"})

    return routes

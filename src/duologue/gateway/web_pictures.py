"""`/api/pictures`: a picture in a reply, fetched from the web because a user asked to see it.

The page may load pictures from this server only, and the web would learn each reader's address and moment: so the gateway
fetches them, from public addresses, and what it hands on was drawn anew by a decoder process. Nothing is kept.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from duologue.decoder.service import decode
from duologue.errors import BadRequest, TooLarge
from duologue.fair_lane import FairLane
from duologue.http.json_api import body_of, user_of
from duologue.media import images
from duologue.threads import Refusal
from duologue.tools.ssrf_guard import AddressGuard
from duologue.tools.web_request import get_from_web

SECONDS = 15.0
BYTES = 12_000_000
SIDE = 1600
"""Pixels: a larger picture is made smaller."""
ACCEPT = "image/avif, image/webp, image/png, image/jpeg, image/gif, image/svg+xml, image/*;q=0.8"
PLACES, PLACES_PER_USER = 6, 3
LONGEST_URL = 2000
HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
BUSY = Refusal(
    "Too many pictures are being fetched at the moment; try again soon.",
    "Other pictures kept the server busy for too long; try again soon.",
    "pictures_busy",
)
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "url": {
                            "type": "string",
                            "pattern": "^https?://[a-z0-9.-]+/",
                            "maxLength": LONGEST_URL,
                        }
                    },
                    "required": ["url"],
                }
            }
        },
    }
}


def router(addresses: AddressGuard) -> APIRouter:
    """The route, for every user. `addresses`: those that tools may reach."""
    routes = APIRouter(prefix="/api/pictures", tags=["files"])
    lane = FairLane(PLACES, PLACES_PER_USER, refusal=BUSY)

    @routes.post("", summary="A picture from the web", openapi_extra=_BODY)
    async def show_picture(request: Request) -> Response:
        """The picture at a web address as a WebP of at most 1600 pixels a side. It is fetched without cookies, and not kept."""
        user = user_of(request)
        url = _url_of(await body_of(request))
        async with lane.turn(user):
            answer = await get_from_web(url, addresses, accept=ACCEPT, seconds=SECONDS, most_bytes=BYTES)
            if not answer.complete:
                raise TooLarge(
                    f"The picture is larger than {BYTES // 1_000_000} MB.",
                    code="image_too_large",
                    param="url",
                )
            picture = await decode(images.thumbnail, answer.body, SIDE, user=user)
        return Response(picture.data, media_type=picture.mime, headers=HEADERS)

    return routes


def _url_of(body: dict[str, Any]) -> str:
    url = body.get("url")
    if not isinstance(url, str) or not 0 < len(url) <= LONGEST_URL:
        raise BadRequest(f"url must be a text of 1 to {LONGEST_URL} characters.", param="url")
    return url

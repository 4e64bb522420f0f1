"""`/api/usage`: what was used with each key, as JSON and as CSV, and what a key has left of its limits."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, cast

import msgspec
from fastapi import APIRouter, Request
from msgspec import to_builtins
from starlette.responses import Response

from duologue import caller
from duologue.errors import BadRequest
from duologue.gateway.usage.key_limiter import LimitStanding
from duologue.gateway.usage.service import UsageService
from duologue.gateway.usage.usage_table import as_csv, entry
from duologue.http.json_api import user_of
from duologue.http.openapi import documented
from duologue.values.usage.usage_counts import days_before

if TYPE_CHECKING:
    from duologue.store.usage.usage_rows import UsageColumn

GROUPS = ("day", "user", "key", "model", "kind")
DEFAULT_GROUP = "day,key,model"
DEFAULT_DAYS = 30
NO_STORE = {"Cache-Control": "no-store"}
QUERY = {
    "from": f"the first day (UTC), YYYY-MM-DD; {DEFAULT_DAYS} days with the last one",
    "to": "the last day; today",
    "group": f"what to count by, separated by commas: {', '.join(GROUPS)}; {DEFAULT_GROUP}",
    "format": "json or csv; json",
}


def router(service: UsageService) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["Keys"], prefix="/api/usage")

    @routes.get(
        "",
        summary="What was used with each key",
        openapi_extra=documented(answers=dict[str, Any], query=QUERY, media=("application/json", "text/csv")),
    )
    async def usage(request: Request) -> Response:
        """Users see their own keys, admins all. Days are UTC. Keys that were revoked are still there, with the user's name."""
        query = request.query_params
        last = _day(query.get("to", ""), "to") or service.today
        first = _day(query.get("from", ""), "from") or days_before(last, DEFAULT_DAYS - 1)
        by, style = _groups(query.get("group") or DEFAULT_GROUP), query.get("format", "json")
        if style not in ("json", "csv"):
            raise BadRequest("format must be json or csv.", param="format")
        is_admin = request.scope["state"]["role"] == "admin"
        rows = await service.totals(first, last, by, None if is_admin else user_of(request))
        if style == "csv":
            name = f"usage_{first}_{last}.csv"
            headers = NO_STORE | {"Content-Disposition": f'attachment; filename="{name}"'}
            return Response(
                as_csv(rows, by), media_type="text/csv; charset=utf-8; header=present", headers=headers
            )
        body = {"from": first, "to": last, "group": list(by), "rows": [entry(row, by) for row in rows]}
        return _json(body)

    @routes.get(
        "/limits",
        summary="The limits of the key in use, and what is left",
        openapi_extra=documented(answers=dict[str, Any]),
    )
    async def limits(request: Request) -> Response:
        """0 is no limit, and an empty list of models is all of them. `left` has the limits that there are; `reset` is in seconds."""
        share = caller.share(user_of(request))
        applied = to_builtins(service.lookup.limits(share))
        standing = service.meter.standing(share)
        running = service.meter.running(share)
        return _json({"limits": applied, "running": running, "left": _left(standing)})

    return routes


def _left(standing: LimitStanding) -> dict[str, Any]:
    named = {
        "requests_per_minute": standing.requests,
        "tokens_per_minute": standing.tokens,
        "tokens_per_day": standing.tokens_today,
    }
    return {name: {"left": left[0], "reset": left[1]} for name, left in named.items() if left is not None}


def _day(text: str, param: str) -> str:
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise BadRequest(f"{param} must be a day like 2026-11-27.", param=param) from None


def _groups(text: str) -> tuple[UsageColumn, ...]:
    asked = [name.strip() for name in text.split(",")]
    if any(name not in GROUPS for name in asked):
        raise BadRequest(f"group must have some of {', '.join(GROUPS)}, separated by commas.", param="group")
    return tuple(cast("UsageColumn", name) for name in GROUPS if name in asked)


def _json(body: dict[str, Any]) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json", headers=NO_STORE)

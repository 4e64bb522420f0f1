"""`GET /api/admin/audit`, for admins: the audit log a page at a time, or as CSV."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from msgspec import to_builtins
from starlette.responses import Response

from duologue.gateway.audit.audit_log import AuditLog
from duologue.gateway.auth.middleware import admin

if TYPE_CHECKING:
    from duologue.store.accounts.audit_rows import AuditRow

PAGE, MOST = 100, 1000
COLUMNS = ("number", "time", "name", "user", "key", "act", "target", "outcome", "address", "details")


def router(audit: AuditLog) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["operations"], prefix="/api/admin/audit", dependencies=[Depends(admin)])

    @routes.get("", summary="The audit log", response_model=None)
    async def read(
        before: Annotated[int, Query(ge=0, le=2**53, description="Only rows with a smaller number.")] = 0,
        limit: Annotated[int, Query(ge=1, le=MOST, description="Rows at most.")] = PAGE,
        actor: Annotated[str, Query(max_length=256, description="A user's name or id.")] = "",
        act: Annotated[
            str, Query(max_length=200, description="An act; with a dot at its end all that begin so, as key.")
        ] = "",
        format: Annotated[
            Literal["json", "csv"], Query(description="csv: a file for spreadsheets.")
        ] = "json",
    ) -> dict[str, Any] | Response:
        """What admins did, the newest first. `next`: the value of `before` for the next page, null at the end. Times in ms since 1970,
        in CSV as ISO 8601."""
        rows = await audit.page(before=before, limit=limit, actor=actor, act=act)
        if format == "csv":
            headers = {"Content-Disposition": 'attachment; filename="audit.csv"', "Cache-Control": "no-store"}
            return Response(as_csv(rows), media_type="text/csv; charset=utf-8", headers=headers)
        return {"rows": to_builtins(rows), "next": rows[-1].number if len(rows) == limit else None}

    return routes


def as_csv(rows: list[AuditRow]) -> str:
    """The rows as CSV with a header. A text that a spreadsheet would take for a formula has an apostrophe before it."""
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(COLUMNS)
    for row in rows:
        time = datetime.fromtimestamp(row.at / 1000, UTC).isoformat(timespec="milliseconds")
        cells = (row.name, row.user, row.key, row.act, row.target, row.outcome, row.address)
        details = json.dumps(row.details, ensure_ascii=False) if row.details else ""
        table.writerow([row.number, time, *map(_text, (*cells, details))])
    return file.getvalue()


def _text(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell

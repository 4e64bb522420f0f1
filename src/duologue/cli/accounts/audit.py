"""`duologue audit`: what admins did, from the database of the settings."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from duologue.cli import Config, Data
from duologue.cli.accounts.account_store import minute, note, print_table, settings_of, with_audit
from duologue.errors import BadRequest

MOST = 100_000


def audit(
    limit: Annotated[int, typer.Option(metavar="N", help="Rows to show, the newest.")] = 50,
    actor: Annotated[str, typer.Option(metavar="NAME", help="Only acts of this user.")] = "",
    act: Annotated[
        str, typer.Option(metavar="ACT", help="Only this act, such as key.create; `key.` for all of keys.")
    ] = "",
    csv: Annotated[bool, typer.Option("--csv", help="Print as CSV, for spreadsheets.")] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Show what admins did, the newest last."""
    if not 1 <= limit <= MOST:
        raise BadRequest(f"--limit is a number from 1 to {MOST}.", param="limit")
    settings = settings_of(config, data)
    rows = with_audit(settings, lambda found: found.page(limit=limit, actor=actor, act=act))
    rows.reverse()
    if csv:
        from duologue.gateway.audit.audit_routes import as_csv

        sys.stdout.write(as_csv(rows))
        return
    if not rows:
        note("There is nothing in the audit log that fits.")
        return
    import json

    table = [("TIME", "WHO", "ACT", "TARGET", "OUTCOME", "ADDRESS", "DETAILS")]
    for row in rows:
        details = json.dumps(row.details, ensure_ascii=False) if row.details else "-"
        table.append(
            (minute(row.at), row.name, row.act, row.target or "-", row.outcome, row.address or "-", details)
        )
    print_table(table)

"""`duologue usage`."""

import csv
import io
import json

import anyio
import pytest
from tests.cli.usage.conftest import TODAY
from typer.testing import CliRunner

from duologue.cli import main
from duologue.errors import BadRequest
from duologue.store.database import Database
from duologue.store.usage.usage_rows import UsageRows
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main.app, ["usage", *arguments])
    if result.exception:
        raise result.exception
    return result.stdout


@pytest.fixture
def spent(data):
    def row(day, name, model, **counts):
        return UsageRow(
            UsageSlot(day, f"key_{name}", f"user_{name}", name, f"duo_{name}", model, "chat"),
            UsageCounts(**counts),
        )

    async def spend() -> None:
        async with Database.opened(None, data, now=lambda: 0) as database:
            await UsageRows(database).add(
                [
                    row("2026-10-01", "ada", "small", requests=99),
                    row("2026-11-26", "ada", "small", requests=2, prompt=1500, completion=30),
                    row(TODAY, "ada", "small", requests=1, prompt=500, cached=100, completion=10),
                    row(TODAY, "=bob", "large", requests=4, errors=1),
                ]
            )

    anyio.run(spend)


def test_without_usage_it_says_so():
    assert run() == "Nothing was used from 2026-10-29 to 2026-11-27.\n"


def test_a_table_by_day_key_and_model(spent):
    lines = run().splitlines()
    assert lines[0].split() == [
        "DAY",
        "USER",
        "KEY",
        "MODEL",
        "REQUESTS",
        "ERRORS",
        "PROMPT",
        "TOKENS",
        "CACHED",
        "TOKENS",
        "COMPLETION",
        "TOKENS",
    ]
    assert [line.split() for line in lines[1:]] == [
        ["2026-11-26", "ada", "duo_ada", "small", "2", "0", "1,500", "0", "30"],
        ["2026-11-27", "=bob", "duo_=bob", "large", "4", "1", "0", "0", "0"],
        ["2026-11-27", "ada", "duo_ada", "small", "1", "0", "500", "100", "10"],
    ]


def test_csv_of_other_days_by_user(spent):
    rows = list(
        csv.DictReader(io.StringIO(run("--from", "2026-10-01", "--group", "user", "--format", "csv")))
    )
    assert [(row["name"], row["requests"]) for row in rows] == [("'=bob", "4"), ("ada", "102")]


def test_json(spent):
    (entry,) = json.loads(run("--from", TODAY, "--to", TODAY, "--group", "day", "--format", "json"))
    assert (entry["day"], entry["requests"], entry["total_tokens"]) == (TODAY, 5, 510)


@pytest.mark.parametrize(
    "arguments", [("--format", "xml"), ("--group", "colour"), ("--from", "yesterday"), ("--to", "27.11.2026")]
)
def test_what_it_cannot_do_it_says(arguments):
    with pytest.raises(BadRequest):
        run(*arguments)

"""Usage as JSON and CSV."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from duologue.gateway.usage.usage_table import as_csv, columns, entry
from duologue.values.usage.usage_counts import UsageCounts, UsageRow, UsageSlot

COUNTS = UsageCounts(3, 1, 20, 5, 7, 1500, 250)


def row(name: str = "bob", model: str = "small") -> UsageRow:
    return UsageRow(UsageSlot("2026-11-27", "key_1", "user_1", name, "duo_ab", model, "chat"), COUNTS)


def test_a_key_brings_its_user_and_the_columns_are_those_that_were_asked_for():
    assert columns(("day", "key", "model"))[:6] == ["day", "user", "name", "key", "prefix", "model"]
    assert columns(("user", "key"))[:4] == ["user", "name", "key", "prefix"]
    assert columns(("user",))[:3] == ["user", "name", "requests"]
    assert entry(row(), ("model",)) == {
        "model": "small",
        "requests": 3,
        "errors": 1,
        "prompt_tokens": 20,
        "cached_tokens": 5,
        "completion_tokens": 7,
        "total_tokens": 27,
        "sound_in_seconds": 1.5,
        "sound_out_seconds": 0.25,
    }


def test_lines_end_as_rfc_4180_says_and_what_needs_quotes_has_them():
    text = as_csv([row(name='Bob "the, builder"')], ("key",))
    assert text.splitlines(keepends=True)[1] == (
        'user_1,"Bob ""the, builder""",key_1,duo_ab,3,1,20,5,7,27,1.5,0.25\r\n'
    )


@given(st.text(max_size=20), st.text(max_size=20))
def test_every_cell_can_be_read_back_and_none_is_a_formula(name, model):
    name, model = name.replace("\0", ""), model.replace("\0", "")
    text = as_csv([row(name, model)], ("key", "model"))
    (read,) = csv.DictReader(io.StringIO(text, newline=""))
    for cell, given_text in ((read["name"], name), (read["model"], model)):
        assert cell in (given_text, f"'{given_text}")
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))

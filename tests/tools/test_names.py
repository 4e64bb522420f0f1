import re

from hypothesis import given
from hypothesis import strategies as st

from duologue.tools.names import model_name, model_names

VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
pairs = st.sets(st.tuples(st.text(max_size=80), st.text(max_size=80)), max_size=12)


def test_a_name_nobody_else_uses_stays_as_it_is():
    assert model_names([("files", "read_file"), ("web", "search")]) == {
        ("files", "read_file"): "read_file",
        ("web", "search"): "search",
    }


def test_both_tools_of_a_clash_say_whose_they_are():
    names = model_names([("files", "search"), ("web", "search"), ("web", "open")])
    assert names["files", "search"] == "files_search"
    assert names["web", "search"] == "web_search"
    assert names["web", "open"] == "open"


def test_a_tool_called_what_a_clash_became_is_told_apart():
    names = model_names([("a", "b"), ("c", "b"), ("d", "a_b")])
    assert len(set(names.values())) == 3


def test_what_models_cannot_write_is_replaced():
    assert model_name("files/read.all") == "files_read_all"
    assert model_name("数える") == "tool"


@given(pairs)
def test_names_are_valid_and_nobody_shares_one(tools):
    names = model_names(tools)
    assert set(names) == tools
    assert len(set(names.values())) == len(tools)
    assert all(VALID.fullmatch(name) for name in names.values())


@given(pairs)
def test_names_do_not_depend_on_the_order(tools):
    assert model_names(sorted(tools)) == model_names(sorted(tools, reverse=True))

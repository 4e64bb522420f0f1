import pytest
from msgspec import Struct

from duologue.engines.options import read_options
from duologue.errors import StartFailed


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    model: str = "small"
    threads: int = 0
    partials: bool = True


def test_what_is_not_set_keeps_its_default():
    assert read_options(Options, {"model": "large", "threads": None}, "x") == Options("large")


def test_numbers_that_came_as_text_are_numbers():
    assert read_options(Options, {"threads": "4", "partials": "false"}, "x") == Options(
        threads=4, partials=False
    )


def test_a_misspelt_option_names_the_one_that_was_meant():
    with pytest.raises(StartFailed, match="Did you mean 'model'") as caught:
        read_options(Options, {"modle": "large"}, "x")
    assert caught.value.param == "modle"


def test_an_option_of_nothing_like_it_lists_those_there_are():
    with pytest.raises(StartFailed, match="Known: model, threads, partials"):
        read_options(Options, {"url": "http://here"}, "x")


def test_a_wrong_type_says_which_option():
    with pytest.raises(StartFailed, match="threads"):
        read_options(Options, {"threads": "many"}, "x")

import pytest

from duologue.engines.contracts import FillTokens
from duologue.engines.decoding.fill_tokens import FAMILIES, find_fill_tokens


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_each_family_is_found_by_its_names(family):
    ids = {name: (number,) for name, number in zip(family, (7, 8, 9), strict=True)}
    assert find_fill_tokens(lambda text: ids.get(text, (1, 2))) == FillTokens(7, 8, 9)


def test_a_vocabulary_without_them_has_none():
    assert find_fill_tokens(lambda text: tuple(text.encode())) is None
    assert find_fill_tokens(lambda text: (0,)) is None  # one token for all that is unknown
    assert find_fill_tokens(lambda text: (5,) if text == "<|fim_prefix|>" else (1, 2)) is None

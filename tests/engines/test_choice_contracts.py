import pytest

from duologue.engines.choice_contracts import check_tokens
from duologue.errors import BadRequest


def test_tokens_that_the_model_has_pass() -> None:
    check_tokens((), 10, "m")
    check_tokens((0, 9), 10, "m")


@pytest.mark.parametrize("token", [-1, 10])
def test_a_token_that_it_does_not_have_is_named(token: int) -> None:
    with pytest.raises(BadRequest, match=f"tokens has {token}, but the model m has 10 tokens"):
        check_tokens((3, token), 10, "m")

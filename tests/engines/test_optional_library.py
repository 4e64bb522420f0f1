"""Loading with libraries that may be missing or fail."""

import threading

import pytest

from duologue.engines.optional_library import importing, load_in_thread, loading
from duologue.errors import StartFailed


def test_a_missing_library_comes_with_the_command_that_installs_it():
    with pytest.raises(StartFailed) as caught, importing("x", "extra", role="voice", advice=" Really."):
        import a_library_that_does_not_exist  # type: ignore[import-not-found] # noqa: F401
    assert caught.value.code == "engine_missing"
    assert caught.value.message == (
        "The voice x needs one more package (a_library_that_does_not_exist): pip install 'duologue[extra]'. Really."
    )


@pytest.mark.parametrize("error", [RuntimeError("broken"), ValueError("broken"), KeyError("broken")])
def test_an_error_of_the_library_becomes_a_sentence(error):
    with (
        pytest.raises(StartFailed, match=r"^The model cannot be loaded: '?broken"),
        loading("The model cannot be loaded", KeyError),
    ):
        raise error


def test_any_other_error_is_a_bug_and_passes():
    with pytest.raises(KeyError), loading("The model cannot be loaded"):
        raise KeyError("x")


@pytest.mark.anyio
async def test_loading_happens_in_a_thread():
    assert await load_in_thread(threading.get_ident) != threading.get_ident()

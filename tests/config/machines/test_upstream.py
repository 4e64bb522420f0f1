import pytest

from duologue.config import load
from duologue.errors import StartFailed


def test_the_first_address_of_the_flag_is_the_server_and_further_ones_are_its_replicas() -> None:
    settings = load(None, {}, {"upstream.url": "http://a", "upstream.replicas": ["http://b", "http://c"]})
    (worker,) = settings.worker_entries
    assert worker.upstream.urls == ("http://a", "http://b", "http://c")
    assert worker.engine_options()["replicas"] == ("http://b", "http://c")


def test_one_server_has_no_replicas_in_its_options() -> None:
    (worker,) = load(None, {}, {"upstream.url": "http://a"}).worker_entries
    assert "replicas" not in worker.engine_options()


def test_the_variable_has_them_with_commas() -> None:
    environment = {
        "DUOLOGUE_UPSTREAM": "http://a",
        "DUOLOGUE_UPSTREAM__REPLICAS": "http://b, http://c",
    }
    assert load(None, environment, {}).upstream.replicas == ("http://b", "http://c")


def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(StartFailed, match="must begin with http"):
        load(None, {"DUOLOGUE_UPSTREAM__REPLICAS": "box"}, {})

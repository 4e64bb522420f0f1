"""Under which addresses the server answers, and where the others lead."""

import pytest

from duologue.gateway.middleware.base_path import Elsewhere, Inside, Outside, strip_base_path


@pytest.mark.parametrize("path", ["/", "/api/session", "/talk", "/talk/"])
def test_without_a_base_every_address_is_as_it_came(path):
    assert strip_base_path(path) == Inside(path, "")


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("/talk/", "/"),
        ("/talk/api/session", "/api/session"),
        ("/talk/talk/x", "/talk/x"),
        ("/talk//x", "//x"),
        ("/talk/../x", "/../x"),
    ],
)
def test_the_base_comes_off_once(path, inner):
    assert strip_base_path(path, "/talk") == Inside(inner, "/talk")


def test_a_base_may_be_a_name_of_an_api():
    assert strip_base_path("/api/api/settings", "/api") == Inside("/api/settings", "/api")


def test_the_base_without_its_slash_leads_to_the_page():
    assert strip_base_path("/talk", "/talk") == Elsewhere("talk/")
    assert strip_base_path("/a/b", "/a/b") == Elsewhere("b/")


def test_a_browser_at_the_root_is_led_to_the_page():
    assert strip_base_path("/", "/a/b") == Elsewhere("a/b/", browsers_only=True)


@pytest.mark.parametrize("path", ["/api/session", "/talking/", "/Talk/", "//talk/", "/t", ""])
def test_what_is_not_under_the_base_is_outside(path):
    assert strip_base_path(path, "/talk") == Outside()


def test_a_proxy_that_takes_a_prefix_away_leaves_ours():
    assert strip_base_path("/api/session", "", "/talk") == Inside("/api/session", "/talk")
    assert strip_base_path("/talk/api/session", "/talk", "/outer") == Inside("/api/session", "/outer/talk")


@pytest.mark.parametrize("path", ["/talk/api/session", "/api/session"])
def test_a_proxy_that_names_the_base_itself_may_have_kept_it_or_not(path):
    assert strip_base_path(path, "/talk", "/talk") == Inside("/api/session", "/talk")
    assert strip_base_path(path, "/talk", "/outer/talk") == Inside("/api/session", "/outer/talk")

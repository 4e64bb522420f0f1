"""What acts are called, and what is kept of their requests."""

import pytest

from duologue.gateway.audit.acts import ACTS, ITEMS, VALUE, act_of, details_of, target_of, without_secrets

SECRET = "sk-very-secret"


def test_an_act_without_a_name_is_called_by_its_address():
    assert act_of("POST", "/api/admin/new/{name}").name == "POST /api/admin/new/{name}"


def test_no_field_that_holds_a_secret_is_kept():
    secret = {"key": SECRET, "config": {"env": {"TOKEN": SECRET}}, "overrides": SECRET, "password": SECRET}
    for act in ACTS.values():
        body = secret | {"name": "x", "url": f"https://user:{SECRET}@host/v1?key={SECRET}#{SECRET}"}
        assert SECRET not in str(details_of(act, body)), act
        assert SECRET not in target_of(act, {}, body), act


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("https://user:pass@host:80/a/b?token=x#y", "https://host:80/a/b"),
        ("https://host", "https://host"),
        ("https://host?x=1", "https://host"),
        ("hf.co/owner/repository:Q4_K_M", "hf.co/owner/repository:Q4_K_M"),
        ("ada@example.org", "ada@example.org"),
        ("x" * 999, "x" * VALUE),
    ],
)
def test_addresses_lose_what_may_be_secret(text, safe):
    assert without_secrets(text) == safe


def test_the_target_is_in_the_path_or_the_body():
    act = act_of("PATCH", "/api/keys/users/{name}")
    assert target_of(act, {"name": "bob"}, {"name": "x"}) == "bob"
    assert target_of(act_of("POST", "/api/pull"), {}, {"model": "qwen3:4b"}) == "qwen3:4b"
    assert target_of(act_of("POST", "/v1/model/load"), {}, {"model_name": "m"}) == "m"
    assert target_of(act_of("POST", "/v1/model/load"), {}, {"name": 5}) == ""


def test_large_details_stay_small():
    act = act_of("POST", "/v1/lora/load")
    kept = details_of(act, {"loras": [{"name": "y" * 999, "deep": {"a": {"b": 1}}}] * 999})["loras"]
    assert len(kept) == ITEMS
    assert kept[0] == {"name": "y" * VALUE, "deep": "..."}
    assert details_of(act_of("PATCH", "/api/keys/users/{name}"), {"role": None, "disabled": False}) == {
        "disabled": False
    }

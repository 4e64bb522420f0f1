"""What a person means by a model's name, and which addresses may be asked."""

from __future__ import annotations

import pytest

from duologue.errors import BadRequest, ModelNotFound, Problem
from duologue.models.hub.reference import (
    HubReference,
    Reference,
    UrlReference,
    check_address,
    check_file_name,
    parse,
    redact_url,
)

QWEN = HubReference("Qwen/Qwen3-4B-GGUF", expected="Qwen3-4B-Q4_K_M.gguf")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("qwen3-4b", QWEN),
        (" Qwen3-4B ", QWEN),
        ("someone/Some-GGUF", HubReference("someone/Some-GGUF")),
        ("hf.co/someone/Some-GGUF:Q5_K_M", HubReference("someone/Some-GGUF", "Q5_K_M")),
        ("someone/Some-GGUF:sub/a.gguf@v1.0", HubReference("someone/Some-GGUF", "sub/a.gguf", "v1.0")),
        ("https://huggingface.co/someone/Some-GGUF", HubReference("someone/Some-GGUF")),
        (
            "https://huggingface.co/someone/Some-GGUF/blob/main/sub/a.gguf",
            HubReference("someone/Some-GGUF", "sub/a.gguf"),
        ),
        (
            "https://hf.co/someone/Some-GGUF/resolve/v2/a.gguf?download=true",
            HubReference("someone/Some-GGUF", "a.gguf", "v2"),
        ),
        (
            "https://mirror.example:8443/someone/Some-GGUF/resolve/main/a.gguf",
            HubReference("someone/Some-GGUF", "a.gguf"),
        ),
        (
            "https://files.example/models/a%2Bb.gguf?key=1",
            UrlReference("https://files.example/models/a%2Bb.gguf?key=1", "a+b.gguf"),
        ),
        (
            "http://127.0.0.1:9000/a.gguf",
            UrlReference("http://127.0.0.1:9000/a.gguf", "a.gguf"),
        ),
    ],
)
def test_names_repositories_and_addresses_are_understood(text: str, meant: Reference) -> None:
    assert parse(text, "https://mirror.example:8443") == meant


def test_an_unknown_name_tells_the_nearest_and_where_the_names_are() -> None:
    with pytest.raises(ModelNotFound, match="Did you mean 'qwen3-4b'") as raised:
        parse("qwen-3-4b")
    assert "models list --available" in raised.value.message


@pytest.mark.parametrize(
    "text",
    [
        "a/b/c",
        "/etc/passwd",
        "../b",
        "a/..",
        "someone/model@a/b",
        "someone/model@a b",
        "https://files.example/",
        "https://files.example/model.bin",
        "https://files.example/..%2F.gguf",
        "https://files.example/%2e%2e%2fx.gguf",
    ],
)
def test_what_is_none_of_these_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        parse(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://files.example/a.gguf",
        "http://10.0.0.1/a.gguf",
        "http://0.0.0.0/a.gguf",
        "http://127.0.0.1.example/a.gguf",
        "ftp://files.example/a.gguf",
        "file:///a.gguf",
        "https:///a.gguf",
        "https://files.example:99999/a.gguf",
        "https://[::1/a.gguf",
    ],
)
def test_only_encrypted_addresses_are_asked(url: str) -> None:
    with pytest.raises(BadRequest) as raised:
        check_address(url)
    assert raised.value.code == "address_refused"


@pytest.mark.parametrize("host", ["127.0.0.1:1", "127.8.8.8", "[::1]:80", "localhost:8000", "LOCALHOST"])
def test_this_machine_may_be_asked_in_the_clear(host: str) -> None:
    assert check_address(f"http://{host}/a.gguf") == f"http://{host}/a.gguf"


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(BadRequest) as raised:
        parse("https://me:hunter2@files.example/a.gguf")
    assert "hunter2" not in raised.value.message


def test_what_is_shown_of_an_address_holds_no_secret() -> None:
    assert redact_url("https://me:pw@files.example:1/a.gguf?token=x#y") == "https://files.example:1/a.gguf"
    assert "token" not in redact_url("https://[::1?token=x")
    assert redact_url("hub.example") == "'hub.example'"


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".gguf",
        "-x.gguf",
        "../x.gguf",
        "a/b.gguf",
        "a\\b.gguf",
        "a\x1b[2J.gguf",
        "a b.gguf",
        "a.gguf.exe",
        "ä.gguf",
    ],
)
def test_a_server_cannot_choose_where_its_file_lands(name: str) -> None:
    with pytest.raises(BadRequest) as raised:
        check_file_name(name)
    assert "\x1b" not in raised.value.message


@pytest.mark.parametrize("text", ["", "x", "https://", "a//b"])
def test_nonsense_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(Problem) as raised:
        parse(text)
    assert raised.value.message.endswith(".")

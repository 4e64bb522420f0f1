"""The services and servers that are offered fit together."""

from urllib.parse import urlsplit

from duologue.config.settings import DISCOVER
from duologue.gateway.upstreams.providers import KINDS, LOCAL, PORTS, PROVIDERS, is_hosted, title_of
from duologue.models.upstream_url import parse_upstream_url, shown_url


def test_the_address_of_each_service_is_the_base_of_its_api_and_uses_tls() -> None:
    for provider in PROVIDERS:
        parts = parse_upstream_url(provider.url)
        assert parts is not None
        assert shown_url(parts) == provider.url
        assert parts.scheme == urlsplit(provider.keys).scheme == "https"


def test_every_usual_port_is_looked_at_and_belongs_to_a_known_server() -> None:
    assert {urlsplit(address).port for address in DISCOVER} == set(PORTS)
    assert set(PORTS.values()) <= set(LOCAL)


def test_each_kind_has_one_title() -> None:
    kinds = [provider.kind for provider in PROVIDERS] + list(LOCAL)
    assert len(kinds) == len(set(kinds)) == len(KINDS) - 1
    assert title_of("groq") == "Groq"
    assert title_of("ollama") == "Ollama"
    assert title_of("unheard-of") == ""
    assert is_hosted("groq")
    assert not is_hosted("ollama")

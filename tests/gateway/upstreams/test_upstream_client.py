"""A model server is asked for its models and a few words, over real sockets; what goes wrong is a sentence."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.model_server import ModelServer, serving
from tests.support.ports import free_port

from duologue.errors import BadRequest, Forbidden, Problem
from duologue.gateway.local_ca import ServerNames, ensure_certificate
from duologue.gateway.upstreams import upstream_client
from duologue.gateway.upstreams.upstream_client import UpstreamClient
from duologue.gateway.upstreams.upstream_problem import UpstreamProblem
from duologue.values.requests import UpstreamModel

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer()) as server:
        yield server


async def problem_of(client: UpstreamClient) -> UpstreamProblem:
    with pytest.raises(UpstreamProblem) as raised:
        await client.models()
    assert KEY not in raised.value.message
    return raised.value


async def test_the_models_are_listed_with_the_key(server: ModelServer) -> None:
    server.key = KEY
    server.models = [{"id": "a", "max_model_len": 4096}, {"id": "b"}]
    listed = await UpstreamClient(server.url, KEY).models()
    assert listed.models == (UpstreamModel("a", 4096), UpstreamModel("b"))
    assert server.asked("/v1/models")[0].key == KEY


async def test_a_name_that_no_host_can_have_is_no_address() -> None:
    with pytest.raises(BadRequest) as raised:
        await UpstreamClient("http://¦FZ").models()
    assert (raised.value.code, raised.value.param) == ("bad_url", "url")


async def test_the_first_words_of_a_reply_are_heard(server: ModelServer) -> None:
    assert await UpstreamClient(server.url).first_words("llama") == "Hello there"
    body = server.asked("/v1/chat/completions")[0].body
    assert (body["model"], body["stream"]) == ("llama", True)


async def test_only_the_beginning_of_a_long_reply_is_read(server: ModelServer) -> None:
    server.reply = "words" * 1000
    assert len(await UpstreamClient(server.url).first_words("llama")) == upstream_client.SHOWN


async def test_a_reply_without_a_word_is_a_sentence(server: ModelServer) -> None:
    server.reply = " "
    with pytest.raises(Problem, match="wrote nothing"):
        await UpstreamClient(server.url).first_words("llama")


async def test_what_an_ollama_says_elsewhere_is_asked_for(server: ModelServer) -> None:
    server.models = [{"id": "llama", "owned_by": "library"}]
    server.extra["/api/show"] = {"capabilities": ["completion", "tools"]}
    listed = await UpstreamClient(server.url).models()
    assert listed.kind == "ollama"
    assert listed.models == (UpstreamModel("llama", None, modalities=("text",), tools=True),)


async def test_what_a_server_does_not_say_elsewhere_stays_unknown(server: ModelServer) -> None:
    assert (await UpstreamClient(server.url, kind="lmstudio").models()).models == (UpstreamModel("llama"),)
    assert [request.path for request in server.requests][1:] == ["/api/v1/models", "/api/v0/models"]


async def test_a_service_that_needs_other_headers_gets_them(server: ModelServer) -> None:
    await UpstreamClient(server.url, KEY, "anthropic").models()
    assert server.asked("/v1/models")[0].key == KEY


async def test_a_wrong_key_and_a_missing_one_are_told_apart(server: ModelServer) -> None:
    server.key = "another"
    wrong = await problem_of(UpstreamClient(server.url, KEY))
    assert wrong.code == "upstream_refused"
    assert "refused the key (401)" in wrong.message
    assert wrong.reason == "key_refused"
    assert "***" in wrong.message
    missing = await problem_of(UpstreamClient(server.url))
    assert "needs a key (401)" in missing.message
    assert missing.reason == "key_missing"


async def test_a_port_at_which_nothing_listens_refuses() -> None:
    refused = await problem_of(UpstreamClient(f"http://127.0.0.1:{free_port()}"))
    assert refused.code == "upstream_unreachable"
    assert "refused the connection" in refused.message
    assert refused.reason == "not_listening"


async def test_a_host_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        return []

    monkeypatch.setattr(upstream_client, "_resolve", nowhere)
    unknown = await problem_of(UpstreamClient("http://no-such-host.invalid"))
    assert unknown.code == "upstream_unreachable"
    assert "no such host" in unknown.message
    assert unknown.reason == "unknown_host"


async def test_a_server_that_does_not_answer_is_given_up(server: ModelServer) -> None:
    server.silent.set()
    slow = await problem_of(UpstreamClient(server.url, seconds=0.5))
    assert slow.code == "upstream_unreachable"
    assert "did not answer within 0.5 seconds" in slow.message
    assert slow.reason == "no_answer"


@pytest.mark.parametrize("raw", [b"<!doctype html><title>Router</title>", b'{"models": []}', b""])
async def test_another_kind_of_server_is_recognised(server: ModelServer, raw: bytes) -> None:
    server.raw = raw
    other = await problem_of(UpstreamClient(server.url))
    assert other.code == "upstream_incompatible"
    assert "Router" not in other.message


async def test_nothing_of_a_page_that_is_no_such_server_is_shown(server: ModelServer) -> None:
    server.status, server.error = 404, "the secrets of an intranet"
    missing = await problem_of(UpstreamClient(server.url))
    assert missing.code == "upstream_incompatible"
    assert "intranet" not in missing.message


async def test_the_servers_own_error_is_quoted(server: ModelServer) -> None:
    server.status, server.error = 500, {"error": {"message": f"No memory for {KEY}"}}
    broken = await problem_of(UpstreamClient(server.url, KEY))
    assert broken.code == "upstream_failed"
    assert "No memory for ***" in broken.message
    assert (broken.reason, broken.detail) == ("error", "No memory for ***")


async def test_a_redirect_is_shown_and_not_followed(server: ModelServer) -> None:
    server.redirect = "http://169.254.169.254/"
    away = await problem_of(UpstreamClient(server.url, KEY))
    assert "redirects to http://169.254.169.254/" in away.message
    assert (away.reason, away.detail) == ("redirected", "http://169.254.169.254/")
    assert len(server.requests) == 1


async def test_a_list_without_an_end_is_not_read_to_it(server: ModelServer) -> None:
    server.raw = b" " * (upstream_client.LIST_BYTES + 1)
    endless = await problem_of(UpstreamClient(server.url))
    assert endless.code == "upstream_incompatible"
    assert "far more" in endless.message


async def test_a_compressed_answer_is_not_unpacked(server: ModelServer) -> None:
    server.encoding = "gzip"
    assert (await problem_of(UpstreamClient(server.url))).code == "upstream_incompatible"


@pytest.mark.parametrize(
    "host",
    [
        *(
            "169.254.169.254",
            "100.100.100.200",
            "[fd00:ec2::254]",
            "[fe80::a9fe:a9fe]",
            "[::ffff:169.254.169.254]",
        ),
        *("[64:ff9b::a9fe:a9fe]", "[fd00:c1::a9fe:a9fe]"),
    ],
)
async def test_addresses_where_clouds_keep_credentials_are_refused(host: str) -> None:
    with pytest.raises(Forbidden, match="clouds keep credentials") as refused:
        UpstreamClient(f"http://{host}:8080")
    assert refused.value.code == "private_address"


async def test_a_name_of_such_an_address_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    async def cloud(host: str, port: int) -> list[str]:
        return ["fd00:ec2::254"]

    monkeypatch.setattr(upstream_client, "_resolve", cloud)
    with pytest.raises(Forbidden, match="clouds keep credentials"):
        await UpstreamClient("http://models.example").models()


@pytest.mark.parametrize("url", ["", "ftp://host", "http://me:secret@host"])
async def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(BadRequest) as raised:
        UpstreamClient(url)
    assert "secret" not in raised.value.message


async def test_a_key_with_characters_that_no_header_can_have_is_a_sentence(server: ModelServer) -> None:
    with pytest.raises(BadRequest, match="characters that no key has"):
        await UpstreamClient(server.url, "ключ").models()


async def test_a_certificate_that_nobody_signed_and_a_server_without_tls_are_told_apart(
    server: ModelServer, tmp_path: Path
) -> None:
    pem = ensure_certificate(tmp_path, ServerNames(frozenset({"localhost"}), frozenset()), datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def shake_hands() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                context.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=shake_hands, daemon=True)
        thread.start()
        unsigned = await problem_of(UpstreamClient(f"https://localhost:{listener.getsockname()[1]}"))
        thread.join(30)
    assert "certificate that this machine does not trust" in unsigned.message
    assert unsigned.reason == "certificate"
    assert unsigned.detail
    plain = await problem_of(UpstreamClient(server.url.replace("http:", "https:")))
    assert "does not use TLS" in plain.message
    assert plain.reason == "no_tls"


async def test_a_server_that_does_not_stream_is_understood(server: ModelServer) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "All at once"}}]}
    assert upstream_client._delta(json.dumps(answer).encode()) == answer["choices"][0]["message"]

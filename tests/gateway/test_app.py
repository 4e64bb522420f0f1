"""The composition: every door stands before every room, and every error leaves as a sentence."""

import subprocess
import sys

import httpx
import pytest
from tests.support.tiny_model import write_tiny_model

from duologue.config import load
from duologue.errors import EngineFailed
from duologue.gateway.app import Gateway
from duologue.gateway.server import public_app
from duologue.media import call_sound
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio

KEY = "a-key-of-some-length"


def made(tmp_path, **flags):
    settings = load(None, {}, {"data": str(tmp_path), "engine": "scripted", **flags})
    return Gateway(settings, [LoadSpec("w", "scripted", "m")], announce=lambda line: None).app


def client(app) -> httpx.AsyncClient:
    outside = public_app(app, load(None, {}, {}))
    transport = httpx.ASGITransport(outside, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8006")


@pytest.fixture
async def browser(tmp_path):
    async with client(made(tmp_path)) as asking:
        yield asking


async def test_the_gateway_is_healthy_before_any_worker_is_ready(browser):
    assert (await browser.get("/health")).json()["status"] == "healthy"
    answer = await browser.get("/ready")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "model_loading"


async def test_a_probe_may_ask_for_the_headers_alone(browser):
    assert (await browser.head("/health")).status_code == 200
    assert (await browser.head("/ready")).status_code == 503


async def test_the_page_can_ask_what_there_is(browser):
    body = (await browser.get("/api/capabilities")).json()
    assert body["state"] == "loading"
    assert body["default_model"] == "m"
    assert body["auth"] == {
        "required": False,
        "user": "local",
        "name": "local",
        "role": "admin",
        "keyed": False,
    }
    assert body["features"] == {
        "voice": False,
        "speech": False,
        "transcription": False,
        "recording": call_sound.available(),
        "conversations": True,
        "models": True,
        "admin": True,
    }
    assert body["models"][0]["defaults"] == {}


async def test_a_foreign_host_and_a_foreign_page_are_turned_away_everywhere(browser):
    for path in ("/", "/health", "/status", "/v1/models", "/api/capabilities", "/openapi.json"):
        rebound = await browser.get(path, headers={"Host": "evil.example"})
        foreign = await browser.get(path, headers={"Origin": "http://evil.example"})
        assert (rebound.status_code, foreign.status_code) == (403, 403), path
        assert rebound.json()["error"]["code"] == "host_refused"


async def test_with_a_key_everything_but_health_and_the_page_is_closed(tmp_path):
    async with client(made(tmp_path, key=KEY)) as asking:
        for path in ("/status", "/workers", "/metrics", "/v1/models", "/api/capabilities", "/openapi.json"):
            assert (await asking.get(path)).status_code == 401, path
            assert (await asking.get(path, headers={"Authorization": f"Bearer {KEY}"})).status_code == 200, (
                path
            )
        for path in ("/health", "/ready"):
            assert (await asking.get(path)).status_code != 401


async def test_a_body_over_the_limit_is_refused_with_the_settings_name(tmp_path):
    async with client(made(tmp_path, **{"limits.body_mb": 1})) as asking:
        answer = await asking.post("/v1/chat/completions", content=bytes(2**20 + 1))
    assert answer.status_code == 413
    assert "limits.body_mb" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "most", "setting"),
    [
        ("/v1/audio/speech", 6 * 2**20 + 2**16, "limits.text_mb"),
        ("/v1/model/load", 6 * 2**20 + 2**16, "limits.text_mb"),
        ("/api/keys", 6 * 2**20 + 2**16, "limits.text_mb"),
        ("/api/nothing", 6 * 2**20 + 2**16, "limits.text_mb"),
        ("/v1/audio/transcriptions", 25 * 2**20 + 2**16, "limits.audio_mb"),
        ("/v1/chat/completions", 64 * 2**20, "limits.body_mb"),
    ],
)
async def test_every_route_has_a_limit_of_its_kind(tmp_path, path, most, setting):
    async with client(made(tmp_path)) as asking:
        headers = {"Content-Length": str(most + 1), "Content-Type": "application/json"}
        refused = await asking.post(path, content=b"", headers=headers)
        assert refused.status_code == 413
        assert setting in refused.json()["error"]["message"]
        headers["Content-Length"] = str(most)
        assert (await asking.post(path, content=b"", headers=headers)).status_code != 413


async def test_an_invalid_request_is_400_in_openais_shape(browser):
    answer = await browser.post("/v1/chat/completions", json={"messages": "none"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"


async def test_an_unknown_model_is_404_with_the_known_names(browser):
    body = {"model": "gpt-9", "messages": [{"role": "user", "content": "hi"}]}
    answer = await browser.post("/v1/chat/completions", json=body)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "model_not_found"
    assert "m" in answer.json()["error"]["message"]


async def test_an_unknown_address_is_a_sentence(browser):
    answer = await browser.get("/v1/nothing")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


async def test_a_wrong_method_is_a_sentence(browser):
    answer = await browser.get("/v1/chat/completions")
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "method_not_allowed"
    assert answer.headers["allow"] == "POST"
    assert "POST" in answer.json()["error"]["message"]


async def test_a_bug_leaves_as_a_sentence_with_the_request_id_and_no_trace(tmp_path, caplog):
    app = made(tmp_path)

    @app.get("/boom")
    async def boom() -> None:
        raise RuntimeError("secret detail")

    async with client(app) as asking:
        answer = await asking.get("/boom", headers={"X-Request-Id": "my-id"})
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "my-id" in answer.text
    assert answer.headers["x-request-id"] == "my-id"
    assert "secret" not in answer.text
    assert "secret detail" in caplog.text


async def test_a_problem_keeps_its_code_status_and_sentence(tmp_path):
    app = made(tmp_path)

    @app.get("/problem")
    async def problem() -> None:
        raise EngineFailed("The engine is cold.", code="cold", status=502)

    async with client(app) as asking:
        answer = await asking.get("/problem")
    assert answer.status_code == 502
    assert answer.json()["error"]["message"] == "The engine is cold."


async def test_every_answer_carries_the_request_id(browser):
    answer = await browser.get("/status", headers={"X-Request-Id": "abc.1"})
    assert answer.headers["x-request-id"] == "abc.1"


async def test_the_metrics_are_prometheus_text(browser):
    await browser.get("/status")
    answer = await browser.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "duologue_requests_total" in answer.text


def test_importing_the_gateway_loads_no_engine_and_nothing_heavy():
    heavy = (
        "xllamacpp torch numpy mcp alembic sqlalchemy av PIL duologue.engines duologue.sessions duologue.text"
    )
    code = (
        "import sys, duologue.gateway.app\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def before(tmp_path, **flags):
    """A browser before a whole server with these settings, and behind a proxy that says who it is."""
    settings = load(None, {}, {"data": str(tmp_path), "engine": "scripted", **flags})
    gateway = Gateway(settings, [LoadSpec("w", "scripted", "m")], announce=lambda line: None)
    transport = httpx.ASGITransport(public_app(gateway.app, settings), client=("10.0.0.1", 4711))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8006")


FORWARDED = {
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "chat.example",
}


async def test_under_a_base_path_everything_is_there_and_nothing_elsewhere(tmp_path):
    async with before(tmp_path, base_path="/talk") as asking:
        for path in ("/health", "/api/capabilities", "/v1/models", "/openapi.json"):
            assert (await asking.get(f"/talk{path}")).status_code == 200, path
            outside = await asking.get(path)
            assert outside.status_code == 404, path
            assert "/talk/" in outside.json()["error"]["message"]
        assert (await asking.get("/talk/api/capabilities")).json()["base_path"] == "/talk"
        refused = await asking.post("/talk/v1/chat/completions", json={"messages": "none"})
        assert refused.json()["error"]["type"] == "invalid_request_error"


async def test_the_description_of_the_apis_leads_to_them_under_any_path(tmp_path):
    async with before(tmp_path, base_path="/talk") as asking:
        assert (await asking.get("/talk/openapi.json")).json()["servers"] == [{"url": "."}]


async def test_the_host_and_scheme_of_a_believed_proxy_count_at_the_doors(tmp_path):
    behind = {"proxies": ["10.0.0.0/8"], "host_names": ["chat.example"]}
    own = FORWARDED | {"Origin": "https://chat.example"}
    async with before(tmp_path, **behind) as asking:
        assert (await asking.get("/api/capabilities", headers=own)).status_code == 200
        other = own | {"X-Forwarded-Host": "evil.example"}
        assert (await asking.get("/api/capabilities", headers=other)).status_code == 403
    async with before(tmp_path, host_names=["chat.example"]) as asking:
        assert (await asking.get("/api/capabilities", headers=own)).status_code == 403


async def test_the_log_says_for_whom_a_proxy_asked(tmp_path, caplog):
    caplog.set_level("INFO", "duologue.gateway.middleware.request_id")
    async with before(tmp_path, proxies=["10.0.0.1"], host_names=["chat.example"]) as asking:
        await asking.get("/status", headers=FORWARDED)
    assert "GET /status 200" in caplog.text
    assert "from 203.0.113.7" in caplog.text


async def test_a_page_of_another_build_is_told_that_it_is_outdated(tmp_path, monkeypatch):
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text('<meta name="duologue-build" content="abc1">')
    monkeypatch.setattr("duologue.gateway.app.FOLDER", page)
    async with client(made(tmp_path)) as asking:
        said = {
            build: (await asking.get("/api/capabilities", headers=headers)).json()["outdated"]
            for build, headers in {
                "": {},
                "abc1": {"Duologue-Build": "abc1"},
                "abc2": {"Duologue-Build": "abc2"},
            }.items()
        }
    assert said == {"": False, "abc1": False, "abc2": True}


async def test_the_page_hears_the_operators_first_values(tmp_path, browser):
    assert (await browser.get("/api/capabilities")).json()["ui"] == {"defaults": {}}
    ui = {"ui.defaults.system": "Be brief."}
    async with client(made(tmp_path, **ui)) as asking:
        assert (await asking.get("/api/capabilities")).json()["ui"] == {"defaults": {"system": "Be brief."}}


@pytest.mark.parametrize(
    ("key", "allowed", "own", "another"),
    [
        (None, "admins", True, True),
        (None, "off", False, False),
        (KEY, "admins", True, False),
        (KEY, "everyone", True, True),
        (KEY, "u_1", False, True),
    ],
)
async def test_who_may_have_a_model_loaded_by_naming_it(tmp_path, key, allowed, own, another):
    flags = {"data": str(tmp_path), "engine": "scripted", "loading.by_request": allowed, "key": key}
    gateway = Gateway(load(None, {}, flags), [LoadSpec("w", "scripted", "m")], announce=lambda line: None)
    path = tmp_path / "models" / "tiny.gguf"
    path.parent.mkdir()
    write_tiny_model(path)
    assert await gateway.requested_models.unloaded("local") == (["tiny"] if own else [])
    assert await gateway.requested_models.unloaded("u_1") == (["tiny"] if another else [])

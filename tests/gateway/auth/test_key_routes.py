"""`/api/keys`, asked through the real check of every request."""

from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse

from duologue.errors import Problem
from duologue.gateway.auth.key_routes import router
from duologue.gateway.auth.keys import Keys
from duologue.gateway.auth.middleware import Authentication, cookie_name
from duologue.gateway.auth.sessions import LoginSessions
from duologue.store.database import Database
from duologue.store.users import Users

pytestmark = pytest.mark.anyio


@pytest.fixture
async def users():
    async with Database.memory() as database:
        yield Users(database, lambda: 5000)


@asynccontextmanager
async def asking(users, key=None, settings_key=None):
    keys = Keys(settings_key)
    if users is not None:
        await keys.use(users)
    app = FastAPI()
    app.include_router(router(keys))

    @app.exception_handler(Problem)
    async def answer(request, problem):
        return JSONResponse({"code": problem.code, "message": problem.message}, problem.status)

    guarded = Authentication(app, keys, LoginSessions(keys), cookie=cookie_name(8006))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(guarded), base_url="http://localhost", headers=headers
    ) as client:
        yield client


async def test_an_admin_makes_a_key_that_opens_the_server_and_is_shown_once(users):
    ada = await users.add_key("ada")
    async with asking(users, ada.value) as http:
        answer = await http.post("/api/keys", json={"name": "bob"})
        assert answer.status_code == 201
        assert answer.headers["cache-control"] == "no-store"
        made = answer.json()
        assert made["key"].startswith("duo_")
        assert (made["name"], made["role"], made["created"]) == ("bob", "user", 5000)
        listed = (await http.get("/api/keys")).json()
        assert made["key"] not in str(listed)
        assert [(row["prefix"], row["revoked"]) for row in listed["keys"] if row["id"] == made["id"]] == [
            (made["key"][:10], 0)
        ]
        assert [user["name"] for user in listed["users"]] == ["ada", "bob"]
        mine = await http.get("/api/keys", headers={"Authorization": f"Bearer {made['key']}"})
        assert (mine.status_code, mine.json()["code"]) == (403, "admin_needed")


async def test_a_revoked_key_opens_nothing_from_then_on_and_revoking_it_again_is_no_error(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob", admin=True)
    async with asking(users, ada.value) as http:
        with_bobs = {"Authorization": f"Bearer {bob.value}"}
        assert (await http.get("/api/keys", headers=with_bobs)).status_code == 200
        for _ in range(2):
            assert (await http.delete(f"/api/keys/{bob.key.id}")).status_code == 204
            assert (await http.get("/api/keys", headers=with_bobs)).status_code == 401
        assert (await http.delete("/api/keys/key_none")).status_code == 404


async def test_a_users_name_revokes_every_key_of_theirs(users):
    ada = await users.add_key("ada")
    for _ in range(2):
        await users.add_key("bob")
    async with asking(users, ada.value) as http:
        assert (await http.delete("/api/keys/bob")).status_code == 204
        rows = (await http.get("/api/keys")).json()["keys"]
    assert [bool(row["revoked"]) for row in rows if row["user"] != "local"] == [True, True]


async def test_the_last_key_of_an_admin_cannot_be_revoked_from_afar(users):
    ada = await users.add_key("ada")
    async with asking(users, ada.value) as http:
        answer = await http.delete(f"/api/keys/{ada.key.id}")
        assert (answer.status_code, answer.json()["code"]) == (400, "last_admin_key")
        assert (await http.get("/api/keys")).status_code == 200


async def test_beside_a_key_of_the_settings_every_other_may_go(users):
    bob = await users.add_key("bob")
    async with asking(users, "of-the-settings", settings_key="of-the-settings") as http:
        assert (await http.delete(f"/api/keys/{bob.key.id}")).status_code == 204


async def test_without_a_key_nobody_makes_the_first_one_from_afar(users):
    async with asking(users) as http:
        listed = (await http.get("/api/keys")).json()
        assert (listed["keys"], listed["users"]) == ([], [])
        answer = await http.post("/api/keys", json={"name": "ada"})
        assert (answer.status_code, answer.json()["code"]) == (403, "key_needed")
        assert "duologue key add" in answer.json()["message"]
        assert (await http.delete("/api/keys/key_1")).status_code == 403


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "bob", "rle": "admin"}, {"name": "b", "role": "x"}]
)
async def test_what_is_no_wish_for_a_key_makes_none(users, body):
    ada = await users.add_key("ada")
    async with asking(users, ada.value) as http:
        assert (await http.post("/api/keys", json=body)).status_code in (400, 422)
        assert len((await http.get("/api/keys")).json()["keys"]) == 1


async def test_before_there_is_a_database_there_are_no_keys_to_speak_of():
    async with asking(None, "secret-of-settings", settings_key="secret-of-settings") as http:
        assert (await http.get("/api/keys")).status_code == 503


async def test_a_disabled_user_is_out_at_once_and_comes_back_with_the_same_key(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob / the builder", admin=True)
    async with asking(users, ada.value) as http:
        with_bobs = {"Authorization": f"Bearer {bob.value}"}
        path = "/api/keys/users/bob%20%2F%20the%20builder"
        changed = await http.patch(path, json={"disabled": True})
        assert (changed.json()["name"], changed.json()["disabled"]) == ("bob / the builder", 5000)
        assert (await http.get("/api/keys", headers=with_bobs)).status_code == 401
        assert (await http.patch(path, json={"disabled": False, "role": "user"})).json()["role"] == "user"
        assert (await http.get("/api/keys", headers=with_bobs)).json()["code"] == "admin_needed"


async def test_changing_users_is_for_admins_with_a_key_and_spares_the_last_one(users):
    async with asking(users) as http:
        assert (await http.patch("/api/keys/users/ada", json={"role": "user"})).json()["code"] == "key_needed"
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    async with asking(users, bob.value) as http:
        assert (await http.patch("/api/keys/users/bob", json={"role": "admin"})).json()[
            "code"
        ] == "admin_needed"
    async with asking(users, ada.value) as http:
        for change in ({"role": "user"}, {"disabled": True}):
            answer = await http.patch("/api/keys/users/ada", json=change)
            assert (answer.status_code, answer.json()["code"]) == (400, "last_admin")
        assert (await http.patch("/api/keys/users/eve", json={"role": "user"})).status_code == 404
        for wrong in ({"role": "owner"}, {"disabled": "yes"}, {"name": "x"}):
            assert (await http.patch("/api/keys/users/bob", json=wrong)).status_code in (400, 422)


async def test_a_key_with_a_label_and_an_end_ends_then(users):
    ada = await users.add_key("ada")
    async with asking(users, ada.value) as http:
        body = {"name": "bob", "label": "laptop", "expires": 2**52}
        made = (await http.post("/api/keys", json=body)).json()
        assert (made["label"], made["expires"]) == ("laptop", 2**52)
        for wrong in ({"expires": 4000}, {"expires": -1}, {"expires": "soon"}, {"label": "x" * 65}):
            assert (await http.post("/api/keys", json={"name": "bob"} | wrong)).status_code in (400, 422)
        ended = await users.add_key("eve", expires=6000)  # long ago, by the clock of the server
        answer = await http.get("/api/keys", headers={"Authorization": f"Bearer {ended.value}"})
        assert answer.status_code == 401


async def test_a_reset_key_has_a_new_value_that_is_shown_once_and_the_old_one_opens_nothing(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob", label="phone")
    async with asking(users, ada.value) as http:
        answer = await http.post(f"/api/keys/{bob.key.id}/reset")
        assert answer.headers["cache-control"] == "no-store"
        reset = answer.json()
        assert (reset["id"], reset["label"], reset["name"]) == (bob.key.id, "phone", "bob")
        old, new = ({"Authorization": f"Bearer {value}"} for value in (bob.value, reset["key"]))
        assert (await http.get("/api/keys", headers=old)).status_code == 401
        assert (await http.get("/api/keys", headers=new)).json()["code"] == "admin_needed"
        assert (await http.post("/api/keys/key_none/reset")).status_code == 404
        assert (await http.post("/api/keys/bob/reset", json={"expires": 2**52})).json()["expires"] == 2**52
        assert (await http.post("/api/keys/ada/reset", headers=new)).status_code == 401


async def test_an_admin_who_resets_their_own_key_gets_the_new_one_before_the_old_one_ends(users):
    ada = await users.add_key("ada")
    async with asking(users, ada.value) as http:
        reset = (await http.post(f"/api/keys/{ada.key.id}/reset", json={})).json()
        assert (await http.get("/api/keys")).status_code == 401
        headers = {"Authorization": f"Bearer {reset['key']}"}
        assert (await http.get("/api/keys", headers=headers)).status_code == 200


async def test_a_user_is_renamed_and_signed_out_everywhere(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob / x")
    await users.logins.open(b"one", bob.account.id, 2**52)
    async with asking(users, ada.value) as http:
        assert (await http.delete("/api/keys/users/bob%20%2F%20x/logins")).json() == {"ended": 1}
        assert (await http.delete("/api/keys/users/eve/logins")).json()["code"] == "user_not_found"
        path = "/api/keys/users/bob%20%2F%20x"
        assert (await http.patch(path, json={"new_name": "ada"})).json()["code"] == "name_taken"
        assert (await http.patch(path, json={"new_name": "bob"})).json()["name"] == "bob"
        headers = {"Authorization": f"Bearer {bob.value}"}
        refused = await http.delete("/api/keys/users/ada/logins", headers=headers)
        assert refused.json()["code"] == "admin_needed"


async def test_an_admin_changes_the_limits_of_a_key_and_they_apply_at_once(users):
    ada, bob = await users.add_key("ada"), await users.add_key("bob")
    async with asking(users, ada.value) as http:
        body = {"concurrent": 2, "tokens_per_day": 1000, "models": ["qwen*"], "weight": 2.5}
        answer = await http.patch(f"/api/keys/{bob.key.id}", json=body)
        assert (answer.status_code, answer.json()["limits"]) == (200, body)
        answer = await http.patch(f"/api/keys/{bob.key.id}", json={"concurrent": None, "models": []})
        assert answer.json()["limits"] == {"tokens_per_day": 1000, "models": [], "weight": 2.5}
        listed = (await http.get("/api/keys")).json()
        assert listed["default_limits"]["concurrent"] == 0
        assert {key["id"]: key["limits"] for key in listed["keys"]} == {
            ada.key.id: {},
            bob.key.id: answer.json()["limits"],
        }
        assert (await http.patch("/api/keys/key_none", json={"concurrent": 1})).status_code == 404
        with_bobs = {"Authorization": f"Bearer {bob.value}"}
        refused = await http.patch(f"/api/keys/{bob.key.id}", json={"concurrent": 0}, headers=with_bobs)
        assert (refused.status_code, refused.json()["code"]) == (403, "admin_needed")


@pytest.mark.parametrize(
    "body",
    [
        {"concurrent": -1},
        {"concurrent": "2"},
        {"models": [""]},
        {"weight": 0},
        {"requests": 5},
        {"tokens_per_day": 10**13},
    ],
)
async def test_what_is_no_limit_changes_nothing(users, body):
    ada = await users.add_key("ada")
    async with asking(users, ada.value) as http:
        assert (await http.patch(f"/api/keys/{ada.key.id}", json=body)).status_code == 422
        assert (await http.get("/api/keys")).json()["keys"][0]["limits"] == {}

"""`/api/keys`: admins list, create, reset and revoke keys and change users, as `duologue key` and `duologue user` do on the machine itself.

The value of a key is only in the answer to its creation, or to its reset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Request, Response
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from duologue.config.sections.key_limits import Limit, ModelName, Weight
from duologue.errors import Unavailable
from duologue.gateway.auth.keys import Keys
from duologue.gateway.auth.middleware import admin, keyed_admin
from duologue.gateway.middleware.admin_act import note
from duologue.values.usage.key_limits import MOST_MODELS, UNLIMITED, AppliedLimits

if TYPE_CHECKING:
    from duologue.store.users import NewKey, Users

LATEST = 2**53
"""The largest number that every client of a JSON API reads exactly."""


class NewKeyBody(BaseModel):
    """The user of a new key, who is created if necessary; `role` admin promotes an existing user, and a worker has a user of its own."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="The user's name, 1 to 64 characters.")
    role: Literal["user", "admin", "worker"] = Field(
        default="user",
        description="The role of a new user; with a key of the role `worker`, workers on other machines can join, and it opens nothing else.",
    )
    label: str = Field(default="", max_length=200, description="What the key is for, such as laptop.")
    expires: int = Field(
        default=0, ge=0, le=LATEST, description="When the key ends, in ms since 1970; 0: never."
    )


class KeyReset(BaseModel):
    """What else changes of a key that gets a new value."""

    model_config = ConfigDict(extra="forbid")

    expires: int | None = Field(
        default=None,
        ge=0,
        le=LATEST,
        description="When it ends, in ms since 1970; 0: never; null: as before.",
    )


class UserChange(BaseModel):
    """The changes of a user; absent fields stay as they are."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Literal["user", "admin"] | None = None
    disabled: bool | None = Field(
        default=None, description="Reject the user's keys and logins; nothing is deleted."
    )
    new_name: str | None = Field(default=None, max_length=256, description="Another name for the user.")


class KeyChange(BaseModel):
    """The limits of a key; absent fields stay as they are, null is what the settings say, 0 and an empty list are no limit."""

    model_config = ConfigDict(extra="forbid", strict=True)

    concurrent: Limit | None = Field(default=None, description="Requests at a time.")
    requests_per_minute: Limit | None = Field(default=None, description="Requests a minute.")
    tokens_per_minute: Limit | None = Field(
        default=None, description="Tokens a minute, of replies and of prompts without what was cached."
    )
    tokens_per_day: Limit | None = Field(default=None, description="Tokens a day (UTC), counted likewise.")
    models: Annotated[list[ModelName], Field(max_length=MOST_MODELS)] | None = Field(
        default=None, description="The models it may use, by name or with `*`."
    )
    weight: Weight | None = Field(default=None, description="Its share of the queue while others wait too.")

    def changes(self) -> dict[str, Any]:
        """The limits to change, by name."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        return named | ({"models": tuple(self.models)} if self.models is not None else {})


def router(keys: Keys, defaults: AppliedLimits = UNLIMITED) -> APIRouter:
    """The routes. `defaults`: the limits of users' keys for which none were set. Listing needs an admin; changes need an admin who used a key."""
    routes = APIRouter(tags=["keys"], prefix="/api/keys")

    @routes.get("", summary="Keys and their users", dependencies=[Depends(admin)])
    async def list_keys() -> dict[str, Any]:
        """Every key without its value, including revoked ones, and every user. Times in ms since 1970; 0: never. `limits` are those that were
        set for a key; `default_limits` apply to users' keys otherwise."""
        users = _users(keys)
        return {
            "keys": to_builtins(await users.keys()),
            "users": to_builtins(await users.accounts()),
            "default_limits": to_builtins(defaults),
        }

    @routes.post("", summary="Create a key", status_code=201, dependencies=[Depends(keyed_admin)])
    async def add(body: NewKeyBody, request: Request, response: Response) -> dict[str, Any]:
        """`key` is the key itself, which is shown only this once."""
        new = await _users(keys).add_key(
            body.name,
            admin=body.role == "admin",
            worker=body.role == "worker",
            label=body.label,
            expires=body.expires,
            of_settings=keys.of_settings,
        )
        keys.outdated()
        note(request.scope, key=new.key.id)
        return _shown_once(new, response)

    _add_reset(routes, keys)

    @routes.delete("/{id}", summary="Revoke a key", status_code=204, dependencies=[Depends(keyed_admin)])
    async def revoke(id: Annotated[str, Path(max_length=64)]) -> Response:
        """By the id of a key, or by the name of a user for all of theirs. Ends the user's logins too. The last key of an admin cannot
        be revoked, unless the settings have a key."""
        await _users(keys).revoke(id, spare_last_admin=not keys.of_settings)
        keys.outdated()
        return Response(status_code=204)

    @routes.patch("/{id}", summary="Change the limits of a key", dependencies=[Depends(keyed_admin)])
    async def limit(id: Annotated[str, Path(max_length=64)], body: KeyChange) -> dict[str, Any]:
        """They apply from the next request on. Gives the key."""
        key = await _users(keys).limit(id, body.changes())
        keys.outdated()
        row: dict[str, Any] = to_builtins(key)
        return row

    @routes.patch("/users/{name:path}", summary="Change a user", dependencies=[Depends(keyed_admin)])
    async def change(name: Annotated[str, Path(max_length=256)], body: UserChange) -> dict[str, Any]:
        """Change the role or the name, or disable a user's keys and logins; work of theirs that runs in the background ends. The last
        admin cannot be disabled and stays an admin."""
        account = await _users(keys).change(
            name,
            role=body.role,
            disabled=body.disabled,
            new_name=body.new_name,
            key_of_settings=keys.of_settings,
        )
        keys.outdated()
        row: dict[str, Any] = to_builtins(account)
        return row

    @routes.delete(
        "/users/{name:path}/logins", summary="Sign a user out everywhere", dependencies=[Depends(keyed_admin)]
    )
    async def sign_out(name: Annotated[str, Path(max_length=256)]) -> dict[str, int]:
        """Ends the logins of a user in every browser. Their keys stay valid. `ended`: how many there were."""
        account = await _users(keys).named(name)
        ended = await _users(keys).logins.end_all(account.id)
        keys.outdated()
        return {"ended": ended}

    return routes


def _add_reset(routes: APIRouter, keys: Keys) -> None:
    @routes.post("/{id}/reset", summary="Give a key a new value", dependencies=[Depends(keyed_admin)])
    async def reset(
        id: Annotated[str, Path(max_length=256)],
        request: Request,
        response: Response,
        body: KeyReset | None = None,
    ) -> dict[str, Any]:
        """By the id of a key, or by the name of a user who has one. Its id, label and limits stay; the old value, and the logins with it,
        end at once. `key` is the new value, which is shown only this once."""
        expires = body.expires if body is not None else None
        new = await _users(keys).reset_key(id, expires=expires, of_settings=keys.of_settings)
        keys.outdated()
        note(request.scope, key=new.key.id, user=new.account.name)
        return _shown_once(new, response)


def _shown_once(new: NewKey, response: Response) -> dict[str, Any]:
    response.headers["Cache-Control"] = "no-store"
    row: dict[str, Any] = to_builtins(new.key)
    return {**row, "key": new.value, "name": new.account.name, "role": new.account.role}


def _users(keys: Keys) -> Users:
    if keys.users is None:
        raise Unavailable("The server is still starting; try again in a moment.")
    return keys.users

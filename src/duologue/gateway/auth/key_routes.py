"""`/api/keys`: an admin sees, makes and revokes keys and changes users from afar. `duologue key` does the same on the
machine itself.

Knows no cookie and no digest. A key's value is in one answer, the one to its making.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Response
from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from duologue.errors import Unavailable
from duologue.gateway.auth.keys import Keys
from duologue.gateway.auth.middleware import admin, keyed_admin

if TYPE_CHECKING:
    from duologue.store.users import Users


class NewKeyBody(BaseModel):
    """Whose key is wanted. The user is made where there is none; `role` admin promotes one that exists."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(description="The user's name, 1 to 64 characters.")
    role: Literal["user", "admin"] = Field(default="user", description="The role of a new user.")


class UserChange(BaseModel):
    """What is absent stays."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Literal["user", "admin"] | None = None
    disabled: bool | None = Field(default=None, description="Nobody comes in as them; nothing is deleted.")


def router(keys: Keys) -> APIRouter:
    """The routes. Listing needs an admin, changing one who used a key."""
    routes = APIRouter(tags=["keys"], prefix="/api/keys")

    @routes.get("", summary="Keys and their users", dependencies=[Depends(admin)])
    async def listed() -> dict[str, Any]:
        """Every key without its value, revoked ones too, and every user. Times in ms since 1970, 0 is never."""
        users = _users(keys)
        return {"keys": to_builtins(await users.keys()), "users": to_builtins(await users.accounts())}

    @routes.post("", summary="Make a key", status_code=201, dependencies=[Depends(keyed_admin)])
    async def add(wanted: NewKeyBody, response: Response) -> dict[str, Any]:
        """`key` is the key itself, shown this once."""
        made = await _users(keys).add_key(wanted.name, admin=wanted.role == "admin")
        keys.outdated()
        response.headers["Cache-Control"] = "no-store"
        row = to_builtins(made.key)
        return {**row, "key": made.value, "name": made.account.name, "role": made.account.role}

    @routes.delete("/{id}", summary="Revoke a key", status_code=204, dependencies=[Depends(keyed_admin)])
    async def revoke(id: Annotated[str, Path(max_length=64)]) -> Response:
        """A key's id, or a user's name for all of theirs. Ends the user's logins too. The last key of an admin stays, unless the settings hold one."""
        await _users(keys).revoke(id, spare_last_admin=not keys.of_settings)
        keys.outdated()
        return Response(status_code=204)

    @routes.patch("/users/{name:path}", summary="Change a user", dependencies=[Depends(keyed_admin)])
    async def change(name: Annotated[str, Path(max_length=256)], wanted: UserChange) -> dict[str, Any]:
        """Their role, and whether their keys and logins open the server. The last admin stays one."""
        account = await _users(keys).change(
            name, role=wanted.role, disabled=wanted.disabled, key_of_settings=keys.of_settings
        )
        keys.outdated()
        found: dict[str, Any] = to_builtins(account)
        return found

    return routes


def _users(keys: Keys) -> Users:
    if keys.users is None:
        raise Unavailable("The server is still starting; try again in a moment.")
    return keys.users

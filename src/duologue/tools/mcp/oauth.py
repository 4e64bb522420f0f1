"""OAuth for tool servers with the SDK's client: token storage and the sign-in.

Owns the stored form of tokens. The SDK does discovery, registration, PKCE and refresh.
"""

from __future__ import annotations

import json
import time
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from duologue.errors import Unavailable
from duologue.tools.mcp.login import McpLogin

TOKEN = 16 * 1024
"""Longest token; it goes with every request."""
RECORD = 64 * 1024
"""Largest metadata or registration that is stored."""
LONGEST_SECONDS = 10 * 365 * 24 * 3600
Model = TypeVar("Model", bound=BaseModel)


class TokenRows(Protocol):
    """The store of tokens, by server and user."""

    async def tokens(self, name: str, user: str) -> dict[str, Any] | None: ...
    async def save_tokens(self, name: str, user: str, tokens: dict[str, Any]) -> object: ...


class TokenStorage:
    """One user's tokens for one server; implements the SDK's storage interface."""

    def __init__(self, rows: TokenRows, server: str, user: str, redirect: str) -> None:
        self._rows = rows
        self._server = server
        self._user = user
        self._redirect = redirect
        self.metadata: OAuthMetadata | None = None
        self.expires: float | None = None

    async def get_tokens(self) -> OAuthToken | None:
        row = await self._load()
        self.metadata = _parse(OAuthMetadata, row.get("metadata"))
        self.expires = row.get("expires")
        return _parse(OAuthToken, row.get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        if len(tokens.access_token) > TOKEN or len(tokens.refresh_token or "") > TOKEN:
            raise Unavailable(
                f"The server's sign-in gave a token of more than {TOKEN // 1024} KB.",
                code="tool_server_error",
            )
        seconds = min(max(tokens.expires_in or 0, 0), LONGEST_SECONDS)
        self.expires = time.time() + seconds if tokens.expires_in else None
        changes: dict[str, Any] = {"tokens": tokens.model_dump(mode="json"), "expires": self.expires}
        if self.metadata is not None:
            changes["metadata"] = _dump(self.metadata)
        await self._save(changes)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = _parse(OAuthClientInformationFull, (await self._load()).get("client"))
        # The client was registered with another address of this server: the authorization server would reject ours.
        if client is None or (self._redirect and AnyUrl(self._redirect) not in (client.redirect_uris or ())):
            return None
        return client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._save({"client": _dump(client_info)})

    async def _load(self) -> dict[str, Any]:
        return await self._rows.tokens(self._server, self._user) or {}

    async def _save(self, changes: dict[str, Any]) -> None:
        await self._rows.save_tokens(self._server, self._user, await self._load() | changes)


class OAuthProvider(OAuthClientProvider):
    """The SDK's client, with the token's expiry and the server metadata restored after a restart.

    Without these it would send an expired token, be refused, and make the user sign in again. Refresh tokens are often valid once, and the gateways of a
    database share them: if another gateway has used up the token, this one continues with the new token that the other has stored.
    """

    async def _initialize(self) -> None:
        await super()._initialize()
        storage = self.context.storage
        assert isinstance(storage, TokenStorage)
        self.context.token_expiry_time = storage.expires
        self.context.oauth_metadata = self.context.oauth_metadata or storage.metadata

    async def _handle_refresh_response(self, response: Any) -> bool:
        if await super()._handle_refresh_response(response):
            return True
        await self._initialize()
        if self.context.is_token_valid():
            return True
        self.context.clear_tokens()
        return False

    async def _handle_token_response(self, response: Any) -> None:
        storage = self.context.storage
        assert isinstance(storage, TokenStorage)
        storage.metadata = self.context.oauth_metadata
        await super()._handle_token_response(response)


def provider(url: str, server: str, login: McpLogin, rows: TokenRows) -> OAuthProvider:
    """The authentication of `login.user` to the server at `url`."""

    async def wait_for_code() -> AuthorizationCodeResult:
        response = await login.wait_for_response()
        return AuthorizationCodeResult(code=response.code, state=response.state, iss=response.issuer)

    redirect = login.redirect or "http://127.0.0.1/api/mcp/oauth/callback"
    return OAuthProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="Duologue",
            redirect_uris=[AnyUrl(redirect)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",
            application_type="native" if _is_loopback(redirect) else "web",
        ),
        storage=TokenStorage(rows, server, login.user, login.redirect),
        redirect_handler=login.open,
        callback_handler=wait_for_code,
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _dump(record: BaseModel) -> dict[str, Any]:
    dumped = record.model_dump(mode="json", exclude_none=True)
    if len(json.dumps(dumped)) > RECORD:
        raise Unavailable(
            f"The server's sign-in described itself in more than {RECORD // 1024} KB.",
            code="tool_server_error",
        )
    return dumped


def _parse(kind: type[Model], value: Any) -> Model | None:
    if value is None:
        return None
    try:
        return kind.model_validate(value)
    except ValidationError:
        return None

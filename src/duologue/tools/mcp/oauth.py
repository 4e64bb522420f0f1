"""OAuth for tool servers, by the SDK's client: what it needs kept between starts, and how people are sent through it.

Owns the form in which tokens are kept. The SDK does discovery, registration, PKCE and refreshing.
"""

from __future__ import annotations

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

from duologue.tools.mcp.login import McpLogin

Kept = TypeVar("Kept", bound=BaseModel)


class TokenRows(Protocol):
    """Where tokens are kept, by server and user."""

    async def tokens(self, name: str, user: str) -> dict[str, Any] | None: ...
    async def save_tokens(self, name: str, user: str, tokens: dict[str, Any]) -> object: ...


class Storage:
    """One person's tokens at one server, in the SDK's terms."""

    def __init__(self, rows: TokenRows, server: str, user: str, redirect: str) -> None:
        self._rows = rows
        self._server = server
        self._user = user
        self._redirect = redirect
        self.metadata: OAuthMetadata | None = None
        self.expires: float | None = None

    async def get_tokens(self) -> OAuthToken | None:
        kept = await self._kept()
        self.metadata = _read(OAuthMetadata, kept.get("metadata"))
        self.expires = kept.get("expires")
        return _read(OAuthToken, kept.get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.expires = time.time() + tokens.expires_in if tokens.expires_in else None
        changed: dict[str, Any] = {"tokens": tokens.model_dump(mode="json"), "expires": self.expires}
        if self.metadata is not None:
            changed["metadata"] = self.metadata.model_dump(mode="json", exclude_none=True)
        await self._keep(changed)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = _read(OAuthClientInformationFull, (await self._kept()).get("client"))
        # Registered for another address of this server: the sign-in page would refuse to come back here.
        if client is None or (self._redirect and AnyUrl(self._redirect) not in (client.redirect_uris or ())):
            return None
        return client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._keep({"client": client_info.model_dump(mode="json", exclude_none=True)})

    async def _kept(self) -> dict[str, Any]:
        return await self._rows.tokens(self._server, self._user) or {}

    async def _keep(self, changed: dict[str, Any]) -> None:
        await self._rows.save_tokens(self._server, self._user, await self._kept() | changed)


class Provider(OAuthClientProvider):
    """The SDK's client, which after a restart knows when a token ends and where to refresh it.

    Without that it would try an expired token, be refused, and send the person through the sign-in again.
    """

    async def _initialize(self) -> None:
        await super()._initialize()
        storage = self.context.storage
        assert isinstance(storage, Storage)
        self.context.token_expiry_time = storage.expires
        self.context.oauth_metadata = self.context.oauth_metadata or storage.metadata

    async def _handle_token_response(self, response: Any) -> None:
        storage = self.context.storage
        assert isinstance(storage, Storage)
        storage.metadata = self.context.oauth_metadata
        await super()._handle_token_response(response)


def provider(url: str, server: str, login: McpLogin, rows: TokenRows) -> Provider:
    """The authentication of `login.user` at the server at `url`."""

    async def returned() -> AuthorizationCodeResult:
        came = await login.returned()
        return AuthorizationCodeResult(code=came.code, state=came.state, iss=came.issuer)

    redirect = login.redirect or "http://127.0.0.1/api/mcp/oauth/callback"
    return Provider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="Duologue",
            redirect_uris=[AnyUrl(redirect)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",
            application_type="native" if _is_loopback(redirect) else "web",
        ),
        storage=Storage(rows, server, login.user, login.redirect),
        redirect_handler=login.open,
        callback_handler=returned,
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _read(kind: type[Kept], value: Any) -> Kept | None:
    if value is None:
        return None
    try:
        return kind.model_validate(value)
    except ValidationError:
        return None

"""An MCP server that lets nobody in without a token, and the OAuth server that gives them: `PORT=... guarded.py`.

Signing in is one redirect: whoever opens the address is Ann. Tokens live as many seconds as TOKEN_SECONDS says.
"""

from __future__ import annotations

import os
import secrets
import time
import warnings

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

PORT = int(os.environ.get("PORT", "0"))
SECONDS = int(os.environ.get("TOKEN_SECONDS", "3600"))
ROOT = f"http://127.0.0.1:{PORT}"


class Ann(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refreshing: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 300,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client.client_id, authorization_code.scopes)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refreshing.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refreshing[refresh_token.token]
        return self._tokens(client.client_id, scopes)

    def _tokens(self, client: str, scopes: list[str]) -> OAuthToken:
        access, refreshing = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        ends = int(time.time()) + SECONDS
        self.access[access] = AccessToken(token=access, client_id=client, scopes=scopes, expires_at=ends)
        self.refreshing[refreshing] = RefreshToken(token=refreshing, client_id=client, scopes=scopes)
        return OAuthToken(
            access_token=access, expires_in=SECONDS, refresh_token=refreshing, scope=" ".join(scopes)
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.access.get(token)
        return found if found and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)


warnings.simplefilter("ignore")
server = MCPServer(
    "guarded",
    auth_server_provider=Ann(),
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(ROOT),
        resource_server_url=AnyHttpUrl(f"{ROOT}/mcp"),
        client_registration_options=ClientRegistrationOptions(enabled=True),
        validate_token_resource=False,
    ),
)


@server.tool()
def secret() -> str:
    """Something only who signed in may know."""
    token = get_access_token()
    return f"a secret for {'Ann' if token else 'nobody'}"


if __name__ == "__main__":
    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=PORT, log_level="critical")

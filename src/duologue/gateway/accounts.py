"""Puts together what belongs to accounts: keys, logins, their routes and the audit log. Called by `app`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.abc
from fastapi import APIRouter
from starlette.middleware import Middleware

from duologue.config import Settings
from duologue.gateway import tls
from duologue.gateway.audit import audit_routes
from duologue.gateway.audit.admin_requests import AdminRequests
from duologue.gateway.audit.audit_log import AuditLog
from duologue.gateway.auth import key_routes, login_routes, middleware, sessions
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.keys import Keys, read_key, wall_clock
from duologue.gateway.static_page import StaticPage

if TYPE_CHECKING:
    from duologue.store.database import Database


class Accounts:
    """`audit` is where other parts record what they do."""

    def __init__(self, settings: Settings) -> None:
        remote = not all(middleware.is_loopback(host) for host in settings.compat.hosts(settings.host))
        key = settings.key.get_secret_value() if settings.key else None
        self.default_limits = settings.limits.key.applied()
        self.keys = Keys(read_key(key, settings.key_file), always=remote)
        self.guessing = GuessGuard()
        self.logins = sessions.LoginSessions(self.keys)
        self.cookie = middleware.cookie_name(
            settings.port, settings.database_url if settings.cluster.address else None
        )
        self.audit = AuditLog(settings.audit, wall_clock)

    def authentication(self, page: StaticPage, settings: Settings) -> Middleware:
        """The middleware that checks the key or login. Open to everyone are the files of the page, and the certificate to trust."""
        return Middleware(
            middleware.Authentication,
            self.keys,
            self.logins,
            cookie=self.cookie,
            open_files=page.paths | {tls.CA_PATH},
            login_page=page.login if settings.ui.enabled else None,
            guessing=self.guessing,
        )

    def recording(self) -> Middleware:
        """The middleware that records the acts of admins; it goes behind the authentication."""
        return Middleware(AdminRequests, self.audit)

    def routes(self) -> tuple[APIRouter, ...]:
        """The routes of signing in, of keys and users, and of the audit log."""
        signing_in = sessions.router(
            self.keys, self.logins, cookie=self.cookie, now=wall_clock, guessing=self.guessing
        )
        logins = login_routes.router(self.keys, self.logins, cookie=self.cookie)
        return (
            signing_in,
            logins,
            key_routes.router(self.keys, self.default_limits),
            audit_routes.router(self.audit),
        )

    async def run(
        self,
        database: Database,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Accept the keys of this database, and record to it, until cancelled."""
        from duologue.store.accounts.audit_rows import AuditRows
        from duologue.store.users import Users

        await self.keys.use(Users(database, wall_clock))
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.audit.run, AuditRows(database))
            task_status.started()

"""The connected model servers: stored, each served by one worker, and asked again now and then for their models.

`app` makes one. Servers can be connected, changed and removed while the server runs. One of the settings wins over a stored one
of the same address, which then waits. A server that is down keeps the models it had, so that chats find them when it is back.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import anyio.abc
import msgspec

from duologue.config import Settings
from duologue.errors import BadRequest, NotFound, Problem, Unavailable
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.upstreams.connected_server import ConnectedServer, TestedServer
from duologue.gateway.upstreams.discovery import FoundServer, find_servers, without_own
from duologue.gateway.upstreams.key_file import KeyFile, KeyUnreadable
from duologue.gateway.upstreams.providers import OTHER, is_hosted
from duologue.gateway.upstreams.upstream_client import UpstreamClient
from duologue.models.upstream_models import smallest_first
from duologue.models.upstream_url import parse_upstream_url, shown_url
from duologue.notifier import Notifier
from duologue.threads import disk_io
from duologue.values.requests import ModelPreset, RawFormat
from duologue.wire.worker_protocol import LoadSpec

if TYPE_CHECKING:
    from duologue.store.upstreams import StoredUpstream, Upstreams

log = logging.getLogger(__name__)

MOST = 32
"""Connected servers; each has a process."""
ASKED_AT_A_TIME = 4
EVERY = 60.0
"""Seconds between two looks at the models of the servers."""
EVERY_WHILE_DOWN = 15.0
"""The same while one of them does not answer."""
SLOTS = 8
"""Replies of a server on one's own machine at a time."""
HOSTED_SLOTS = 32
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
IN_SETTINGS = "The settings connect this address already, and they come first."
KEY_LOST = "Its key cannot be read: the file upstreams.key in the data folder is gone or another one. Enter the key again."


class UpstreamService:
    """Everything about connected servers. `settings`: for the addresses, the data folder and this server's own port."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._pool = pool
        self._ports = {settings.port} | (
            {settings.compat.ollama.port} if settings.compat.ollama.enabled else set()
        )
        self._discover = settings.discover
        self._keys = KeyFile(settings.data)
        self._in_settings = {
            shown_url(parts)
            for entry in settings.worker_entries
            if entry.engine == "remote"
            for url in entry.upstream.urls
            if (parts := parse_upstream_url(url)) is not None
        }
        self._rows: Upstreams | None = None
        self._servers: dict[str, ConnectedServer] = {}
        self._hurry = Notifier()
        self._changes = 0
        self._changing = 0
        self._changed = Notifier()

    # ---- running

    async def run(
        self, rows: Upstreams, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve the stored servers and watch them until cancelled."""
        self._rows = rows
        for stored in await rows.all():
            server = self._servers[stored.name] = ConnectedServer(stored)
            await self._start(server)
        task_status.started()
        while True:
            hurry = self._hurry.pending()
            await self._ask_all()
            down = any(server.state == "problem" for server in self._servers.values())
            with anyio.move_on_after(EVERY_WHILE_DOWN if down else EVERY):
                await hurry.wait()

    async def _ask_all(self) -> None:
        places = anyio.Semaphore(ASKED_AT_A_TIME)

        async def ask(server: ConnectedServer) -> None:
            try:
                async with places:
                    await self._ask(server)
            except Exception:
                # Whatever one server answers, the others are asked.
                log.exception("the server %s could not be asked for its models", server.stored.name)

        async with anyio.create_task_group() as tasks:
            for server in list(self._servers.values()):
                tasks.start_soon(ask, server)

    async def _ask(self, server: ConnectedServer) -> None:
        """Ask a server for its models. What is wrong becomes its state."""
        if not server.worker:
            return
        stored = server.stored
        seen, problem = stored.seen, None
        try:
            client = UpstreamClient(stored.url, await self._key_of(stored), stored.kind)
            listed = await client.models()
            seen = listed.models
        except Problem as failed:
            problem = failed
        if self._servers.get(stored.name) is not server or server.stored is not stored or not server.worker:
            return  # it was changed or removed meanwhile
        server.problem, server.asked = problem, True
        if seen != stored.seen:
            server.stored = msgspec.structs.replace(stored, seen=seen)
        warning = "" if problem is None else problem.message
        self._pool.set_models(server.worker, server.models(), warning)
        if seen != stored.seen:
            # It is only a memory, and is written again when it changes.
            with suppress(Unavailable):
                await self._stored().save_seen(stored.name, seen)

    async def _start(self, server: ConnectedServer) -> None:
        """Start the worker of a server, unless something stands against it, which becomes its state."""
        stored = server.stored
        server.problem, server.asked = None, False
        if not stored.enabled:
            return
        if stored.url in self._in_settings:
            server.problem = Problem(IN_SETTINGS, code="upstream_in_settings", status=409)
            return
        try:
            self._checked(stored.url)
            key = await self._key_of(stored)
        except Problem as problem:
            server.problem = problem
            return
        if self._servers.get(stored.name) is not server or server.stored is not stored or server.worker:
            return  # it was changed, removed or started while its key was read
        options: dict[str, object] = {"url": stored.url, "key": key, "several": True, "kind": stored.kind}
        options |= stored.timeouts
        options["slots"] = HOSTED_SLOTS if is_hosted(stored.kind) else SLOTS
        spec = LoadSpec("", "remote", stored.name, options, upstream=stored.name)
        server.worker = self._pool.add(spec).worker
        self._pool.set_models(server.worker, server.models())

    async def _stop(self, server: ConnectedServer) -> None:
        """End the worker of a server. Its replies end with a sentence."""
        worker, server.worker = server.worker, ""
        if worker in self._pool.workers:
            with anyio.CancelScope(shield=True):
                await self._pool.remove(worker)

    def _tell_models(self, server: ConnectedServer) -> None:
        if server.worker:
            warning = "" if server.problem is None else server.problem.message
            self._pool.set_models(server.worker, server.models(), warning)

    # ---- what admins do at other gateways

    async def reload(self) -> None:
        """Read the stored servers again, and serve what another gateway has changed. The others are not touched. Raises Unavailable."""
        before = -1
        while before != self._changes:
            while self._changing:
                await self._changed.wait()
            # What was read before a change of this gateway was stored is old.
            before = self._changes
            stored = {each.name: each for each in await self._stored().all()}
        gone = [self._servers.pop(name) for name in list(self._servers) if name not in stored]
        begun = [
            self._servers.setdefault(name, ConnectedServer(row))
            for name, row in stored.items()
            if name not in self._servers
        ]
        moved = [
            server for server in self._servers.values() if self._take(server, stored[server.stored.name])
        ]
        for server in (*gone, *moved):
            await self._stop(server)
        for server in (*begun, *moved):
            await self._start(server)
        if begun or moved:
            self._hurry.notify()

    def _take(self, server: ConnectedServer, row: StoredUpstream) -> bool:
        """Take what is stored of a server. Whether its worker has to be started anew."""
        old = server.stored
        # Each gateway asks for the models itself.
        new = msgspec.structs.replace(row, seen=old.seen)
        if new == old:
            return False
        server.stored = new
        if _connection(new) != _connection(old):
            return True
        self._tell_models(server)
        return False

    @contextmanager
    def _own_change(self) -> Iterator[None]:
        """While what is in memory and what is stored may differ."""
        self._changes += 1
        self._changing += 1
        try:
            yield
        finally:
            self._changing -= 1
            self._changed.notify()

    # ---- what admins do

    def servers(self) -> list[ConnectedServer]:
        """Every connected server, in the order in which they were connected."""
        return list(self._servers.values())

    async def add(
        self,
        name: str,
        kind: str,
        url: str,
        key: str,
        chosen: Sequence[str] | None,
        user: str,
        timeouts: Mapping[str, int | float] | None = None,
    ) -> ConnectedServer:
        """Connect a server, and ask it for its models. `timeouts` as in `change`. Raises BadRequest, and Problem with status 409 `upstream_exists`."""
        from duologue.store.upstreams import StoredUpstream

        url = self._checked(url)
        name = name or self._free_name(kind, url)
        if NAME.fullmatch(name) is None:
            raise BadRequest(
                "A name has up to 40 small letters, digits, dots, dashes and underscores, and begins with a letter or digit.",
                param="name",
            )
        if len(self._servers) >= MOST:
            raise BadRequest(
                f"{MOST} servers are connected, which is the most. Remove one first.",
                code="too_many_upstreams",
            )
        if name in self._servers:
            raise _exists(name)
        stored = StoredUpstream(
            name, kind, url, chosen=_tuple(chosen), user=user, timeouts=dict(timeouts or {})
        )
        # Taken before the first wait, so that of two requests with one name only one goes on.
        with self._own_change():
            server = self._servers[name] = ConnectedServer(stored)
            try:
                sealed = await self._sealed(key, url)
                saved = await self._stored().add(msgspec.structs.replace(stored, key=sealed))
            except BaseException:
                del self._servers[name]
                raise
            if saved is None:
                del self._servers[name]
                raise _exists(name)
            server.stored = saved
        await self._start(server)
        await self._ask(server)
        return server

    async def change(
        self,
        name: str,
        *,
        url: str | None = None,
        key: str | None = None,
        chosen: Sequence[str] | msgspec.UnsetType | None = msgspec.UNSET,
        modalities: Mapping[str, Sequence[str]] | None = None,
        outputs: Mapping[str, Sequence[str]] | None = None,
        formats: Mapping[str, RawFormat] | None = None,
        presets: Mapping[str, ModelPreset] | None = None,
        timeouts: Mapping[str, int | float] | None = None,
        enabled: bool | None = None,
    ) -> ConnectedServer:
        """Change a server; what is None or UNSET stays. An empty key removes it. `modalities`, `outputs`: of each model of which it
        is said what it takes and gives besides text, which replaces what was said before; `formats`: how it writes, and `presets`: how it samples, likewise. `timeouts`:
        options of the remote engine, which replace the earlier ones. Raises NotFound, BadRequest."""
        server = self._find(name)
        old = server.stored
        new = old
        if url is not None:
            new = msgspec.structs.replace(new, url=self._checked(url))
        if key is not None:
            new = msgspec.structs.replace(new, key=await self._sealed(key, new.url))
        elif old.key is not None and _origin(new.url) != _origin(old.url):
            raise BadRequest(
                f"The stored key is for {_origin(old.url)} alone. Enter the key of the new address, or an empty one.",
                code="upstream_key_needed",
                param="key",
            )
        if chosen is not msgspec.UNSET:
            new = msgspec.structs.replace(new, chosen=_tuple(chosen))
        if modalities is not None:
            new = msgspec.structs.replace(new, modalities=_said(modalities))
        if outputs is not None:
            new = msgspec.structs.replace(new, outputs=_said(outputs))
        if formats is not None:
            new = msgspec.structs.replace(new, formats=dict(formats))
        if presets is not None:
            new = msgspec.structs.replace(new, presets=dict(presets))
        if timeouts is not None:
            new = msgspec.structs.replace(new, timeouts=dict(timeouts))
        if enabled is not None:
            new = msgspec.structs.replace(new, enabled=enabled)
        with self._own_change():
            await self._stored().save(new, old)
            if self._servers.get(name) is not server:
                raise _unknown(name)
            server.stored = new
        if _connection(new) != _connection(old):
            await self._stop(server)
            await self._start(server)
            await self._ask(server)
        else:
            self._tell_models(server)
        return server

    async def remove(self, name: str) -> None:
        """Disconnect a server and delete its key. Raises NotFound."""
        server = self._find(name)
        with self._own_change():
            await self._stored().delete(name)
            if self._servers.get(name) is server:
                del self._servers[name]
        await self._stop(server)

    async def test(self, url: str, kind: str, key: str, name: str = "", model: str = "") -> TestedServer:
        """List the models of a server and ask one for a few words. Without `key` that of the connected server `name` is used, for
        its own address. Raises BadRequest for an impossible address; what goes wrong later is in the result."""
        url = self._checked(url)
        if not key and name in self._servers and _origin(self._servers[name].stored.url) == _origin(url):
            key = await self._key_of(self._servers[name].stored)
        client = UpstreamClient(url, key, kind)
        tested = TestedServer(kind)
        try:
            listed = await client.models()
            tested = TestedServer(listed.kind or kind, listed.models)
            asked = model or next((each.name for each in smallest_first(listed.models)), "")
            if not asked:
                raise BadRequest(
                    "The server has no model for chats. Load one there, then test again.",
                    code="upstream_empty",
                )
            tested = msgspec.structs.replace(tested, asked=asked)
            reply = await client.first_words(asked)
            tested = msgspec.structs.replace(tested, reply=reply)
        except Problem as problem:
            tested = msgspec.structs.replace(tested, problem=problem)
        self._hurry.notify()
        return tested

    async def discovered(self) -> list[tuple[FoundServer, str]]:
        """The servers that answer at the usual addresses, each with the name under which it is connected, or ""."""
        found = await find_servers(without_own(self._discover, self._ports))
        names = {server.stored.url: server.stored.name for server in self._servers.values()}
        in_settings = dict.fromkeys(self._in_settings, "settings")
        return [(server, (names | in_settings).get(server.url, "")) for server in found]

    # ---- names, addresses, keys

    def _stored(self) -> Upstreams:
        if self._rows is None:
            raise Unavailable("The server is still starting; try again in a moment.")
        return self._rows

    def _find(self, name: str) -> ConnectedServer:
        if (server := self._servers.get(name)) is None:
            raise _unknown(name)
        return server

    def _checked(self, url: str) -> str:
        """The address as it is stored. Raises BadRequest."""
        checked = UpstreamClient(url).url
        parts = urlsplit(checked)
        if parts.port in self._ports and parts.hostname in ("127.0.0.1", "localhost", "::1"):
            raise BadRequest(
                "This is the address of Duologue itself. Enter that of another server.",
                code="bad_url",
                param="url",
            )
        return checked

    def _free_name(self, kind: str, url: str) -> str:
        host = (urlsplit(url).hostname or "server").strip(".").lower()
        stem = kind if kind != OTHER else re.sub(r"[^a-z0-9.-]+", "-", host).strip("-.")[:30] or "server"
        return next(name for name in _numbered(stem) if name not in self._servers)

    async def _sealed(self, key: str, url: str) -> bytes | None:
        """A key as it is stored. Raises Unavailable if the key file cannot be written."""
        if not key:
            return None
        try:
            return await disk_io(self._keys.encrypt, key, _origin(url))
        except OSError as error:
            raise Unavailable(
                f"The key cannot be stored: {self._keys.path} cannot be written ({error.strerror}).",
                code="storage_unavailable",
            ) from None

    async def _key_of(self, stored: StoredUpstream) -> str:
        """The key of a server, "" without one. Raises Problem `upstream_key_lost`."""
        if stored.key is None:
            return ""
        try:
            return await disk_io(self._keys.decrypt, stored.key, _origin(stored.url))
        except KeyUnreadable:
            raise Problem(KEY_LOST, code="upstream_key_lost", status=409) from None


def _connection(stored: StoredUpstream) -> tuple[object, ...]:
    """What its worker was started with."""
    return stored.url, stored.key, stored.enabled, stored.timeouts


def _origin(url: str) -> str:
    """What a key is bound to: scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _said(kinds_by_model: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Each kind once."""
    return {model: tuple(dict.fromkeys(kinds)) for model, kinds in kinds_by_model.items()}


def _tuple(chosen: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if chosen is None else tuple(dict.fromkeys(chosen))


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}-{number}"
        number += 1


def _exists(name: str) -> Problem:
    return Problem(
        f"A server named {name} is connected already. Choose another name, or change that one.",
        code="upstream_exists",
        status=409,
        param="name",
    )


def _unknown(name: str) -> NotFound:
    return NotFound(f"No server named {name[:40]!r} is connected.", code="upstream_not_found", param="name")

"""Runs and what they have sent, found by their ids: first among those under way here, then in the store.

Used by `service.py` and the routes. The runs of other users do not exist for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from duologue.conversations.runs.run import ActiveRun
from duologue.errors import BadRequest, NotFound
from duologue.values.runs import Run

if TYPE_CHECKING:
    from duologue.store.stores import Stores


class RunLookup:
    """`runs` are those under way here, by id."""

    def __init__(self, stores: Stores, runs: Mapping[str, ActiveRun]) -> None:
        self._stores = stores
        self._runs = runs

    def active(self, user: str, run: str) -> ActiveRun | None:
        """The run, if it is under way here."""
        active = self._runs.get(run)
        return active if active is not None and active.user == user else None

    async def get(self, user: str, run: str) -> Run:
        """A run as it is now. Raises NotFound."""
        if (known := await self.known(user, run)) is None:
            raise NotFound("There is no such run.")
        return known

    async def known(self, user: str, run: str) -> Run | None:
        """A run as it is now; None when there is none."""
        active = self.active(user, run)
        if active is not None:
            return active.view
        try:
            return (await self._stores.find_run(user, run))[1]
        except NotFound:
            return None

    async def find(self, user: str, conversation: str, run: str, message: str = "") -> Run | None:
        """The run that a command started earlier in this conversation: by the run's id, or by the id of the message, which may
        have been pending and then sent under another run's id. Raises BadRequest when the run belongs elsewhere."""
        known = await self.known(user, run)
        if known is None:
            return await self._by_message(user, conversation, message) if message else None
        if known.conversation != conversation:
            raise BadRequest(
                "A run with this id exists already. Choose another id.", code="id_taken", param="run"
            )
        return known

    async def is_sent(self, conversation: str, message: str) -> bool:
        """Whether this message is one of the conversation, and no longer pending."""
        try:
            await self._stores.of(conversation).messages.get(conversation, message)
        except NotFound:
            return False
        return True

    async def _by_message(self, user: str, conversation: str, message: str) -> Run | None:
        try:
            row = await self._stores.of(conversation).messages.get(conversation, message)
        except NotFound:
            return None
        return await self.known(user, row.run) if row.run else None

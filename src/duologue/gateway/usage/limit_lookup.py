"""Whose work something is, and which limits apply to it: from the register of keys in memory.

Never reads the database: every request asks. Used by `UsageMeter`, the models a key sees, and the pool for the shares of the queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from duologue import caller
from duologue.gateway.usage.model_allowance import may_use
from duologue.values.usage.key_limits import UNLIMITED, AppliedLimits

if TYPE_CHECKING:
    from duologue.gateway.auth.keys import Keys
    from duologue.store.users import Key, Register

BY_USER = "user:"
"""How the name of work begins that has no key; see `caller.share`."""


class UsageOwner(NamedTuple):
    """Who used a key: the user's id and name, and how the key begins, "" without one."""

    user: str
    name: str
    prefix: str


class LimitLookup:
    """`defaults` apply to keys of users, not of admins, where nothing was set. `aliases`: further names of models, each with the model's own."""

    def __init__(
        self,
        keys: Keys,
        defaults: AppliedLimits,
        aliases: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._keys, self._defaults, self._aliases = keys, defaults, aliases
        self._register: Register | None = None
        self._by_id: Mapping[str, Key] = {}
        self._applied: dict[str, AppliedLimits] = {}
        self._owners: dict[str, UsageOwner] = {}
        self._seen: dict[str, UsageOwner] = {}

    def limits(self, share: str) -> AppliedLimits:
        """What applies to the work of a share: a key's id, or `user:ID`. Work of a revoked key, such as a batch that is ending, has the
        limits of any user."""
        self._follow()
        # A list of models asks for each of them, and looking an account up goes through all keys.
        found = self._applied.get(share)
        if found is None:
            found = self._applied[share] = self._limits(share)
        return found

    def _limits(self, share: str) -> AppliedLimits:
        if share == caller.KEY_OF_SETTINGS or not self._keys.required:
            return UNLIMITED
        key = self._by_id.get(share)
        user = key.user if key is not None else share.removeprefix(BY_USER)
        defaults = UNLIMITED if self._keys.is_admin(user) else self._defaults
        return defaults if key is None else key.limits.over(defaults)

    def weight(self, share: str) -> float:
        """The share's part of the queue while others wait too; 1 for most."""
        return self.limits(share).weight

    def owner(self, share: str) -> UsageOwner:
        """Who a share belongs to."""
        self._follow()
        found = self._owners.get(share)
        if found is None:
            found = self._owners[share] = self._owner(share)
        return found

    def _owner(self, share: str) -> UsageOwner:
        if share == caller.KEY_OF_SETTINGS:
            account = self._keys.account("local")
            return UsageOwner("local", account.name if account else "local", "")
        key = self._key(share)
        user = key.user if key is not None else share.removeprefix(BY_USER)
        account = self._keys.account(user)
        if account is None and share in self._seen:
            return self._seen[share]  # the key was revoked while its request ran
        name = account.name if account else user if user == "local" else ""
        owner = UsageOwner(user, name, key.prefix if key is not None else "")
        if len(self._seen) >= 10_000:
            self._seen.clear()
        self._seen[share] = owner
        return owner

    def may_use(self, share: str, model: str) -> bool:
        """Whether a share may use the model of this name."""
        allowed = self.limits(share).models
        return not allowed or may_use(
            allowed, model, [alias for alias, own in self._aliases.items() if own == model]
        )

    def may_list(self, model: str) -> bool:
        """Whether the key of the running task may use a model. Work without a key is not asked: it is checked when it begins."""
        key = caller.key_id.get()
        return not key or self.may_use(key, model)

    def _key(self, share: str) -> Key | None:
        self._follow()
        return self._by_id.get(share)

    def _follow(self) -> None:
        """Everything that is known here is of one register: with a new one it is looked up again."""
        register = self._keys.register
        if register is not self._register:
            self._register = register
            self._by_id = {} if register is None else {key.id: key for key in register.keys.values()}
            self._applied, self._owners = {}, {}

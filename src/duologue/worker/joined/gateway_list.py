"""Which gateways a joined worker dials: the one it was given, and all that its gateways name. Pure.

A gateway that no other one names any more is dropped once it is unreachable; the one that a person named is dialled for ever.
`JoiningWorker` asks whenever something changes.
"""

from __future__ import annotations

from collections.abc import Iterable


class GatewayList:
    """`first`: the address that the worker was given."""

    def __init__(self, first: str) -> None:
        self.first = first
        self._named: dict[str, tuple[str, ...]] = {}
        """What each gateway named when it was last connected, by its address."""
        self._connected: set[str] = set()
        self._never: set[str] = set()

    def connected(self, address: str, named: Iterable[str]) -> None:
        """A gateway let the worker in, or told it of a change, and names all gateways."""
        self._connected.add(address)
        self._named[address] = tuple(named)

    def lost(self, address: str) -> None:
        """The connection broke."""
        self._connected.discard(address)

    def wanted(self) -> frozenset[str]:
        """The addresses to dial, or to stay connected to."""
        telling = self._connected or set(self._named)
        named = {address for one in telling for address in self._named.get(one, ())}
        return frozenset({self.first} | named | self._connected) - self._never

    def left(self, address: str) -> None:
        """The worker dials it no more."""
        self._connected.discard(address)
        self._named.pop(address, None)

    def never(self, address: str) -> None:
        """Never dial this address, even if a gateway lists it."""
        self._never.add(address)

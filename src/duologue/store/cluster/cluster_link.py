"""What the rooms below the gateway know of the other gateways of their database.

Made by `gateway/cluster/membership.py`, passed down to the runs and to whatever several gateways share.
"""

from __future__ import annotations

from duologue.notifier import Notifier
from duologue.store.cluster.notices import Notices


class ClusterLink:
    """`gateway` is the id of this process. `looked` wakes its waiters each time this gateway has renewed its lease and looked who else
    is there."""

    def __init__(self, gateway: str, notices: Notices, *, lease_s: float = 6.0) -> None:
        self.gateway = gateway
        self.notices = notices
        self.lease_s = lease_s
        self.looked = Notifier()

    @property
    def shared(self) -> bool:
        """Whether there may be other gateways."""
        return self.notices.shared


def alone() -> ClusterLink:
    """The link of a gateway that does not share its database."""
    return ClusterLink("", Notices(None, ""))

"""A wake-up signal between tasks of one event loop: state changed, look again.

Used wherever a task waits for state that another task changes: queues, logs, buffers, replies.
"""

from __future__ import annotations

import anyio


class Notifier:
    """Wakes every waiting task at each `notify`, and remembers nothing for those that come later.

    The usual loop is `while not ready: await notifier.wait()`. It misses no change as long as nothing is awaited between
    the check and `wait`. A task that does await in between takes `pending()` before it checks, and waits for that.
    """

    def __init__(self) -> None:
        self._event = anyio.Event()

    def notify(self) -> None:
        """Wake the tasks that wait now."""
        # The event is replaced first: a task that wakes up and waits again must not see the old one, which stays set.
        event, self._event = self._event, anyio.Event()
        event.set()

    def pending(self) -> anyio.Event:
        """The event that the next `notify` sets."""
        return self._event

    async def wait(self) -> None:
        """Return at the next `notify`."""
        await self._event.wait()

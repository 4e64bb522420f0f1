"""The key on whose behalf a task works."""

from __future__ import annotations

import contextvars

from duologue import caller


def test_work_is_counted_by_the_key_of_the_request() -> None:
    def request() -> str:
        caller.key_id.set("key_1")
        return caller.share("ada")

    assert contextvars.copy_context().run(request) == "key_1"


def test_work_without_a_key_is_counted_by_its_user() -> None:
    assert contextvars.copy_context().run(caller.share, "ada") == "user:ada"

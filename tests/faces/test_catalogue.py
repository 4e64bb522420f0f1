"""The looks by name."""

from __future__ import annotations

import pytest

from duologue.faces.catalogue import LOOKS, LookCatalogue, look


def test_the_looks_are_known_by_their_names() -> None:
    assert list(LookCatalogue()) == list(LOOKS)
    assert len(LookCatalogue()) == len(LOOKS)
    assert [look(name).name for name in LOOKS] == list(LOOKS)
    assert len({look(name).title for name in LOOKS}) == len(LOOKS) >= 4


def test_a_look_is_drawn_once() -> None:
    assert look(LOOKS[0]) is look(LOOKS[0]) is LookCatalogue()[LOOKS[0]]
    assert "nobody" not in LookCatalogue()
    with pytest.raises(KeyError):
        look("nobody")

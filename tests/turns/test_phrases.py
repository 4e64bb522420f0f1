from __future__ import annotations

import pytest

from duologue.turns.phrases import Kind, phrase

KINDS: tuple[Kind, ...] = ("filler", "slow", "gave_up", "not_understood")


@pytest.mark.parametrize("kind", KINDS)
def test_every_sentence_exists_in_every_language_and_never_runs_out(kind: Kind) -> None:
    for language in ("en", "en-GB", "de", "de-AT", "pt-BR", ""):
        assert all(phrase(kind, language, count) for count in range(10))


def test_an_unknown_language_is_spoken_to_in_english() -> None:
    assert phrase("slow", "ja") == phrase("slow", "en") != phrase("slow", "de")


def test_a_filler_is_not_the_same_twice() -> None:
    assert phrase("filler", "en", 0) != phrase("filler", "en", 1)

"""The catalogue of voice packs, and digests in the lists that releases publish."""

import re

import pytest

from duologue.errors import NotFound
from duologue.models.voice_packs import PACKS, digest_of, find_pack

DIGEST = "5793d0fd397c5778d2cf2126994d58e9d56b1be7c04d13c7a15bb1b4eafb16bf"


def test_every_pack_is_complete():
    assert len({pack.name for pack in PACKS}) == len(PACKS)
    for pack in PACKS:
        assert re.fullmatch(r"[a-z][a-z-]*", pack.name)
        assert pack.languages
        assert pack.recogniser.release == "asr-models"
        assert pack.speaker.release == "tts-models"
        for archive in pack.archives:
            assert archive.size > 10_000_000
            assert archive.licence
            assert archive.source.startswith("https://")
        assert pack.size == sum(archive.size for archive in pack.archives)


def test_a_pack_is_found_by_its_name():
    assert find_pack("german").speaker.file == "vits-piper-de_DE-thorsten-medium.tar.bz2"
    with pytest.raises(NotFound, match="There are: english"):
        find_pack("klingon")


@pytest.mark.parametrize(
    "line",
    [f"a.tar.bz2\t{DIGEST}", f"{DIGEST}  a.tar.bz2", f"{DIGEST.upper()} *a.tar.bz2"],
)
def test_a_digest_is_found_in_either_order(line):
    assert digest_of(f"other.tar.bz2 {'0' * 64}\n{line}\n", "a.tar.bz2") == DIGEST


@pytest.mark.parametrize(
    "listing", ["", "a.tar.bz2", f"aa.tar.bz2 {DIGEST}", "a.tar.bz2 abc", f"a.tar.bz2 {'z' * 64}"]
)
def test_what_is_not_published_is_not_made_up(listing):
    assert digest_of(listing, "a.tar.bz2") == ""

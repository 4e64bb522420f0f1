"""Where a download goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.errors import EngineFailed
from duologue.models.hub.resume import Content, RangeRequest, ResumedBody, is_same, plan, read_reply

SUM, OTHER = "a" * 64, "b" * 64
TAG = '"v1"'


def test_a_first_request_asks_for_everything() -> None:
    assert plan(0, None, Content(10, SUM)) == RangeRequest(0, {})


def test_with_the_same_checksum_the_rest_is_asked_whatever_the_tag_says() -> None:
    assert plan(4, Content(10, SUM, TAG), Content(10, SUM)) == RangeRequest(4, {"Range": "bytes=4-"})


def test_without_a_checksum_the_rest_is_asked_only_of_the_same_version() -> None:
    asked = plan(4, Content(10, etag=TAG), Content())
    assert asked == RangeRequest(4, {"Range": "bytes=4-", "If-Range": TAG})


@pytest.mark.parametrize(
    ("there", "remembered", "wanted"),
    [
        (4, None, Content(10, SUM)),
        (4, Content(10, OTHER), Content(10, SUM)),
        (4, Content(10, SUM), Content(10)),
        (4, Content(10, etag=""), Content()),
        (4, Content(10, etag='W/"v1"'), Content()),
        (4, Content(9, etag=TAG), Content(10)),
        (11, Content(10, SUM), Content(10, SUM)),
        (11, Content(10, etag=TAG), Content()),
    ],
    ids=[
        "nothing remembered",
        "another file now",
        "no checksum any more",
        "no tag",
        "a weak tag",
        "another size now",
        "too long",
        "too long by what was remembered",
    ],
)
def test_what_may_be_of_another_file_is_not_gone_on_with(
    there: int, remembered: Content | None, wanted: Content
) -> None:
    assert plan(there, remembered, wanted) == RangeRequest(0, {})


def test_the_rest_is_read_as_the_rest() -> None:
    headers = {"content-range": "bytes 4-9/10", "etag": TAG}
    reply = read_reply(206, headers, RangeRequest(4, {}), Content(10, SUM))
    assert (reply.offset, reply.size, reply.etag) == (4, 10, TAG)


def test_everything_instead_of_the_rest_begins_anew() -> None:
    reply = read_reply(200, {"content-length": "10"}, RangeRequest(4, {}), Content(10, SUM))
    assert (reply.offset, reply.size) == (0, 10)


def test_an_announced_size_stands_in_for_one_the_server_does_not_say() -> None:
    assert read_reply(200, {}, RangeRequest(0, {}), Content(10, SUM)).size == 10


@pytest.mark.parametrize(
    ("status", "headers", "wanted"),
    [
        (206, {"content-range": "bytes 3-9/10"}, Content(10)),
        (206, {"content-range": "bytes 4-9/*"}, Content(10)),
        (206, {}, Content(10)),
        (206, {"content-range": "bytes 4-10/11"}, Content(10)),
        (200, {"content-length": "11"}, Content(10)),
        (200, {}, Content()),
        (200, {"content-length": "10", "content-encoding": "gzip"}, Content(10)),
    ],
    ids=[
        "other bytes",
        "of an unknown whole",
        "no range",
        "of a larger whole",
        "larger than announced",
        "of unknown size",
        "packed",
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    status: int, headers: dict[str, str], wanted: Content
) -> None:
    with pytest.raises(EngineFailed) as raised:
        read_reply(status, headers, RangeRequest(4, {}), wanted)
    assert raised.value.code == "hub_failed"


@pytest.mark.parametrize(
    ("etag", "offset", "same"), [(TAG, 4, True), ('"v2"', 4, False), ("", 4, False), ('"v2"', 0, True)]
)
def test_a_server_that_overlooks_the_condition_is_noticed(etag: str, offset: int, same: bool) -> None:
    asked = RangeRequest(4, {"Range": "bytes=4-", "If-Range": TAG})
    assert is_same(asked, ResumedBody(offset, 10, etag)) is same
    assert is_same(RangeRequest(4, {"Range": "bytes=4-"}), ResumedBody(offset, 10, etag))


contents = st.builds(
    Content, st.integers(0, 20), st.sampled_from(["", SUM, OTHER]), st.sampled_from(["", TAG, 'W/"v1"'])
)


@given(st.integers(0, 30), st.none() | contents, contents)
def test_it_never_goes_on_beyond_the_end_or_with_other_contents(
    there: int, remembered: Content | None, wanted: Content
) -> None:
    asked = plan(there, remembered, wanted)
    assert asked.offset in (0, there)
    if asked.offset:
        assert remembered is not None
        assert remembered.sha256 == wanted.sha256
        assert asked.offset <= (wanted.size or remembered.size or asked.offset)
        assert wanted.sha256 or asked.headers["If-Range"] == TAG

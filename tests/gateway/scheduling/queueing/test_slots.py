from duologue.gateway.scheduling.eta import Job
from duologue.gateway.scheduling.queueing.slots import QueueEntry, Slot, cache_score, lend, used_elsewhere


def entry(*chain: bytes, opening: bytes = b"") -> QueueEntry:
    return QueueEntry("q", "m", 1, "chat", chain, 0.0, opening=opening, job=Job("m", prompt=100.0))


def test_a_cache_serves_a_request_by_the_messages_that_they_have_in_common():
    slot = Slot(chain=(b"1", b"2", b"3"))
    assert cache_score(slot, entry(b"1", b"2", b"9")) == 2
    assert cache_score(slot, entry(b"1", b"9")) == 0, "no more than half of what it holds"
    assert cache_score(slot, entry(b"9")) == 0


def test_an_equal_opening_serves_where_the_cache_holds_no_messages():
    assert cache_score(Slot(opening=b"tools"), entry(b"1", opening=b"tools")) == 0.5
    assert cache_score(Slot(opening=b"tools", chain=(b"9",)), entry(b"1", opening=b"tools")) == 0
    assert cache_score(Slot(), entry(b"1")) == 0


def test_what_is_in_the_cache_need_not_be_read():
    slots = [Slot(chain=(b"1", b"2", b"3"))]
    lend(slots, [0], entry(b"1", b"2", b"3", b"4"), 7.0)
    assert slots[0].job.prompt == 25.0
    assert (slots[0].ticket, slots[0].since, slots[0].progress.since) == ("q", 7.0, 7.0)


def test_work_for_another_gateway_overwrites_the_cache():
    slots = [Slot(chain=(b"1",), opening=b"tools"), Slot(chain=(b"2",))]
    used_elsewhere(slots, [0], {0}, 3.0)
    assert [slot.free for slot in slots] == [False, True]
    used_elsewhere(slots, [0], {0}, 4.0)
    assert slots[0].elsewhere == 3.0, "since it began"
    used_elsewhere(slots, [0], set(), 5.0)
    assert slots[0].free
    assert not cache_score(slots[0], entry(b"1", opening=b"tools"))

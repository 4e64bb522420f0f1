"""What a request of a key is counted as, and how it is refused."""

import pytest
from tests.gateway.usage.conftest import DAY

from duologue.errors import Busy, ModelNotFound
from duologue.gateway.scheduling.lowest_place import lowest_place
from duologue.gateway.scheduling.request_meter import one_request
from duologue.values.usage.usage_counts import UsageCounts, UsageSlot

pytestmark = pytest.mark.anyio


async def test_a_request_is_counted_for_its_key_model_and_day(usage):
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user=usage.bob.account.id, tokens=10) as request:
        request.wrote(3)
        request.counted(prompt=20, cached=15, completion=4, instead_of=3)
    slot = UsageSlot(
        DAY, usage.bob.key.id, usage.bob.account.id, "bob", usage.bob.key.prefix, "small", "chat"
    )
    assert usage.meter.counter.view() == {slot: UsageCounts(requests=1, prompt=20, cached=15, completion=4)}


async def test_what_was_written_before_a_client_left_counts(usage):
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user="", tokens=10) as request:
        request.wrote(7)
    assert [counts.completion for counts in usage.meter.counter.view().values()] == [7]


async def test_a_request_that_fails_is_an_error_and_one_that_is_refused_is_nothing(usage):
    await usage.limit(usage.bob, concurrent=1)
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user="", tokens=1) as request:
        with pytest.raises(Busy), usage.meter.request("chat", "small", user="", tokens=1):
            raise AssertionError
        request.failed()
    assert list(usage.meter.counter.view().values()) == [UsageCounts(requests=1, errors=1)]


async def test_a_part_of_a_request_is_no_request_and_needs_no_place(usage):
    await usage.limit(usage.bob, concurrent=1)
    usage.use(usage.bob)
    with (
        usage.meter.request("chat", "small", user="", tokens=1),
        usage.meter.request("speech", "voice", user="", part=True) as speech,
    ):
        speech.spoke(1.5)
        speech.heard(0.25)
    counts = {slot.kind: counts for slot, counts in usage.meter.counter.view().items()}
    assert counts == {"chat": UsageCounts(requests=1), "speech": UsageCounts(heard_ms=250, spoken_ms=1500)}


async def test_a_line_of_a_batch_is_counted_as_such(usage):
    with lowest_place(), usage.meter.request("chat", "small", user="local", tokens=1):
        pass
    assert [(slot.kind, slot.key, slot.name) for slot in usage.meter.counter.view()] == [
        ("batch", "user:local", "ada")
    ]


async def test_each_limit_has_its_code_and_a_sentence_that_says_what_to_do(usage):
    await usage.limit(usage.bob, concurrent=1)
    usage.use(usage.bob)

    def refuse(**limits):
        with pytest.raises(Busy) as caught, usage.meter.request("chat", "small", user="", tokens=60):
            raise AssertionError
        return caught.value

    with usage.meter.request("chat", "small", user="", tokens=60) as request:
        request.counted(prompt=30, cached=10, completion=30)
        refusal = refuse()
    assert (refusal.status, refusal.code) == (429, "concurrency_limit_exceeded")
    assert "1 request running" in refusal.message
    await usage.limit(usage.bob, concurrent=0, requests_per_minute=1)
    refusal = refuse()
    assert (refusal.code, refusal.retry_after) == ("rate_limit_exceeded", 61.0)
    assert refusal.message == "Your key may make 1 request a minute. Try again in 61 seconds."
    await usage.limit(usage.bob, requests_per_minute=0, tokens_per_minute=50)
    refusal = refuse()
    assert (refusal.code, refusal.retry_after) == ("rate_limit_exceeded", 61.0)
    assert "0 are left, and this request may need 60" in refusal.message
    await usage.limit(usage.bob, tokens_per_minute=0, tokens_per_day=50)
    refusal = refuse()
    assert (refusal.code, refusal.retry_after) == ("insufficient_quota", 43_200.0)
    assert "midnight (UTC)" in refusal.message


async def test_a_model_that_is_not_allowed_is_not_found_and_the_voice_always_is(usage):
    await usage.limit(usage.bob, models=("small",))
    usage.use(usage.bob)
    with pytest.raises(ModelNotFound, match="large"), usage.meter.request("chat", "large", user="", tokens=1):
        raise AssertionError
    with pytest.raises(ModelNotFound), usage.meter.request("call", "large", user=""):
        raise AssertionError
    with usage.meter.request("speech", "espeak", user="", part=False):
        pass
    with usage.meter.request("embed", "small", user="", tokens=1):
        pass


async def test_a_long_reply_holds_the_tokens_it_has_written(usage):
    await usage.limit(usage.bob, tokens_per_minute=100)
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user="", tokens=10) as request:
        request.wrote(95)
        with pytest.raises(Busy), usage.meter.request("chat", "small", user="", tokens=10):
            raise AssertionError


async def test_the_rests_of_small_pieces_of_sound_add_up(usage):
    usage.use(usage.bob)
    with usage.meter.request("call", "", user="", part=True) as call:
        for _ in range(3000):
            call.heard(0.0213333)
            call.spoke(0.0004)
    (counts,) = usage.meter.counter.view().values()
    assert (counts.heard_ms, counts.spoken_ms, counts.requests) == (63_999, 1200, 0)


async def test_several_replies_to_one_request_are_one_request_until_the_last_has_ended(usage):
    await usage.limit(usage.bob, concurrent=1, requests_per_minute=1, tokens_per_minute=100)
    usage.use(usage.bob)

    def running() -> int:
        return usage.meter.limiter.running(usage.bob.key.id)

    with one_request():
        first = usage.meter.request("chat", "small", user="", tokens=90)
        second = usage.meter.request("chat", "small", user="", tokens=90)
        first.__enter__().counted(prompt=1, completion=10)
        second.__enter__().counted(prompt=2, completion=20)
        assert (running(), usage.meter.standing(usage.bob.key.id).tokens[0]) == (1, 0)
        first.__exit__(None, None, None)
        assert running() == 1
        second.__exit__(None, None, None)
    assert running() == 0
    assert usage.meter.standing(usage.bob.key.id).tokens[0] == 67
    (counts,) = usage.meter.counter.view().values()
    assert counts == UsageCounts(1, 0, 3, 0, 30)


async def test_a_request_whose_first_reply_is_refused_is_refused(usage):
    await usage.limit(usage.bob, requests_per_minute=1)
    usage.use(usage.bob)
    with usage.meter.request("chat", "small", user="", tokens=1):
        pass
    with one_request():
        for _ in range(2):
            with pytest.raises(Busy), usage.meter.request("chat", "small", user="", tokens=1):
                raise AssertionError

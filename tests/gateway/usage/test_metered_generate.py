"""What a reply is counted as, however it ends."""

from contextlib import asynccontextmanager

import pytest

from duologue.errors import ModelNotFound
from duologue.gateway.usage.metered_generate import MeteredGenerate
from duologue.values.events import Done, Failed, Prefilled, Queued, Started, TextDelta, Usage
from duologue.values.messages import Message, TextPart
from duologue.values.requests import ChatRequest, ModelCard, Sampling
from duologue.values.usage.usage_counts import UsageCounts

pytestmark = pytest.mark.anyio
REQUEST = ChatRequest((Message("user", (TextPart("Hello"),)),), sampling=Sampling(max_tokens=10))


class Script:
    """Gives these batches, and notes the request and whether it was left."""

    def __init__(self, *batches):
        self.batches = batches
        self.requests = []
        self.left = 0

    @asynccontextmanager
    async def __call__(self, request, **options):
        self.requests.append(request)

        async def batches():
            for batch in self.batches:
                yield list(batch)

        try:
            yield batches()
        finally:
            self.left += 1


def metered(usage, script):
    def resolve(name):
        if name not in ("", "small"):
            raise ModelNotFound("none")
        return ModelCard("small", "scripted", context=4096, slots=1)

    return MeteredGenerate(script, resolve, usage.meter)


def counted(usage):
    return {slot.model: counts for slot, counts in usage.meter.counter.view().items()}


async def read(generate, request=REQUEST, count=1, most=99):
    batches = []
    async with generate(request, count=count, user="local") as events:
        async for batch in events:
            batches.append(batch)
            if len(batches) == most:
                break
    return batches


REPLY = (
    [(0, Queued("q_1", 1, 1.0, 1))],
    [(0, Started("small")), (0, Prefilled(12, 8)), (0, TextDelta("Good"))],
    [(0, TextDelta(" day"))],
    [(0, Done("stop", Usage(12, 3, 8)))],
)


async def test_a_reply_is_passed_on_as_it_is_and_counted_by_its_own_numbers(usage):
    script = Script(*REPLY)
    assert await read(metered(usage, script)) == [list(batch) for batch in REPLY]
    assert counted(usage) == {"small": UsageCounts(1, 0, 12, 8, 3)}
    assert script.requests[0].model == "small"


async def test_pieces_that_come_with_the_end_are_not_counted_twice(usage):
    everything = [(0, TextDelta("Good")), (0, TextDelta(" day")), (0, Done("stop", Usage(12, 3)))]
    await read(metered(usage, Script(everything)))
    assert counted(usage) == {"small": UsageCounts(1, 0, 12, 0, 3)}


async def test_choices_have_one_prompt(usage):
    ends = [[(0, Done("stop", Usage(12, 3)))], [(1, Done("stop", Usage(12, 4, 12)))]]
    await read(metered(usage, Script(*ends)), count=2)
    assert counted(usage) == {"small": UsageCounts(1, 0, 12, 0, 7)}


async def test_of_a_reply_that_is_left_counts_what_was_read_and_written(usage):
    script = Script(*REPLY)
    await read(metered(usage, script), most=3)
    assert script.left == 1
    assert counted(usage) == {"small": UsageCounts(1, 0, 12, 8, 2)}
    assert usage.meter.limiter.running("user:local") == 0


async def test_a_reply_that_fails_is_an_error(usage):
    await read(metered(usage, Script([(0, Failed("worker_lost", "It fell.", 503))])))
    assert counted(usage) == {"small": UsageCounts(1, 1)}


async def test_a_reply_that_its_key_may_not_have_now_is_one_failure_and_asks_nobody(usage):
    await usage.limit(usage.bob, requests_per_minute=1)
    usage.use(usage.bob)
    script = Script(*REPLY)
    await read(metered(usage, script))
    (((choice, failed),),) = await read(metered(usage, script))
    assert (choice, failed.code, failed.status, failed.retry_after) == (0, "rate_limit_exceeded", 429, 61.0)
    assert len(script.requests) == 1


async def test_a_model_that_is_not_loaded_is_left_to_who_generates(usage):
    script = Script([(0, Failed("model_not_found", "There is none.", 404))])
    request = ChatRequest(REQUEST.messages, model="gone")
    await read(metered(usage, script), request)
    assert script.requests[0] is request

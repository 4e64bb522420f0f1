"""Results in the database: another gateway goes on with what is there, and files are made of it at the end."""

import pytest
from tests.gateway.batches.test_batch_claims import shared, shared_claims
from tests.support.store_fixtures import clock, database

from duologue.errors import Unavailable
from duologue.wire.batches.batch_lines import answered, line_key, unanswered

__all__ = ["clock", "database", "shared"]
pytestmark = pytest.mark.anyio
BODY = b'{"usage":{"prompt_tokens":2,"completion_tokens":3}}'


async def test_another_gateway_goes_on_with_what_is_there(shared, tmp_path):
    one, two = await shared_claims(shared, "one"), await shared_claims(shared, "two")
    await one.take("b")
    first = one.results(tmp_path / "one", "b")
    await first.append([answered("r1", "a", 200, "q1", BODY), unanswered("r2", "b", "storage_full", "Full")])
    await one.release("b")
    await two.take("b")
    second = two.results(tmp_path / "two", "b")
    done = await second.recover()
    assert done.keys == {line_key("a"), line_key("b")}
    assert (done.completed, done.failed, done.usage.output) == (1, 1, 3)
    with pytest.raises(Unavailable):
        await first.append([answered("r3", "c", 200, "q3", BODY)])
    await second.append([answered("r4", "c", 200, "q4", BODY)])
    await second.prepare()
    assert (await second.sizes())[0] == len(second.output.read_bytes())
    lines = second.output.read_text().splitlines()
    assert [line.split('"custom_id":"')[1][0] for line in lines] == ["a", "c"]
    await second.prepare()
    assert second.output.read_text().splitlines() == lines
    await second.remove()
    assert not second.output.exists()
    assert (await second.recover()).keys == set()

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.openai_remote.replicas.replica_choice import (
    ALWAYS,
    MUCH_BUSIER,
    ReplicaLoad,
    Standing,
    choose,
    names,
)

STANDINGS: tuple[Standing, ...] = ("ready", "resting", "down", "draining")
SERVERS = st.lists(
    st.builds(
        ReplicaLoad,
        st.sampled_from("abcdef"),
        st.sampled_from(STANDINGS),
        st.integers(0, 40),
        st.integers(1, 32),
        st.booleans(),
    ),
    max_size=6,
    unique_by=lambda server: server.name,
)
BEGINNINGS = st.binary(max_size=4)


def two(a: int = 0, b: int = 0) -> list[ReplicaLoad]:
    return [ReplicaLoad("a", load=a, slots=100), ReplicaLoad("b", load=b, slots=100)]


@given(SERVERS, BEGINNINGS, st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef")))
def test_the_fittest_that_was_not_tried_is_chosen(
    servers: list[ReplicaLoad], beginning: bytes, home: str, tried: set[str]
) -> None:
    chosen = choose(servers, beginning, home, tried)
    left = [server for server in servers if server.standing != "draining" and server.name not in tried]
    if not left:
        assert chosen == ""
        return
    server = next(server for server in left if server.name == chosen)
    fittest = min(STANDINGS.index(other.standing) for other in left)
    assert STANDINGS.index(server.standing) == fittest
    beside = [other for other in left if other.standing == server.standing]
    assert not server.full or all(other.full for other in beside)


@given(SERVERS, BEGINNINGS, st.sampled_from("abcdef"))
def test_nobody_gets_much_more_than_the_others(
    servers: list[ReplicaLoad], beginning: bytes, home: str
) -> None:
    ready = [server for server in servers if server.standing == "ready" and not server.full]
    if not ready:
        return
    server = next(server for server in ready if server.name == choose(servers, beginning, home))
    mean = (sum(other.load for other in ready) + 1) / len(ready)
    assert server.load < max(ALWAYS, MUCH_BUSIER * mean)


@given(SERVERS, BEGINNINGS.filter(bool), st.randoms())
def test_every_gateway_chooses_the_same(servers: list[ReplicaLoad], beginning: bytes, random: object) -> None:
    assert choose(servers, beginning) == choose(servers[::-1], beginning)


def test_a_conversation_stays_where_its_beginning_was_read() -> None:
    assert choose(two(3, 2), b"1", home="a") == "a"
    assert choose(two(3, 2), b"1", home="b") == "b"


def test_a_home_that_is_much_busier_is_left() -> None:
    assert choose(two(10, 1), b"1", home="a") == "b"


def test_a_home_whose_queue_waits_is_left_while_another_is_free() -> None:
    servers = [ReplicaLoad("a", load=1, slots=8, waits=True), ReplicaLoad("b", load=1, slots=8)]
    assert choose(servers, b"1", home="a") == "b"


def test_new_conversations_spread_over_the_servers() -> None:
    servers = [ReplicaLoad(name, slots=1000) for name in "abcd"]
    counts = Counter(choose(servers, str(number).encode()) for number in range(400))
    assert set(counts) == set("abcd")
    assert min(counts.values()) > 50


def test_most_conversations_keep_their_server_when_another_one_comes() -> None:
    before = [ReplicaLoad(name, slots=1000) for name in "abc"]
    beginnings = [str(number).encode() for number in range(300)]
    moved = [
        beginning
        for beginning in beginnings
        if choose(before, beginning) != choose([*before, ReplicaLoad("d")], beginning)
    ]
    assert all(choose([*before, ReplicaLoad("d")], beginning) == "d" for beginning in moved)


def test_without_a_conversation_the_least_busy_is_chosen() -> None:
    assert choose(two(1, 0)) == "b"
    assert choose(two(0, 1)) == "a"


def test_names_are_those_of_one_standing() -> None:
    assert names([ReplicaLoad("a"), ReplicaLoad("b", "down")], "down") == ("b",)

"""Lists of which each gateway has a part."""

import json

from duologue.gateway.cluster.gathered_lists import gathered


def part(*entries: tuple[str, int]) -> bytes:
    return json.dumps({"approvals": [{"id": id, "created": created} for id, created in entries]}).encode()


def ids(body: bytes) -> list[str]:
    return [entry["id"] for entry in json.loads(body)["approvals"]]


def test_what_several_have_is_listed_once_and_the_oldest_comes_first():
    own, other = part(("b", 2), ("d", 4)), part(("c", 3), ("b", 2), ("a", 2))
    assert ids(gathered("approvals", own, [other])) == ["a", "b", "c", "d"]


def test_a_part_that_is_no_such_list_is_left_out():
    for other in (b"", b"[]", b"{}", b'{"approvals": 7}', b'{"approvals": [7, {}]}'):
        assert ids(gathered("approvals", part(("b", 2)), [other, part(("c", 3))])) == ["b", "c"]

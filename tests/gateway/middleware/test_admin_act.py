"""Which requests are acts of admins."""

from duologue.gateway.middleware.admin_act import mark, note, noted


def test_what_only_reads_is_no_act():
    for method, expected in (("GET", None), ("HEAD", None), ("OPTIONS", None), ("POST", {}), ("DELETE", {})):
        scope = {"method": method, "state": {}}
        mark(scope)
        assert noted(scope) == expected


def test_what_a_route_knows_stays_with_its_request():
    scope = {"method": "POST", "state": {}}
    note(scope, target="bob", key="key_1")
    mark(scope)
    note(scope, label="laptop")
    assert noted(scope) == {"target": "bob", "key": "key_1", "label": "laptop"}
    assert noted({"state": {}}) is None

"""Which gateways a joined worker dials."""

from duologue.worker.joined.gateway_list import GatewayList


def test_the_gateway_that_a_person_named_is_always_dialled():
    gateways = GatewayList("a")
    assert gateways.wanted() == {"a"}
    gateways.connected("a", ["b"])
    gateways.lost("a")
    assert "a" in gateways.wanted()


def test_every_gateway_that_is_named_is_joined():
    gateways = GatewayList("a")
    gateways.connected("a", ["a", "b", "c"])
    assert gateways.wanted() == {"a", "b", "c"}


def test_one_that_is_named_no_more_is_left_once_it_is_out_of_reach():
    gateways = GatewayList("a")
    gateways.connected("a", ["a", "b"])
    gateways.connected("b", ["a", "b"])
    gateways.connected("a", ["a"])
    gateways.connected("b", ["a"])
    assert gateways.wanted() == {"a", "b"}
    gateways.lost("b")
    assert gateways.wanted() == {"a"}


def test_what_a_dead_gateway_named_counts_only_while_there_is_no_other():
    gateways = GatewayList("a")
    gateways.connected("a", ["a", "b"])
    gateways.lost("a")
    assert gateways.wanted() == {"a", "b"}
    gateways.connected("b", ["b", "c"])
    assert gateways.wanted() == {"a", "b", "c"}
    gateways.lost("b")
    gateways.left("b")
    assert gateways.wanted() == {"a", "b"}


def test_an_address_that_may_not_be_dialled_is_not_wanted():
    gateways = GatewayList("a")
    gateways.connected("a", ["a", "ftp://b"])
    gateways.never("ftp://b")
    assert gateways.wanted() == {"a"}

import pytest

from duologue.errors import BadRequest, Forbidden
from duologue.tools.ssrf_guard import AddressGuard, AllowList, choose_address, resolve_host

NOTHING = AllowList()
INSIDE = [
    "127.0.0.1",
    "127.9.9.9",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2001:0:53aa:64c:0:0:0:0",
    "ff02::1",
    *(
        "fec0::1",
        "feff::1",
        "::10.0.0.1",
        "::8.8.8.8",
        "::ffff:0:8.8.8.8",
        "100::1",
        "4000::1",
        "fd00:ec2::254",
    ),
    *("64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8", "2002:a9fe:a9fe::", "fe80::5efe:8.8.8.8"),
    *("2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:192.168.1.1"),
    *("2001:2::1", "2001:10::1", "2001:db8::1", "3fff::1", "5f00::1"),
    *("0.1.2.3", "192.0.0.8", "192.0.0.170", "192.88.99.1", "198.18.0.1", "203.0.113.5", "240.0.0.1"),
]


@pytest.mark.parametrize("address", INSIDE)
def test_no_address_inside_is_reached(address):
    with pytest.raises(Forbidden) as refused:
        choose_address("name.example", [address], NOTHING)
    assert refused.value.code == "private_address"
    assert "tools.private_addresses" in refused.value.message


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8"),
        *("64:ff9b::8.8.8.8", "2002:808:808::1", "2606:4700::5efe:8.8.8.8", "2a00:1450:4001:800::200e"),
    ],
)
def test_addresses_of_the_open_internet_are(address):
    assert choose_address("name.example", [address], NOTHING) == address


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    with pytest.raises(Forbidden):
        choose_address("rebinding.example", ["93.184.216.34", "127.0.0.1"], NOTHING)


def test_a_name_nobody_knows_is_said_to_be_unknown():
    with pytest.raises(BadRequest) as refused:
        choose_address("nowhere.example", [], NOTHING)
    assert refused.value.code == "unknown_host"


@pytest.mark.parametrize(
    ("network", "address"),
    [
        ("169.254.0.0/16", "169.254.169.254"),
        ("fc00::/7", "fd00:ec2::254"),
        ("100.64.0.0/10", "100.100.100.200"),
    ],
)
def test_a_network_does_not_allow_the_addresses_where_clouds_keep_credentials(network, address):
    with pytest.raises(Forbidden):
        choose_address("a", [address], AllowList((network,)))
    assert choose_address("a", [address], AllowList((network, address))) == address


def test_the_setting_allows_networks_addresses_and_names():
    allowed = AllowList(("10.0.0.0/8", "192.168.7.7", "Printer.LAN.", "[fd00::1]"))
    assert choose_address("a", ["10.9.8.7"], allowed) == "10.9.8.7"
    assert choose_address("b", ["192.168.7.7"], allowed) == "192.168.7.7"
    assert choose_address("printer.lan", ["192.168.9.9"], allowed) == "192.168.9.9"
    assert choose_address("c", ["fd00::1"], allowed) == "fd00::1"
    for other in ("192.168.7.8", "127.0.0.1", "::1"):
        with pytest.raises(Forbidden):
            choose_address("d", [other], allowed)


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "", "300.1/8"])
def test_a_setting_that_is_no_network_is_refused(entry):
    with pytest.raises(BadRequest):
        AllowList((entry,))


@pytest.mark.anyio
async def test_a_literal_address_is_never_looked_up():
    async def resolve(host, port):
        raise AssertionError(host)

    addresses = AddressGuard(NOTHING, resolve)
    assert await addresses.check("[2606:2800:220:1::1]", 443) == "2606:2800:220:1::1"
    with pytest.raises(Forbidden):
        await addresses.check("127.0.0.1", 80)


@pytest.mark.anyio
@pytest.mark.parametrize("written", ["localhost", "LOCALHOST.", "127.1", "2130706433", "0x7f.1"])
async def test_every_way_to_write_this_machine_is_refused(written):
    with pytest.raises((Forbidden, BadRequest)):
        await AddressGuard(NOTHING).check(written, 80)


@pytest.mark.anyio
async def test_the_systems_resolver_knows_localhost_and_no_nonsense():
    assert "127.0.0.1" in await resolve_host("localhost", 80)
    assert await resolve_host("no such name.invalid", 80) == []

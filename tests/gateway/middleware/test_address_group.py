"""Which addresses one client can choose from."""

import pytest

from duologue.gateway.middleware.address_group import address_group


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unix", ""),
        ("", ""),
    ],
)
def test_the_addresses_of_one_client_are_counted_together(address, group):
    assert address_group(address) == group

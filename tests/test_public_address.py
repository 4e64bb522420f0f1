"""Addresses of the open internet, and those at which clouds keep credentials, in every way to write them."""

import ipaddress

import pytest

from duologue.public_address import is_metadata, is_public

METADATA = [
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16"),
    *(
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:42::42",
        "fd00:c1::a9fe:a9fe",
        "fe80::a9fe:a9fe",
    ),
    *("::ffff:169.254.169.254", "::ffff:169.254.170.2", "::ffff:100.100.100.200", "::169.254.169.254"),
    *("64:ff9b::169.254.169.254", "64:ff9b::a9fe:aa02", "64:ff9b:1::169.254.169.254", "2a00:64::a9fe:a9fe"),
    "2002:a9fe:a9fe::1",
]


@pytest.mark.parametrize("text", METADATA)
def test_addresses_of_credentials_are_known_and_not_public(text: str) -> None:
    address = ipaddress.ip_address(text)
    assert is_metadata(address)
    assert not is_public(address)


@pytest.mark.parametrize(
    "text",
    [
        *("10.0.0.1", "127.0.0.1", "100.100.100.201", "::1", "fd00::1", "fe80::1", "fd00:ec3::254"),
        *("::ffff:10.0.0.1", "64:ff9b::8.8.8.8", "2606:4700::1111", "8.8.8.8"),
    ],
)
def test_other_addresses_are_not(text: str) -> None:
    assert not is_metadata(ipaddress.ip_address(text))

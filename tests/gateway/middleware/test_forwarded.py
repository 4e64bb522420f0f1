"""What proxies say of a request, and how far it is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.errors import StartFailed
from duologue.gateway.middleware.forwarded import ForwardedInfo, Proxies, is_local

NEAR, FAR, OUTSIDE = "10.0.0.1", "10.0.0.2", "203.0.113.7"
PROXIES = Proxies(["10.0.0.0/8", "::1"])


def claim(peer: str = NEAR, **headers: str) -> ForwardedInfo:
    named = {name.replace("_", "-"): [value] for name, value in headers.items()}
    return PROXIES.read(named, peer)


def test_by_default_nobody_is_believed():
    assert not Proxies()
    assert Proxies().read({"x-forwarded-for": ["1.2.3.4"]}, "127.0.0.1") == ForwardedInfo()


@pytest.mark.parametrize("peer", [OUTSIDE, "11.0.0.1", "::2", "testclient", ""])
def test_whoever_is_no_proxy_of_ours_says_nothing(peer):
    assert (
        claim(peer, x_forwarded_for="1.2.3.4", x_forwarded_host="a", forwarded="for=1.2.3.4")
        == ForwardedInfo()
    )


def test_a_proxy_says_who_asked_and_how():
    said = claim(
        x_forwarded_for=OUTSIDE,
        x_forwarded_proto="HTTPS",
        x_forwarded_host="chat.example:8443",
        x_forwarded_prefix="/talk/",
    )
    assert said == ForwardedInfo(OUTSIDE, "https", "chat.example:8443", "/talk")


def test_an_address_that_the_client_wrote_itself_does_not_count():
    assert claim(x_forwarded_for=f"127.0.0.1, 10.9.9.9, {OUTSIDE}").client == OUTSIDE


def test_proxies_in_a_row_are_walked_to_the_first_address_that_is_none():
    assert claim(x_forwarded_for=f"1.1.1.1, {OUTSIDE}, {FAR}").client == OUTSIDE
    assert claim(x_forwarded_for=f"{FAR}, 10.0.0.3").client == FAR


def test_what_the_others_say_is_taken_from_the_proxy_that_the_client_asked():
    said = claim(
        x_forwarded_for=f"6.6.6.6, {OUTSIDE}, {FAR}",
        x_forwarded_proto="ftp, https, http",
        x_forwarded_host="evil.example, chat.example, inner",
    )
    assert said == ForwardedInfo(OUTSIDE, "https", "chat.example")


def test_one_word_for_all_proxies_holds_for_each():
    assert claim(x_forwarded_for=f"{OUTSIDE}, {FAR}", x_forwarded_proto="https").scheme == "https"


def test_a_proxy_may_tell_the_scheme_alone():
    assert claim(x_forwarded_proto="https") == ForwardedInfo("", "https")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("203.0.113.7:5123", OUTSIDE),
        ("[2001:db8::1]:5123", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("::ffff:203.0.113.7", OUTSIDE),
        ("unknown", ""),
        ("_hidden", ""),
        ("1.2.3.4.5", ""),
    ],
)
def test_addresses_come_with_ports_and_brackets_or_not_at_all(text, address):
    assert claim(x_forwarded_for=text).client == address


def test_beyond_a_hidden_address_nothing_is_known():
    assert claim(x_forwarded_for=f"1.1.1.1, unknown, {FAR}").client == FAR


def test_a_peer_of_ipv4_in_the_clothes_of_ipv6_is_the_same_proxy():
    assert claim(f"::ffff:{NEAR}", x_forwarded_for=OUTSIDE).client == OUTSIDE


@pytest.mark.parametrize("scheme", ["ws", "javascript", "https://", ""])
def test_a_scheme_that_is_none_is_not_believed(scheme):
    assert claim(x_forwarded_proto=scheme).scheme == ""


@pytest.mark.parametrize("prefix", ["talk", "//evil.example", "/a b", "/a/../b", "/", "/a?b", "/a\r\nb"])
def test_a_prefix_that_could_lead_elsewhere_is_not_believed(prefix):
    assert claim(x_forwarded_prefix=prefix).prefix == ""


def test_the_standard_header_says_the_same():
    said = claim(forwarded=f'for=6.6.6.6, For="{OUTSIDE}:80"; proto=https;host="chat.example", for={FAR}')
    assert said == ForwardedInfo(OUTSIDE, "https", "chat.example")
    assert claim(forwarded='for="[2001:db8::1]:4711"').client == "2001:db8::1"


@pytest.mark.parametrize("garbled", ["for", "for=a b", 'for="x', ";;", "=", "for=1.2.3.4,=,", "é"])
def test_a_garbled_header_says_nothing(garbled):
    assert claim(forwarded=garbled) == ForwardedInfo()


def test_the_standard_header_counts_only_where_the_usual_ones_are_missing():
    assert claim(forwarded="for=6.6.6.6;host=evil.example", x_forwarded_for=OUTSIDE) == ForwardedInfo(OUTSIDE)


def test_a_header_that_came_twice_is_one_list():
    assert PROXIES.read({"x-forwarded-for": ["6.6.6.6", OUTSIDE]}, NEAR).client == OUTSIDE


@given(
    st.dictionaries(
        st.sampled_from(["x-forwarded-for", "x-forwarded-prefix", "forwarded"]), st.lists(st.text())
    )
)
def test_nothing_that_is_said_breaks_the_reading(headers):
    assert isinstance(PROXIES.read(headers, NEAR), ForwardedInfo)


def test_a_list_without_end_is_read_to_a_bound():
    assert claim(x_forwarded_for=", ".join([FAR] * 100_000)).client == FAR


@pytest.mark.parametrize("entry", ["proxy.example", "", "10.0.0.0/99", "10.0.0"])
def test_a_setting_that_names_no_network_stops_the_start(entry):
    with pytest.raises(StartFailed) as stopped:
        Proxies([entry])
    assert stopped.value.param == "proxies"


@pytest.mark.parametrize(
    ("peer", "here"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("testclient", False),
    ],
)
def test_this_machine_is_known_by_its_own_addresses(peer, here):
    assert is_local(peer) is here

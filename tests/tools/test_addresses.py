"""Sixty and more spellings of addresses that must not be reached, and as many ways to be wrong about it."""

import ipaddress

import pytest
from dream_eval.tools.addresses import read_host, refusal
from dream_eval.tools.guard import Refused, check_url

REFUSED = [
    # plain IPv4
    "http://127.0.0.1/",
    "http://127.255.255.254/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://10.0.0.1/",
    "http://10.255.255.255:8080/",
    "http://172.16.0.1/",
    "http://172.31.255.1/",
    "http://192.168.0.1/",
    "http://100.64.0.1/",
    "http://100.127.255.254/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.0.1/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://192.88.99.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    # other spellings of IPv4
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7F.0x0.0x0.0x1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://10.1/",
    "http://0/",
    "http://0x0/",
    "http://127.0.0.1./",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://169.0xfe.43518/",
    "http://１２７.０.０.１/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    # IPv6
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[fec0::1]/",
    "http://[2001:db8::1]/",
    # IPv4 inside IPv6
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[2606:4700::5efe:10.0.0.1]/",
    "http://[2606:4700::200:5efe:7f00:1]/",
    # names and userinfo
    "http://localhost/",
    "http://LOCALHOST:8080/",
    "http://localhost./",
    "http://app.localhost/",
    "http://metadata.google.internal/",
    "http://printer.local/",
    "http://intranet/",
    "http://good.example.com@127.0.0.1/",
    "http://good.example.com:80@[::1]/",
    "http://127.0.0.1#@good.example.com/",
    "http://127.0.0.1?@good.example.com/",
    # malformed or not the web
    "http://good.example.com\\@127.0.0.1/",
    "http://127.0.0.1\\.good.example.com/",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1%00.good.example.com/",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
    "http://999999999999/",
    "http://exa mple.com/",
    "http://exam\tple.com/",
    "http://good.example.com:99999/",
    "http://good.example.com:0x50/",
    "http://[::1%25eth0]/",
    "http://[fe80::1/",
    "http:///path",
    "file:///etc/passwd",
    "ftp://good.example.com/",
    "gopher://127.0.0.1:70/_x",
    "javascript:alert(1)",
    "data:text/html,x",
    "//good.example.com/",
    "",
]


def test_there_are_sixty_forms_and_more():
    assert len(set(REFUSED)) == len(REFUSED) >= 60


@pytest.mark.parametrize("url", REFUSED)
def test_refused(url):
    with pytest.raises(Refused):
        check_url(url)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://Example.COM/a b", None),
        ("https://Example.COM/a%20b?q=1#frag", "https://example.com/a%20b?q=1"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://134744072/", "http://8.8.8.8/"),
        ("http://[2606:4700:4700::1111]:8080/x", "http://[2606:4700:4700::1111]:8080/x"),
        ("http://[::ffff:8.8.8.8]/", "http://[::ffff:808:808]/"),
        ("http://[64:ff9b::808:808]/", "http://[64:ff9b::808:808]/"),
        ("https://user:secret@example.com/", "https://example.com/"),
        ("https://example.com.:443/", "https://example.com/"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("http://172.32.0.1/", "http://172.32.0.1/"),
        ("http://100.128.0.1", "http://100.128.0.1/"),
        ("https://a_b.example.com", "https://a_b.example.com/"),
        ("https://en.wikipedia.org/wiki/Rust_(language)", "https://en.wikipedia.org/wiki/Rust_(language)"),
        ("https://example.com/?url=http://127.0.0.1/", "https://example.com/?url=http://127.0.0.1/"),
    ],
)
def test_public_addresses_pass_in_canonical_spelling(url, canonical):
    if canonical is None:
        with pytest.raises(Refused):
            check_url(url)
    else:
        assert check_url(url).url == canonical


def test_an_allowed_pair_is_host_and_port():
    allow = frozenset({("127.0.0.1", 8080)})
    assert check_url("http://127.0.0.1:8080/x", allow=allow).port == 8080
    assert check_url("http://127.1:8080/x", allow=allow).host == "127.0.0.1"
    for url in ("http://127.0.0.1:8081/", "http://127.0.0.1/", "http://127.0.0.2:8080/", "http://localhost:8080/"):
        with pytest.raises(Refused):
            check_url(url, allow=allow)


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "127.1", "017700000001", "2130706433"])
def test_all_spellings_read_as_the_same_address(host):
    assert read_host(host) == ipaddress.IPv4Address("127.0.0.1")


def test_every_range_the_standard_library_calls_private_is_refused():
    probes = [
        "10.1.2.3",
        "127.9.9.9",
        "169.254.1.1",
        "172.20.0.1",
        "192.168.9.9",
        "198.19.255.1",
        "240.1.1.1",
        "fc01::1",
    ]
    for probe in probes:
        address = ipaddress.ip_address(probe)
        assert not address.is_global
        assert refusal(address)

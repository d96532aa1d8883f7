# ruff: noqa: E501 -- tables are easier to read with one case a line
"""Addresses, DOIs and arXiv ids."""

import pytest
from dream_eval.reports import find_arxiv, find_doi, host_of, normalise_url, unwrap_url
from dream_eval.reports.urls import address


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTPS://A.Org/Path", "https://a.org/Path"),
        ("https://a.org:443/x", "https://a.org/x"),
        ("http://a.org:80/x", "http://a.org/x"),
        ("http://a.org:8080/x", "http://a.org:8080/x"),
        ("https://a.org./x", "https://a.org/x"),
        ("https://a.org/x#part", "https://a.org/x"),
        ("https://a.org/#/route", "https://a.org/#/route"),
        ("https://a.org/x#:~:text=word", "https://a.org/x"),
        ("https://a.org/x?utm_source=chatgpt.com", "https://a.org/x"),
        ("https://a.org/x?b=1&utm_campaign=c&a=2", "https://a.org/x?b=1&a=2"),
        ("https://a.org/x?gclid=1&fbclid=2&srsltid=3", "https://a.org/x"),
        ("https://a.org/x?a=1&amp;b=2", "https://a.org/x?a=1&b=2"),
        ("https://a.org/x.", "https://a.org/x"),
        ("https://a.org/x),", "https://a.org/x"),
        ("https://a.org/x_(y)", "https://a.org/x_(y)"),
        ("https://a.org/x_(y))", "https://a.org/x_(y)"),
        ("https://a.org/x]。", "https://a.org/x"),
        ("https://a.org/x**", "https://a.org/x"),
        ("<https://a.org/x>", "https://a.org/x"),
        ("www.a.org/x", "https://www.a.org/x"),
        ("//a.org/x", "https://a.org/x"),
        ("https://a.org/a b", "https://a.org/a%20b"),
        ("https://a.org/中文", "https://a.org/中文"),
        ("https://u:p@a.org/x", "https://u:p@a.org/x"),
        ("https://[2001:db8::1]:443/x", "https://[2001:db8::1]/x"),
        ("not a url", "not a url"),
        ("https://a.org:99999/", "https://a.org:99999/"),
        ("", ""),
    ],
)
def test_normal_form(url, normal):
    assert normalise_url(url) == normal
    assert normalise_url(normal) == normal


@pytest.mark.parametrize(
    "url",
    [
        "https://a.org",
        "http://sub.a.co.uk/x?y=z",
        "https://1.2.3.4/x",
        "https://münchen.de/x",
        "https://xn--mnchen-3ya.de",
        "https://data.example-agency.gov/x",
    ],
)
def test_good_addresses(url):
    assert address(url).url is not None


@pytest.mark.parametrize(
    "url",
    ["https://example.com", "https://www.example.org/x", "https://sub.example.net", "https://example.edu/x", "http://localhost", "http://127.0.0.1:8000/x",
     "http://192.168.1.1", "https://your-domain.com/x", "https://yourwebsite.com/x", "https://my-site.com", "https://domain.com/x", "https://placeholder.com",
     "https://foo.test/x", "https://x.invalid/", "https://arxiv.org/abs/xxxx.xxxxx", "https://doi.org/10.xxxx/xxxxx", "https://a.org/[insert-url]",
     "URL", "https://...", "[insert link here]"],
)  # fmt: skip
def test_placeholders(url):
    assert (address(url).url, address(url).problem) == (None, "placeholder_url")


@pytest.mark.parametrize(
    "url",
    ["https://", "https://nodots", "https://a b.org/x", "https://a..org", "ftp://a.org/x", "htp://a.org", "https:/a.org", "javascript:alert(1)",
     "https://a.org:port/x", "https://-a.org", "https://a.org/cut...", "https://a.o", "see above", "https://a.org/" + "y" * 5000, "https://[::1", ""],
)  # fmt: skip
def test_malformed(url):
    assert (address(url).url, address(url).problem) == (None, "malformed_url")


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("doi:10.1000/xyz123.", "10.1000/xyz123"),
        ("https://doi.org/10.1016/J.X.2020.01.001", "10.1016/j.x.2020.01.001"),
        ("https://dx.doi.org/10.1000/a(b)c", "10.1000/a(b)c"),
        ("https://onlinelibrary.wiley.com/doi/pdf/10.1111/1468-2354.00008", "10.1111/1468-2354.00008"),
        ("https://epubs.siam.org/doi/10.1137/140968811?x=1", "10.1137/140968811"),
        ("https://doi.org/10.1000%2Fxyz", "10.1000/xyz"),
        ("costs 10.5 million", None),
        ("https://a.org/2024/10.1/x", None),
    ],
)
def test_doi(text, doi):
    assert find_doi(text) == doi


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("arXiv:2401.12345", "2401.12345"),
        ("arXiv preprint arXiv:1706.03762v5", "1706.03762"),
        ("https://arxiv.org/abs/1706.10059", "1706.10059"),
        ("https://arxiv.org/pdf/1706.10059v3.pdf", "1706.10059"),
        ("https://arxiv.org/abs/hep-th/9901001", "hep-th/9901001"),
        ("https://doi.org/10.48550/arXiv.2401.12345", "2401.12345"),
        ("2401.12345", None),
    ],
)
def test_arxiv(text, id):
    assert find_arxiv(text) == id


def test_unwrap():
    assert unwrap_url("https://web.archive.org/web/20200101000000/https://a.org/x") == "https://a.org/x"
    assert unwrap_url("https://web.archive.org/web/20200101id_/http:/a.org/x") == "http://a.org/x"
    assert unwrap_url("https://www.google.com/url?q=https://a.org/x&sa=D") == "https://a.org/x"
    assert unwrap_url("https://a.org/x") == "https://a.org/x"


def test_host():
    assert host_of("https://WWW.A.org/x") == "a.org"
    assert host_of("nothing") is None

"""Whose an address is, what it wraps, and which way in it takes."""

import pytest
from dream_eval.tools import HostKind, kind_of_host, page_key, registrable_domain, unwrap
from dream_eval.tools.hosts import arxiv_id, doi_of, file_of, on_host, repository_of, without_text


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.bbc.co.uk/news/x", "bbc.co.uk"),
        ("https://me.github.io/page", "me.github.io"),
        ("https://a.b.example.com:8080/", "example.com"),
        ("http://192.0.2.1/x", None),
        ("http://[2001:db8::1]/", None),
        ("https://web.archive.org/web/20240101000000/https://www.nist.gov/x", "nist.gov"),
        ("https://www.google.com/url?q=https://www.nature.com/a&sa=D", "nature.com"),
        ("nist.gov/page", "nist.gov"),
        ("https://co.uk/", None),
        ("", None),
        ("https://foo.blogspot.com/", "foo.blogspot.com"),
        ("https://bücher.example/", "bücher.example"),
    ],
)
def test_registrable_domain(url, domain):
    assert registrable_domain(url) == domain


@pytest.mark.parametrize(
    ("url", "inner"),
    [
        ("https://web.archive.org/web/2024/example.com/a", "http://example.com/a"),
        ("https://web.archive.org/web/20240101000000id_/https://example.com/a?b=c", "https://example.com/a?b=c"),
        ("https://web.archive.org/web/20240101000000/https:/example.com/a", "https://example.com/a"),
        ("https://archive.ph/20240101000000/https://example.com/", "https://example.com/"),
        ("https://r.jina.ai/https://example.com/a", "https://example.com/a"),
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa", "https://example.com/a"),
        ("https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fexample.com", "https://example.com"),
        ("https://example.com/?url=https://other.example/", "https://example.com/?url=https://other.example/"),
        ("https://web.archive.org/about", "https://web.archive.org/about"),
    ],
)
def test_unwrap(url, inner):
    assert unwrap(url) == inner


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.nist.gov/x", HostKind.GOVERNMENT),
        ("https://www.ons.gov.uk/", HostKind.GOVERNMENT),
        ("https://ec.europa.eu/", HostKind.GOVERNMENT),
        ("https://www.mit.edu/", HostKind.ACADEMIC),
        ("https://www.ox.ac.uk/", HostKind.ACADEMIC),
        ("https://www.who.int/", HostKind.INTERNATIONAL),
        ("https://datatracker.ietf.org/", HostKind.INTERNATIONAL),
        ("https://arxiv.org/abs/1", HostKind.PREPRINTS),
        ("https://de.wikipedia.org/", HostKind.ENCYCLOPAEDIA),
        ("https://old.reddit.com/r/x", HostKind.COMMUNITY),
        ("https://github.com/a/b", HostKind.CODE),
        ("https://me.github.io/", HostKind.PERSONAL),
        ("https://grokipedia.com/page/x", HostKind.MACHINE),
        ("http://192.0.2.1/", HostKind.ADDRESS),
        ("https://www.example.com/", HostKind.UNKNOWN),
        ("https://netflix.com/", HostKind.UNKNOWN),
        ("https://notmit.education/", HostKind.UNKNOWN),
    ],
)
def test_kind(url, kind):
    assert kind_of_host(url) is kind


@pytest.mark.parametrize(
    ("url", "paper"),
    [
        ("https://arxiv.org/abs/2401.00001", "2401.00001"),
        ("http://www.arxiv.org/pdf/2401.00001v2.pdf", "2401.00001v2"),
        ("https://arxiv.org/html/2401.00001v1#S1", "2401.00001v1"),
        ("https://export.arxiv.org/abs/hep-th/9901001", "hep-th/9901001"),
        ("https://doi.org/10.48550/arXiv.2401.00001", "2401.00001"),
        ("https://arxiv.org/list/cs.CL/new", None),
        ("https://notarxiv.org/abs/2401.00001", None),
    ],
)
def test_arxiv_id(url, paper):
    assert arxiv_id(url) == paper


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://doi.org/10.1038/s41586-021-03819-2", "10.1038/s41586-021-03819-2"),
        ("http://dx.doi.org/10.1000/xyz(2021)1?x=1", "10.1000/xyz(2021)1"),
        ("https://dl.acm.org/doi/pdf/10.1145/3442188.3445922", "10.1145/3442188.3445922"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc.123/full", "10.1002/abc.123"),
        ("https://doi.org/10.1000/abc.", "10.1000/abc"),
        ("https://example.com/10.1000/abc", None),
        ("https://doi.org/", None),
    ],
)
def test_doi(url, doi):
    assert doi_of(url) == doi


def test_github():
    assert repository_of("https://github.com/Owner/Repo.git") == "Owner/Repo"
    assert repository_of("https://www.github.com/owner/repo/?tab=readme") == "owner/repo"
    assert repository_of("https://github.com/topics/rivers") is None
    assert repository_of("https://github.com/owner/repo/issues") is None
    assert file_of("https://github.com/o/r/blob/main/docs/a.md#L3") == "o/r/main/docs/a.md"
    assert file_of("https://github.com/o/r/tree/main") is None


def test_without_text():
    assert without_text("https://m.youtube.com/watch?v=1")
    assert not without_text("https://notyoutube.com/")


def test_on_host():
    hosts = frozenset({"example.com", "github.com/owner/repo"})
    assert on_host("https://a.example.com/x", hosts)
    assert on_host("https://www.github.com/Owner/Repo/issues", hosts)
    assert not on_host("https://github.com/owner/other", hosts)
    assert not on_host("https://example.com.evil.example/", hosts)
    assert not on_host("not an address", hosts)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://www.Example.com/a/", "http://example.com/a", True),
        ("https://example.com/a?utm_source=x&id=1#top", "https://example.com/a?id=1", True),
        ("https://example.com/%C3%BC", "https://example.com/ü", True),
        ("https://example.com:443/a", "https://example.com/a", True),
        ("https://example.com/a?id=1", "https://example.com/a?id=2", False),
        ("https://example.com/a", "https://example.com/A", False),
        ("https://example.com:8080/a", "https://example.com/a", False),
    ],
)
def test_page_key(one, other, same):
    assert (page_key(one) == page_key(other)) is same

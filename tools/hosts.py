"""Addresses as a reader understands them: whose they are, what stands behind a wrapper, which need another way in."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ..errors import UserError

_ARCHIVES = (
    re.compile(r"^https?://web\.archive\.org/web/\d{1,14}(?:[a-z]{2}_)?/(.+)$", re.IGNORECASE),
    re.compile(r"^https?://archive\.(?:today|ph|is|li|md|fo|vn)/(?:o/\w+/|\d{4,14}/|newest/)(https?[:/].+)$", re.I),
    re.compile(r"^https?://webcache\.googleusercontent\.com/search\?q=cache:(?:[\w-]{12}:)?([^+&]+)", re.IGNORECASE),
    re.compile(r"^https?://r\.jina\.ai/(https?://.+)$", re.IGNORECASE),
    re.compile(r"^https?://(?:www\.)?arquivo\.pt/wayback/\d{14}/(.+)$", re.IGNORECASE),
)
_REDIRECTORS: dict[str, tuple[str, ...]] = {
    "www.google.com/url": ("q", "url"),
    "google.com/url": ("q", "url"),
    "duckduckgo.com/l/": ("uddg",),
    "l.facebook.com/l.php": ("u",),
    "lm.facebook.com/l.php": ("u",),
    "out.reddit.com/": ("url",),
    "www.youtube.com/redirect": ("q",),
    "steamcommunity.com/linkfilter/": ("url", "u"),
    "slack-redir.net/link": ("url",),
    "safelinks.protection.outlook.com/": ("url",),
    "l.instagram.com/": ("u",),
    "t.umblr.com/redirect": ("z",),
    "vk.com/away.php": ("to",),
    "www.linkedin.com/redir/redirect": ("url",),
    "translate.google.com/translate": ("u",),
}
_NO_TEXT = frozenset(
    [
        "youtube.com",
        "youtu.be",
        "vimeo.com",
        "tiktok.com",
        "dailymotion.com",
        "twitch.tv",
        "instagram.com",
        "spotify.com",
        "soundcloud.com",
        "podcasts.apple.com",
        "bilibili.com",
        "pinterest.com",
        "rumble.com",
    ]
)
_MIRRORS = (
    "chatgpt.com/share",
    "chat.openai.com/share",
    "claude.ai/share",
    "gemini.google.com/share",
    "g.co/gemini/share",
    "perplexity.ai/page",
    "perplexity.ai/search",
    "poe.com/s",
    "grok.com/share",
    "x.com/i/grok",
    "manus.im/share",
    "you.com/search",
    "grokipedia.com",
    "huggingface.co/datasets/muset-ai",
    "huggingface.co/spaces/muset-ai",
    "github.com/ayanami0730/deep_research_bench",
)
_ARXIV = re.compile(
    r"^https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format|ps)/"
    r"((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)(?:\.pdf)?/?(?:[?#].*)?$",
    re.IGNORECASE,
)
_ARXIV_DOI = re.compile(r"^10\.48550/arxiv\.(.+)$", re.IGNORECASE)
_DOI = re.compile(r"^https?://(?:dx\.)?(?:www\.)?doi\.org/(10\.\d{4,9}/[^\s?#]+)", re.IGNORECASE)
_DOI_IN_PATH = re.compile(
    r"/(?:doi|abs|full|pdf|epdf|article)(?:/(?:abs|full|pdf|epdf|10))*/(10\.\d{4,9}/[^\s?#]+)", re.I
)
_REPOSITORY = re.compile(r"^https?://(?:www\.)?github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?(?:[?#].*)?$", re.IGNORECASE)
_BLOB = re.compile(r"^https?://(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:blob|raw)/([^?#]+)", re.IGNORECASE)
_NOT_OWNERS = frozenset(
    [
        "about",
        "apps",
        "blog",
        "collections",
        "contact",
        "customer-stories",
        "enterprise",
        "explore",
        "features",
        "issues",
        "login",
        "marketplace",
        "new",
        "notifications",
        "orgs",
        "organizations",
        "pricing",
        "pulls",
        "readme",
        "search",
        "settings",
        "sponsors",
        "site",
        "topics",
        "trending",
        "users",
    ]
)


class HostKind(StrEnum):
    """What a host is by its name alone; a hint, never a judgement."""

    GOVERNMENT = "government"
    ACADEMIC = "academic"
    INTERNATIONAL = "international"
    PREPRINTS = "preprints"
    ENCYCLOPAEDIA = "encyclopaedia"
    COMMUNITY = "community"
    CODE = "code"
    PERSONAL = "personal"
    MACHINE = "machine"
    """Texts written by models: shared chats, machine-written encyclopaedias."""
    ADDRESS = "address"
    """A bare IP address."""
    UNKNOWN = "unknown"


_BY_FORM: tuple[tuple[HostKind, re.Pattern[str]], ...] = (
    (HostKind.GOVERNMENT, re.compile(r"(^|\.)(gov|mil|gouv|gob|govt|gub)(\.[a-z]{2})?$|\.go\.(jp|kr|th|id|ke|tz)$")),
    (HostKind.ACADEMIC, re.compile(r"(^|\.)(edu|ac)(\.[a-z]{2})?$|\.uni-[a-z-]+\.de$")),
    (HostKind.INTERNATIONAL, re.compile(r"\.int$")),
)
_BY_NAME: dict[HostKind, str] = {
    HostKind.GOVERNMENT: "europa.eu bund.de admin.ch gc.ca canada.ca",
    HostKind.ACADEMIC: "mpg.de ethz.ch epfl.ch cnrs.fr fraunhofer.de helmholtz.de inria.fr",
    HostKind.INTERNATIONAL: "un.org oecd.org imf.org worldbank.org iea.org wto.org ilo.org iso.org ietf.org w3.org",
    HostKind.PREPRINTS: "arxiv.org biorxiv.org medrxiv.org chemrxiv.org ssrn.com osf.io preprints.org openreview.net",
    HostKind.ENCYCLOPAEDIA: "wikipedia.org wikidata.org wiktionary.org britannica.com scholarpedia.org",
    HostKind.MACHINE: "grokipedia.com chatgpt.com perplexity.ai claude.ai grok.com poe.com",
    HostKind.COMMUNITY: "reddit.com quora.com stackexchange.com stackoverflow.com zhihu.com facebook.com twitter.com "
    "x.com fandom.com news.ycombinator.com",
    HostKind.CODE: "github.com gitlab.com bitbucket.org codeberg.org huggingface.co sourceforge.net",
    HostKind.PERSONAL: "medium.com substack.com wordpress.com blogspot.com tumblr.com hashnode.dev ghost.io github.io "
    "gitlab.io wixsite.com netlify.app vercel.app pages.dev",
}
_NAMES = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}


@lru_cache(maxsize=1)
def _extractor() -> Any:
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def host_of(url: str) -> str:
    """Host in lower case, without ``www.``; empty when there is none."""
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""
    return host.lower().rstrip(".").removeprefix("www.")


def registrable_domain(url: str) -> str | None:
    """The domain that somebody registered, private suffixes counted (``name.github.io`` is its own).

    Archive copies and redirectors are unwrapped first. None for IP addresses, bare suffixes and no host. The Public
    Suffix List is the one bundled with tldextract: no network.
    """
    host = host_of(unwrap(url))
    if not host:
        return None
    found = _extractor()(host)
    if found.suffix or found.ipv4 or found.ipv6 or "." not in host:
        return found.top_domain_under_public_suffix or None
    return ".".join(host.split(".")[-2:])  # the list's rule for what it does not name


def unwrap(url: str) -> str:
    """What an archive's or a redirector's address stands for; other addresses as they are."""
    for _ in range(4):
        inner = _archived_original(url) or _redirected(url)
        if not inner or inner == url:
            return url
        url = inner
    return url


def _archived_original(url: str) -> str | None:
    for pattern in _ARCHIVES:
        if found := pattern.match(url):
            inner = re.sub(r"^(https?):/+", r"\1://", unquote(found.group(1)) if "%3A" in url else found.group(1))
            return inner if "://" in inner else f"http://{inner}"
    return None


def _redirected(url: str) -> str | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    place = f"{parts.hostname or ''}{parts.path}"
    for prefix, names in _REDIRECTORS.items():
        if place.startswith(prefix) or (prefix.startswith("safelinks") and place.endswith(prefix)):
            asked = parse_qs(parts.query)
            return next((asked[n][0] for n in names if n in asked and asked[n][0].startswith("http")), None)
    return None


def kind_of_host(url: str) -> HostKind:
    """What the host is, as far as its name tells."""
    host = host_of(unwrap(url))
    if re.fullmatch(r"[\d.]+", host) or ":" in host:
        return HostKind.ADDRESS
    labels = host.split(".")
    for i in range(len(labels)):
        if kind := _NAMES.get(".".join(labels[i:])):
            return kind
    return next((kind for kind, pattern in _BY_FORM if pattern.search(host)), HostKind.UNKNOWN)


def without_text(url: str) -> bool:
    """Whether the host serves films, sound or pictures rather than text."""
    host = host_of(url)
    return any(host == name or host.endswith(f".{name}") for name in _NO_TEXT)


def host_entry(text: str) -> str:
    """An entry of a list of hosts in one spelling: ``https://www.Example.com/`` and ``example.com`` are the same.

    A path stays (``github.com/owner``). UserError for what names no host.
    """
    bare = text.strip().lower().split("://", 1)[-1].removeprefix("www.").rstrip("/")
    host, slash, path = bare.partition("/")
    name = host_of(host) if host and not re.search(r"[\s,;]", bare) else ""
    if "." not in name and ":" not in name and name != "localhost":
        raise UserError(f"{text!r} names no host: write example.com or github.com/owner")
    return f"{name}{slash}{path}"


def on_host(url: str, hosts: frozenset[str]) -> bool:
    """Whether ``url`` lies on one of ``hosts`` or below it; an entry may carry a path (``github.com/owner``)."""
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return False
    host = host_of(url)
    place = f"{host}{path}"
    for entry in hosts:
        name, slash, _ = entry.partition("/")
        if (host == name or host.endswith(f".{name}")) and (
            not slash or place[len(host) - len(name) :].startswith(entry)
        ):
            return True
    return False


MIRRORS = frozenset(_MIRRORS)
"""Where reports written by models, and the benchmarks' own reports, are shown. Never evidence."""


def arxiv_id(url: str) -> str | None:
    """The arXiv id of an address or arXiv DOI, with its version if it has one."""
    if found := _ARXIV.match(url):
        return found.group(1)
    doi = doi_of(url)
    inside = _ARXIV_DOI.match(doi) if doi else None
    return inside.group(1) if inside else None


def doi_of(url: str) -> str | None:
    """The DOI of a resolver's or a publisher's landing page."""
    found = _DOI.match(url) or _DOI_IN_PATH.search(url)
    if not found:
        return None
    doi = unquote(found.group(1)).rstrip(".,;/)")
    return re.sub(r"(/(full|pdf|abstract|epdf|html|meta|fulltext)|\.pdf|\.full)$", "", doi, flags=re.IGNORECASE)


def repository_of(url: str) -> str | None:
    """``owner/name`` of a GitHub repository's front page."""
    found = _REPOSITORY.match(url)
    return f"{found.group(1)}/{found.group(2)}" if found and found.group(1).lower() not in _NOT_OWNERS else None


def file_of(url: str) -> str | None:
    """``owner/name/ref/path`` of a file shown on GitHub."""
    found = _BLOB.match(url)
    return f"{found.group(1)}/{found.group(2)}" if found else None


_TRACKING = re.compile(r"^(utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|ref_src|ref_url|_hsenc|_hsmi)$", re.I)


def page_key(url: str) -> str:
    """What two addresses of one page share: no scheme, ``www.``, fragment, tracking, final slash or default port."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return url.strip()
    asked = [pair for pair in parts.query.split("&") if pair and not _TRACKING.match(pair.partition("=")[0])]
    host = host_of(url) + ("" if port in (None, 80, 443) else f":{port}")
    return f"{host}{unquote(parts.path).rstrip('/')}" + (f"?{'&'.join(asked)}" if asked else "")

"""Addresses: finding them in running text, normalising them, telling good ones from broken ones; DOIs and arXiv ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qs, quote, unquote, urlsplit, urlunsplit

from .text import CJK, scalar

LONGEST_URL = 4000
"""Characters; a longer address is malformed."""

_STOP = r"\s<>\"`{}|\\^\[\]“”‘’«»，。；：！？、）（】【》《」「』『…\u200b\ufeff\ufffd\ue200-\ue2ff"
_BODY = rf"(?:[^{_STOP}{CJK}()*']|(?<=[/=_\-])[{CJK}]+|\((?:[^{_STOP}{CJK}()])*\)|(?<=[\w/=-])[*'](?=[\w/=&%-]))"
BARE_URL = rf"(?:https?://|(?<![\w./@-])www\.(?=[\w-]+\.)){_BODY}++"
"""Pattern source of a bare address in running text; apply :func:`trim_url` to what it finds."""

DOI = r"(?<![\w/.])10\.\d{4,9}/[^\s\"<>\[\]{}|\\^`，。；、）】]+"
ARXIV = r"(?i:arxiv)\s?[:.]?\s?(?:\[)?(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)"

PMID = r"PMID:\s?(\d{4,9})(?!\d)"
"""A record of PubMed."""

_DOI = re.compile(DOI)
_ARXIV = re.compile(ARXIV)
_ARXIV_URL = re.compile(
    r"arxiv\.org/(?:abs|pdf|html|ps)/(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d+)?", re.IGNORECASE
)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(\d{4}\.\d{4,5})", re.IGNORECASE)
_TRACKING = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|igsh"
    r"|mc_cid|mc_eid|mkt_tok|_hsenc|_hsmi"
    r"|srsltid|vero_id|oly_anon_id|oly_enc_id|ref_src|ref_url|spm|scm|_ga|_gl|s_cid|cmpid|ncid"
    r"|sr_share|trk|trkInfo|guccounter"
    r"|guce_referrer|guce_referrer_sig)\Z",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:[^\W\d_]{2,24}|xn--[a-z0-9-]{2,59})\.?\Z")
_IPV4 = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}\Z")
_PLACEHOLDER_HOST = re.compile(
    r"""(?:.*\.)?(?:example(?:\.[a-z.]{2,6})?|example\d*\.(?:com|org|net|edu)|(?:[\w-]+\.)?(?:test|invalid|localhost|local)
    |(?:your|my|some|any)[-_]?(?:domain|site|website|company|url|link|host|server|org|source)\w*\.\w+
    |(?:domain|website|site|url|link|placeholder|sampleurl|samplesite|sourceurl|fakeurl|dummy|foo|bar|foobar|xxx+|abc+def|host|hostname|source\d*|link\d*|url\d*)
    \.(?:com|org|net|url|tld|here))\Z""",
    re.VERBOSE,
)
_LOCAL = re.compile(
    r"localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d"
    r"|3[01])\.\d+\.\d+|\[?::1\]?"
)
_PLACEHOLDER_TEXT = re.compile(
    r"\[(?:insert|url|link|your)|(?:insert|your|add)[-_ ](?:url|link|doi|source)[-_ ]?(?:here)?"
    r"|x{3,}\.x{3,}|10\.x{3,}|/x{4,}(?:/|\Z)"
    r"|example[-_]?(?:url|link)\b|placeholder",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CLOSING = {")": "(", "]": "[", "}": "{", "）": "（", "】": "【"}
_TRAILING = ".,;:!?*_'\"`~|>…。，；：！？、”’"
_ARCHIVE = re.compile(r"https?://web\.archive\.org/web/\d{4,14}[a-z_]{0,4}/(?=https?:/)", re.IGNORECASE)
_REDIRECTS = {
    ("www.google.com", "/url"): ("q", "url"),
    ("google.com", "/url"): ("q", "url"),
    ("l.facebook.com", "/l.php"): ("u",),
    ("duckduckgo.com", "/l/"): ("uddg",),
    ("www.bing.com", "/ck/a"): (),
    ("out.reddit.com", "/"): ("url",),
    ("link.zhihu.com", "/"): ("target",),
}


@dataclass(frozen=True, slots=True)
class Address:
    """What was made of an address as written."""

    raw: str
    url: str | None
    """Normalised; None when it leads nowhere."""
    problem: str | None = None
    """``malformed_url`` or ``placeholder_url`` when ``url`` is None."""
    why: str = ""


def normalise_url(url: str) -> str:
    """One spelling for one address (METRICS 7): scheme and host in lower case; default port, tracking parameters,
    fragment, trailing punctuation and unbalanced closing brackets gone; blanks encoded. Path and other parameters stay
    as written. A fragment that is a route (``#/…``, ``#!…``) stays. An address without scheme gets ``https``. What is
    no character (a lone surrogate, from bytes that are not UTF-8) becomes U+FFFD.

    Never raises; what cannot be parsed comes back trimmed.
    """
    url = trim_url(scalar(url).strip().strip("<>").strip())
    if url.startswith("//"):
        url = "https:" + url
    elif url[:4].lower() == "www.":
        url = "https://" + url
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or ""), parts.port
    except ValueError:
        return url
    if not parts.netloc:
        return url
    scheme = parts.scheme.lower()
    netloc = f"[{host}]" if ":" in host else host.rstrip(".")
    if port is not None and (scheme, port) not in (("http", 80), ("https", 443)):
        netloc += f":{port}"
    if "@" in parts.netloc:
        netloc = parts.netloc.rsplit("@", 1)[0] + "@" + netloc
    fragment = parts.fragment if parts.fragment.startswith(("/", "!")) else ""
    path = parts.path.replace(" ", "%20").replace("\n", "").replace("\t", "")
    return urlunsplit((scheme, netloc, path, _query(parts.query), fragment))


def pubmed(number: str) -> str:
    """The address of a record of PubMed."""
    return f"https://pubmed.ncbi.nlm.nih.gov/{number}"


def _query(query: str) -> str:
    if not query:
        return ""
    kept = [p for p in query.replace("&amp;", "&").split("&") if p and not _TRACKING.match(p.split("=", 1)[0])]
    return "&".join(kept).replace(" ", "%20")


def trim_url(url: str) -> str:
    """Cut trailing punctuation and closing brackets that have no opening one."""
    url = url.split(":~:text=", 1)[0].rstrip("#") if ":~:" in url else url
    end = len(url)
    counts: dict[str, int] | None = None
    while end:
        last = url[end - 1]
        if last in _TRAILING and not (last == "_" and end > 1 and url[end - 2].isalnum() and "/" in url[:end]):
            end -= 1
        elif last in _CLOSING:
            if counts is None:
                counts = {c: url.count(c, 0, end) for pair in _CLOSING.items() for c in pair}
            if counts[last] <= counts[_CLOSING[last]]:
                break
            counts[last] -= 1
            end -= 1
        else:
            break
    return url[:end]


@lru_cache(maxsize=8192)
def address(raw: str) -> Address:
    """Judge an address as written: normalised when it can lead somewhere, else why not."""
    written = raw.strip().strip("<>").strip()
    if not written:
        return Address(raw, None, "malformed_url", "empty")
    if _PLACEHOLDER_TEXT.search(written) or written.lower().rstrip("/") in (
        "url",
        "link",
        "source",
        "https://...",
        "http://...",
    ):
        return Address(raw, None, "placeholder_url", "a placeholder, not an address")
    if written.endswith(("...", "…")):
        return Address(raw, None, "malformed_url", "cut off")
    url = normalise_url(written)
    problem, why = _fault(url)
    return Address(raw, None if problem else url, problem, why)


def _fault(url: str) -> tuple[str | None, str]:
    if len(url) > LONGEST_URL:
        return "malformed_url", f"longer than {LONGEST_URL} characters"
    scheme = _SCHEME.match(url)
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        _ = parts.port
    except ValueError as fault:
        return "malformed_url", str(fault)
    if scheme is None or parts.scheme not in ("http", "https"):
        return "malformed_url", "no http or https address"
    if not host:
        return "malformed_url", "no host"
    if _LOCAL.fullmatch(host):
        return "placeholder_url", f"{host} is no public host"
    if _PLACEHOLDER_HOST.match(host):
        return "placeholder_url", f"{host} is a placeholder"
    if _IPV4.match(host) or ":" in host:
        return None, ""
    if not _HOST.match(host) or len(host) > 253:
        return "malformed_url", f"{host!r} is no host name"
    return None, ""


def find_doi(text: str) -> str | None:
    """The first DOI in a text or URL, in lower case, without trailing punctuation; None when there is none."""
    if "10." not in text:
        return None
    match = _DOI.search(unquote(text).replace("doi.org/", "doi.org "))
    if match is None:
        match = _DOI.search(text.replace("/10.", " 10."))
    if match is None:
        return None
    doi = re.split(r"[?#&]|/(?:pdf|full|abstract|epdf|html)\b", match.group())[0]
    return trim_url(doi).lower()


def find_arxiv(text: str) -> str | None:
    """The first arXiv id (without version) in a text or URL; None when there is none."""
    lowered = text.lower()
    if "arxiv" not in lowered:
        return None
    for pattern in (_ARXIV_URL, _ARXIV_DOI, _ARXIV):
        if match := pattern.search(text):
            return re.sub(r"v\d+\Z", "", match[1])
    return None


def host_of(url: str) -> str | None:
    """The host of an address in lower case, without ``www.``; None when it has none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


def unwrap_url(url: str) -> str:
    """The address behind an archive copy or an open redirector; else the address itself. Normalised."""
    for _ in range(4):
        inner = _inner(url)
        if inner is None:
            break
        url = inner
    return normalise_url(url)


def _inner(url: str) -> str | None:
    if match := _ARCHIVE.match(url):
        rest = url[match.end() :]
        return re.sub(r"\A(https?):/(?!/)", r"\1://", rest)
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    for name in _REDIRECTS.get((parts.netloc.lower(), parts.path), ()):
        for value in parse_qs(parts.query).get(name, ()):
            if value.startswith(("http://", "https://")):
                return value
    return None


def encode_blanks(url: str) -> str:
    """Blanks and line breaks in a link target, as browsers would read them."""
    return (
        quote(re.sub(r"\s*\n\s*", "", url.strip()), safe="/:?#[]@!$&'()*+,;=%~-._")
        if " " in url or "\n" in url
        else url
    )

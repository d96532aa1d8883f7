"""Telling page states apart, each with its evidence. Pure functions over what came back.

A state other than ok is only given on evidence: a status, the marks of a challenge page, a page that says of itself
that it is missing. A doubt leaves the page readable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from ..core import PageState

Judged = tuple[PageState, str]

_STATUS: dict[int, PageState] = {
    401: PageState.BLOCKED,
    402: PageState.PAYWALLED,
    403: PageState.BLOCKED,
    404: PageState.GONE,
    406: PageState.BLOCKED,
    407: PageState.BLOCKED,
    410: PageState.GONE,
    418: PageState.BLOCKED,
    429: PageState.BLOCKED,
    451: PageState.BLOCKED,
    999: PageState.BLOCKED,
}
_CHALLENGE = (
    "cf-chl-",
    "cf_chl_opt",
    "challenge-platform",
    "/cdn-cgi/challenge",
    "cf-turnstile",
    "g-recaptcha",
    "h-captcha",
    "hcaptcha.com/1/api.js",
    "px-captcha",
    "captcha-delivery.com",
    "_incapsula_resource",
    "awswafcaptcha",
    "aws-waf-token",
    "ak_bmsc_challenge",
    "sec-if-cpt",
    "anubis_challenge",
)
_CHALLENGE_WORDS = re.compile(
    r"just a moment\.\.\.|checking (if the site connection is secure|your browser)|verify(ing)? (that )?you are (a )?"
    r"human|are you a robot|unusual traffic from your|enable javascript and cookies to continue|access denied"
    r"|attention required|please complete the security check|pardon our interruption|press (&|and) hold|bot detection"
    r"|ddos protection by|人机验证|安全验证",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"\b404\b|\b(page|article|document|content|file|resource|site)s? (was |is |were |has |could |can)?"
    r"(not|n't|no longer|not be) (be )?(found|available|exists?|longer)|\bnot found\b|no longer (exists?|available)"
    r"|does ?n['o]t exist|page introuvable|seite (wurde )?nicht gefunden|página no encontrada|pagina non trovata"
    r"|页面不存在|页面未找到|ページが見つかりません",
    re.IGNORECASE,
)
_CONSENT_HOSTS = re.compile(r"^(consent|guce|privacy-?center|cmp)\.|^myprivacy\.|\.consensu\.org$")
_CONSENT_WORDS = re.compile(
    r"before you continue|we (and our partners )?(use|value) (cookies|your privacy)|accept (all )?cookies"
    r"|cookie consent|wir verwenden cookies|nous utilisons des cookies|zustimmen und weiter",
    re.IGNORECASE,
)
_PAYWALL_WORDS = re.compile(
    r"subscribe (now )?to (continue|keep|read|unlock)|(to|and) continue reading|already a subscriber|subscribers? only"
    r"|for subscribers|this (article|content|story) is (only )?(for|available to|exclusive)|register to (continue|read)"
    r"|unlock (this|the full) (article|story)|nur für abonnenten|réservé aux abonnés|solo para suscriptores"
    r"|付费阅读|会員限定",
    re.IGNORECASE,
)
_NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?false', re.IGNORECASE)
_SCRIPT_ONLY = re.compile(
    r"enable javascript|requires javascript|javascript is (disabled|required)|you need to enable", re.I
)

SHORT = 1_500
"""Characters of main text below which a page may be a challenge, consent or paywall page."""


def by_status(status: int, headers: Mapping[str, str], head: str) -> Judged | None:
    """Judge by the status alone; None for those of a page that may be read. ``head``: start of the body as text."""
    if 200 <= status < 300 and status not in (202, 204, 205):
        return None
    if mark := challenge_mark(headers, head):
        return PageState.BLOCKED, f"status {status}, challenge page ({mark})"
    if status == 202:
        return None
    if status in _STATUS:
        wait = headers.get("retry-after", "")
        return _STATUS[status], f"status {status}" + (f", Retry-After {wait[:40]}" if wait else "")
    return PageState.UNREACHABLE, f"status {status}"


def challenge_mark(headers: Mapping[str, str], head: str) -> str | None:
    """The mark of a page that wants to see a human, if there is one."""
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return "cf-mitigated header"
    low = head.lower()
    return next((mark for mark in _CHALLENGE if mark in low), None)


def by_content(url: str, final_url: str, title: str, text: str, head: str, headers: Mapping[str, str]) -> Judged | None:
    """Judge a page with a good status by what stands in it; None: nothing wrong with it."""
    short = len(text) < SHORT
    if _redirected_home(url, final_url):
        return PageState.GONE, "redirected to the front page"
    if short and (judged := _stand_in(final_url, title, text, head, headers)):
        return judged
    paywall = _paywall(text, head)
    if paywall:
        return PageState.PAYWALLED, paywall
    if len(text.strip()) < 20:
        built = (
            "no text without JavaScript" if _SCRIPT_ONLY.search(head) or "<script" in head else "no text in the page"
        )
        return PageState.NOT_TEXT, built
    return None


def _stand_in(final_url: str, title: str, text: str, head: str, headers: Mapping[str, str]) -> Judged | None:
    """A short page that stands in for the one that was asked for."""
    words = _CHALLENGE_WORDS.search(f"{title}\n{text[:600]}")
    mark = challenge_mark(headers, head)
    if words and (mark or len(text) < 600):
        return PageState.BLOCKED, f"challenge page ({words.group(0).lower()})"
    if mark and len(text) < 300:
        return PageState.BLOCKED, f"challenge page ({mark})"
    if (missing := _MISSING.search(title)) or (len(text) < 400 and (missing := _MISSING.search(text[:200]))):
        return PageState.GONE, f"says of itself that it is missing ({missing.group(0).lower()})"
    if _CONSENT_HOSTS.search(urlsplit(final_url).hostname or ""):
        return PageState.BLOCKED, "consent wall (host)"
    if len(text) < 800 and (consent := _CONSENT_WORDS.search(f"{title}\n{text[:400]}")):
        return PageState.BLOCKED, f"consent wall ({consent.group(0).lower()})"
    return None


def _paywall(text: str, head: str) -> str | None:
    if len(text) >= 2 * SHORT:
        return None
    if _NOT_FREE.search(head):
        return "the page says that it is not free to read"
    words = _PAYWALL_WORDS.search(text)
    return f"paywall ({words.group(0).lower()})" if words and len(text) < SHORT else None


def _redirected_home(url: str, final_url: str) -> bool:
    asked, got = urlsplit(url), urlsplit(final_url)
    deep = asked.path.strip("/").count("/") >= 1 or len(asked.path) > 12
    home = re.fullmatch(r"/?(index\.\w+|[a-z]{2}(-[a-z]{2})?/?)?", got.path) is not None and not got.query
    return deep and home and asked.path.rstrip("/") != got.path.rstrip("/")

"""Domain authoritativeness: what kind of institutions does the report lean on? (METRICS 6)

Code finds the distinct registrable domains of all cited and listed addresses; the judge scores each of them 1–10.
``DA = 100 · mean(s / 10)`` over distinct domains, and over citations beside it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from pydantic import BaseModel, Field

from ..core import Coverage, Outcome
from ..models import ChatModel, Message, ask, system, user
from ..reports.data import Report
from ..stats import mean, score_range
from ..tools import Toolbox, registrable_domain
from .base import FAILURES, Case, Results, Settings, first_reason, flags_of, lost, together
from .results import Item, MetricResult

VERSION = 1
RESULTS = Results("da", VERSION)

# One domain a call, and nothing of the report in it: so a domain gets the same score in every report of a run, whatever
# stands beside it, and the ledger pays for it once. The rubric is the common head; only the domain varies.
SYSTEM = "You rate the institutional reputation of web domains as sources of facts. Answer only in the form asked for."

QUESTION = """\
Kinds: government, academic, standards body, news, company, community, personal, unknown.
Scores for institutional reputation:
9-10 definitive: the body that sets, measures or publishes the facts itself, or a leading journal
7-8 high: an established institution with editorial or scientific control
4-6 moderate: a known company, trade press or well-kept community site
1-3 low: personal sites, content farms, anonymous or promotional sites, domains you have never heard of

Domain: {domain}
Its kind and its score?"""

Kind = Literal["government", "academic", "standards body", "news", "company", "community", "personal", "unknown"]


class Reputation(BaseModel):
    """The judge's answer on one domain."""

    kind: Kind
    score: int = Field(ge=1, le=10)


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


PUBLISHERS = _pairs(
    """
    10.1001=jamanetwork.com 10.1002=wiley.com 10.1007=springer.com 10.1016=sciencedirect.com
    10.1017=cambridge.org 10.1021=acs.org 10.1038=nature.com 10.1039=rsc.org 10.1056=nejm.org 10.1063=aip.org
    10.1073=pnas.org 10.1080=tandfonline.com 10.1086=uchicago.edu 10.1088=iop.org 10.1093=oup.com
    10.1098=royalsocietypublishing.org 10.1101=biorxiv.org 10.1103=aps.org 10.1109=ieee.org 10.1111=wiley.com
    10.1126=science.org 10.1136=bmj.com 10.1142=worldscientific.com 10.1145=acm.org 10.1161=ahajournals.org
    10.1162=mit.edu 10.1177=sagepub.com 10.1186=biomedcentral.com 10.1257=aeaweb.org 10.1371=plos.org
    10.1542=aap.org 10.1596=worldbank.org 10.17226=nationalacademies.org 10.1787=oecd.org 10.2139=ssrn.com
    10.2760=europa.eu 10.3386=nber.org 10.3389=frontiersin.org 10.3390=mdpi.com 10.48550=arxiv.org
    10.5281=zenodo.org 10.6028=nist.gov
    """
)
"""DOI prefix to the publisher's domain, for the prefixes that reports cite most."""


async def authoritativeness(case: Case, judge: ChatModel, toolbox: Toolbox, settings: Settings) -> MetricResult:
    """Score the domains that a report cites or lists. Fails when none of them could be scored."""
    del toolbox, settings
    cited = cited_domains(case.report)
    if not cited:
        return RESULTS.not_applicable("no_citations")
    known = [domain for domain in cited if domain]
    items = await together(_rated(domain, cited[domain], judge) for domain in known)
    return score([*items, *_addresses(case.report)], cited)


def cited_domains(report: Report) -> Counter[str]:
    """How often each domain is cited, in order of appearance; ``""`` counts addresses that have none (IP hosts).

    A source counts once for every mark that leads to it, and once if it is only listed.
    """
    marks = Counter(id for mark in report.marks for id in mark.sources)
    found: Counter[str] = Counter()
    for source in report.sources:
        if source.target:
            found[domain_of(source.target, source.doi) or ""] += max(1, marks[source.id])
    return found


def domain_of(target: str, doi: str | None = None) -> str | None:
    """The domain an address stands for: archives and redirectors unwrapped, a DOI as its publisher where known."""
    match = re.search(r"\b(10\.\d{4,5})/", doi or (target if "doi.org/" in target else ""))
    if match and "doi.org/" in target and match[1] in PUBLISHERS:
        return PUBLISHERS[match[1]]
    return registrable_domain(target)


async def _rated(domain: str, citations: int, judge: ChatModel) -> Item:
    messages: list[Message] = [system(SYSTEM), user(QUESTION.format(domain=domain))]
    try:
        asked = await ask(judge, messages, Reputation, max_tokens=40)
    except FAILURES as error:
        return lost(domain, domain, error, citations=citations)
    return Item(
        id=domain,
        text=domain,
        value=float(asked.value.score),
        reason=band(asked.value.score),
        calls=asked.calls,
        detail={"kind": asked.value.kind, "citations": citations},
    )


def band(score: int) -> str:
    """The name of a score's band."""
    if score >= 9:
        return "definitive"
    if score >= 7:
        return "high"
    return "moderate" if score >= 4 else "low"


def _addresses(report: Report) -> list[Item]:
    """Sources without a domain: named, of unknown kind, and not scored."""
    targets = (source.target for source in report.sources)
    bare = Counter(target for target in targets if target and not domain_of(target))
    return [
        Item(id=target, text=target, outcome=Outcome.UNDECIDED, reason="no domain", detail={"kind": "unknown"})
        for target in bare
    ]


def score(items: list[Item], cited: Counter[str]) -> MetricResult:
    """The result over domains."""
    rated = [(item.value, cited[item.id]) for item in items if item.value is not None]
    counts = {
        "domains": sum(1 for domain in cited if domain),
        "citations": sum(cited.values()),
        "without_domain": cited[""],
        "could_not_check": sum(item.outcome is Outcome.NOT_CHECKED for item in items),
    }
    if not rated:
        why = first_reason(items)
        return (
            RESULTS.failed(why, counts=counts, items=tuple(items))
            if why
            else RESULTS.not_applicable("no_domain", counts=counts, items=tuple(items))
        )
    values = [10 * value for value, _ in rated]
    coverage = Coverage(decided=len(rated), checked=len(rated) + counts["could_not_check"])
    per_citation = sum(10 * value * times for value, times in rated) / sum(times for _, times in rated)
    return RESULTS.scored(
        mean(values),
        interval=score_range(values),
        coverage=coverage,
        flags=flags_of(
            None,
            "thin" if 2 * coverage.decided < coverage.checked else None,
            "incomplete" if counts["could_not_check"] else None,
        ),
        parts={"by_citation": per_citation},
        counts=counts,
        items=tuple(items),
    )

"""Which sentences of the pages read may carry a key fact: found and ranked by code, for models that cannot rank.

A sentence counts the more, the better it matches a facet of the query, the more sites say the same, the younger its
page is, and the more it names. Facets take turns, so that each part of a query gets its facts.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..core import AsOf
from ..reports import content_words, numbers_in
from ..tools import best_passages, registrable_domain
from .drafts import SourceDraft, negated, same_fact, tidy
from .shelf import Read

WORDS = range(7, 41)
"""Length of a sentence, in words, that can carry a key fact and still makes a question one can read."""
HAN_LENGTH = range(12, 121)
PER_FACET = 30
ALIKE = 0.5
"""Share of the smaller sentence's words from which on two sites say much the same."""
AGREEING = 3
"""Sites beyond which more agreement counts no more."""
SOURCES = 2
"""Further pages kept as sources of one fact."""
FRESH = dt.timedelta(days=365)
"""Facts of pages up to this age come first: an older one may have been overtaken."""
UNDATED = 0.7
"""Weight of a page without a date."""
JOINED = 0.6
"""Weight of a sentence that joins two statements: one question cannot ask for both."""
CONTESTED = 0.5
"""Weight of a page for each of its sentences that other sites deny."""

_DANGLING = re.compile(
    # Sentences that start like this lean on the one before.
    r"^(?:it|this|that|these|those|they|he|she|both|such|here|there|then|but|and|or|so|because|also|its|their|his|her|"
    r"no\.|yes\.|however|therefore|instead|for this|in this|at this|first|second|third|fourth|one of|"
    r"even|for comparison)\b",
    re.IGNORECASE,
)
_EXPECTS = re.compile(
    r"\b(?:will|expect\w*|plan(?:s|ned)?|should|aims?|forecast\w*|scheduled|due)\b|预计|计划|将", re.IGNORECASE
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_JOINT = re.compile(r"[,，;；]\s*(?:and|but|while|whereas|although|which|so|而|但|并)\b", re.IGNORECASE)
_ARGUABLE = re.compile(
    r"\b(?:how|why|should|whether|compare|assess|evaluate|impact|effects?|risks?|likely|best|better|versus|vs|trade-?offs?"
    r"|recommend\w*|strateg\w+|outlook|causes?)\b|如何|为什么|为何|应该|应当|影响|比较|评估|风险|是否|原因|建议|前景",
    re.IGNORECASE,
)
_ARTICLES = frozenset(("the", "a", "an", "all", "some", "most", "many"))
_HAN = re.compile(r"[\u3400-\u9fff]")
_NAME = re.compile(r"(?<=[\s(])[A-Z][\w-]*|\b[A-Z]+[\w-]*\d[\w-]*|\b[A-Z]{2,}\b")
_CLAUSE = re.compile(r"[?？!！.。;；:：]|,\s|，|、|\band\b", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A sentence that may carry a key fact."""

    read: Read
    number: int
    facet: str
    """The part of the query that it speaks to."""
    score: float = 0.0
    also: tuple[SourceDraft, ...] = ()
    """Other pages that state the same."""
    words: frozenset[str] = field(default_factory=frozenset, compare=False)

    @property
    def text(self) -> str:
        """The sentence, on one line."""
        return tidy(self.read.sentence(self.number) or "")

    @property
    def site(self) -> str:
        """The site it stands on."""
        return registrable_domain(self.read.page.url) or self.read.page.url

    @property
    def source(self) -> SourceDraft:
        """Where it stands."""
        return SourceDraft(url=self.read.page.url, sentence=self.number)


def facets(prompt: str) -> list[str]:
    """The parts of a query: its clauses that say something, in order."""
    clauses = [tidy(clause) for clause in _CLAUSE.split(prompt)]
    told = [clause for clause in clauses if content_words(clause) and (len(clause.split()) > 2 or _HAN.search(clause))]
    return list(dict.fromkeys(told)) or [prompt]


def arguable(prompt: str, number: int) -> list[str]:
    """The parts of a query that ask for a judgement rather than for a fact come first."""
    return sorted(facets(prompt), key=lambda part: not _ARGUABLE.search(part))[:number]


def searches(prompt: str) -> list[str]:
    """What to search for: each part of the query with the words of its first part, which says what it is about."""
    first, *rest = facets(prompt)
    topic = " ".join(word for word in first.split() if content_words(word))
    return [first, *(f"{part} {topic}" for part in rest)]


def candidates(wishes: Sequence[str], reads: Sequence[Read], as_of: AsOf) -> list[Candidate]:
    """Sentences that can stand alone, best first, each fact once; the wishes take turns."""
    lists = [_for_facet(wish, reads) for wish in wishes]
    everything = list({(c.read.page.url, c.number): c for found in lists for c in found}.values())
    views = {(c.read.page.url, c.number): _views(c, everything) for c in everything}
    trust = _trust(everything, views)
    ranked = []
    for found in lists:
        kept = [
            replace(c, score=c.score * _weight(c, views[c.read.page.url, c.number].agree) * trust[c.read.page.url])
            for c in found
            if not views[c.read.page.url, c.number].denied and not overtaken(c.text, as_of)
        ]
        ranked.append(sorted(kept, key=lambda c: -c.score))
    pool = merged(list(_in_turn(ranked)))
    return sorted(pool, key=lambda c: not fresh(c.read, as_of))


def _for_facet(wish: str, reads: Sequence[Read]) -> list[Candidate]:
    """The best sentences for one facet, relevance in (0, 1]."""
    pages = {read.page.url: read for read in reads}
    passages = best_passages(wish, [read.page for read in reads], limit=PER_FACET, window=1)
    top = max((passage.score for passage in passages), default=1.0)
    found = [
        Candidate(read=pages[passage.url], number=number, facet=wish, score=passage.score / top)
        for passage in passages
        for number in pages[passage.url].overlapping(passage.start, passage.end)
    ]
    return [replace(c, words=_words(c.text)) for c in found if stands_alone(c.text)]


def stands_alone(sentence: str) -> bool:
    """Long enough, a statement, and understood without the sentence before it."""
    if sentence.endswith(("?", "？", ":", "：")) or _DANGLING.match(sentence):
        return False
    if _HAN.search(sentence):
        return len(sentence) in HAN_LENGTH
    words = sentence.split()
    if len(words) not in WORDS:
        return False
    place = sentence
    if words[0].lower() in _ARTICLES and " of " not in " ".join(words[:5]):
        # "The document is addressed to states": which one? A name or number near the start tells.
        place = " ".join(words[:8])
    return bool(_NAME.search(place, 1) or numbers_in(place))


class _Views(NamedTuple):
    """What other sites say to a sentence."""

    agree: int
    deny: int

    @property
    def denied(self) -> bool:
        """At least as many sites deny it as state it, its own among them."""
        return self.deny > self.agree


def _views(candidate: Candidate, everything: Sequence[Candidate]) -> _Views:
    alike = [other for other in everything if other.site != candidate.site and _alike(candidate, other)]
    denies = negated(candidate.text)
    return _Views(
        agree=len({other.site for other in alike if negated(other.text) == denies}),
        deny=len({other.site for other in alike if negated(other.text) != denies}),
    )


def _trust(everything: Sequence[Candidate], views: Mapping[tuple[str, int], _Views]) -> dict[str, float]:
    """Weight of each page: less for each of its sentences that the others deny."""
    trust = {candidate.read.page.url: 1.0 for candidate in everything}
    for (url, _), seen in views.items():
        if seen.denied:
            trust[url] *= CONTESTED
    return trust


def overtaken(sentence: str, as_of: AsOf) -> bool:
    """Whether the sentence only expects what time has overtaken: all its years lie before the as-of year."""
    years = [int(year) for year in _YEAR.findall(sentence)]
    return bool(years) and max(years) < as_of.day.year and bool(_EXPECTS.search(sentence))


def _weight(candidate: Candidate, agree: int) -> float:
    named = 1.2 if numbers_in(candidate.text) else 1.0
    joined = JOINED if _JOINT.search(candidate.text) else 1.0
    dated = UNDATED if candidate.read.page.published is None else 1.0
    return named * joined * dated * (1 + 0.4 * min(agree, AGREEING))


def fresh(read: Read, as_of: AsOf) -> bool:
    """Whether the page is young enough, or undated."""
    published = read.page.published
    return published is None or as_of.day - published <= FRESH


def _words(text: str) -> frozenset[str]:
    return frozenset([*content_words(text), *numbers_in(text)])


def _alike(one: Candidate, other: Candidate) -> bool:
    smaller = min(len(one.words), len(other.words))
    return smaller > 2 and len(one.words & other.words) / smaller >= ALIKE


def _in_turn(lists: Sequence[Sequence[Candidate]]) -> Iterator[Candidate]:
    """First of each list, second of each list …, each sentence once."""
    seen = set()
    for place in range(max(map(len, lists), default=0)):
        for found in lists:
            if place < len(found) and (key := (found[place].read.page.url, found[place].number)) not in seen:
                seen.add(key)
                yield found[place]


def merged(pool: Sequence[Candidate]) -> list[Candidate]:
    """The pool with each fact once; other pages that state it become further sources."""
    kept: list[Candidate] = []
    for candidate in pool:
        for place, earlier in enumerate(kept):
            if same_fact(candidate.text, earlier.text):
                if candidate.site != earlier.site and len(earlier.also) < SOURCES:
                    kept[place] = replace(earlier, also=(*earlier.also, candidate.source))
                break
        else:
            kept.append(candidate)
    return kept

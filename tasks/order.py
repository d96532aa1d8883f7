"""What is asked of task construction, checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from ..core import AsOf, Frozen
from ..errors import InputError, UserError
from .data import Cell
from .languages import tongue

DOMAINS = (
    "Transportation",
    "Politics",
    "Finance & Business",
    "History",
    "Software Development",
    "Industrial",
    "Sports & Fitness",
    "Health",
    "Science & Technology",
    "Education & Jobs",
)
"""The ten of DeepResearchEval."""
PERSONAS, CANDIDATES = 5, 4
"""Of a domain and language, and of a persona; as DeepResearchEval."""
LONGEST_DOMAIN = 80
"""Characters."""


class Order(Frozen):
    """Task construction as asked for."""

    domains: tuple[str, ...] = DOMAINS
    languages: tuple[str, ...] = ("en",)
    personas: int = Field(default=PERSONAS, ge=1)
    """Of a domain and language."""
    candidates: int = Field(default=CANDIDATES, ge=1)
    """Of a persona."""
    keep: int = Field(ge=1)
    """Tasks wanted of a domain and language in the end."""
    judge: str
    as_of: AsOf

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every domain in every language."""
        return tuple(Cell(domain=domain, language=tag) for domain in self.domains for tag in self.languages)

    @property
    def expected(self) -> int:
        """Candidates in all."""
        return len(self.cells) * self.personas * self.candidates

    @property
    def run(self) -> str:
        """Name of the run in the ledger: the same for the same work, whatever is kept of it."""
        text = self.model_dump_json(exclude={"keep"})
        return f"tasks-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def order_of(
    *,
    judge: str,
    as_of: AsOf,
    domains: str | None = None,
    languages: str | None = None,
    personas: int | None = None,
    candidates: int | None = None,
    keep: int | None = None,
) -> Order:
    """Check the wishes and fill in the defaults; ``keep``: by default half of the candidates. Raises UserError."""
    people, each = _count(personas, PERSONAS, "personas"), _count(candidates, CANDIDATES, "candidates")
    wanted = _count(keep, max(1, people * each // 2), "keep")
    if wanted > people * each:
        raise UserError(f"--keep {wanted}: {people} personas with {each} candidates bring {people * each} at most")
    return Order(
        domains=DOMAINS if domains is None else read_domains(domains),
        languages=read_languages(languages or "en"),
        personas=people,
        candidates=each,
        keep=wanted,
        judge=judge,
        as_of=as_of,
    )


def read_domains(text: str) -> tuple[str, ...]:
    """Domains, split by commas, or one a line of ``@FILE``. Raises UserError."""
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            names = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the domains cannot be read ({error})", path=path) from None
    else:
        names = text.split(",")
    names = [" ".join(name.split()) for name in names if name.strip()]
    _each_once(names, "domain", "--domains")
    for name in names:
        if len(name) > LONGEST_DOMAIN or not name.isprintable():
            raise UserError(f"--domains: {name[:40]!r} … is no name of a domain (at most {LONGEST_DOMAIN} characters)")
    return tuple(names)


def read_languages(text: str) -> tuple[str, ...]:
    """BCP 47 tags, split by commas. Raises UserError for one that code cannot check."""
    tags = [tag.strip() for tag in text.split(",") if tag.strip()]
    _each_once(tags, "language", "--language")
    for tag in tags:
        tongue(tag)
    return tuple(tags)


def _each_once(names: Sequence[str], what: str, option: str) -> None:
    if not names:
        raise UserError(f"{option} names no {what}")
    folded = [name.casefold() for name in names]
    double = next((name for name in names if folded.count(name.casefold()) > 1), None)
    if double is not None:
        raise UserError(f"{option} names the {what} {double!r} twice")


def _count(value: int | None, default: int, name: str) -> int:
    if value is not None and value < 1:
        raise UserError(f"--{name} must be at least 1, not {value}")
    return default if value is None else value

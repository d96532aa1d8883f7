"""True claims and their false twins, made by code: one number, date, organisation or negation is changed.

Nothing is asked of a model and every change is written down, so that a person can read the whole data set.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from ..core import Frozen, Json, Task
from ..errors import InputError, UserError
from ..ledger import digest

Change = Literal["number", "date", "entity", "negation", "given"]

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d\b(?![-.]\d)")
_MONTH = re.compile(rf"\b(?P<month>{'|'.join(MONTHS)})\b(?= (?P<year>\d{{4}}))")
_NAMED = re.compile(r"\w*[A-Z]\w*[A-Z]\w* $")
"""Before a number that is a part of a name: *FIPS 203*, *OpenSSL 3.5*."""
_BOUNDED = r"(?<!fewer than )(?<!less than )(?<!more than )(?<!at least )(?<!at most )(?<!up to )(?<!over )(?<!under )"
_AMOUNT = re.compile(rf"(?<![\w.-]){_BOUNDED}\d+(?:,\d{{3}})*(?:\.\d+)?(?=(?: percent|%| [a-z]))")
_AGENT = re.compile(
    r"\b[A-Z]{3,}\b(?= (?:published|chose|names|named|requires|released|announced|expects|estimated|asks|says)\b)"
)
_NEGATIONS = (
    (re.compile(r"\bhas not been\b"), "has been"),
    (re.compile(r"\bhave not been\b"), "have been"),
    (re.compile(r"\bdoes not have to be\b"), "has to be"),
    (re.compile(r"\bdo not have to be\b"), "have to be"),
    (re.compile(r"\bdo not (\w+) (.+?) yet\b"), r"already \1 \2"),
    (re.compile(r"\bis not\b"), "is"),
    (re.compile(r"\bare not\b"), "are"),
)
FACTORS = (0.3, 0.5, 1.8, 2.5)
"""What an amount is multiplied with: far enough that rounding explains nothing."""


class Twin(Frozen):
    """A true claim and a false one that looks like it."""

    id: str = Field(min_length=1)
    true: str = Field(min_length=1)
    false: str = Field(min_length=1)
    change: Change = "given"
    what: str = ""
    """``old -> new``."""
    true_url: str | None = None
    """A page that says the true one."""
    false_url: str | None = None
    """A page that says the false one. None: the study writes one, so that the citation agrees with the claim."""


class TwinSet(Frozen):
    """The data set of the corruption study."""

    schema_version: int = 1
    seed: int
    task: Task
    twins: tuple[Twin, ...]
    left_out: tuple[str, ...] = ()
    """Ids of facts in which code found nothing to change."""

    @property
    def digest(self) -> str:
        """SHA-256 over all of it."""
        return digest(self.model_dump(mode="json"))


def twins_of(facts: Sequence[Mapping[str, Json]], task: Task, *, seed: int) -> TwinSet:
    """False twins of ``facts`` (``id``, ``fact``, ``urls``), shuffled; the same seed always gives the same set."""
    rng = random.Random(seed)
    agents = sorted({found for fact in facts for found in _AGENT.findall(str(fact["fact"]))})
    twins, left = [], []
    for fact in facts:
        options = list(changes(str(fact["fact"]), agents, rng, today=task.as_of or dt.datetime.now(dt.UTC).date()))
        urls = fact.get("urls")
        if not options:
            left.append(str(fact["id"]))
            continue
        kind, false, what = rng.choice(options)
        url = str(urls[0]) if isinstance(urls, list) and urls else None
        twins.append(
            Twin(id=str(fact["id"]), true=str(fact["fact"]), false=false, change=kind, what=what, true_url=url)
        )
    rng.shuffle(twins)
    return TwinSet(seed=seed, task=task, twins=tuple(twins), left_out=tuple(left))


def changes(
    text: str, agents: Sequence[str], rng: random.Random, *, today: dt.date
) -> Iterator[tuple[Change, str, str]]:
    """Every change of ``text`` that code knows how to make, each as (kind, false text, what was done).

    What lies before ``today`` stays before it, so that no false twin gives itself away.
    """
    makers: tuple[tuple[Change, re.Pattern[str], Callable[[re.Match[str]], Sequence[str]]], ...] = (
        ("date", _YEAR, lambda found: _years(int(found[0]), today)),
        ("date", _MONTH, lambda found: _months(found, today)),
        ("number", _AMOUNT, lambda found: _amounts(found, text)),
        ("entity", _AGENT, lambda found: [agent for agent in agents if agent != found[0]]),
    )
    for kind, pattern, make in makers:
        for found in pattern.finditer(text):
            options = [new for new in make(found) if not re.search(rf"\b{re.escape(new)}\b", text)]
            if options:
                new = rng.choice(options)
                yield kind, text[: found.start()] + new + text[found.end() :], f"{found[0]} -> {new}"
    for negation, affirmed in _NEGATIONS:
        if negation.search(text):
            yield "negation", negation.sub(affirmed, text, count=1), "negation turned"


def _years(year: int, today: dt.date) -> list[str]:
    shifts = (-4, -3, -2) if year <= today.year else (-4, -3, 3, 5)
    return [str(year + shift) for shift in shifts]


def _months(found: re.Match[str], today: dt.date) -> list[str]:
    """Months at least three away, and none that would lie in the future."""
    place, year = MONTHS.index(found["month"]), int(found["year"])
    last = today.month if year == today.year else 12
    return [name for number, name in enumerate(MONTHS) if abs(number - place) >= 3 and number < last]


def _amounts(found: re.Match[str], text: str) -> list[str]:
    """Other amounts with as many decimals, grouped in the same way; shares stay below 100."""
    old = found[0]
    if _YEAR.fullmatch(old) or _NAMED.search(text[: found.start()]):
        return []
    decimals = len(old.partition(".")[2])
    value = float(old.replace(",", ""))
    options = [round(value * factor, decimals) for factor in FACTORS]
    form = f"{',' if ',' in old else ''}.{decimals}f"
    return [format(new, form) for new in options if new not in (0, value) and (value > 100 or new <= 100)]


# --- files -----------------------------------------------------------------------------------------------------------


def load_twins(path: Path, task: Task | None, *, seed: int) -> TwinSet:
    """A data set as this study writes it, or JSONL of ``true`` and ``false`` (``id``, ``true_url``, ``false_url``).

    Raises InputError with line or field.
    """
    if not path.exists():
        raise InputError("no such file", path=path)
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        try:
            return TwinSet.model_validate_json(text)
        except ValidationError as error:
            raise InputError(*_first(error), path=path) from None
    twins = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            twins.append(Twin.model_validate({"id": f"p{number}", **row}))
        except ValidationError as error:
            raise InputError(*_first(error), path=path, line=number) from None
        except (ValueError, TypeError, RecursionError):
            raise InputError("not a JSON object", path=path, line=number) from None
    if task is None:
        raise UserError("say what the claims are about with --query: a JSONL data set has no query")
    if len({twin.id for twin in twins}) < len(twins):
        raise InputError("two claims have the same id", path=path)
    random.Random(seed).shuffle(twins)
    return TwinSet(seed=seed, task=task, twins=tuple(twins))


def _first(error: ValidationError) -> tuple[str]:
    first = error.errors()[0]
    return (f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg'].lower()}",)

"""Labels that people gave: public sets in their own formats, and plain CSV or JSONL.

A set holds *pairs* (a claim, a text, what people say the text does to the claim) or *preferences* (a query, two
answers, which one people prefer). Which it is, and in which format, is told by the fields of the file.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ..core import Frozen
from ..errors import InputError
from ..ledger import digest

SUPPORTS, PARTLY, REFUTES, NEITHER = "supports", "partly", "refutes", "neither"
SECOND, TIE, FIRST = "second", "tie", "first"
WORDS = {
    SUPPORTS: ("supports", "supported", "support", "entailment", "entails", "complete", "completely-support", "yes"),
    PARTLY: ("partly", "partly_supported", "partially_supported", "partial", "incomplete", "partially-support"),
    REFUTES: ("refutes", "refuted", "refute", "contradicted", "contradicts", "contradiction", "contradict"),
    NEITHER: ("neither", "not_supported", "neutral", "nei", "not_enough_info", "missing", "irrelevant", "no"),
    SECOND: ("second", "b", "2"),
    FIRST: ("first", "a", "1"),
    TIE: ("tie", "equal", "same", "0"),
}
"""Our label to the words that files use for it, in lower case with ``_`` for a space."""

Kind = Literal["passage", "page", "preference"]
"""``passage``: judged as Factuality does; ``page``: as CI does a cited page; ``preference``: as RACE compares."""


WANTED = "claim, evidence, label, or query, first, second, preference"
"""The fields of plain files, in words."""


class Row(dict[str, Any]):
    """A row of a file, and the line that it begins on; None in a JSON list, which has no lines of its own."""

    line: int | None = None


class Pair(Frozen):
    """A claim and a text, labelled."""

    id: str
    claim: str = Field(min_length=1)
    evidence: str = Field(min_length=1)
    label: str
    group: str
    """Pairs of one group (an answer, a page) are not independent and are drawn together."""


class Preference(Frozen):
    """Two answers to a query, and which one people prefer."""

    id: str
    query: str = Field(min_length=1)
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)
    label: str
    """``first``, ``second`` or ``tie``: of several people the sign of their sum."""
    group: str


Example = Pair | Preference


class LabelSet(Frozen):
    """A labelled set, or a sample of one."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    """Those that people used, in the order of :data:`WORDS`."""
    examples: tuple[Example, ...]
    left_out: dict[str, int] = Field(default_factory=dict)
    """Rows that say nothing here, by reason."""
    sampled: str = ""
    """How the sample was drawn; empty: all of it."""

    @property
    def options(self) -> tuple[str, ...]:
        """What a judge may say: the labels that people used, and *neither* for pairs whether they did or not."""
        more = () if self.kind == "preference" or NEITHER in self.labels else (NEITHER,)
        return (*self.labels, *more)

    @property
    def digest(self) -> str:
        """SHA-256 over all examples with their labels."""
        return digest([example.model_dump(mode="json") for example in self.examples])

    def counts(self) -> dict[str, int]:
        """Label to its number of examples."""
        found = Counter(example.label for example in self.examples)
        return {label: found[label] for label in self.options}


# --- reading ---------------------------------------------------------------------------------------------------------


def load_labels(path: Path | str, *, kind: Kind | None = None) -> LabelSet:
    """Read a labelled set; the format is told by its fields.

    Known: WiCE, Factcheck-Bench, ExpertQA and RAGChecker as published; CSV or JSONL of ``claim``, ``evidence``,
    ``label`` (and ``id``, ``group``), or of ``query``, ``first``, ``second``, ``preference``. ``kind``: how pairs are
    judged, where it is not what the format implies. Raises InputError with the line and the field.
    """
    place = Path(path)
    rows = read_rows(place)
    if not rows:
        raise InputError("no rows", path=place)
    known = next((one for one in FORMATS if one[1] <= set(rows[0])), None)
    if known is None:
        fields = ", ".join(map(str, sorted(rows[0])))[:200]
        raise InputError(f"no known format: its fields are {fields}; plain files have {WANTED}", path=place)
    name, _, implied, read = known
    left_out: Counter[str] = Counter()
    try:
        examples = tuple(read(rows, left_out, place))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"looks like {name} and is not in its format ({type(error).__name__}: {error})"[:200], path=place
        ) from None
    if not examples:
        raise InputError(f"no row that can be used ({dict(left_out)})", path=place)
    if kind is not None and (kind == "preference") != (implied == "preference"):
        holds = "preferences" if implied == "preference" else "pairs"
        raise InputError(f"holds {holds}, not what --as {kind} needs", path=place)
    used = {example.label for example in examples}
    chosen = kind or ("page" if implied == "passage" and PARTLY in used else implied)
    return LabelSet(
        name=f"{name} ({place.name})",
        kind=chosen,
        labels=tuple(label for label in WORDS if label in used),
        examples=examples,
        left_out=dict(left_out),
    )


def sample(labels: LabelSet, *, most: int | None, part: str = "all", seed: int = 7) -> LabelSet:
    """At most ``most`` examples, the labels mixed as evenly as they go, the same ones for the same seed.

    ``part``: ``dev`` or ``test``, the halves by a digest of the claim or query, so that none is in both; or ``all``.
    Raises InputError when nothing is left.
    """
    mixed = [example for example in labels.examples if part in ("all", half(example))]
    if not mixed:
        raise InputError(f"no example in the part {part!r} of {labels.name}")
    random.Random(seed).shuffle(mixed)
    if most is not None and most < len(mixed):
        seen: Counter[str] = Counter()
        ranked = []
        for number, example in enumerate(mixed):
            seen[example.label] += 1
            ranked.append((seen[example.label], number, example))
        mixed = [example for _, _, example in sorted(ranked, key=lambda entry: entry[:2])][:most]
    words = [] if part == "all" else [f"the {part} half"]
    if len(mixed) < len(labels.examples) and most is not None:
        words.append(f"{len(mixed)} drawn with seed {seed}, labels mixed evenly")
    used = {example.label for example in mixed}
    shown = tuple(label for label in labels.labels if label in used)
    return labels.model_copy(update={"examples": tuple(mixed), "labels": shown, "sampled": ", ".join(words)})


def half(example: Example) -> str:
    """``dev`` or ``test``."""
    text = example.claim if isinstance(example, Pair) else example.query
    return "test" if sha256(text.encode()).digest()[0] % 2 else "dev"


def read_rows(path: Path) -> list[Row]:
    """Rows of a CSV, TSV, JSON or JSONL file, each with its line; CSV by comma, semicolon or tab. Raises InputError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path) from None
    except UnicodeDecodeError:
        raise InputError("cannot be read as UTF-8: save it with that encoding", path=path) from None
    if path.suffix.lower() in (".csv", ".tsv"):
        return list(_csv_rows(text, path))
    if text.lstrip().startswith("[") and (whole := _whole_list(text, path)) is not None:
        return [_row(value, path, None, f"entry {number}: ") for number, value in enumerate(whole, 1)]
    lines = enumerate(text.splitlines(), 1)
    return [_row(_json(line, path, number), path, number) for number, line in lines if line.strip()]


def _csv_rows(text: str, path: Path) -> Iterator[Row]:
    head = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    line = 2
    try:
        for cells in reader:
            row = Row({str(name).strip().lower(): value or "" for name, value in cells.items() if name})
            row.line, line = line, reader.line_num + 1
            yield row
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", path=path, line=line) from None


def _whole_list(text: str, path: Path) -> list[Any] | None:
    """The list that a JSON file is; None where its first line is a value of its own, as in JSONL."""
    first, _, rest = text.strip().partition("\n")
    if rest.strip():
        with suppress(ValueError, RecursionError):
            json.loads(first)
            return None
    return list(_json(text, path, None))


def _json(text: str, path: Path, line: int | None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON ({str(error)[:80]})", path=path, line=line) from None


def _row(value: Any, path: Path, line: int | None, entry: str = "") -> Row:
    if not isinstance(value, dict):
        shown = json.dumps(value, ensure_ascii=False)[:40]
        raise InputError(f'{entry}must be an object such as {{"claim": …}}, not {shown}', path=path, line=line)
    row = Row(value)
    row.line = line
    return row


def label_of(word: object, allowed: Sequence[str]) -> str | None:
    """Our label for a word of a file; None where it is none of those allowed."""
    plain = re.sub(r"\s+", "_", str(word).strip().lower())
    return next((label for label in allowed if plain in WORDS[label]), None)


# --- formats ---------------------------------------------------------------------------------------------------------

Rows = Sequence[Row]
STANCES = (SUPPORTS, PARTLY, REFUTES, NEITHER)


def _wice(rows: Rows, left_out: Counter[str], path: Path) -> Iterator[Pair]:
    del left_out
    for number, row in enumerate(rows, 1):
        label = label_of(row["label"], STANCES)
        if label is None:
            raise InputError(f"no such label: {str(row['label'])[:60]!r}", path=path, line=row.line, field="label")
        evidence = "\n".join(map(str, row["evidence"]))
        yield Pair(id=str(number), claim=row["claim"], evidence=evidence, label=label, group=str(number))


def _factcheck(rows: Rows, left_out: Counter[str], path: Path) -> Iterator[Pair]:
    """Claims with retrieved passages; a stance for each. Partial support is no stance of the three and left out."""
    del path
    for number, row in enumerate(rows, 1):
        for name, sentence in row["sentences"].items():
            stances = sentence.get("stance_claim_autoEvid") or []
            triples = zip(sentence["claims"], sentence["auto_evidence"], stances, strict=False)
            for at, (claim, texts, given) in enumerate(triples):
                for place, (text, word) in enumerate(zip(texts, given, strict=False)):
                    label = label_of(word, STANCES)
                    if label in (None, PARTLY) or not str(text).strip():
                        left_out["partial support" if label else "no stance"] += 1
                        continue
                    id = f"{number}.{name}.{at}.{place}"
                    yield Pair(id=id, claim=claim, evidence=text, label=label or "", group=str(number))


def _expertqa(rows: Rows, left_out: Counter[str], path: Path) -> Iterator[Pair]:
    """Claims with the text that is cited for them; incomplete and partial support are one label."""
    del path
    for number, row in enumerate(rows, 1):
        for system, answer in row["answers"].items():
            for at, claim in enumerate(answer["claims"]):
                label = label_of(claim.get("support"), (SUPPORTS, PARTLY, NEITHER))
                texts = [re.sub(r"^\[\d+\]\s*\S+\s*", "", str(text)).strip() for text in claim.get("evidence") or ()]
                text = "\n\n".join(text for text in texts if text)
                if label is None or not text:
                    left_out["no text of the source" if label else "no label"] += 1
                    continue
                stated = re.sub(r"\s*\[\d+\]", "", claim["claim_string"]).strip()
                group = f"{number}.{system}"
                yield Pair(id=f"{group}.{at}", claim=stated, evidence=text, label=label, group=group)


def _ragchecker(rows: Rows, left_out: Counter[str], path: Path) -> Iterator[Preference]:
    """Answer pairs, each rated by two people from -2 to 2, above 0 for the second answer."""
    del left_out, path
    pairs: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        models = (row["model1"]["model_name"], row["model2"]["model_name"])
        pairs.setdefault((str(row["dataset"]), str(row["query_id"]), *models), []).append(row)
    for names, rated in pairs.items():
        total = sum(int(row["overall_label"]) for row in rated)
        label = TIE if total == 0 else SECOND if total > 0 else FIRST
        first, second = rated[0]["model1"]["response"], rated[0]["model2"]["response"]
        yield Preference(
            id="/".join(names), query=rated[0]["query"], first=first, second=second, label=label, group=names[1]
        )


def _plain_pairs(rows: Rows, left_out: Counter[str], path: Path) -> Iterator[Pair]:
    del left_out
    for number, row in enumerate(rows, 1):
        evidence = "\n".join(map(str, row["evidence"])) if isinstance(row["evidence"], list) else row["evidence"]
        fields = {"claim": row["claim"], "evidence": evidence, "id": row.get("id") or number}
        yield Pair(**_common(fields, row, STANCES, "label", number, path))


def _plain_preferences(rows: Rows, left_out: Counter[str], path: Path) -> Iterator[Preference]:
    del left_out
    for number, row in enumerate(rows, 1):
        fields = {name: row[name] for name in ("query", "first", "second")} | {"id": row.get("id") or number}
        yield Preference(**_common(fields, row, (FIRST, SECOND, TIE), "preference", number, path))


def _common(
    fields: dict[str, Any], row: Row, allowed: Sequence[str], name: str, number: int, path: Path
) -> dict[str, str]:
    label, entry = label_of(row[name], allowed), "" if row.line else f"entry {number}: "
    if label is None:
        words = ", ".join(allowed)
        raise InputError(f"{entry}{str(row[name])[:60]!r} is none of {words}", path=path, line=row.line, field=name)
    empty = next((field for field, value in fields.items() if not str(value).strip()), None)
    if empty:
        raise InputError(f"{entry}is empty", path=path, line=row.line, field=empty)
    return {field: str(value) for field, value in fields.items()} | {
        "label": label,
        "group": str(row.get("group") or fields["id"]),
    }


Reader = Callable[[Rows, "Counter[str]", Path], Iterable[Example]]
FORMATS: tuple[tuple[str, frozenset[str], Kind, Reader], ...] = (
    ("WiCE", frozenset({"claim", "evidence", "label", "supporting_sentences"}), "page", _wice),
    ("Factcheck-Bench", frozenset({"response", "sentences"}), "passage", _factcheck),
    ("ExpertQA", frozenset({"question", "answers"}), "page", _expertqa),
    ("RAGChecker", frozenset({"model1", "model2", "overall_label"}), "preference", _ragchecker),
    ("pairs", frozenset({"claim", "evidence", "label"}), "passage", _plain_pairs),
    ("preferences", frozenset({"query", "first", "second", "preference"}), "preference", _plain_preferences),
)
"""Name, fields that tell it, what it holds, how it is read."""

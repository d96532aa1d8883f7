"""Reports inside JSON, in the shapes of the benches and of common exports.

DeepResearch Bench (``id, prompt, article``), DeepResearchEval (``entries[0].response``), ResearcherBench
(``id, question, response``), MiroEval (``rewritten_query, response, process``), LangSmith and LangChain
(``inputs``/``outputs``, messages), chat completions and responses (``choices``, ``output``), and plain objects with a
query and an answer under their usual names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from .data import Source, SourceKind
from .inline import LINK_TARGET, LINK_TEXT
from .text import scalar_json, squeeze
from .urls import BARE_URL, host_of, normalise_url, trim_url

TEXTS = ("article", "response", "final_report", "report", "answer", "final_answer", "output", "outputs", "result", (
    "content"
),
         "completion", "generated_report", "generation", "prediction", "markdown", "text", "choices", (
             "messages"
         ))  # fmt: skip
PROMPTS = ("prompt", "rewritten_query", "question", "query", "user_query", "deep_research_query", "research_question", (
    "instruction"
),
           "input", "inputs", "task", "messages")  # fmt: skip
IDS = (
    "id",
    "task_id",
    "query_id",
    "qid",
    "sample_id",
    "question_id",
    "example_id",
    "reference_example_id",
    "uid",
    "index",
)
SOURCES = ("deep_research_sources", "sources", "citations", "references", "search_results", "source_urls", "urls")
_LISTS = ("data", "results", "reports", "items", "runs", "examples", "records", "rows", "queries", "tasks")


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a JSON or JSONL file, with the place it stands at."""

    value: Mapping[str, Any]
    line: int | None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Loose:
    """A report as it was found in a file."""

    text: str
    task_id: str | None = None
    prompt: str | None = None
    listed: tuple[Source, ...] = ()
    line: int | None = None
    origin: str = field(default="", compare=False)


def parse_jsonl(text: str, path: Path) -> list[Record]:
    """The objects of a JSONL file. Raises InputError with the line."""
    return list(iter_jsonl(text, path))


def iter_jsonl(text: str, path: Path) -> Iterator[Record]:
    """The same one at a time."""
    number = start = found = 0
    while start <= len(text):
        end = text.find("\n", start)
        line, start = text[start : end if end >= 0 else None], end + 1 if end >= 0 else len(text) + 1
        number += 1
        if line.strip():
            found += 1
            yield Record(_object(_load(line, path, number), path, number), number)
    if not found:
        raise InputError("holds no record", path=path)


def parse_json(text: str, path: Path) -> list[Record]:
    """The objects of a JSON file: one, a list, a list under a usual name, or objects by id. Raises InputError."""
    value = _load(text, path, None)
    if isinstance(value, list):
        return [Record(_object(item, path, None, f"[{i}]"), None, None) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        raise InputError("neither an object nor a list of objects", path=path)
    if not any(name in value for name in (*TEXTS, "entries", *PROMPTS)):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                return [Record(_object(v, path, None, f"{name}[{i}]"), None) for i, v in enumerate(value[name])]
        if value and all(isinstance(item, dict) for item in value.values()):
            return [Record(item, None, key) for key, item in value.items()]
    return [Record(value, None)]


_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a character beyond the first 65,536, as JSON writes it: in a pair, or alone and no character at all."""


def _load(text: str, path: Path, line: int | None) -> Any:
    try:
        value = json.loads(text)
        return scalar_json(value) if _ESCAPED.search(text) else value
    except json.JSONDecodeError as error:
        place = line if line is not None else error.lineno
        raise InputError(f"not JSON: {error.msg} (column {error.colno})", path=path, line=place) from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"not usable JSON: {error}", path=path, line=line) from None


def _object(value: Any, path: Path, line: int | None, where: str | None = None) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"an object is needed, this is {type(value).__name__}", path=path, line=line, field=where)
    return value


def loose_report(record: Record, path: Path) -> Loose:
    """The report in a record. Raises InputError that names the line and the field."""
    value = record.value
    entries = value.get("entries")
    if isinstance(entries, list):
        if not entries or not isinstance(entries[0], dict):
            raise InputError("the list has no entry with a report", path=path, line=record.line, field="entries")
        inner: Mapping[str, Any] = {**{k: v for k, v in value.items() if k != "entries"}, **entries[0]}
        return _loose(inner, record, path, "entries[0].")
    return _loose(value, record, path, "")


def _loose(value: Mapping[str, Any], record: Record, path: Path, prefix: str) -> Loose:
    name = next((n for n in TEXTS if value.get(n) not in (None, "", [], {})), None)
    if name is None:
        empty = next((n for n in TEXTS if n in value), None)
        what = "the report is empty" if empty else f"no report in this record (fields: {', '.join(list(value)[:8])})"
        raise InputError(what, path=path, line=record.line, field=prefix + empty if empty else None)
    text = _text_of(value[name], depth=0)
    if not text or not text.strip():
        raise InputError("the report is empty or no text", path=path, line=record.line, field=prefix + name)
    prompt = next((p for n in PROMPTS if n != name or n == "messages" for p in [_prompt_of(value.get(n))] if p), None)
    listed = [s for n in SOURCES if n != name for s in listed_sources(value.get(n))] + _annotations(value)
    return Loose(text, record_id(value) or record.key, prompt, tuple(_unique(listed)), record.line)


def record_id(value: Mapping[str, Any]) -> str | None:
    """The task's id in a record, as text."""
    outputs = (value.get("metadata"), value.get("inputs"))
    for holder in (value, *(h for h in outputs if isinstance(h, dict))):
        names = [n for n in IDS if not (holder is value and n == "id" and ("inputs" in value or "query_id" in value))]
        for name in names:
            found = holder.get(name)
            if isinstance(found, int | str) and not isinstance(found, bool) and str(found).strip():
                return str(found).strip()
    found = value.get("id")
    return str(found).strip() if isinstance(found, int | str) and str(found).strip() else None


def _text_of(value: Any, depth: int) -> str | None:
    """The longest way in: a text, a message's content, the last answer of a conversation."""
    if isinstance(value, str):
        return value
    if depth > 8:
        return None
    if isinstance(value, list):
        return _from_list(value, depth)
    if isinstance(value, dict):
        if isinstance(value.get("kwargs"), dict):
            return _text_of(value["kwargs"], depth + 1)
        for name in ("message", *TEXTS):
            if value.get(name):
                return _text_of(value[name], depth + 1)
        texts = [v for v in value.values() if isinstance(v, str)]
        return texts[0] if len(texts) == 1 else None
    return None


def _from_list(items: Sequence[Any], depth: int) -> str | None:
    parts = [p for p in items if isinstance(p, dict) and p.get("type") in ("text", "output_text")]
    if parts:
        return "".join(str(p.get("text", "")) for p in parts)
    for item in reversed(items):
        if isinstance(item, dict) and _role(item) in ("user", "system", "tool", "human", "function"):
            continue
        if isinstance(item, dict) and item.get("type") in ("reasoning", "web_search_call", "function_call", "tool_use"):
            continue
        if found := _text_of(item, depth + 1):
            return found
    return None


def _role(item: Mapping[str, Any]) -> str:
    role = item.get("role") or item.get("type") or ""
    if isinstance(item.get("id"), list) and item["id"]:
        role = str(item["id"][-1]).removesuffix("MessageChunk").removesuffix("Message")
    return str(role).lower()


def _prompt_of(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, dict):
        return next((p for n in PROMPTS for p in [_prompt_of(value.get(n))] if p), None)
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and _role(item) in ("user", "human"):
                inner = item.get("kwargs") if isinstance(item.get("kwargs"), dict) else item
                return _text_of(inner, 0)
    return None


_ENTRY = re.compile(rf"\[({LINK_TEXT})\]\(({LINK_TARGET})\)", re.DOTALL)
_URL = re.compile(BARE_URL)
_UNUSED = re.compile(r"Sources read but not used in the report")


def listed_sources(value: Any) -> list[Source]:
    """Sources that come beside a report: addresses, objects with an address and a title, or a panel's text."""
    if isinstance(value, str):
        return list(_from_panel(value))
    if isinstance(value, dict):
        value = [{"url": k, "title": v} if isinstance(v, str) and "://" in k else v for k, v in value.items()]
    if not isinstance(value, list):
        return []
    found = [_listed(item, i) for i, item in enumerate(value, 1)]
    return [s for s in found if s is not None]


def _from_panel(text: str) -> Iterator[Source]:
    text = _UNUSED.split(text, maxsplit=1)[0]
    links = list(_ENTRY.finditer(text))
    for number, match in enumerate(links, 1):
        url = match[2].strip()
        title = squeeze(match[1]).removesuffix("Opens in a new window").strip()
        host = host_of(url) or ""
        for start in (f"www.{host}", host):
            if host and title.startswith(start):
                title = title[len(start) :].strip()
                break
        yield _source(number, url, title)
    if not links:
        for number, match in enumerate(_URL.finditer(text), 1):
            yield _source(number, trim_url(match.group()), None)


def _source(number: int | str, url: str, title: str | None) -> Source:
    return Source(
        id=f"s{number}",
        kind=SourceKind.LISTED,
        label=str(number),
        url=normalise_url(url) or None,
        raw=url,
        title=title or None,
    )


def _listed(item: Any, number: int) -> Source | None:
    if isinstance(item, str):
        links = list(_from_panel(item))
        return links[0].model_copy(update={"label": str(number)}) if links else None
    if not isinstance(item, dict):
        return None
    inner = item.get("metadata")
    holder: dict[str, Any] = inner if isinstance(inner, dict) and not item.get("url") else item
    url = next(
        (holder[n] for n in ("url", "link", "href", "source_url", "uri", "source") if isinstance(holder.get(n), str)),
        None,
    )
    if not url or "." not in url:
        return None
    title = next((str(holder[n]) for n in ("title", "name", "heading") if holder.get(n)), None)
    label = next(
        (
            item[n]
            for n in ("number", "index", "ref", "label", "id")
            if isinstance(item.get(n), int | str) and str(item[n]).isdecimal()
        ),
        None,
    )
    return _source(label if label not in (None, 0, "0") else number, url, title)


def _annotations(value: Any) -> list[Source]:
    """``url_citation`` annotations of a response or chat completion."""
    found: list[Source] = []
    stack = [value.get(n) for n in ("output", "choices") if isinstance(value.get(n), list)]
    while stack and len(found) < 5000:
        item = stack.pop()
        if isinstance(item, list):
            stack += item
        elif isinstance(item, dict):
            nested = item.get("url_citation")
            inner: dict[str, Any] = nested if isinstance(nested, dict) else item
            if item.get("type") == "url_citation" and isinstance(inner.get("url"), str):
                found.append(_source(len(found) + 1, inner["url"], inner.get("title")))
            else:
                stack += [v for k, v in item.items() if k in ("message", "content", "annotations")]
    return found


def _unique(sources: Sequence[Source]) -> Iterator[Source]:
    seen: set[str] = set()
    for source in sources:
        key = source.url or source.raw
        if key not in seen:
            seen.add(key)
            yield source

"""What a system printed, read as a report: Markdown, or JSON with ``article``, ``sources``, ``trace``, ``usage``."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from ...core import Json, Task
from ...reports import scalar_json
from .data import Delivery, NoReport, State, Told

_NOT_TEXT = frozenset(range(9)) | frozenset(range(14, 27)) | frozenset(range(28, 32))
"""Control characters that no text holds (tab, line and page breaks and the escape character do occur)."""
MAX_TRACE = 2_000_000
"""Characters of JSON of a trace that are kept."""


def task_json(task: Task) -> bytes:
    """The task as a command gets it on standard input: one line of JSON."""
    value = {
        "id": task.id,
        "prompt": task.prompt,
        "language": task.language,
        "as_of": task.as_of.isoformat() if task.as_of else None,
    }
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def read_delivery(raw: bytes) -> Delivery:
    """The report in the bytes of standard output. Raises NoReport: empty, binary or bad JSON."""
    if not raw.strip():
        raise NoReport(State.EMPTY, "it printed nothing")
    text = _text(raw)
    if not text.strip():
        raise NoReport(State.EMPTY, "it printed nothing but white space")
    if text.lstrip().startswith("{"):
        return _from_json(text)
    _no_stray_json(text)
    return Delivery(text.strip("\n") + "\n")


def _no_stray_json(text: str) -> None:
    """Refuse what is meant as JSON and would pass for Markdown: a list, or an object behind lines of a log."""
    if _parsed(text) is not None:
        raise NoReport(State.BAD_JSON, "it is JSON and no object with the member article")
    _, _, last = text.partition("\n{")
    value = _parsed("{" + last) if last else None
    if isinstance(value, dict) and "article" in value:
        raise NoReport(State.BAD_JSON, "other text stands before the JSON object")


def _parsed(text: str) -> Json:
    """The text as JSON; None when it is none."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NoReport(State.BINARY, f"byte {error.start} of its output is no UTF-8 text") from None
    if _NOT_TEXT & set(raw):
        raise NoReport(State.BINARY, "its output holds control characters that are no text")
    return text


def _from_json(text: str) -> Delivery:
    try:
        value: Any = scalar_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise NoReport(State.BAD_JSON, f"begins like JSON and is none: {error}"[:200]) from None
    article = value.get("article") if isinstance(value, dict) else None
    if not isinstance(article, str):
        raise NoReport(State.BAD_JSON, "the JSON object has no text under article")
    if not article.strip():
        raise NoReport(State.EMPTY, "the article is empty")
    sources = value.get("sources") or []
    if not isinstance(sources, list):
        raise NoReport(State.BAD_JSON, "sources is no list")
    return Delivery(article, tuple(sources), _trace(value.get("trace")), _told(value.get("usage")))


def _trace(value: Json) -> Json:
    size = len(json.dumps(value, ensure_ascii=False))
    return value if size <= MAX_TRACE else f"left out: {size} characters of JSON, {MAX_TRACE} are kept"


def _told(value: Json) -> Told:
    """What the system says of its tokens and cost; anything but sound numbers is not known."""
    if not isinstance(value, dict):
        return Told()
    try:
        return Told.model_validate({name: value.get(name) for name in Told.model_fields}, strict=False)
    except ValidationError:
        return Told()

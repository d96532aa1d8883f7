"""What went wrong with a call, sorted into four kinds, and how long to wait."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from ..errors import AccountRefused, CallRefused, DreamError, Overloaded


class Fault(StrEnum):
    """The four kinds."""

    RATE = "rate limit"
    """Wait, and call less at once."""
    TRANSIENT = "transient"
    """Wait."""
    REFUSED = "refused call"
    """This call will never succeed; others may."""
    ACCOUNT = "refused account"
    """No call to this model will succeed."""


@dataclass(frozen=True)
class Trouble:
    """One failed try."""

    fault: Fault
    message: str
    """For a person: status and the endpoint's own words, one line."""
    status: int | None = None
    code: str = ""
    param: str = ""
    retry_after_s: float | None = None
    unreachable: bool = False
    """No connection came about: no such host, or nothing listens there."""

    def error(self, subject: str) -> DreamError:
        """The error to raise when nothing more is tried."""
        text = f"{subject}: {self.message}"
        if self.fault is Fault.ACCOUNT:
            return AccountRefused(text, subject=subject)
        return (CallRefused if self.fault is Fault.REFUSED else Overloaded)(text, subject=subject)

    def mentions(self, *words: str) -> bool:
        """True when the endpoint's words or the parameter it names contain one of ``words``."""
        text = f"{self.param} {self.message}".lower()
        return any(word in text for word in words)


class Failed(Exception):
    """One try failed; caught by the retry loop."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble


_TRANSIENT = {408, 409, 425, 460, 498, 499}
_ACCOUNT = {401, 402, 403, 404}
_QUOTA = re.compile(r"insufficient[_ ](quota|balance|funds|credit)|billing|credit balance|exceeded your current quota")
_BAD_KEY = re.compile(r"api[_ ]?key.{0,20}(not valid|invalid|expired)|(invalid|incorrect|expired).{0,10}api[_ ]?key")
_NO_MODEL = re.compile(r"model.{0,80}(not exist|not found|not supported on this account|no access)|unknown model")
_FLAGGED = re.compile(r"moderation|flagged|content[_ ](filter|policy)|safety")
_WAIT_HINT = re.compile(r"(?:retry in|try again in|retrydelay)\W{0,6}(\d+(?:\.\d+)?)\s*(ms|s)", re.IGNORECASE)
_LONGEST = 300


def sort_status(status: int, code: str, message: str) -> Fault:
    """The kind of fault behind an HTTP status, an error code and the endpoint's words."""
    words = f"{code} {message}".lower()
    if status == 429:
        return Fault.ACCOUNT if _QUOTA.search(words) and "per minute" not in words else Fault.RATE
    if status >= 500 or status in _TRANSIENT:
        return Fault.TRANSIENT
    if status == 403 and _FLAGGED.search(words):
        return Fault.REFUSED
    if status in _ACCOUNT:
        return Fault.ACCOUNT
    if code == "model_not_found" or any(p.search(words) for p in (_BAD_KEY, _NO_MODEL, _QUOTA)):
        return Fault.ACCOUNT
    return Fault.REFUSED


def from_parts(status: int, error: object, headers: Mapping[str, str]) -> Trouble:
    """A trouble from an HTTP status and the ``error`` part of a reply, whatever its shape."""
    data: dict[str, Any] = error if isinstance(error, dict) else {}
    inner = data.get("error")
    if isinstance(inner, dict):
        data = inner
    words = str(data.get("message") or inner or (error if isinstance(error, str) else "") or "no further words")
    code, param = str(data.get("code") or data.get("type") or ""), str(data.get("param") or "")
    message = f"HTTP {status}: {one_line(words)}"
    wait = retry_after(headers, words)
    return Trouble(sort_status(status, code, words), message, status, code, param, wait)


def one_line(text: str) -> str:
    """``text`` on one line, cut to 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def from_exception(error: Exception) -> Trouble:
    """A trouble from an error of the ``openai`` package. Re-raises what is none of its call errors."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return from_parts(error.status_code, error.body, error.response.headers)
    if isinstance(error, openai.APITimeoutError):
        return Trouble(Fault.TRANSIENT, "no answer within the time limit")
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        kind = type(cause or error).__name__  # of httpx or httpcore, by the version of the SDK
        words = f"connection failed ({kind}: {one_line(str(cause))})"
        return Trouble(Fault.TRANSIENT, words, unreachable=kind == "ConnectError")
    raise error


def retry_after(headers: Mapping[str, str], message: str = "", now: datetime | None = None) -> float | None:
    """Seconds that the endpoint asks to wait: ``retry-after-ms``, ``Retry-After`` (seconds or date), or its words."""
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return max(0.0, millis / 1000)
    value = headers.get("retry-after")
    if value:
        seconds = _number(value)
        return max(0.0, seconds) if seconds is not None else _until(value, now or datetime.now(UTC))
    hint = _WAIT_HINT.search(message)
    return float(hint[1]) / (1000 if hint[2].lower() == "ms" else 1) if hint else None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if number == number and abs(number) != float("inf") else None


def _until(value: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def backoff(tries: int, trouble: Trouble, cap_s: float) -> float:
    """Seconds to wait after the ``tries``-th failed try: what the endpoint asks for, else full jitter; capped."""
    if trouble.retry_after_s is not None:
        return min(cap_s, trouble.retry_after_s + random.uniform(0, 0.25))
    base = 2.0 if trouble.fault is Fault.RATE else 1.0
    return random.uniform(0, min(cap_s, base * 2.0 ** min(tries, 16)))

"""Failures as data: a code from a short list, and the error made again from it."""

from __future__ import annotations

from ..errors import (
    AccountRefused,
    BadReply,
    CallFailed,
    CallRefused,
    DeadlineReached,
    DreamError,
    ModelFailed,
    Overloaded,
    ToolFailed,
)

_CALLS: dict[str, type[CallFailed]] = {
    error.code: error for error in (CallFailed, ModelFailed, CallRefused, Overloaded, ToolFailed)
}
_BAD_REPLY, _ACCOUNT = "bad_reply", "account_refused"
CUT_SHORT = "cut_short"
"""A call that was cancelled while it ran: it may have been paid for."""


def code_of(error: DreamError) -> str:
    """The stored code of ``error``: its own, or that of its nearest ancestor in the list."""
    if isinstance(error, AccountRefused):
        return _ACCOUNT
    for cls in type(error).__mro__:
        code = getattr(cls, "code", None)
        if code == _BAD_REPLY or code in _CALLS:
            return str(code)
    return CallFailed.code


def remake(code: str, message: str, subject: str, raw: str = "") -> DreamError:
    """Make the error of a stored failure again. An unknown code (a damaged file) becomes a plain CallFailed."""
    if code == _ACCOUNT:
        return AccountRefused(message, subject=subject)
    if code == CUT_SHORT:
        return DeadlineReached(message)
    if code == _BAD_REPLY:
        return BadReply(message, subject=subject, raw=raw)
    return _CALLS.get(code, CallFailed)(message, subject=subject)

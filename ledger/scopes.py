"""Which part of the work a call belongs to: a label that travels with the context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_scope: ContextVar[str] = ContextVar("dream_eval_scope", default="")


def current_scope() -> str:
    """The label set by the innermost :func:`scope`; empty outside of any."""
    return _scope.get()


@contextmanager
def scope(label: str) -> Iterator[None]:
    """Label every call made inside, for example ``with scope("sound/factuality"):``.

    A context variable: tasks started inside inherit it, plain threads do not (``asyncio.to_thread`` does).
    """
    token = _scope.set(label)
    try:
        yield
    finally:
        _scope.reset(token)

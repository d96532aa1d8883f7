"""From an error to one line and an exit code."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback

import click

from ..errors import AccountRefused, BudgetReached, CallFailed, DreamError, Interrupted, ReplayMiss, UserError
from .streams import silence
from .text import one_line

_ERRNO = re.compile(r"\[Errno -?\d+\] ([^:()]+)(: '[^']*'|: \"[^\"]*\")?")
_CODEC = re.compile(r"'utf-8' codec can't decode [^:]*: [a-z ]+")
CODES: tuple[tuple[type[BaseException], int], ...] = (
    (UserError, 2),
    (AccountRefused, 5),
    (BudgetReached, 4),
    (Interrupted, 3),
)


def explain(error: BaseException) -> int:
    """Print what is wrong on standard error and return the exit code. Only a bug prints a traceback."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        say("stopped")
        return 130
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, DreamError):
        say(_with_advice(error))
        return next((code for kind, code in CODES if isinstance(error, kind)), 1)
    if isinstance(error, BrokenPipeError):  # nobody reads standard output any more
        silence()
        return 1
    if isinstance(error, OSError):
        say(f"{error.filename or 'file'}: {error.strerror or error}")
        return 2 if isinstance(error, IsADirectoryError) else 1
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":  # bytes of a file's name
        say("a file's name or an option is not UTF-8: rename the file, or type the option anew")
        return 2
    traceback.print_exception(error)
    say(f"unexpected {type(error).__name__}: {error} (this is a bug in dream-eval; the lines above say where)")
    return 1


def say(message: str) -> None:
    """One line on standard error."""
    print(f"dream: {one_line(plainly(message))}", file=sys.stderr)


def plainly(message: str) -> str:
    """The same without numbers of errors, without the file's name where the system repeats it, and with what to do."""
    message = message.replace(os.strerror(errno.EISDIR), "this is a folder: name a file")
    return _CODEC.sub("not UTF-8: save it with that encoding", _ERRNO.sub(r"\1", message))


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    hint = f" (see: {context.command_path} --help)" if context else ""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.format_message())
        return 2
    say(error.format_message().rstrip(".") + hint)
    return 2


def _with_advice(error: DreamError) -> str:
    if isinstance(error, ReplayMiss):
        return f"{error}; it is not this run's ledger, or another version of dream-eval asked differently"
    if isinstance(error, CallFailed):
        return f"{error}; the same command continues from here"
    return str(error)

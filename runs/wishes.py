"""``eval.toml``: what a run is asked for, in a file; every key is an option of ``dream run`` too."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..errors import InputError, UserError
from ..ledger import Mode as LedgerMode
from . import checked
from .api import prepare, run_ask
from .ask import DEFAULT_QUESTIONS, DEFAULT_REASONING, MOST_REPEATS, RUNS, Ask
from .cases import Given
from .data import DEFAULT_FLOOR
from .fetching import is_address
from .files import slug
from .perform import RunResult
from .progress import Listener
from .shards import Shard

FILE = "eval.toml"
"""Where the wishes are when nobody says where."""


def _listed(value: Any) -> tuple[str, ...]:
    found = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, (list, tuple)) else (None,)
    if not all(isinstance(one, str) for one in found):
        raise ValueError('write a text or a list of texts: "a" or ["a", "b"]')
    return found


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One text or a list of them."""


LONGEST_NAME = 100
"""Characters in the name of a system."""

Gate = Annotated[float, Field(strict=False, ge=0, le=100, allow_inf_nan=False)]
"""The least mean that is asked for, on the scale of scores."""


class Wishes(BaseModel):
    """What a run is asked for. Paths are as the file has them; :meth:`located` resolves them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str | None = None
    """Of the run: its folder is ``dream-runs/NAME`` beside the file."""
    out: str | None = None
    """The run folder, instead of ``name``."""
    systems: dict[str, Names] = Field(default_factory=dict)
    """Name of each system to its report files or folders."""
    tasks: str | None = None
    """File of the tasks that the reports answer."""
    task: str | None = None
    """One task: ``FILE#ID``."""
    query: str | None = None
    """What all reports answer, or ``@FILE``."""
    clean: bool = True
    metrics: Names = ()
    judges: Names = ()
    repeats: int = Field(default=1, ge=1, le=MOST_REPEATS)
    protocols: Names = ()
    rubrics: Names = ()
    reference: str | None = None
    """For ``race``: a system of the run, or a file of reports."""
    search: Names = ()
    exclude_hosts: Names = ()
    as_of: Annotated[dt.date | None, Field(strict=False)] = None
    mode: str | None = None
    max_claims: int | None = None
    questions: int = DEFAULT_QUESTIONS
    reasoning: int = DEFAULT_REASONING
    concurrency: int | None = None
    budget_usd: Annotated[float | None, Field(strict=False)] = None
    budget_tokens: int | None = None
    ledger: str | None = None
    floor: Annotated[float, Field(strict=False)] = DEFAULT_FLOOR
    fail_under: dict[str, Gate] = Field(default_factory=dict)
    """Metric to the least score (0–100) that every system must reach."""

    def changed(self, changes: Mapping[str, Any]) -> Wishes:
        """The same with what options say in place of what the file says; None, and what is empty, changes nothing.

        Raises UserError.
        """
        said = {name: value for name, value in changes.items() if value is not None and value not in ((), {}, [])}
        if {"query", "task", "tasks"} & said.keys():
            said = {"query": None, "task": None, "tasks": None, **said}
        return Wishes.model_validate({**self.model_dump(), **said}, strict=False)

    def located(self, base: Path, *, default: str) -> Wishes:
        """The same with all paths relative to ``base``, and a run folder: by default ``dream-runs/``\\ ``default``."""
        found: dict[str, Any] = {name: _at(base, getattr(self, name)) for name in ("tasks", "ledger", "out")}
        if self.task is not None:
            found["task"] = _at(base, self.task)
        if self.query is not None and self.query.startswith("@"):
            found["query"] = f"@{base / self.query[1:]}"
        found["systems"] = {name: tuple(_place(base, one) for one in files) for name, files in self.systems.items()}
        for name in ("protocols", "rubrics"):
            found[name] = tuple(str(base / one) for one in getattr(self, name))
        found["search"] = tuple(_backend(base, entry) for entry in self.search)
        if self.reference is not None and self.reference not in self.systems:
            found["reference"] = _place(base, self.reference)
        if self.out is None:
            found["out"] = str(base / RUNS / slug(self.name or default))
        return self.model_copy(update=found)

    def ask(self, reports: Sequence[Given] = (), *, shard: Shard | None = None, command: str = "") -> Ask:
        """Read the files and check everything. ``reports``: instead of systems, each one a system of its own.

        A ``shard`` has a folder of its own, ``OUT-2of4``. Raises UserError that names what to change.
        """
        if not self.systems and not reports:
            raise UserError(
                f"there is no system to evaluate: name one under [systems] in {FILE}, or as --system NAME=FILE"
            )
        for name in self.systems:
            if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
                raise UserError(f"a system needs a name of 1 to {LONGEST_NAME} printable characters, not {name[:40]!r}")
        given: Any = dict(self.systems) if self.systems else list(reports)
        return prepare(
            given,
            query=self.query,
            task=self.task,
            tasks=self.tasks,
            judge=self.judges or None,
            protocol=self.protocols or None,
            rubric=self.rubrics or None,
            reference=self.reference,
            metrics=self.metrics or None,
            search=self.search or None,
            exclude_hosts=self.exclude_hosts,
            clean=self.clean,
            as_of=self.as_of,
            out=self.out if shard is None or self.out is None else f"{self.out}-{shard[0]}of{shard[1]}",
            ledger=self.ledger,
            budget_usd=self.budget_usd,
            budget_tokens=self.budget_tokens,
            max_claims=self.max_claims,
            questions=self.questions,
            reasoning=self.reasoning,
            repeats=self.repeats,
            concurrency=self.concurrency,
            mode=self.mode,
            floor=self.floor,
            shard=shard,
            command=command,
        )


def load_wishes(path: Path | str) -> Wishes:
    """Read an ``eval.toml``, paths resolved relative to it.

    Raises InputError that names the line, the key and, for an unknown one, the nearest name.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        raise InputError("no such file: dream run init writes one to start from", path=path) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from None
    except tomllib.TOMLDecodeError as error:
        raise _broken(error, path) from None
    for key in values:
        if key not in Wishes.model_fields:
            raise InputError(f"there is no key {key!r}{_nearest(key)}", path=path, line=line_of(text, key))
    default = path.stem if path.name != FILE else path.resolve().parent.name
    return _validated(values, text, path).located(path.parent, default=default)


def _validated(values: dict[str, Any], text: str, path: Path) -> Wishes:
    try:
        return Wishes.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        names = [str(part) for part in first["loc"] if not isinstance(part, int)]
        message = str(first["msg"]).removeprefix("Value error, ")
        line = line_of(text, names[-1]) or line_of(text, names[0])
        raise InputError(message[:1].lower() + message[1:], path=path, line=line, field=".".join(names)) from None


def _broken(error: tomllib.TOMLDecodeError, path: Path) -> InputError:
    found = re.search(r"\(at line (\d+), column \d+\)", str(error))
    message = str(error) if found is None else str(error).replace(found[0], "").strip()
    return InputError(f"not TOML: {message}", path=path, line=int(found[1]) if found else None)


def _nearest(key: str) -> str:
    found = get_close_matches(key, Wishes.model_fields, n=1, cutoff=0.5)
    return f": did you mean {found[0]!r}?" if found else f" (there are: {', '.join(Wishes.model_fields)})"


def line_of(text: str, key: str) -> int | None:
    """The line on which a key (or a table of this name) begins."""
    name = re.escape(key)
    found = re.search(rf"""(?m)^[ \t]*(?:\[[ \t]*)?["']?{name}["']?[ \t]*(?:=|\]|\.)""", text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def _at(base: Path, value: str | None) -> str | None:
    return None if value is None else str(base / value)


def _place(base: Path, value: str) -> str:
    return value if is_address(value) else str(base / value)


def _backend(base: Path, entry: str) -> str:
    kind, _, place = entry.partition(":")
    return f"corpus:{base / place}" if kind == "corpus" else entry


def run(
    wishes: Path | str | Wishes | None = None,
    *,
    shard: Shard | str | None = None,
    ledger_mode: LedgerMode | str = LedgerMode.CACHE,
    on_progress: Listener | None = None,
    **changes: Any,
) -> RunResult:
    """Evaluate systems on tasks and keep everything in a run folder: what ``dream run`` does.

    Calling it again with the same arguments continues where it stopped, and does nothing when all is done.

    Args:
        wishes: an ``eval.toml`` (docs/runs.md; its paths are relative to it), or its keys as :class:`Wishes`; None: all
            is said in ``changes``.
        shard: ``i/n``: do only part i of n, split by task.
        ledger_mode: ``cache`` (reuse, else call), ``refresh`` (call again), ``replay`` (reuse only, no network).
        on_progress: called with the progress and, where something is worth a line, a notice.
        changes: keys of ``eval.toml`` with other values.

    Returns:
        As :func:`.api.evaluate`; ``summary.systems`` has each system's mean over tasks by metric and judge.

    Raises:
        UserError: something must be changed first; the message says what.
        ReplayMiss: in replay mode, the ledger lacks a call.

    Example::

        import dream_eval

        result = dream_eval.run("eval.toml", judges=["openai/gpt-5-mini", "local"], repeats=3)
        for cell in result.summary.systems:
            print(cell.system, cell.metric, cell.judge, cell.score, cell.interval, f"{cell.scored}/{cell.expected}")
    """
    if unknown := next((key for key in changes if key not in Wishes.model_fields), None):
        raise UserError(f"there is no key {unknown!r}{_nearest(unknown)}")
    found = wishes if isinstance(wishes, Wishes) else Wishes() if wishes is None else load_wishes(wishes)
    ask = found.changed(changes).ask(shard=checked.shard(shard))
    return run_ask(ask, ledger_mode=LedgerMode(ledger_mode), on_progress=on_progress)

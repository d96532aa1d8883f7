"""What ``dream tasks`` prints and calls."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core import AsOf
from ..errors import HostStop, UserError
from ..ledger import Budget, Ledger
from ..models import is_local, price_of, prices_as_of
from ..reports import load_tasks
from ..runs import checked
from ..runs.ask import default_ledger
from ..runs.control import Control
from ..runs.data import Exit
from ..runs.estimate import Load
from ..runs.perform import keys_to_mask
from ..runs.progress import Watcher
from ..tasks import (
    Generated,
    Order,
    Plan,
    Review,
    Watch,
    generate,
    order_of,
    plan,
    read_sheets,
    review,
    told,
    write_sheets,
)
from ..tasks import output as files
from ..tasks.account import Account, CellAccount
from ..tasks.data import Fate
from .evaluating import make_console, resume_command, totals_line
from .expect import ASK_ABOVE_USD, download_line, go_on, missing_keys
from .live import duration, showing
from .printing import print_json, say
from .session import run_stoppable
from .text import one_line

SHOWN = 12
"""Tasks that are printed."""
NAME = 30
"""Characters of a domain in the table."""


# --- generate --------------------------------------------------------------------------------------------------------


def generate_and_show(
    *,
    out: str,
    peer: str | None,
    judge: str | None,
    as_of: str | None,
    plan: bool,
    ledger: str | None,
    budget_usd: float | None,
    budget_tokens: int | None,
    yes: bool,
    domains: str | None,
    languages: str | None,
    personas: int | None,
    candidates: int | None,
    keep: int | None,
) -> int:
    """Make tasks, write them and say how the set is distributed; or say what that will take."""
    console, day = make_console(), checked.date(as_of)
    checked.positive(budget_usd=budget_usd, budget_tokens=budget_tokens)
    order = order_of(
        judge=checked.judge(judge),
        as_of=AsOf(day=day) if day else AsOf(day=dt.datetime.now(dt.UTC).date(), given=False),
        domains=domains,
        languages=languages,
        personas=personas,
        candidates=candidates,
        keep=keep,
    )
    place, other = Path(out), Path(peer) if peer else None
    if not plan:
        files.check_free(place, other)
    order = files.since_first_start(place, order)
    usd = _expect(console, order, whole=plan)
    if first := download_line(order.judge):
        say(console, first)
    if plan:
        _say_what_stands_in_the_way(console, order, place, other)
        return Exit.DONE
    if not (yes or _go_on(order, usd)):
        return Exit.INTERRUPTED
    files.begin(place, order)
    made = _make(order, console, Path(ledger) if ledger else default_ledger(), Budget(budget_usd, budget_tokens))
    written = files.write(made, place, other)
    _show(console, made)
    _closing(console, made, place, other, written=written)
    return Exit.COVERAGE if not written else Exit.DONE if made.check.filters else Exit.GATE


def _say_what_stands_in_the_way(console: Console, order: Order, place: Path, other: Path | None) -> None:
    for line in missing_keys([order.judge]):
        say(console, line)
    try:
        files.check_free(place, other)
    except UserError as error:
        say(console, f"not ready: {error}")


class _Watched(Watch):
    """Passes on what happens to the live display."""

    def __init__(self, watcher: Watcher, control: Control, budget: Budget) -> None:
        self._watcher, self._control, self._budget = watcher, control, budget

    def opened(self, ledger: Ledger) -> None:
        """Listen, and know how to stop."""
        ledger.listen(self._watcher.event)
        self._control.on_stop(ledger.stop)
        self._watcher.begin(0, ledger.totals(), budget=self._budget, run=ledger.run)

    def note(self, text: str) -> None:
        """A line."""
        self._watcher.note(text)

    def stage(self, name: str) -> AbstractContextManager[None]:
        """A piece of work."""
        return self._watcher.stage(name)

    def step(self, done: int, of: int) -> None:
        """Sentinels and candidates are the units here."""
        self._watcher.progress.done, self._watcher.progress.units = done, of


def _make(order: Order, console: Console, ledger: Path, budget: Budget) -> Generated:
    with showing(console) as listener:

        async def work(control: Control) -> Generated:
            watch = _Watched(Watcher(listener), control, budget)
            return await generate(order, ledger=ledger, secrets=keys_to_mask(), budget=budget, watch=watch)

        try:
            return run_stoppable(work, said=lambda line: say(console, line))
        except HostStop:
            say(console, f"what was asked is kept; to continue: {resume_command()}")
            raise


def _expect(console: Console, order: Order, *, whole: bool) -> float | None:
    """Say what it will take, stage by stage with ``whole``; returns US dollars, None when no price is known."""
    found, price = plan(order, embedded=is_local(order.judge)), price_of(order.judge)
    usd = None if price is None else price.cost(found.prompt, 0, found.new)
    sizes = (
        (len(order.domains), "domain"),
        (len(order.languages), "language"),
        (order.personas, "persona"),
        (order.candidates, "candidate"),
    )
    grid = " × ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in sizes)
    day = f"{order.as_of.day}{'' if order.as_of.given else ' (day of the first start)'}"
    say(console, f"{grid} = {order.expected} · keep {order.keep} of {order.personas * order.candidates} each")
    say(console, f"judge {order.judge} · as of {day}")
    if whole:
        console.print(_plan_table(found))
    load = Load(calls=found.calls, prompt=found.prompt, fresh=found.prompt, new=found.new)
    said = "price unknown" if usd is None else "no charge" if not usd else f"${usd:.2f} (prices of {prices_as_of()})"
    time = duration(load.seconds(embedded=is_local(order.judge)))
    say(
        console,
        f"expected at most, roughly: {found.calls:,} calls, {found.prompt + found.new:,} tokens, {time}, {said}",
    )
    return usd


def _plan_table(found: Plan) -> Table:
    table = Table(header_style="bold", pad_edge=False)
    for name in ("stage", "calls", "tokens a call", "tokens"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for stage in found.stages:
        table.add_row(stage.name, f"{stage.calls:,}", f"{stage.prompt} + {stage.new}", f"{stage.tokens:,}")
    return table


def _go_on(order: Order, usd: float | None) -> bool:
    """Ask a person at a terminal before a download or an expensive run; without a terminal nobody is asked."""
    return go_on(ask=(usd is not None and usd > ASK_ABOVE_USD) or download_line(order.judge) is not None)


def _show(console: Console, made: Generated) -> None:
    """The distribution report, and the first tasks."""
    account = made.account
    console.print()
    console.print(_table(account))
    say(console, "twice: near duplicates; unfit: not qualified; known: memory answers it", "dim")
    say(console, f"rejected: {_counts(account.rules) or 'none'}")
    for lost in account.lost:
        say(
            console,
            f"lost: {lost.cell.name}: {lost.count} candidates ({lost.stage}): {one_line(lost.reason)}",
            "yellow",
        )
    if account.asked_again:
        say(console, f"asked a second time: {account.asked_again} personas and tasks")
    if account.words is not None:
        words = f"{account.words.low:g} to {account.words.high:g} words, middle {account.words.median:g}"
        say(
            console, f"kept: {account.kept} tasks of {account.personas} personas, {_counts(account.languages)}; {words}"
        )
    for name, seen in (("confidences", account.confidences), ("qualities of no-search answers", account.qualities)):
        say(console, f"{name}: {', '.join(f'{value} × {count}' for value, count in seen.items()) or 'none'}")
    for name in account.constant:
        say(console, f"the judge gave every candidate the same figure: the filter for {name} does not judge", "red")
    _sentinels(console, made)
    _tasks(console, made)


def _table(account: Account) -> Table:
    """A line a domain and language."""
    heads = ("asked", "failed", "rules", "twice", "unfit", "known", "spare", "kept")
    table = Table(header_style="bold", pad_edge=False, box=None, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", min_width=len(head), no_wrap=True)
    for cell in account.cells:
        name = f"{one_line(cell.cell.domain, limit=NAME - len(cell.cell.language) - 3)} ({cell.cell.language})"
        table.add_row(Text(name), *map(str, _row(cell)))
    sums = [sum(column) for column in zip(*map(_row, account.cells), strict=True)]
    table.add_row(Text("all", style="bold"), *map(str, sums))
    return table


def _row(cell: CellAccount) -> tuple[int, ...]:
    count = cell.count
    middle = (Fate.BROKE_RULE, Fate.NEAR_DUPLICATE, Fate.NOT_QUALIFIED, Fate.NO_SEARCH_NEEDED, Fate.SPARE, Fate.KEPT)
    return (cell.wanted, cell.lost + count(Fate.FAILED), *(count(fate) for fate in middle))


def _sentinels(console: Console, made: Generated) -> None:
    check = made.check
    if check.filters:  # said at the start
        return
    for which, name in (("qualified", "qualification"), ("needs_search", "search necessity")):
        easy, hard = check.right("easy", which), check.right("hard", which)  # type: ignore[arg-type]
        say(console, f"sentinels, {name} alone: easy {easy[0]} of {easy[1]} rejected, hard {hard[0]} of {hard[1]} kept")
    for one in check.wrong:
        what = one.reason or ("kept" if one.kept else "rejected")
        say(console, f"  {one.id} {what}: {one_line(one.prompt, limit=100)}", style="yellow")
    say(console, told(check)[-1], style="bold red")


def _tasks(console: Console, made: Generated) -> None:
    if made.kept:
        say(console, "")
    for one in made.kept[:SHOWN]:
        text = Text(f"{one_line(one.domain)} ({one.language}): ", style="dim")
        console.print(text.append(one_line(one.prompt), style="not dim"), soft_wrap=not console.is_terminal)
    if len(made.kept) > SHOWN:
        say(console, f"… and {len(made.kept) - SHOWN} more", style="dim")


def _closing(console: Console, made: Generated, out: Path, peer: Path | None, *, written: bool) -> None:
    say(console, "")
    say(console, totals_line(made.totals))
    names = [out, *([peer] if peer else [])] if written else []
    names += [files.beside(out, "provenance.jsonl"), files.beside(out, "summary.json")]
    say(console, f"written: {', '.join(map(str, names))}")
    if written:
        say(console, f"to have people review them: dream tasks review {out} --write sheets --raters NAME,NAME")
        return
    for short in made.shortfalls:
        say(console, f"short: {short}", style="red")
    old = f"; {out} is still that of an earlier run" if out.exists() else ""
    say(console, f"no tasks written: raise --candidates or --personas, or lower --keep (now {made.order.keep}){old}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


# --- review ----------------------------------------------------------------------------------------------------------


def review_and_show(
    tasks: str,
    *,
    write: str | None,
    raters: str | None,
    read: Sequence[str],
    at_least: int | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Write sheets, or read them."""
    if (write is None) == (not read):
        raise UserError("say --write DIR with --raters NAME,NAME to make sheets, or --read DIR to read them")
    if write is not None:
        if out or at_least:
            raise UserError("--out and --at-least belong to --read")
        return _write(tasks, Path(write), raters)
    if raters:
        raise UserError("--raters belongs to --write: of a sheet that is read, the rater is the name of the file")
    return _read(tasks, [Path(name) for name in read], at_least, out, as_json=as_json)


def _write(tasks: str, folder: Path, raters: str | None) -> int:
    names = [name.strip() for name in (raters or "").split(",") if name.strip()]
    if not names:
        raise UserError("name the raters, as --raters anna,ben")
    known = files.read_provenance(files.beside(Path(tasks), "provenance.jsonl"))
    paths = write_sheets(load_tasks(Path(tasks)), names, folder, known)
    console = make_console()
    say(console, f"written: {', '.join(map(str, paths))}")
    say(console, 'each rater answers yes or no in the column "qualified"; a task qualifies when')
    say(console, "  it needs facts that change quickly, several sources held against each other, several steps of")
    say(console, "  analysis, and suits the person it was made for")
    say(console, f"to read them back: dream tasks review {tasks} --read {folder}")
    return Exit.DONE


def _read(tasks: str, paths: Sequence[Path], at_least: int | None, out: str | None, *, as_json: bool) -> int:
    known = load_tasks(Path(tasks))
    sheets = read_sheets(paths, known)
    found = review(known, sheets, at_least)
    if out and Path(out).exists():
        raise UserError(f"{out} exists: give a new file for the tasks that stand the review")
    if out and not found.ids(True):
        raise UserError(f"no task stands the review yet ({len(found.tasks)} tasks), so {out} is not written")
    if out:
        files.write_tasks([task for task in known if task.id in set(found.ids(True))], Path(out))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return Exit.DONE
    console = make_console()
    _show_review(console, found)
    if out:
        say(console, f"written: {out} ({len(found.ids(True))} tasks)")
    return Exit.DONE


def _show_review(console: Console, found: Review) -> None:
    good, bad, open_ = (len(found.ids(kind)) for kind in (True, False, None))
    for rater in found.raters:
        share, count = found.shares[rater], found.answered[rater]
        said = "nothing" if share is None else f"{share:.0%} yes"
        say(console, f"{rater}: {said} ({count} of {len(found.tasks)} rated)")
    need = f"by at least {found.at_least} of {len(found.raters)} raters"
    if found.share is None or found.interval is None:
        say(console, f"no task is decided {need}")
    else:
        low, high = found.interval.low, found.interval.high
        say(
            console, f"qualified {need}: {good} of {good + bad} tasks, {found.share:.0%} (95 %: {low:.0f}–{high:.0f} %)"
        )
    if open_:
        say(console, f"undecided while answers are missing: {open_}: {', '.join(found.ids(None)[:5])}", style="yellow")
    alpha = "cannot be told (one rater, or all answers are the same)" if found.alpha is None else f"{found.alpha:.2f}"
    say(console, f"Krippendorff's alpha: {alpha}")
    if bad:
        say(console, f"not qualified: {', '.join(found.ids(False)[:10])}{' …' if bad > 10 else ''}")

"""What is said before an evaluation starts: time, calls, tokens, price, downloads, and what is done already."""

from __future__ import annotations

from dataclasses import dataclass

from ..models.describing import price_of
from ..models.prices import prices_as_of
from ..protocols.catalogue import METRICS
from ..runs.ask import Ask
from ..runs.estimate import Load, total_load
from ..runs.store import RunFolder

ASK_ABOVE_USD = 2.0
"""Expected price from which a person at a terminal is asked first."""


@dataclass(frozen=True)
class Expectation:
    """What is expected of an evaluation that starts now."""

    load: Load
    seconds: float
    usd: float | None
    """None: no price is known."""
    done: int
    units: int
    download: str | None
    """What must be fetched first, with its size; None: nothing."""

    def lines(self, ask: Ask) -> list[str]:
        """For people."""
        load, reports = self.load, len(ask.cases)
        head = (
            f"{reports} report{'s' if reports > 1 else ''} × {', '.join(ask.metrics)} · judge {', '.join(ask.judges)} · "
            f"mode {ask.mode} · search {', '.join(ask.search)} · as of {ask.as_of or 'today'}"
        )
        if self.done == self.units:
            return [head, f"all {self.units} units stand in {ask.folder}; only what changed is done again"]
        lines = [
            head,
            f"expected (from defaults, roughly): {_duration(self.seconds)}, {load.calls} judge calls, "
            f"{load.prompt + load.new:,} tokens, {load.lookups} searches and pages, {_price(self.usd)}",
        ]
        if self.done:
            lines.append(f"{self.done} of {self.units} units stand already in {ask.folder}; the rest is done now")
        if self.download:
            lines.append(f"first: {self.download}")
        return lines


def expect(ask: Ask) -> Expectation:
    """Estimate from stated defaults and what the run folder holds; units that are done are taken off evenly."""
    load = total_load(
        [case.shape.limited(ask.max_claims) for case in ask.cases],
        ask.metrics,
        ask.mode,
        protocols=_protocols_to_make(ask),
        questions=ask.questions,
        reasoning=ask.reasoning,
        embedded=ask.embedded,
    )
    units, done = ask.units, _done(ask)
    load = load.scaled((units - done) / units)
    return Expectation(load, load.seconds(embedded=ask.embedded), _usd(ask, load), done, units, _download(ask))


def _protocols_to_make(ask: Ask) -> int:
    if not any(METRICS[metric].adaptive for metric in ask.metrics):
        return 0
    given = {protocol.task.prompt.strip() for protocol in ask.protocols}
    return len({case.task.prompt.strip() for case in ask.cases} - given)


def _done(ask: Ask) -> int:
    """Units of this plan that the folder holds; changed inputs are noticed later, when the work begins."""
    places = {(*case.place, metric) for case in ask.cases for metric in ask.metrics}
    lines = RunFolder(ask.folder).lines()
    return len({line.place for line in lines if line.settled and line.place[:3] in places})


def _usd(ask: Ask, load: Load) -> float | None:
    price = price_of(ask.maker)
    return None if price is None else price.cost(load.prompt, 0, load.new)


def _price(usd: float | None) -> str:
    if usd is None:
        return "price unknown (count on tokens; --budget-tokens sets a limit)"
    if usd == 0.0:
        return "no charge for the judge"
    return f"about ${usd:.2f} at list prices of {prices_as_of()}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _download(ask: Ask) -> str | None:
    if not ask.embedded:
        return None
    from ..models.local import embedded_status

    status = embedded_status()
    if status.path is not None or not status.bytes_to_fetch:
        return None
    return f"the embedded judge is fetched ({status.bytes_to_fetch / 1e9:.2f} GB)"

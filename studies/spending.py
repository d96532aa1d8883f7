"""What judges cost a report, from the ledger's records: the same whether their answers were asked or reused."""

from __future__ import annotations

from pathlib import Path

from ..core import Frozen
from ..errors import DreamError
from ..ledger import CallInfo, Kind, list_calls
from ..models.describing import is_local
from ..models.providers import parse_judge
from .pool import Pool


class Spending(Frozen):
    """What a judge needs for one report, on average over a run. As a first asking would cost: reuse is not deducted."""

    judge: str
    run: str
    reports: int
    maker: bool
    """It also made the run's protocols and claim lists, which is counted."""
    calls: float
    tokens: float
    """Prompt and completion tokens."""
    usd: float | None
    """US dollars; None: the price of a call is unknown."""
    seconds: float
    """Time in calls; calls at the same time add up."""


def spending_of(pool: Pool) -> tuple[Spending, ...]:
    """Each judge in each run, as far as the run's ledger is at hand and knows the run."""
    found = []
    for view in pool.views:
        config = view.config
        try:
            calls = list_calls(Path(config.ledger), config.run, kind=Kind.COMPLETION)
        except (DreamError, OSError):
            continue
        for judge in config.judges:
            model = None if is_local(judge) else parse_judge(judge).model
            here = (call for call in calls if call.endpoint == config.endpoints.get(judge))
            mine = {call.key: call for call in here if model in (None, call.subject)}
            if mine:
                found.append(
                    _spent(judge, str(view.path), list(mine.values()), len(config.reports), judge == config.maker)
                )
    return tuple(found)


def _spent(judge: str, run: str, calls: list[CallInfo], reports: int, maker: bool) -> Spending:
    costs = [call.usage.cost_usd for call in calls]
    known = [cost for cost in costs if cost is not None]
    return Spending(
        judge=judge,
        run=run,
        reports=reports,
        maker=maker,
        calls=len(calls) / reports,
        tokens=sum(call.usage.tokens for call in calls) / reports,
        usd=sum(known) / reports if len(known) == len(costs) else None,
        seconds=sum(call.elapsed_s for call in calls) / reports,
    )

"""Run folders written by the product's own classes, with scores that a test chooses: what studies read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dream_eval.core import AsOf, Outcome, Status, Task
from dream_eval.evaluators.results import Evidence, Item, MetricResult
from dream_eval.ledger import Totals
from dream_eval.protocols.catalogue import METRICS
from dream_eval.protocols.schema import Mode
from dream_eval.reports import read_report
from dream_eval.runs.data import ReportRef, RunConfig, RunState, UnitResult
from dream_eval.runs.store import RunFolder, dump_line
from dream_eval.runs.summary import summarise

Scorer = Callable[[str, str, str, str, int], "float | MetricResult | None"]
"""(task, system, metric, judge, repeat) to a score, a result, or None for a unit that was not reached."""


def result(metric: str, score: float | None, *items: Item, **more: object) -> MetricResult:
    """A unit with a score, or a failed one."""
    given = {
        "status": Status.FAILED if score is None else Status.SCORED,
        "reason": "call_refused: no" if score is None else "",
        **more,
    }
    return MetricResult(metric=metric, version=1, score=score, items=items, **given)


def item(id: str, outcome: Outcome | None = None, value: float | None = None, quote: str = "") -> Item:
    """An item with one quote."""
    evidence = (Evidence(url="https://a.test/", quote=quote),) if quote else ()
    return Item(id=id, text=f"text of {id}", outcome=outcome, value=value, evidence=evidence, reason=f"why {id}")


@dataclass
class Written:
    """A run as a test writes it."""

    path: Path
    score: Scorer
    systems: Sequence[str] = ("ours", "theirs")
    judges: Sequence[str] = ("openai/gpt-5-mini",)
    metrics: Sequence[str] = ("wq", "kic")
    tasks: Sequence[Task] = field(
        default_factory=lambda: [
            Task(id=f"t{n}", prompt=f"Query {n}?", topic="law" if n % 2 else "art") for n in range(8)
        ]
    )
    repeats: int = 1
    protocol: Callable[[str, str], str] = lambda task, system: f"protocol of {task}"
    claims: Callable[[str, str], str] = lambda task, system: f"claims of {system} on {task}"
    text: Callable[[str, str], str] = lambda task, system: f"# {system}\n\n" + "A sentence of it. " * (5 + len(system))
    version: int = 1
    ledger: str = "nowhere.sqlite"
    endpoints: dict[str, str] = field(default_factory=dict)

    def write(self) -> Path:
        """Write the folder."""
        folder, refs = RunFolder(self.path), []
        for name in ("reports", "protocols", "claims"):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        for task in self.tasks:
            for system in self.systems:
                report = read_report(self.text(task.id, system), id=system)
                refs.append(ReportRef(id=system, task=task.id, digest=report.digest, file=f"report-{len(refs)}.json"))
                folder.save(f"reports/{refs[-1].file}", report)
        config = RunConfig(
            run=self.path.name,
            version="0",
            created_at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
            as_of=AsOf(day=dt.date(2026, 1, 2)),
            tasks=tuple(self.tasks),
            reports=tuple(refs),
            judges=tuple(self.judges),
            repeats=self.repeats,
            metrics=tuple(self.metrics),
            versions=dict.fromkeys(self.metrics, self.version),
            search=(),
            search_digests=(),
            mode=Mode.AGENT,
            questions=10,
            reasoning=3,
            ledger=self.ledger,
            endpoints=self.endpoints,
        )
        folder.save("run.json", config)
        lines = [line for ref in refs for line in self._lines(ref)]
        folder.results_path.write_text("".join(dump_line(line) + "\n" for line in lines))
        folder.save("summary.json", summarise(config, lines, Totals(), state=RunState.FINISHED))
        return self.path

    def _lines(self, ref: ReportRef) -> list[UnitResult]:
        places = [(m, j, r) for m in self.metrics for j in self.judges for r in range(self.repeats)]
        lines = []
        for metric, judge, repeat in places:
            said = self.score(ref.task, ref.id, metric, judge, repeat)
            if said is None:
                continue
            made = {"report": ref.digest, "claims": self.claims(ref.task, ref.id), "citations": ref.digest}
            inputs = {n: made.get(n, self.protocol(ref.task, ref.id)) for n in METRICS[metric].inputs}
            unit = f"{self.path.name}/{ref.task}/{ref.id}/{metric}/{judge}/{repeat}"
            lines.append(
                UnitResult(
                    unit=unit,
                    task=ref.task,
                    report=ref.id,
                    metric=metric,
                    judge=judge,
                    repeat=repeat,
                    inputs={"version": self.version, **inputs},
                    result=said if isinstance(said, MetricResult) else result(metric, said),
                )
            )
        return lines

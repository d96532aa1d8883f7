"""From results to a table: coverage twice, the floor, gates, worst findings, the demo's faults, agreement."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from dream_eval.cli.demonstration import same_for_all
from dream_eval.core import AsOf, Coverage, Outcome, Status, Task
from dream_eval.evaluators.results import Evidence, Item, MetricResult
from dream_eval.ledger import Totals
from dream_eval.protocols.schema import Mode
from dream_eval.runs.data import Exit, ReportRef, RunConfig, RunState, UnitResult
from dream_eval.runs.faults import finding_count, load_faults, named_faults
from dream_eval.runs.findings import worst_of
from dream_eval.runs.measured import agreement_of
from dream_eval.runs.summary import Summary, gate_codes, summarise

METRICS = ("wq", "kic", "rq", "factuality", "ci", "da")


def config(*reports: str, floor: float = 0.9) -> RunConfig:
    return RunConfig(
        run="x",
        version="0",
        created_at=dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
        as_of=AsOf(day=dt.date(2026, 5, 1)),
        tasks=(Task(id="t", prompt="p"),),
        reports=tuple(ReportRef(id=r, task="t", digest="d", file=f"{r}.json") for r in reports),
        judges=("j",),
        metrics=METRICS,
        versions=dict.fromkeys(METRICS, 1),
        search=(),
        search_digests=(),
        mode=Mode.AGENT,
        questions=10,
        reasoning=3,
        ledger="l",
        floor=floor,
    )


def line(
    report: str, metric: str, score: float | None = 50.0, status: Status | None = None, **rest: object
) -> UnitResult:
    state = status or (Status.FAILED if score is None else Status.SCORED)
    result = MetricResult.model_validate(
        {
            "metric": metric,
            "version": 1,
            "status": state,
            "score": score,
            "reason": "" if score is not None else "why",
            **rest,
        }
    )
    return UnitResult(
        unit=f"{report}-{metric}", task="t", report=report, metric=metric, judge="j", inputs={}, result=result
    )


def summary(lines: list[UnitResult], *reports: str, floor: float = 0.9) -> Summary:
    return summarise(config(*reports, floor=floor), lines, Totals(), state=RunState.FINISHED)


def test_not_applicable_leaves_the_base_and_failures_stay_in_it() -> None:
    lines = [line("a", m) for m in METRICS[:4]]
    lines += [line("a", "ci", None), line("a", "da", None, Status.NOT_APPLICABLE)]
    (report,) = summary(lines, "a").reports
    assert (report.expected, report.scored, report.not_applicable, report.failed) == (6, 4, 1, 1)
    assert report.coverage == pytest.approx(4 / 5)
    assert report.below_floor
    assert not summary(lines, "a", floor=0.8).reports[0].below_floor


def test_units_that_were_not_reached_lower_coverage_and_make_no_score() -> None:
    made = summary([line("a", "wq")], "a", "b")
    assert made.coverage == pytest.approx(1 / 12)
    assert [len(report.scores) for report in made.reports] == [1, 0]
    assert made.below_floor == ("a", "b")


def test_only_not_applicable_has_no_coverage_and_is_not_below_the_floor() -> None:
    made = summary([line("a", m, None, Status.NOT_APPLICABLE) for m in METRICS], "a")
    assert made.coverage is None
    assert made.below_floor == ()


def test_a_thin_score_is_shown_and_not_ranked() -> None:
    lines = [line("a", "kic", 80.0, flags=("thin",), coverage=Coverage(decided=2, checked=9)), line("a", "wq")]
    scores = {score.metric: score for score in summary(lines, "a").reports[0].scores}
    assert scores["kic"].score == 80.0
    assert not scores["kic"].ranked
    assert scores["wq"].ranked


@pytest.mark.parametrize(
    ("gates", "codes"),
    [
        ({}, set()),
        ({"wq": 50.0}, set()),
        ({"wq": 50.1}, {Exit.GATE}),
        ({"ci": 1.0}, {Exit.COVERAGE}),
        ({"rq": 1.0}, {Exit.COVERAGE}),
        ({"ci": 1.0, "wq": 99.0}, {Exit.GATE, Exit.COVERAGE}),
    ],
)
def test_gates(gates: dict[str, float], codes: set[Exit]) -> None:
    assert gate_codes(summary([line("a", "wq"), line("a", "ci", None)], "a"), gates) == codes


def item(outcome: Outcome | None = None, **rest: object) -> Item:
    return Item.model_validate({"id": "i1", "text": "A claim.", "outcome": outcome, **rest})


def result(metric: str, *items: Item) -> MetricResult:
    return MetricResult(metric=metric, version=1, status=Status.SCORED, score=1.0, items=items)


def test_a_contradicted_claim_shows_what_refutes_it() -> None:
    evidence = (
        Evidence(url="https://a.example", quote="for it", stance="supports"),
        Evidence(url="https://b.example", quote="against it", stance="refutes"),
    )
    found = worst_of(
        result(
            "factuality", item(Outcome.SUPPORTED), item(Outcome.CONTRADICTED, evidence=evidence, flags=("outdated",))
        )
    )
    assert [(w.kind, w.quote, w.url, w.note) for w in found] == [
        ("contradicted claim", "against it", "https://b.example", "outdated")
    ]


def test_citations_that_do_not_hold_and_dead_ones() -> None:
    pairs = (
        item(Outcome.NO, flags=("dead_citation",), detail={"url": "https://gone.example"}),
        item(Outcome.NO, detail={"url": "https://c.example"}, reason="says nothing of it"),
        item(Outcome.NOT_CHECKED),
        item(Outcome.PARTLY),
    )
    found = worst_of(result("ci", *pairs))
    assert [(w.kind, w.url) for w in found] == [
        ("dead citation", "https://gone.example"),
        ("citation that does not hold", "https://c.example"),
    ]


def test_missing_facts_and_flaws() -> None:
    assert [w.kind for w in worst_of(result("kic", item(Outcome.NO), item(Outcome.UNDECIDED), item(Outcome.YES)))] == [
        "missing key fact"
    ]
    flaw = {"name": "circular reasoning", "where": "A because A.", "sentences": [3], "note": "goes round"}
    (found,) = worst_of(result("rq", item(value=9.0, detail={"flaws": [flaw]})))
    assert (found.kind, found.text, found.flaw) == ("reasoning flaw", "A because A.", "circular reasoning")
    assert worst_of(result("wq", item(value=1.0))) == []


def test_a_planted_fault_is_named_by_its_kind_and_its_words() -> None:
    faults = load_faults()
    assert len(faults) >= 6
    false = Item(id="c1", text="In 2024 a quantum ANNEALER broke RSA-2048.", outcome=Outcome.CONTRADICTED)
    true = Item(id="c2", text="AES-256 is no longer safe.", outcome=Outcome.SUPPORTED)
    flaw = {"name": "circular reasoning", "where": "A phased migration is not an option, because …"}
    wrong = {"name": "false cause", "where": "A phased migration is not an option, because …"}
    rq = Item(id="r1", text="?", detail={"flaws": [flaw]})

    def lines(report: str, *results: MetricResult) -> list[UnitResult]:
        return [
            UnitResult(unit="u", task="t", report=report, metric=r.metric, judge="j", inputs={}, result=r)
            for r in results
        ]

    both = (result("factuality", false, true), result("rq", rq))
    assert named_faults(faults, lines("flawed", *both)) == {"rsa-broken", "one-step-circular"}
    assert named_faults(faults, lines("sound", *both)) == set()
    assert finding_count(lines("flawed", *both), "flawed") == 2
    assert finding_count(lines("flawed", *both), "sound") == 0
    other = result("rq", Item(id="r1", text="?", detail={"flaws": [wrong]}))
    assert named_faults(faults, lines("flawed", other)) == set()


def test_measured_agreement_is_found_by_name_or_endpoint(tmp_path: Path) -> None:
    row = {
        "judge": "local:cc32",
        "what": "support verdicts",
        "data": "a set",
        "measure": "balanced accuracy",
        "value": 0.433,
        "chance": 0.333,
        "n": 120,
        "date": "2026-10-01",
    }
    path = tmp_path / "m.json"
    path.write_text(json.dumps([row, row | {"judge": "other"}]))
    assert [a.judge for a in agreement_of("local", endpoint="local:cc32", path=path)] == ["local:cc32"]
    assert agreement_of("openai/gpt-5-mini", path=path) == ()
    (one,) = agreement_of("other", path=path)
    assert one.line() == "support verdicts: balanced accuracy 0.43 (guessing: 0.33) on a set, n = 120, 2026-10-01"
    assert all(a.n > 0 for a in agreement_of("local"))


def test_a_judge_that_gives_everybody_the_same_is_found_out() -> None:
    lines = [line("a", "wq", 75.0), line("b", "wq", 75.04), line("a", "ci", 10.0), line("b", "ci", 90.0)]
    assert same_for_all(summary([*lines, line("a", "rq", 60.0), line("b", "rq", None)], "a", "b")) == ["wq"]

"""Judges compared over runs on disk: bias, orders, verdicts, missing data, cost, self-preference."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from dream_eval.core import Outcome, Task
from dream_eval.errors import UserError
from dream_eval.ledger import Answer, Kind, Ledger, Request, Usage
from dream_eval.studies.judges import JudgeComparison, compare_judges
from dream_eval.studies.pool import pool_runs
from dream_eval.studies.tables import judge_rows, judge_tables
from dream_eval.studies.vendors import vendor_of
from written import item, result

Write = Callable[..., Path]
JUDGES = ("openai/gpt-5-mini", "anthropic/claude-haiku")


def compared(path: Path, **options: object) -> JudgeComparison:
    return compare_judges(pool_runs([path]), **options)  # type: ignore[arg-type]


def test_who_is_harsher(write_run: Write) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
        return 60 + random.Random(f"{task}{system}{judge}").uniform(-2, 2) - (8 if judge == JUDGES[1] else 0)

    found = compared(write_run(score, judges=JUDGES))
    wq = found.pairs[0]
    assert wq.bias is not None
    assert -10 < wq.bias.mean < -6
    assert wq.verdict == "anthropic/claude-haiku is harsher"
    assert wq.tasks == 8
    assert found.means[JUDGES[0]]["wq"] - found.means[JUDGES[1]]["wq"] == pytest.approx(-wq.bias.mean)


def test_orders_of_systems(write_run: Write) -> None:
    strength = {"a": 20, "b": 40, "c": 60, "d": 80}
    swapped = {"a": 20, "b": 60, "c": 40, "d": 80}
    path = write_run(
        lambda t, s, m, judge, r: (strength if judge == JUDGES[0] else swapped)[s], systems=tuple("abcd"), judges=JUDGES
    )
    pair = compared(path).pairs[0]
    assert pair.systems == 4
    assert pair.tau == pytest.approx(4 / 6)
    assert pair.rho == pytest.approx(0.8)


def verdicts(task: str, system: str, metric: str, judge: str, repeat: int) -> object:
    """The second judge could not look at c1, differs on c2 of every task, and is undecided with the first on c3."""
    second = judge == JUDGES[1]
    return result(
        metric,
        50.0,
        item("c1", Outcome.NOT_CHECKED if second else Outcome.SUPPORTED),
        item("c2", Outcome.CONTRADICTED if second else Outcome.SUPPORTED, quote=f"seen by {judge}"),
        item("c3", Outcome.UNDECIDED),
        item("c4", Outcome.PARTLY if second else Outcome.SUPPORTED),
        item("c5", Outcome.SUPPORTED),
    )


def test_verdicts_missing_data_and_undecided(write_run: Write) -> None:
    found = compared(write_run(verdicts, judges=JUDGES, metrics=("factuality",), systems=("ours",)))
    pair = found.pairs[0]
    assert pair.items == 8 * 4  # c1 is missing data, not a disagreement
    assert pair.not_looked == 8
    assert pair.kappa is not None
    # of four items two agree: observed 1/2; chance 3/4·1/4 + 1/4·1/4 = 1/4
    assert pair.kappa.value == pytest.approx((1 / 2 - 1 / 4) / (3 / 4))
    alpha = found.alphas[0]
    assert (alpha.level, alpha.items) == ("nominal", 32)
    assert alpha.alpha is not None
    assert 0.2 < alpha.alpha < pair.kappa.value + 0.1


def test_the_worst_disagreements_come_with_their_evidence(write_run: Write) -> None:
    found = compared(write_run(verdicts, judges=JUDGES, metrics=("factuality",), systems=("ours",)))
    worst = found.disagreements[0]
    assert (worst.item, worst.distance, worst.text) == ("c2", 1.0, "text of c2")
    assert [(said.judge, said.verdict, said.quote) for said in worst.said] == [
        (JUDGES[0], "supported", f"seen by {JUDGES[0]}"),
        (JUDGES[1], "contradicted", f"seen by {JUDGES[1]}"),
    ]
    assert {one.item for one in found.disagreements} == {"c2", "c4"}
    shown = [note for table in judge_tables(found) for note in table.notes]
    assert any("seen by anthropic/claude-haiku" in note for note in shown)


def test_item_scores_have_an_interval_alpha(write_run: Write) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> object:
        value = int(task[1:]) % 5 + (0.5 if judge == JUDGES[1] else 0)
        return result(metric, 50.0, item("clarity", value=value))

    alpha = compared(write_run(score, judges=JUDGES, metrics=("wq",), systems=("ours",))).alphas[0]
    assert (alpha.level, alpha.items) == ("interval", 8)
    assert alpha.alpha is not None
    assert 0.8 < alpha.alpha < 1


def test_only_the_same_claim_list_is_compared(write_run: Write) -> None:
    one = write_run(verdicts, name="one", judges=JUDGES[:1], metrics=("factuality", "wq"))
    other = write_run(
        verdicts, name="other", judges=JUDGES[1:], metrics=("factuality", "wq"), claims=lambda task, system: "another"
    )
    found = compare_judges(pool_runs([one, other]))
    by_metric = {pair.metric: pair for pair in found.pairs}
    assert (by_metric["factuality"].apart, by_metric["factuality"].items, by_metric["factuality"].tasks) == (16, 0, 0)
    assert by_metric["wq"].apart == 0
    assert by_metric["wq"].tasks == 8
    shown = [note for table in judge_tables(found) for note in table.notes]
    assert any("factuality: 16 units" in note and "claim lists" in note for note in shown)


def test_reports_that_a_judge_has_no_score_for_are_said(write_run: Write) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> object:
        return result(metric, None) if judge == JUDGES[1] and metric == "wq" else 50.0

    found = compare_judges(pool_runs([write_run(score, judges=JUDGES)]))
    (gap,) = found.missing
    assert (gap.metric, gap.judge, gap.units, gap.reason) == ("wq", JUDGES[1], 16, "failed: call_refused: no")
    notes = [note for table in judge_tables(found) for note in table.notes]
    assert f"{JUDGES[1]}: wq: 16 reports without a score are left out (failed: call_refused: no)." in notes
    assert "unknown: no ledger of these runs is at hand" in notes
    assert any(row[0] == "missing" and row[5] == 16 for row in judge_rows(found))


def test_one_judge_is_no_comparison(write_run: Write) -> None:
    with pytest.raises(UserError, match="only one judge"):
        compared(write_run(lambda *_: 50.0))


def test_few_tasks_have_no_test(write_run: Write) -> None:
    tasks = [Task(id="t1", prompt="Query?")]
    pair = compared(write_run(lambda t, s, m, judge, r: 50.0 + len(judge), judges=JUDGES, tasks=tasks)).pairs[0]
    assert pair.bias is None
    assert pair.mean_bias == len(JUDGES[1]) - len(JUDGES[0])
    assert "too few tasks" in pair.verdict


async def test_cost_and_time_come_from_the_ledger(write_run: Write, tmp_path: Path) -> None:
    path = write_run(
        lambda *_: 50.0, judges=JUDGES, ledger=str(tmp_path / "l.sqlite"), endpoints={JUDGES[0]: "https://a"}
    )

    async def answer() -> Answer:
        return Answer(body={"text": "yes"}, usage=Usage(prompt_tokens=90, completion_tokens=10, cost_usd=0.004))

    for run in ("earlier", "run"):  # the run reuses what an earlier one asked: it is counted all the same
        with Ledger.open(tmp_path / "l.sqlite", run=run) as ledger:
            for number in range(4):
                await ledger.call(Request(Kind.COMPLETION, "https://a", {"model": "gpt-5-mini", "n": number}), answer)
            for other in (("https://a", "gpt-5"), ("https://b", "gpt-5-mini")):
                await ledger.call(Request(Kind.COMPLETION, other[0], {"model": other[1]}), answer)
    spent = compared(path).spending
    assert [one.judge for one in spent] == [JUDGES[0]]  # the other one's endpoint is not known
    assert (spent[0].calls, spent[0].tokens, spent[0].reports) == (4 / 16, 400 / 16, 16)
    assert spent[0].usd == pytest.approx(0.016 / 16)
    assert spent[0].maker


# --- self-preference -------------------------------------------------------------------------------------------------


def biased(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
    """The first judge lifts its own vendor's system by 6, is softer by 5, and that system is better by 10."""
    rng = random.Random(f"{task}{system}{judge}")
    own = 6 if judge == JUDGES[0] and system == "gpt-agent" else 0
    return 50 + own + 5 * (judge == JUDGES[0]) + 10 * (system == "gpt-agent") + rng.uniform(-1, 1)


def test_self_preference_is_told_from_softness_and_from_quality(write_run: Write) -> None:
    path = write_run(biased, systems=("gpt-agent", "plain", "other"), judges=JUDGES, metrics=("wq",))
    found = compared(path).self_preference
    assert [(one.judge, one.own, one.others) for one in found] == [(JUDGES[0], ("gpt-agent",), ("plain", "other"))]
    assert found[0].preference is not None
    assert 5 < found[0].preference.mean < 7
    assert found[0].verdict == "openai/gpt-5-mini favours openai's systems"


def test_self_preference_by_other_protocols_is_not_told(write_run: Write) -> None:
    """Two runs, a judge each, each with protocols of its own: nothing in common to hold the judges against."""
    systems, metrics = ("gpt-agent", "plain", "other"), ("kic",)
    runs = [
        write_run(
            biased,
            name=judge.partition("/")[0],
            systems=systems,
            judges=(judge,),
            metrics=metrics,
            protocol=lambda task, system, judge=judge: f"{judge}'s protocol of {task}",
        )
        for judge in JUDGES
    ]
    (one,) = compare_judges(pool_runs(runs)).self_preference
    assert (one.preference, one.tasks, one.verdict) == (None, 0, "too few tasks for a test (0 of at least 6)")
    alike = [
        write_run(biased, name=f"{n}", systems=systems, judges=(j,), metrics=metrics) for n, j in enumerate(JUDGES)
    ]
    (one,) = compare_judges(pool_runs(alike)).self_preference
    assert one.preference is not None


def test_systems_of_the_other_judges_vendor_are_left_out_where_there_are_others(write_run: Write) -> None:
    systems = ("gpt-agent", "claude-agent", "plain")
    found = compared(write_run(biased, systems=systems, judges=JUDGES, metrics=("wq",))).self_preference
    assert [(one.own, one.others) for one in found] == [(("gpt-agent",), ("plain",)), (("claude-agent",), ("plain",))]
    assert [one.verdict for one in found][1] == "within noise"
    alone = compared(write_run(biased, name="two", systems=systems[:2], judges=JUDGES, metrics=("wq",))).self_preference
    assert "or anthropic/claude-haiku does the reverse" in alone[0].verdict


def test_vendors_can_be_named(write_run: Write) -> None:
    path = write_run(biased, systems=("mine", "plain"), judges=JUDGES, metrics=("wq",))
    assert compared(path).self_preference == ()
    found = compared(path, vendors={"mine": "anthropic"}).self_preference
    assert [(one.judge, one.own) for one in found] == [(JUDGES[1], ("mine",))]


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("openai/gpt-5-mini", "openai"),
        ("openrouter/anthropic/claude-sonnet-4", "anthropic"),
        ("https://host.test/v1#qwen3-32b", "alibaba"),
        ("local", "alibaba"),
        ("local:0123abcd", "alibaba"),
        ("o3-deep-research", "openai"),
        ("my-agent", None),
        ("foo3-agent", None),
        ("gpt-vs-claude", None),
        ("metaphor-search", None),
    ],
)
def test_vendors_by_name(name: str, vendor: str | None) -> None:
    assert vendor_of(name) == vendor


def test_every_figure_is_in_the_rows(write_run: Write) -> None:
    path = write_run(biased, systems=("gpt-agent", "plain"), judges=JUDGES)
    rows = list(judge_rows(compared(path)))
    assert {row[0] for row in rows} == {"pair", "self-preference"}
    assert {len(row) for row in rows} == {11}

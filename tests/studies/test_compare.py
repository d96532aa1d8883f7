"""Systems compared over runs on disk: what is tested, what is left out, and that both are said."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from dream_eval.core import Outcome, Task
from dream_eval.errors import InputError, UserError
from dream_eval.studies.compare import SystemPair, compare_systems
from dream_eval.studies.pool import pool_runs
from dream_eval.studies.tables import system_rows, system_tables
from written import item, result

Write = Callable[..., Path]


def noisy(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
    """``ours`` is 20 better than ``theirs`` on every task, give or take 3."""
    rng = random.Random(f"{task}{system}{metric}")
    return 60 + 20 * (system == "ours") + rng.uniform(-3, 3)


def pair_of(path: Path, metric: str = "wq", **options: object) -> SystemPair:
    found = compare_systems(pool_runs([path]), **options)  # type: ignore[arg-type]
    return next(pair for pair in found.pairs if pair.metric == metric)


def test_a_clear_difference_is_found_and_ranked(write_run: Write) -> None:
    found = compare_systems(pool_runs([write_run(noisy)]))
    pair = found.pairs[0]
    assert (pair.one, pair.other, pair.n) == ("ours", "theirs", 8)
    assert pair.difference is not None
    assert -24 < pair.difference.mean < -16
    assert pair.p_adjusted == pytest.approx(2 * 2 / 256)  # exact, two tests
    assert pair.verdict == "ours is higher"
    assert found.tests == 2
    ours = found.score("ours", "wq")
    assert ours.rank is not None
    assert (ours.rank.rank, ours.rank.best, ours.rank.worst) == (1, 1, 1)
    assert ours.coverage == 1
    assert ours.mean is not None
    assert ours.mean.n == 8


def test_equal_systems_are_within_noise(write_run: Write) -> None:
    rng = random.Random(2)
    pair = pair_of(write_run(lambda *_: rng.uniform(40, 60)))
    assert pair.verdict == "within noise"
    assert pair.difference is not None
    assert pair.difference.detectable > abs(pair.difference.mean)


def test_under_six_tasks_there_is_no_test(write_run: Write) -> None:
    tasks = [Task(id=f"t{n}", prompt=f"Query {n}?") for n in range(5)]
    found = compare_systems(pool_runs([write_run(noisy, tasks=tasks)]))
    assert {pair.difference for pair in found.pairs} == {None}
    assert found.pairs[0].verdict == "too few tasks for a test (5 of at least 6)"
    assert found.tests == 0
    score = found.score("ours", "wq")
    assert score.rank is None
    assert "too few tasks" in score.unranked
    assert score.mean is not None
    assert score.mean.low is None


def test_missing_tasks_are_named_and_below_the_floor_there_is_no_rank(write_run: Write) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> object:
        if system == "theirs" and task == "t3":
            return result(metric, None)
        if system == "theirs" and task == "t4":
            return None
        return noisy(task, system, metric, judge, repeat)

    path = write_run(score)
    found = compare_systems(pool_runs([path]))
    theirs = found.score("theirs", "wq")
    assert [(one.task, one.reason) for one in theirs.missing] == [
        ("t3", "failed: call_refused: no"),
        ("t4", "not reached"),
    ]
    assert theirs.coverage == 6 / 8
    assert theirs.rank is None
    assert theirs.unranked == "below the coverage floor"
    assert found.score("ours", "wq").unranked == "no other system may be ranked"
    assert found.pairs[0].n == 6
    assert {one.task for one in found.pairs[0].left_out} == {"t3", "t4"}
    assert any("not finished (30 of 32 units)" in notice for notice in found.notices)
    shown = "\n".join(note for table in system_tables(found) for note in table.notes)
    assert "theirs: wq, kic: 1 of 8 tasks (failed: call_refused: no): t3" in shown
    ranked = compare_systems(pool_runs([path], floor=0.5))
    assert ranked.score("theirs", "wq").rank is not None


def test_a_system_alone_has_no_rank(write_run: Write) -> None:
    """First of one is no rank: neither alone in the run, nor where the others are below the floor."""
    alone = compare_systems(pool_runs([write_run(noisy, systems=["ours"], name="alone")]))
    assert {(one.rank, one.unranked) for one in alone.scores} == {(None, "no other system may be ranked")}
    other_failed = write_run(lambda t, s, m, j, r: noisy(t, s, m, j, r) if s == "ours" else None, name="failed")
    found = compare_systems(pool_runs([other_failed]))
    assert {one.unranked for one in found.scores} == {"no other system may be ranked", "below the coverage floor"}


def test_thin_scores_count_only_when_asked_for(write_run: Write) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> object:
        flags = ("thin",) if (task, system) == ("t0", "ours") else ()
        return result(metric, noisy(task, system, metric, judge, repeat), flags=flags)

    path = write_run(score)
    found = compare_systems(pool_runs([path]))
    assert found.score("ours", "wq").missing[0].reason == "thin: too few items decided"
    assert found.pairs[0].n == 7
    assert compare_systems(pool_runs([path]), with_thin=True).pairs[0].n == 8


def test_what_does_not_apply_does_not_lower_coverage(write_run: Write) -> None:
    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> object:
        if (task, system) == ("t0", "ours"):
            return result(metric, None, status="not_applicable", reason="no_citations")
        return noisy(task, system, metric, judge, repeat)

    ours = compare_systems(pool_runs([write_run(score)])).score("ours", "wq")
    assert ours.coverage == 1
    assert ours.missing[0].reason == "not applicable: no_citations"


def test_protocols_must_agree_for_kic_and_not_for_wq(write_run: Write) -> None:
    def other(task: str, system: str) -> str:
        return f"{task} {system if task in ('t1', 't2', 't3') else ''}"

    path = write_run(noisy, protocol=other)
    kic, wq = pair_of(path, "kic"), pair_of(path, "wq")
    assert (kic.n, wq.n) == (5, 8)
    assert kic.verdict == "too few tasks for a test (5 of at least 6; 3 not judged alike)"
    assert {one.reason for one in kic.left_out} == {"not judged alike: other protocol.key_questions"}
    notes = [note for table in system_tables(compare_systems(pool_runs([path]))) for note in table.notes]
    assert any("t1, t2, t3" in note and "protocol.key_questions" in note for note in notes)


def test_prompts_of_another_version_are_not_compared(write_run: Write) -> None:
    one = write_run(noisy, name="one", systems=("ours",))
    other = write_run(noisy, name="other", systems=("theirs",), version=2)
    found = compare_systems(pool_runs([one, other]))
    assert [pair.n for pair in found.pairs] == [0, 0]
    assert found.pairs[0].left_out[0].reason == "not judged alike: other version"


def test_claim_lists_by_other_makers_are_not_compared(write_run: Write) -> None:
    metrics = ("factuality", "wq")
    one = write_run(noisy, name="one", systems=("ours",), metrics=metrics, judges=("x/a", "x/b"))
    other = write_run(noisy, name="other", systems=("theirs",), metrics=metrics, judges=("x/b", "x/a"))
    found = compare_systems(pool_runs([one, other]), judge="x/a")
    by_metric = {pair.metric: pair for pair in found.pairs}
    assert by_metric["wq"].n == 8
    assert by_metric["factuality"].n == 0
    assert by_metric["factuality"].left_out[0].reason == "not judged alike: other maker of claims"


def test_runs_are_pooled_and_doubles_count_once(write_run: Write) -> None:
    one = write_run(noisy, name="one", systems=("ours",))
    both = write_run(lambda *place: noisy(*place) + 1, name="both")
    pool = pool_runs([one, both])
    assert pool.systems == ("ours", "theirs")
    assert len(pool.cells) == 32
    assert any("16 units are in an earlier run too" in notice for notice in pool.notices)
    first = compare_systems(pool_runs([one])).score("ours", "wq").mean
    assert compare_systems(pool).score("ours", "wq").mean == first


def test_other_reports_under_one_name_are_another_system(write_run: Write) -> None:
    one = write_run(noisy, name="one")
    other = write_run(noisy, name="other", text=lambda task, system: f"# {task}\n\nSomething else by {system}.\n")
    pool = pool_runs([one, other])
    assert pool.systems == ("ours", "theirs", "ours (other)", "theirs (other)")
    assert "named apart" in pool.notices[0]


def test_one_task_id_with_two_queries_is_refused(write_run: Write) -> None:
    one = write_run(noisy, name="one")
    other = write_run(noisy, name="other", tasks=[Task(id="t1", prompt="Something else?")])
    with pytest.raises(InputError, match="'t1' asks something else"):
        pool_runs([one, other])


def test_repeats_are_averaged(write_run: Write) -> None:
    path = write_run(lambda t, s, m, j, repeat: 40 + 20 * repeat, repeats=2)
    found = compare_systems(pool_runs([path]))
    mean = found.score("ours", "wq").mean
    assert mean is not None
    assert (mean.value, mean.n) == (50, 8)
    assert found.repeats == 2


def test_a_judge_is_chosen_and_an_unknown_one_refused(write_run: Write) -> None:
    path = write_run(lambda t, s, m, judge, r: 30.0 if judge == "x/b" else 70.0, judges=("x/a", "x/b"))
    means = {
        judge: compare_systems(pool_runs([path]), judge=judge).score("ours", "wq").mean for judge in ("x/a", "x/b")
    }
    assert [mean and mean.value for mean in means.values()] == [70, 30]
    with pytest.raises(UserError, match="no judge 'x/c'"):
        compare_systems(pool_runs([path]), judge="x/c")


def test_topics_languages_and_verticals(write_run: Write) -> None:
    tasks = [
        Task(id=f"t{n}", prompt=f"Query {n}?", topic="law" if n < 6 else "art", language="en" if n % 2 else None)
        for n in range(8)
    ]

    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
        return {"wq": 10.0, "factuality": 20.0, "ci": 40.0}[metric] + (50 if task in ("t6", "t7") else 0)

    found = compare_systems(pool_runs([write_run(score, tasks=tasks, metrics=("wq", "factuality", "ci"))]))
    parts = {(one.by, one.value, one.system, one.metric): one.mean for one in found.slices}
    assert parts["topic", "law", "ours", "wq"].value == 10
    assert parts["topic", "law", "ours", "wq"].low == 10
    assert parts["topic", "art", "ours", "wq"].value == 60
    assert parts["topic", "art", "ours", "wq"].low is None  # two tasks have no interval
    assert {key[1] for key in parts if key[0] == "language"} == {"none given", "en"}
    assert parts["vertical", "source quality", "theirs", ""].value == pytest.approx(42.5)


def test_length_is_counted_and_correlated(write_run: Write) -> None:
    """A metric that pays for length is found out; one that does not is not."""
    tasks = [Task(id=f"t{n}", prompt=f"Query {n}?") for n in range(12)]

    def size(task: str, system: str) -> int:
        return 3 + random.Random(task + system).randrange(30)

    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
        paid = size(task, system) if metric == "wq" else random.Random(f"{task}{system}y").randrange(30)
        return 20.0 + paid + 10 * int(task[1:]) % 40

    path = write_run(
        score, tasks=tasks, systems=("a", "b", "c"), text=lambda t, s: "# T\n\n" + "Five words are in it. " * size(t, s)
    )
    found = compare_systems(pool_runs([path]))
    rho = {(one.metric, one.measure): one.rho for one in found.correlations}
    assert rho["wq", "words"].value > 0.99
    assert rho["wq", "words"].low is not None
    assert rho["wq", "words"].n == 36
    assert rho["kic", "words"].low < 0 < rho["kic", "words"].high  # type: ignore[operator]
    words = {one.system: one.mean.value for one in found.lengths if one.measure == "words"}
    assert words["a"] == pytest.approx(sum(5 * size(f"t{n}", "a") for n in range(12)) / 12 + 1)  # with the heading
    assert set(words) == {"a", "b", "c", ""}


def test_metrics_that_agree_on_the_order(write_run: Write) -> None:
    strength = {"a": 20.0, "b": 40.0, "c": 60.0}

    def score(task: str, system: str, metric: str, judge: str, repeat: int) -> float:
        return {"wq": strength[system], "kic": 100 - strength[system], "da": 50.0}[metric]

    found = compare_systems(pool_runs([write_run(score, systems=("a", "b", "c"), metrics=("wq", "kic", "da"))]))
    taus = {(one.one, one.other): one.tau for one in found.orders}
    assert taus == {("wq", "kic"): -1, ("wq", "da"): None, ("kic", "da"): None}
    assert any("same score for da" in notice for notice in found.notices)


def test_every_figure_is_in_the_rows(write_run: Write) -> None:
    found = compare_systems(pool_runs([write_run(noisy)]))
    rows = list(system_rows(found))
    assert {row[0] for row in rows} == {"score", "pair", "topic", "vertical", "length", "correlation"}
    assert {len(row) for row in rows} == {11}


def test_items_of_a_run_do_not_matter_to_systems(write_run: Write) -> None:
    path = write_run(lambda t, s, m, j, r: result(m, 50.0, item("k1", Outcome.YES)))
    assert compare_systems(pool_runs([path])).pairs[0].difference is not None

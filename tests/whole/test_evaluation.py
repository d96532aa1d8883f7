"""A whole evaluation against a scripted judge, CodeAgents included: every score was worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dream_eval.core import Outcome, Status
from dream_eval.errors import ReplayMiss, UserError
from dream_eval.ledger import Kind
from dream_eval.runs.data import Exit, RunState
from dream_eval.runs.perform import RunResult
from dream_eval.runs.replay import replay
from servers.chat import ScriptedChat, error, last_user
from world import CITED, QUERY, SCORES, is_claims, judge_of_world

pytestmark = pytest.mark.cluster


def check_scores(result: RunResult) -> None:
    for (report, metric), expected in SCORES.items():
        found = result.score(report, metric)
        assert found == (None if expected is None else pytest.approx(expected)), (report, metric, found)


def unit(result: RunResult, report: str, metric: str) -> Any:
    return next(line.result for line in result.results if (line.report, line.metric) == (report, metric))


async def test_every_metric_scores_what_was_worked_out_by_hand(world: Any) -> None:
    result = await world.run()
    assert result.state is RunState.FINISHED
    assert result.exit_code == Exit.DONE
    check_scores(result)
    facts = unit(result, "cited", "factuality")
    assert [item.outcome for item in facts.items] == [
        Outcome.SUPPORTED,
        Outcome.CONTRADICTED,
        Outcome.SUPPORTED,
        Outcome.SUPPORTED,
        Outcome.UNDECIDED,
    ]
    assert (facts.coverage.decided, facts.coverage.checked) == (4, 5)
    pairs = unit(result, "cited", "ci")
    assert pairs.parts["ca"] == 80
    assert pairs.parts["cf"] == pytest.approx(200 / 3)
    assert pairs.parts["cf_low"] == 50  # the page that could not be read counts as unsupported here, and only here
    assert (pairs.coverage.decided, pairs.coverage.checked) == (3, 4)
    assert "no_citations" in unit(result, "uncited", "ci").flags
    assert unit(result, "uncited", "da").status is Status.NOT_APPLICABLE


async def test_the_summary_names_what_is_wrong(world: Any) -> None:
    summary = (await world.run()).summary
    cited, uncited = summary.reports
    kinds = {(worst.kind, worst.metric) for worst in cited.worst}
    assert kinds == {
        ("contradicted claim", "factuality"),
        ("citation that does not hold", "ci"),
        ("missing key fact", "kic"),
        ("reasoning flaw", "rq"),
    }
    wrong = next(worst for worst in cited.worst if worst.kind == "contradicted claim")
    assert "14 turbines" in wrong.text
    assert "12 turbines" in (wrong.quote or "")
    assert wrong.url in ("https://tidal-authority.gov.uk/register", "https://www.lindow-energy.com/barrage")
    flaw = next(worst for worst in cited.worst if worst.kind == "reasoning flaw")
    assert "14 turbines" in flaw.text
    assert flaw.flaw == "unsupported claim"
    assert (cited.scored, uncited.scored, uncited.not_applicable) == (6, 5, 1)
    assert summary.totals.made > 0
    assert summary.totals.failed == 0
    assert {Kind.COMPLETION, Kind.SEARCH, Kind.PAGE} <= set(summary.totals.kinds)


async def test_replay_without_judge_or_corpus_gives_the_same_bytes_and_makes_no_call(
    world: Any, tmp_path: Path
) -> None:
    await world.run()
    asked = len(world.chat.requests)
    world.chat.stop()
    (world.folder / "corpus").rename(world.folder / "gone")
    done = await replay(world.out)
    assert done.difference is None
    assert done.units == len(SCORES)
    assert len(world.chat.requests) == asked
    from dream_eval.ledger import export_run

    run = json.loads((world.out / "run.json").read_text())["run"]
    exported = export_run(world.ledger, run, tmp_path / "shared.sqlite")
    world.ledger.rename(tmp_path / "hidden.sqlite")
    assert (await replay(world.out, ledger=exported)).difference is None


async def test_replay_tells_the_first_difference(world: Any) -> None:
    await world.run(metrics="wq,da")
    path = world.out / "results.jsonl"
    lines = path.read_text().splitlines()
    changed = json.loads(lines[1])
    changed["result"]["score"] = 1.0
    path.write_text(
        "\n".join([lines[0], json.dumps(changed, sort_keys=True, separators=(",", ":")), *lines[2:]]) + "\n"
    )
    done = await replay(world.out)
    assert done.difference is not None
    assert done.difference.startswith("line 2: cited/da at result.score: 1.0 before, 73.3")


async def test_a_run_that_cannot_be_replayed_says_why(world: Any) -> None:
    await world.run(metrics="wq")
    path = world.out / "run.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"versions": {"wq": 0}}))
    with pytest.raises(UserError, match="other prompts for wq"):
        await replay(world.out)
    path.write_text(json.dumps(config))
    from dream_eval.ledger import Ledger

    Ledger.open(world.folder / "empty.sqlite", run="x").close()
    with pytest.raises(ReplayMiss):
        await replay(world.out, ledger=world.folder / "empty.sqlite")
    (world.out / "summary.json").unlink()
    with pytest.raises(UserError, match="not finished"):
        await replay(world.out)


async def test_results_hold_nothing_of_the_clock(world: Any) -> None:
    await world.run()
    first = (world.out / "results.jsonl").read_bytes()
    other = judge_of_world(delay_s=0.01)
    with other:
        again = await world.run(judge=other.judge, out=world.folder / "again", ledger=world.folder / "other.sqlite")
    assert again.state is RunState.FINISHED
    assert (world.folder / "again" / "results.jsonl").read_bytes() == first


async def test_the_same_again_asks_nothing_and_changes_nothing(world: Any) -> None:
    first = await world.run()
    asked, before = len(world.chat.requests), (world.out / "results.jsonl").read_bytes()
    again = await world.run()
    assert len(world.chat.requests) == asked
    assert (world.out / "results.jsonl").read_bytes() == before
    assert again.summary.totals == first.summary.totals
    assert again.config.run == first.config.run


async def test_a_changed_report_redoes_that_report_and_says_so(world: Any) -> None:
    await world.run()
    world.chat.requests.clear()
    (world.folder / "cited.md").write_text(CITED.replace("14 turbines", "12 turbines"))
    said: list[str] = []
    result = await world.run(on_progress=lambda _, notice: said.append(notice.text) if notice else None)
    assert result.score("cited", "factuality") == 100
    assert result.score("cited", "kic") == 100
    assert result.score("uncited", "kic") == 50
    asked = [last_user(body) for body in world.chat.requests]
    assert asked
    assert not any("in short" in text for text in asked)
    assert "cited/factuality is done again: report, claims changed" in said
    assert any(line.startswith("uncited wq: 79.2 (done before)") for line in said)


async def test_another_metric_does_only_what_is_new_and_fewer_lose_nothing(world: Any) -> None:
    await world.run(metrics="wq")
    asked = len(world.chat.requests)
    await world.run(metrics="wq,da")
    assert len(world.chat.requests) - asked == 3  # three domains, each asked once
    await world.run(metrics="da")
    lines = (world.out / "results.jsonl").read_text().splitlines()
    assert [json.loads(line)["metric"] for line in lines] == ["da", "da"]
    result = await world.run(metrics="wq,da")
    assert len(world.chat.requests) - asked == 3
    assert result.score("cited", "wq") == pytest.approx(SCORES["cited", "wq"])


async def test_a_given_protocol_is_used_and_kept(world: Any) -> None:
    first = await world.run(metrics="kic")
    (made,) = (world.out / "protocols").glob("*.json")
    world.chat.requests.clear()
    other = await world.run(metrics="kic", protocol=made, out=world.folder / "other", ledger=world.folder / "l2.sqlite")
    assert other.score("cited", "kic") == first.score("cited", "kic")
    assert len(world.chat.requests) == 2  # one call a report, none to make a protocol
    assert (await replay(world.folder / "other")).difference is None


async def test_a_budget_ends_the_run_and_a_larger_one_finishes_it(world: Any) -> None:
    small = await world.run(budget_tokens=9_000)
    assert small.state is RunState.BUDGET
    assert small.exit_code == Exit.BUDGET
    assert "budget reached" in small.reason
    totals = small.summary.totals
    assert totals.prompt_tokens + totals.completion_tokens <= 9_000
    assert small.summary.coverage is not None
    assert small.summary.coverage < 1
    stored = [json.loads(line)["unit"] for line in (world.out / "results.jsonl").read_text().splitlines()]
    assert 0 < len(stored) < len(SCORES)
    assert sorted(stored) == sorted(line.unit for line in small.results), "each unit is stored as it finishes"
    asked = len(world.chat.requests)
    large = await world.run(budget_tokens=1_000_000)
    assert large.state is RunState.FINISHED
    check_scores(large)
    bodies = [json.dumps(body, sort_keys=True) for body in world.chat.requests]
    assert len(set(bodies)) == len(bodies), "something was paid twice"
    assert len(bodies) > asked
    assert (await replay(world.out)).difference is None


async def test_a_dollar_budget_without_a_price_refuses_to_start(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    with pytest.raises(UserError, match="--budget-tokens"):
        await world.run(judge="openai/no-such-model", budget_usd=1.0)
    assert world.chat.requests == []


async def test_a_refused_account_ends_the_run_and_the_right_key_finishes_it(
    tmp_path: Path, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with judge_of_world(key="sk-right-0123456789") as chat:
        monkeypatch.setenv("DREAM_API_KEY", "sk-wrong-0123456789")
        refused = await world.run(judge=chat.judge)
        assert refused.state is RunState.REFUSED
        assert refused.exit_code == Exit.REFUSED
        assert [(line.report, line.metric) for line in refused.results] == [("uncited", "da")]  # asks nobody
        monkeypatch.setenv("DREAM_API_KEY", "sk-right-0123456789")
        done = await world.run(judge=chat.judge)
        assert done.state is RunState.FINISHED
        check_scores(done)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"sk-right" not in written
    assert b"sk-wrong" not in written


def broken(test: Any) -> ScriptedChat:
    chat = judge_of_world()
    chat._rules.insert(0, (test, error(400, "content filter", code="content_filter"), [-1]))
    return chat


async def test_without_claims_the_metrics_that_need_them_fail_and_the_rest_is_scored(world: Any) -> None:
    with broken(is_claims) as chat:
        result = await world.run(judge=chat.judge)
    assert result.state is RunState.FINISHED
    assert result.exit_code == Exit.COVERAGE
    for report in ("cited", "uncited"):
        for metric in ("factuality", "ci"):
            failed = unit(result, report, metric)
            assert failed.status is Status.FAILED
            assert failed.score is None
            assert "claims could not be made" in failed.reason
            assert "content filter" in failed.reason
        for metric in ("wq", "kic", "rq"):
            assert result.score(report, metric) == pytest.approx(SCORES[report, metric])
    assert result.summary.below_floor == ("cited", "uncited")
    assert (await replay(world.out)).difference is None, "failures replay as the same failures"


async def test_without_a_protocol_kic_and_rq_fail_and_the_rest_is_scored(world: Any) -> None:
    with broken(lambda body: "prepare the evaluation" in json.dumps(body)) as chat:
        result = await world.run(judge=chat.judge)
    for report in ("cited", "uncited"):
        assert {m for m in ("wq", "kic", "rq", "factuality", "ci") if result.score(report, m) is None} == {"kic", "rq"}
        assert "protocol could not be made" in unit(result, report, "kic").reason
        assert result.score(report, "factuality") == SCORES[report, "factuality"]
    assert (await replay(world.out)).difference is None


async def test_failed_units_are_tried_again_by_the_same_command(world: Any) -> None:
    with broken(is_claims) as chat:
        await world.run(judge=chat.judge)
    said: list[str] = []
    world.chat.requests.clear()
    with judge_of_world() as chat:
        result = await world.run(
            judge=chat.judge, on_progress=lambda _, notice: said.append(notice.text) if notice else None
        )
        assert not any("Score the writing" in last_user(body) for body in chat.requests)
    check_scores(result)
    assert (await replay(world.out)).difference is None
    assert any("failed before and is tried again" in line or "is done again: claims changed" in line for line in said)


async def test_the_start_date_is_frozen_at_the_first_start(world: Any) -> None:
    first = await world.run(metrics="wq", as_of=None)
    assert not first.config.as_of.given
    path = world.out / "run.json"
    config = json.loads(path.read_text())
    config["as_of"]["day"] = "2026-01-02"
    path.write_text(json.dumps(config))
    again = await world.run(metrics="wq", as_of=None)
    assert str(again.config.as_of.day) == "2026-01-02"


async def test_a_bug_of_ours_fails_its_unit_and_leaves_a_traceback_in_the_folder(
    world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from dream_eval.evaluators import router

    async def explodes(*_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    kept = router.EVALUATORS["wq"]
    router.EVALUATORS["wq"] = (explodes, kept[1])
    try:
        result = await world.run(metrics="wq,da")
    finally:
        router.EVALUATORS["wq"] = kept
    failed = unit(result, "cited", "wq")
    assert failed.status is Status.FAILED
    assert "ZeroDivisionError" in failed.reason
    assert "in explodes" in (world.out / "errors.log").read_text()
    assert "Traceback" not in capsys.readouterr().err
    assert result.score("cited", "da") == pytest.approx(SCORES["cited", "da"])


def test_the_documented_call_works_without_and_inside_an_event_loop(world: Any) -> None:
    import asyncio

    import dream_eval

    first = dream_eval.evaluate(world.reports(), **world.all_wishes(metrics="wq"))
    assert first.score("cited", "wq") == pytest.approx(SCORES["cited", "wq"])

    async def in_a_notebook() -> RunResult:
        return dream_eval.evaluate(str(world.reports()[0]), **world.all_wishes(metrics="wq", out=world.folder / "nb"))

    assert asyncio.run(in_a_notebook()).score("cited", "wq") == first.score("cited", "wq")


async def test_refresh_asks_again_what_the_folder_and_the_ledger_hold(world: Any) -> None:
    await world.run(metrics="wq,kic")
    asked = len(world.chat.requests)
    before = (world.out / "results.jsonl").read_bytes()
    await world.run(metrics="wq,kic", ledger_mode="refresh")
    assert len(world.chat.requests) == 2 * asked
    assert (world.out / "results.jsonl").read_bytes() == before


async def test_a_report_that_carries_its_prompt_needs_no_query(world: Any) -> None:
    lines = [{"id": "x1", "prompt": "What of Lindow?", "article": "The Lindow barrage was completed in 2021."}]
    path = world.folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    result = await world.run(reports=[path], query=None, metrics="wq")
    assert result.config.tasks[0].prompt == "What of Lindow?"
    assert [line.result.score for line in result.results] == [pytest.approx(SCORES["cited", "wq"])]


async def test_reports_of_one_file_are_told_apart_everywhere(world: Any) -> None:
    records = [{"id": f"q{n}", "prompt": f"{QUERY} ({n})", "article": CITED} for n in (1, 2)]
    records[1]["article"] = "# The barrage\n\nIt is long.\n"
    path = world.folder / "ids.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    said: list[str] = []
    result = await world.run(
        reports=[path],
        query=None,
        metrics="da",
        on_progress=lambda _, notice: said.append(notice.text) if notice else None,
    )
    assert [report.name for report in result.summary.reports] == ["ids#q1", "ids#q2"]
    assert any(text.startswith("ids#q1 da: ") for text in said)
    assert "ids#q2/da" in said
    assert result.score("ids#q1", "da") == result.score("q1", "da") == pytest.approx(220 / 3)
    assert result.score("ids#q2", "da") is None
    with pytest.raises(UserError, match="say ids#q1, ids#q2"):
        result.score("ids", "da")

"""One run with the peers' metrics, and their files read as their own summaries read them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dream_eval.cli import command
from dream_eval.core import Status
from dream_eval.errors import UserError
from dream_eval.models import Limits
from dream_eval.protocols.rubric import GENERAL
from dream_eval.reports import load_tasks
from dream_eval.runs.api import prepare
from dream_eval.runs.peer_files import write_peers
from dream_eval.runs.perform import Outside, perform
from dream_eval.runs.pooled import fact_figures, ratio_figures
from dream_eval.runs.reading import RunView, open_run
from evaluating import doc, lines_of, verdict_on
from rubrics import asked, is_comparing, is_scoring
from servers.chat import Body, ScriptedChat, error, last_user, prompt

HOST = "https://works-register.org"
TASKS = {"1": "What did the Alba works make?", "2": "What did the Berga works make?"}
PAGES = [
    doc(f"{HOST}/{name.lower()}", f"The register was begun in 1990. The {name} works made {number} cells in a year.")
    for name, number in (("Alba", 110), ("Berga", 120))
]


def cites(name: str, number: int) -> str:
    return f"The {name} works made {number} cells in a year ([register]({HOST}/{name.lower()})).\n\n"


ARTICLES = {
    "good": {"1": cites("Alba", 110) + cites("Berga", 120), "2": cites("Berga", 120)},
    "poor/../er": {"1": cites("Alba", 999) + cites("Alba", 110) + cites("Berga", 5), "2": "Nothing is known here.\n"},
}


# --- a judge that reads ----------------------------------------------------------------------------------------------


def claims(body: Body) -> dict[str, Any]:
    found = [(n, text) for n, text in lines_of(last_user(body)).items() if "works made" in text]
    return {
        "claims": [
            {"sentence": n, "importance": 3, "changes": False, "text": text.replace(" (register)", "")}
            for n, text in found
        ]
    }


def facts(body: Body) -> dict[str, Any]:
    words = {"supported": "right", "contradicted": "wrong", "not_enough_evidence": "unknown"}
    found = {}
    for id, text, evidence in re.findall(r"^(c\d+): (.*)\n<evidence \w+>\n((?:\[\d+\] .*\n)*)", last_user(body), re.M):
        verdict = verdict_on(text, lines_of(evidence))
        found[id] = {"why": "Read.", "verdict": words[verdict["verdict"]], "sentences": verdict["sentences"]}
    return found


def citations(body: Body) -> dict[str, Any]:
    text = prompt(body) + "\n"
    shown = lines_of(text.partition("Each statement cites one page.")[0])
    found = {}
    block = r"^Of page \d+ \(sentences (\d+) to (\d+)\):$\n((?:s\d+: .*\n)+)"
    for first, last, listed in re.findall(block, text, re.M):
        lines = {n: shown[n] for n in range(int(first), int(last) + 1)}
        found |= {id: verdict_on(said, lines) for id, said in re.findall(r"^(s\d+): (.*)$", listed, re.M)}
    return found


def weights(body: Body) -> dict[str, Any]:
    race = "comprehensiveness" in prompt(body)
    names = GENERAL["race" if race else "dre_quality"]
    specific = [{"name": "Grid Cost", "definition": "What it costs.", "weight": 20}]
    return {"weights": dict.fromkeys(names, 20)} | ({} if race else {"specific": specific})


def criteria(body: Body) -> dict[str, Any]:
    ids = re.findall(r"^(d\d+) ", last_user(body), re.M)
    return {
        id: [{"criterion": f"{id} {side} side", "weight": w} for side, w in (("first", 3), ("other", 1))] for id in ids
    }


def compared(body: Body) -> dict[str, Any]:
    """The article with more sentences is better."""
    shown = prompt(body).partition("Article A:")[2].partition("Score both")[0]
    a, b = (len(part) for part in shown.split("Article B:"))
    return {id: {"why": "Longer.", "a": 8 if a > b else 4, "b": 4 if a > b else 8} for id in asked(body)}


def judge_of(chat: ScriptedChat) -> ScriptedChat:
    chat.on("List all claims of sentences", claims)
    chat.on("Give each dimension its weight", weights).on("For each dimension give", criteria)
    chat.on(
        is_scoring, lambda body: {i: {"why": "So.", "score": 7 if "first" in t else 3} for i, t in asked(body).items()}
    )
    chat.on(is_comparing, compared)
    chat.on("Each claim has its own evidence.", facts)
    chat.on("Each statement cites one page.", citations)
    return chat


@dataclass
class Peers:
    chat: ScriptedChat
    folder: Path

    async def run(self, **more: Any) -> RunView:
        reports = {system: self.folder / f"{n}.jsonl" for n, system in enumerate(ARTICLES)}
        for system, path in reports.items():
            lines = [{"id": id, "prompt": TASKS[id], "article": text} for id, text in ARTICLES[system].items()]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (self.folder / "tasks.jsonl").write_text(
            "".join(json.dumps({"id": id, "prompt": text}) + "\n" for id, text in TASKS.items())
        )
        (self.folder / "corpus.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
        ask = prepare(
            reports,
            tasks=load_tasks(self.folder / "tasks.jsonl"),
            judge=self.chat.judge,
            search=f"corpus:{self.folder / 'corpus.jsonl'}",
            metrics="dre,drb",
            mode="guided",
            reference="good",
            as_of="2025-06-30",
            out=self.folder / "run",
            ledger=self.folder / "ledger.sqlite",
            **more,
        )
        await perform(ask, outside=Outside(limits=Limits(wait_scale=0, attempts=2)))
        return open_run(self.folder / "run")


@pytest.fixture
def peers(tmp_path: Path) -> Iterator[Peers]:
    with ScriptedChat() as chat:
        yield Peers(judge_of(chat), tmp_path)


def read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


# --- tests -----------------------------------------------------------------------------------------------------------


async def test_figures_by_hand(peers: Peers) -> None:
    # good: 3 pairs, all supported. poor: of 3 pairs on task 1 one is supported; task 2 has no citation.
    view = await peers.run()
    good, poor = fact_figures(view)
    assert (good.pairs, good.supported, good.accuracy, good.effective_all) == (3, 3, 100, 1.5)
    assert (poor.tasks, poor.cited, poor.failed) == (2, 1, 0)
    assert (poor.supported, poor.not_supported, poor.unknown) == (1, 2, 0)
    assert poor.accuracy == poor.accuracy_cited == pytest.approx(100 / 3)
    assert poor.accuracy_all == pytest.approx(100 / 6), "the paper counts a report without citations as 0"
    assert (poor.effective_cited, poor.effective_all) == (1, 0.5)
    first, second = ratio_figures(view)
    assert (first.statements, first.right, first.ratio) == (3, 3, 100)
    assert (second.statements, second.right, second.wrong, second.unknown) == (3, 1, 2, 0)
    assert second.ratio == pytest.approx(100 / 3)
    assert good.interval is not None
    assert good.interval.kind == "bootstrap"


async def test_the_peers_summaries_read_our_files(peers: Peers) -> None:
    view = await peers.run()
    written = write_peers(view, peers.folder / "peers")
    out = peers.folder / "peers"
    assert all(out in path.parents for path in written), "a system's name leads nowhere else"
    systems = {path.name for path in (out / "deep_research_bench" / "results" / "fact").iterdir()}
    (odd,) = systems - {"good"}

    # fact: the bench's own arithmetic over validated.jsonl
    folder = out / "deep_research_bench" / "results" / "fact" / odd
    total = valid = reports = 0
    for line in read(folder / "validated.jsonl"):
        if not line["citations"]:
            continue
        reports += 1
        for group in line["citations_deduped"].values():
            assert len(group["facts"]) == len(group["validate_res"])
            assert group["validate_error"] is None
            decided = [one["result"] for one in group["validate_res"] if one["result"] != "unknown"]
            total, valid = total + len(decided), valid + decided.count("supported")
    told = dict(line.split(": ") for line in (folder / "fact_result.txt").read_text().splitlines())
    assert {name: float(value) for name, value in told.items()} == pytest.approx(
        {"total_citations": total / reports, "total_valid_citations": valid / reports, "valid_rate": valid / total}
    )

    # race: 8 against 4 in all, for the longer article
    race = out / "deep_research_bench" / "results" / "race"
    assert not (race / "good").exists(), "the reference has no score"
    rows = read(race / odd / "raw_results.jsonl")
    assert [row["id"] for row in rows] == [1, 2]
    assert rows[0]["prompt"] == TASKS["1"]
    assert rows[0] == pytest.approx(rows[0] | dict.fromkeys((*GENERAL["race"], "overall_score"), 8 / 12))
    assert rows[1]["overall_score"] == pytest.approx(4 / 12)
    assert (race / odd / "race_result.txt").read_text().splitlines() == [
        "Comprehensiveness: 0.5000",
        "Insight: 0.5000",
        "Instruction_following: 0.5000",
        "Readability: 0.5000",
        "Overall: 0.5000",
    ]

    # facts
    statements = read(out / "deepresearcheval" / "results" / odd / "task_1.json")
    assert [one["verification"] for one in statements].count("Wrong") == 2
    assert all(set(one) == {"statement", "verification", "evidence", "reasoning"} for one in statements)
    assert statements[0]["evidence"][0] == {
        "source": f"{HOST}/alba",
        "excerpt": "The Alba works made 110 cells in a year.",
    }

    # quality: the weighted total out of what stands in the file
    quality = read(out / "deepresearcheval" / "outputs" / "pointwise_evaluation_results.json")
    query = quality["query_results"]["1"]
    result = query["model_results"]["good"]
    assert query["additional_dimensions"] == [{"meta_dimension_name": "Grid Cost", "definition": "What it costs."}]
    whole = 0.0
    for name, weight in query["dimension_weights"].items():
        shares = {one["criterion"]: one["weight"] for one in query["all_criteria"][name]}
        given = result["raw_scores"][name]
        score = sum(shares[one["criterion"]] * one["report_score_0_to_10"] for one in given)
        assert result["final_scores"][f"{name}_score"] == pytest.approx(score)
        whole += weight * score
    assert result["final_scores"]["total_weighted_score"] == pytest.approx(whole) == pytest.approx(6)
    assert quality["summary"]["models"]["good"]["average_total_score"] == pytest.approx(6)
    assert quality["summary"]["models"]["good"]["expected_queries"] == 2
    assert result["report_text"].startswith("The Alba works")

    assert read(out / "figures.json")["fact"][0]["system"] == "good"


async def test_the_verb_prints_the_figures_and_writes_beside_the_run(peers: Peers) -> None:
    await peers.run()
    done = CliRunner().invoke(command, ["peers", str(peers.folder / "run")])
    assert done.exit_code == 0, done.output
    assert "accuracy 33.3 %; 1 supported, 2 not, 0 unknown" in done.output
    assert "ratio 33.3 %; 1 right, 2 wrong, 0 unknown, 0 not checked" in done.output
    assert all(len(line) <= 80 for line in done.output.splitlines() if "written" not in line)
    assert (peers.folder / "run" / "peers" / "figures.json").exists()


async def test_a_failed_unit_is_in_no_mean_and_is_told(peers: Peers) -> None:
    peers.chat.on(
        lambda body: is_comparing(body) and "Nothing is known" in prompt(body), error(400, "no", code="x"), first=True
    )
    view = await peers.run()
    write_peers(view, peers.folder / "peers")
    (path,) = (peers.folder / "peers").rglob("raw_results.jsonl")
    rows = read(path)
    assert "overall_score" not in rows[1]
    assert "error" in rows[1]
    assert path.with_name("race_result.txt").read_text().splitlines()[-1] == "Overall: 0.6667"


async def test_one_rubric_a_task_for_all_systems(peers: Peers) -> None:
    view = await peers.run()
    for metric in ("dre_quality", "race"):
        lines = [line for line in view.results() if line.metric == metric]
        assert len(lines) == 4
        digests = {(line.task, line.inputs["rubric"]) for line in lines}
        assert len(digests) == 2
        assert all(view.rubric(line) is not None for line in lines)
    asked_for = [body for body in peers.chat.requests if "Give each dimension its weight" in prompt(body)]
    assert len(asked_for) == 4, "a task and a kind"
    statuses = {(line.report, line.result.status) for line in view.results() if line.metric == "race"}
    assert ("good", Status.NOT_APPLICABLE) in statuses


@pytest.mark.parametrize(
    ("wish", "told"), [({"judge": "nobody"}, "has no judge 'nobody'"), ({"repeat": 3}, "no repeat 3")]
)
async def test_wishes_that_the_run_cannot_meet(peers: Peers, wish: dict[str, Any], told: str) -> None:
    view = await peers.run()
    with pytest.raises(UserError, match=told):
        write_peers(view, peers.folder / "peers", **wish)

"""Labelled sets: plain files, the public samples, sampling, and files that are not what they should be."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from dream_eval.errors import InputError
from dream_eval.studies.labels import Pair, Preference, half, load_labels, sample


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def pairs_file(folder: Path, count: int = 40) -> Path:
    rows = [
        {
            "claim": f"Claim {n}.",
            "evidence": f"Text {n}.",
            "label": ["supports", "refutes", "nei"][n % 10 % 3],
            "group": n // 2,
        }
        for n in range(count)
    ]
    return write(folder / "pairs.jsonl", "\n".join(map(json.dumps, rows)))


def test_csv_with_the_words_that_people_use(tmp_path: Path) -> None:
    text = "claim,evidence,label\nA.,One.,Supported\nB.,Two.,Contradicted\nC.,Three.,Not enough info\n"
    found = load_labels(write(tmp_path / "a.csv", "\ufeff" + text))
    assert [(one.claim, one.label) for one in found.examples if isinstance(one, Pair)] == [
        ("A.", "supports"),
        ("B.", "refutes"),
        ("C.", "neither"),
    ]
    assert (found.kind, found.labels) == ("passage", ("supports", "refutes", "neither"))


@pytest.mark.parametrize("comma", [";", "\t"])
def test_spreadsheets_may_have_changed_the_comma(tmp_path: Path, comma: str) -> None:
    text = f"claim{comma}evidence{comma}label\nA, then B.{comma}One.{comma}yes\n"
    assert [one.label for one in load_labels(write(tmp_path / "a.csv", text)).examples] == ["supports"]


def test_partly_means_a_page_unless_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "claim,evidence,label\nA.,One.,partially supported\nB.,Two.,no\n")
    assert load_labels(path).kind == "page"
    assert load_labels(path, kind="passage").kind == "passage"


def test_preferences(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "query,first,second,preference\nWhy?,So.,Because.,second\nHow?,Thus.,So.,tie\n")
    found = load_labels(path)
    assert (found.kind, found.labels) == ("preference", ("second", "tie"))
    assert isinstance(found.examples[0], Preference)
    with pytest.raises(InputError, match="not what --as page needs"):
        load_labels(path, kind="page")


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "claim,evidence,label\nA.,One.,perhaps\n", r"a\.csv:2 \(label\): 'perhaps' is none of supports"),
        ("a.csv", 'claim,evidence,label\n"A.","One\nTwo",yes\nB.,C.,perhaps\n', r"a\.csv:4 \(label\): 'perhaps'"),
        (
            "a.jsonl",
            '{"claim": "A", "evidence": "B", "label": "yes"}\n\n{"claim": "A", "evidence": "B", "label": "x"}',
            "l:3 ",
        ),
        ("a.jsonl", '[{"claim": "A", "evidence": "B", "label": "x"}]', r"\(label\): entry 1: 'x' is none of"),
        ("a.jsonl", '[1]\n{"claim": "A"}', r"a\.jsonl:1: must be an object such as .*, not \[1\]"),
        ("a.csv", "claim,evidence,label\nA.,,supports\n", r"a\.csv:2 \(evidence\): is empty"),
        ("a.csv", "claim,label\nA.,supports\n", "fields are claim, label; plain files have claim, evidence, label, or"),
        ("a.csv", "", "no rows"),
        ("a.jsonl", '{"claim": "A"\n', r"a\.jsonl:1: no JSON"),
        ("a.jsonl", "[1, 2]", "must be an object"),
        ("a.jsonl", "3\n", r"a\.jsonl:1: must be an object"),
        ("a.jsonl", '{"sentences": [], "response": ""}', "looks like Factcheck-Bench and is not in its format"),
        ("a.jsonl", '{"claim": "A", "evidence": "B", "label": "yes"}\n{"claim": "A"}', "not in its format"),
        ("a.jsonl", "[" * 100_000, "no JSON"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        load_labels(write(tmp_path / name, text))


def test_a_missing_file_and_one_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: cannot be read \(No such file or directory\)"):
        load_labels(tmp_path / "nowhere.csv")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read as UTF-8"):
        load_labels(tmp_path / "b.csv")


def test_a_sample_is_even_seeded_and_says_so(tmp_path: Path) -> None:
    labels = load_labels(pairs_file(tmp_path))
    some = sample(labels, most=9, seed=1)
    assert Counter(one.label for one in some.examples) == {"supports": 3, "refutes": 3, "neither": 3}
    assert some == sample(labels, most=9, seed=1)
    assert some.examples != sample(labels, most=9, seed=2).examples
    assert some.sampled == "9 drawn with seed 1, labels mixed evenly"
    assert some.digest != labels.digest
    everything = sample(labels, most=None)
    assert (everything.sampled, len(everything.examples)) == ("", 40)


def test_the_halves_share_no_claim(tmp_path: Path) -> None:
    labels = load_labels(pairs_file(tmp_path))
    halves = [sample(labels, most=None, part=part).examples for part in ("dev", "test")]
    assert sum(map(len, halves)) == 40
    assert all(halves)
    assert {half(one) for one in halves[0]} == {"dev"}
    with pytest.raises(InputError, match="no example in the part"):
        sample(labels.model_copy(update={"examples": halves[0]}), most=None, part="test")


def test_the_digest_follows_labels(tmp_path: Path) -> None:
    labels = load_labels(pairs_file(tmp_path))
    changed = labels.examples[0].model_copy(update={"label": "neither"})
    assert labels.model_copy(update={"examples": (changed, *labels.examples[1:])}).digest != labels.digest


@pytest.mark.parametrize(
    ("file", "kind", "counts", "left_out"),
    [
        ("wice_dev_sample.jsonl", "page", {"supports": 30, "partly": 48, "neither": 12}, {}),
        (
            "factcheck_bench_sample.jsonl",
            "passage",
            {"supports": 158, "refutes": 53, "neither": 737},
            {"partial support": 52},
        ),
        (
            "expertqa_val_head.jsonl",
            "page",
            {"supports": 36, "partly": 14, "neither": 0},
            {"no text of the source": 41},
        ),
        ("ragchecker_preferences_sample.json", "preference", {"second": 9, "first": 7, "tie": 4}, {}),
    ],
)
def test_public_sets_as_published(shared_data: Path, file: str, kind: str, counts: dict, left_out: dict) -> None:
    found = load_labels(shared_data / "pairs" / file)
    assert (found.kind, found.counts(), found.left_out) == (kind, counts, left_out)
    assert len({one.id for one in found.examples}) == len(found.examples)

import datetime as dt

import pytest
from dream_eval.core import Task
from dream_eval.protocols import Mode, Plan, compound, has_outside_step, lint, same_question, time_bound, yes_no


def rules(protocol):
    return [(problem.rule, problem.item) for problem in lint(protocol)]


def with_key(protocol, index, **changes):
    questions = list(protocol.key_questions)
    questions[index] = questions[index].model_copy(update=changes)
    return protocol.model_copy(update={"key_questions": tuple(questions)})


def with_plan(protocol, lookup):
    questions = list(protocol.reasoning_questions)
    plan = questions[1].plan.model_copy(update={"lookup": lookup})
    questions[1] = questions[1].model_copy(update={"plan": plan})
    return protocol.model_copy(update={"reasoning_questions": tuple(questions)})


def dated(question, day):
    return tuple(source.model_copy(update={"published": day}) for source in question.provenance)


def test_a_sound_protocol_has_no_problem(protocol):
    assert lint(protocol) == []


def test_duplicates_are_found_in_spite_of_small_changes(protocol):
    changed = with_key(protocol, 5, text="Does the report state the grid limit rose to 8 GW?")
    assert rules(changed) == [("duplicate_question", "k6")]


def test_questions_that_differ_in_a_number_are_not_duplicates(protocol):
    assert rules(with_key(protocol, 5, text="Does the report state that the grid limit rose to 9 GW?")) == []
    assert not same_question("Did it rise to 8 GW in 2024?", "Did it rise to 8 GW in 2025?")


def test_compound_and_open_questions_are_named(protocol):
    changed = with_key(protocol, 0, text="Does the report give the price and does it name the year?")
    changed = with_key(changed, 1, text="What is the price?")
    assert rules(changed) == [("compound_question", "k1"), ("not_yes_no", "k2")]


def test_a_reasoning_question_must_be_open(protocol):
    closed = protocol.reasoning_questions[0].model_copy(update={"text": "Is the forecast right?"})
    changed = protocol.model_copy(update={"reasoning_questions": (closed, *protocol.reasoning_questions[1:])})
    assert rules(changed) == [("closed_reasoning_question", "r1")]


def test_provenance_missing_or_too_young(protocol):
    changed = with_key(protocol, 0, provenance=())
    changed = with_key(changed, 1, provenance=dated(protocol.key_questions[1], dt.date(2026, 5, 2)))
    assert rules(changed) == [("provenance_after_as_of", "k2"), ("no_provenance", "k1")]
    on_the_day = with_key(protocol, 1, provenance=dated(protocol.key_questions[1], dt.date(2026, 5, 1)))
    assert rules(on_the_day) == []


def test_static_protocols_may_lack_provenance_only_when_marked(protocol):
    maker = protocol.maker.model_copy(update={"mode": Mode.STATIC})
    bare = protocol.model_copy(
        update={
            "maker": maker,
            "key_questions": tuple(q.model_copy(update={"provenance": ()}) for q in protocol.key_questions),
        }
    )
    assert {rule for rule, _ in rules(bare)} == {"no_provenance"}
    assert rules(bare.model_copy(update={"flags": ("unprovenanced",)})) == []


def test_time_sensitive_task_needs_a_time_sensitive_question(protocol):
    changed = with_key(protocol, 0, time_sensitive=False)
    assert rules(changed) == [("no_time_sensitive_question", None)]
    timeless = changed.model_copy(update={"task": Task(id="t", prompt="How did tulip mania start in 1636?")})
    assert rules(timeless) == []


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (dt.date(2025, 5, 1), []),
        (dt.date(2025, 4, 30), [("stale_evidence", "k1")]),
        (None, [("undated_evidence", "k1")]),
    ],
)
def test_age_of_evidence_for_a_time_sensitive_question(protocol, day, expected):
    assert rules(with_key(protocol, 0, provenance=dated(protocol.key_questions[0], day))) == expected


@pytest.mark.parametrize("lookup", ["", "none", "N/A", "No search needed.", "Re-read the report.", "无"])
def test_a_plan_must_look_outside(protocol, lookup):
    assert rules(with_plan(protocol, lookup)) == [("plan_without_outside_step", "r2")]


@pytest.mark.parametrize("lookup", ["NVE tender results 2026", "挪威海上风电招标", "report of the regulator on grids"])
def test_real_look_ups_pass(lookup):
    assert has_outside_step(Plan(extract="e", lookup=lookup, cross_check="c", against="a"))


def test_counts(protocol):
    few = protocol.model_copy(
        update={"key_questions": protocol.key_questions[:7], "reasoning_questions": protocol.reasoning_questions[:2]}
    )
    assert rules(few) == [("too_few_key_questions", None), ("too_few_reasoning_questions", None)]
    many = protocol.key_questions * 2
    renamed = tuple(q.model_copy(update={"id": f"k{i}", "text": f"Is item {i} named?"}) for i, q in enumerate(many))
    assert ("too_many_key_questions", None) in rules(protocol.model_copy(update={"key_questions": renamed}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Does the report state X?", True),
        ("As of May 2026, is the plant running?", True),
        ("Isn't the limit 8 GW?", True),
        ("Doesn’t it say so?", True),
        ("Is the plant running", False),
        ("What is the limit?", False),
        ("In which year was the plant opened?", False),
        ("The report states the limit.", False),
        ("", False),
        ("报告是否指出电网上限为8吉瓦？", True),
        ("报告提到补贴了吗？", True),
        ("电网上限是多少？", False),
        ("報告は上限に触れていますか？", True),
        ("Gibt es eine Obergrenze?", True),
        ("Est-ce que le rapport cite le prix ?", True),
        ("Mikä on raja?", None),
    ],
)
def test_yes_no_form(text, expected):
    assert yes_no(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Does it name the price and does it name the year?", True),
        ("Does it name both the price and the year?", True),
        ("Is the price given? Is the year given?", True),
        ("Does it say that prices fell and that wages rose?", True),
        ("Does it name the price and the year?", False),
        ("Does the report mention research and development?", False),
        ("报告是否指出价格下降并且是否给出年份？", True),
        ("报告是否指出价格下降？", False),
    ],
)
def test_compound(text, expected):
    assert compound(text) is expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("What is the latest on fusion?", True),
        ("Compare battery prices in 2026", True),
        ("Plans until 2030", True),
        ("Compare battery prices in 2019", False),
        ("History of the printing press", False),
        ("目前的固态电池进展", True),
        ("2026年的固态电池", True),
        ("活字印刷的历史", False),
    ],
)
def test_time_bound(prompt, expected):
    assert time_bound(prompt, 2026) is expected

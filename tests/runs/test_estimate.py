"""What an evaluation is expected to take."""

from __future__ import annotations

from dream_eval.protocols.catalogue import DREAM, GROUPS
from dream_eval.protocols.schema import Mode
from dream_eval.runs.estimate import Load, Shape, expected_claims, protocol_load, report_load

SHAPE = Shape(tokens=1000, claims=8, pages=6)


def load(*metrics: str, mode: Mode = Mode.GUIDED, shape: Shape = SHAPE) -> Load:
    return report_load(shape, metrics, mode, questions=8, reasoning=3)


def test_every_metric_asks_for_something_and_the_whole_for_more_than_any_part() -> None:
    whole = load(*DREAM)
    for metric in DREAM:
        part = load(metric)
        assert 0 < part.calls < whole.calls, metric
        assert 0 < part.fresh <= part.prompt, metric
        assert part.new > 0, metric


def test_the_report_is_read_once_afresh_and_shared_by_what_reads_it() -> None:
    assert load("wq", "kic").fresh - load("wq").fresh < SHAPE.tokens
    assert load("wq", "kic").prompt - load("wq").prompt > SHAPE.tokens
    assert load("da").fresh < SHAPE.tokens


def test_more_claims_and_pages_take_longer() -> None:
    assert load("factuality", shape=Shape(1000, 16, 6)).calls > load("factuality").calls
    assert load("ci", shape=Shape(1000, 8, 12)).calls > load("ci").calls


def test_the_demo_is_expected_to_take_what_was_measured() -> None:
    """Measured: 23,819 prompt tokens that no prefix cache serves, 2,040 new ones."""
    shapes = [Shape(tokens=1360, claims=8, pages=14), Shape(1250, 8, 11), Shape(980, 8, 0)]
    whole = protocol_load(Mode.GUIDED, questions=8, reasoning=3)
    for shape in shapes:
        whole += report_load(shape, DREAM, Mode.GUIDED, questions=8, reasoning=3, embedded=True)
    assert whole.seconds(embedded=True) == whole.fresh / 88 + whole.new / 30
    assert 18_000 < whole.fresh < 32_000
    assert 1_600 < whole.new < 4_500


def test_metrics_of_the_peers_are_estimated_too() -> None:
    longer = Shape(2000, 16, 12)
    for metric in (*GROUPS["dre"], *GROUPS["drb"]):
        assert 0 < load(metric).prompt < load(metric, shape=longer).prompt, metric


def test_what_is_left_and_how_many_claims() -> None:
    assert load("wq").scaled(0) == Load()
    assert load(*DREAM).scaled(1) == load(*DREAM)
    assert expected_claims(30, None) == 20
    assert expected_claims(30, 8) == 8
    assert expected_claims(0, None) == 0

"""Traces: a unit is a trace, its calls are spans below it, and no text leaves unless it was asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dream_eval.errors import UserError
from dream_eval.ledger import find_call
from dream_eval.runs.reading import open_run
from dream_eval.runs.tracing import CONTENT, Tracer, tracing
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from servers.chat import error, prompt
from servers.otlp import Collector, SpanSeen

KIND = "openinference.span.kind"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of OpenTelemetry in the environment."""
    import os

    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that the environment names."""
    with Collector() as collector:
        monkeypatch.setenv(ENDPOINT, collector.url)
        yield collector


async def traced(runs: Any, **wishes: Any) -> Any:
    """Run with the tracer that the environment asks for."""
    with tracing() as tracer:
        assert tracer is not None
        return await runs.run("run", ("t1",), ("cited",), on_progress=tracer, **wishes)


async def test_a_unit_is_a_trace_and_its_calls_are_spans_below_it(runs: Any, collector: Collector) -> None:
    result = await traced(runs, metrics="rq,factuality,da")
    assert collector.resource["service.name"] == "dream-eval"
    spans = {span.id: span for span in collector.spans}
    roots = {span.name: span for span in collector.spans if not span.parent}
    assert {name: root.facts[KIND] for name, root in roots.items()} == {
        "cited/rq": "EVALUATOR",
        "cited/factuality": "EVALUATOR",
        "cited/da": "EVALUATOR",
        "cited/claims": "CHAIN",
        "t1/protocol": "AGENT",
    }
    assert len({root.trace for root in roots.values()}) == len(roots)
    for span in collector.spans:
        top = span
        while top.parent:
            top = spans[top.parent]
        assert top.trace == span.trace
        assert top.start <= span.start <= span.end <= top.end, (span.name, top.name)
    totals = result.summary.totals
    llm = [span for span in collector.spans if span.facts[KIND] == "LLM" and not span.facts["dream.reused"]]
    assert len(llm) == totals.kinds["completion"].made
    assert sum(span.facts["llm.token_count.prompt"] for span in llm) == totals.prompt_tokens
    assert sum(span.facts["llm.token_count.completion"] for span in llm) == totals.completion_tokens
    assert {span.facts["llm.model_name"] for span in llm} == {"scripted"}
    tools = {span.facts["tool.name"] for span in collector.spans if span.facts[KIND] == "TOOL"}
    assert tools == {"web_search", "read_page"}
    assert {span.facts["session.id"] for span in roots.values()} == {result.config.run}


def below(spans: list[SpanSeen], parent: SpanSeen) -> list[SpanSeen]:
    return [span for span in spans if span.parent == parent.id]


async def test_the_agent_stands_between_the_unit_and_its_calls(runs: Any, collector: Collector) -> None:
    await traced(runs, metrics="rq,wq")
    roots = {span.name: span for span in collector.spans if not span.parent}
    (agent,) = below(collector.spans, roots["cited/rq"])
    assert (agent.facts[KIND], agent.facts["agent.name"]) == ("AGENT", "rq")
    assert {span.facts[KIND] for span in below(collector.spans, agent)} == {"LLM", "TOOL"}
    assert {span.facts[KIND] for span in below(collector.spans, roots["cited/wq"])} == {"LLM"}


async def test_the_score_is_the_evaluation_of_the_unit(runs: Any, collector: Collector) -> None:
    result = await traced(runs, metrics="factuality")
    (root,) = [span for span in collector.spans if span.name == "cited/factuality"]
    facts = {name.removeprefix("evaluations.0.evaluation."): value for name, value in root.facts.items()}
    assert facts["name"] == "factuality"
    assert facts["score"] == result.score("cited", "factuality")
    assert (facts["label"], facts["annotator_kind"], facts["identifier"]) == ("scored", "LLM", result.config.maker)
    assert (facts["dream.task"], facts["dream.system"], facts["dream.metric"]) == ("t1", "cited", "factuality")
    assert not root.failed


async def test_a_failed_unit_and_a_failed_call_are_errors_and_have_no_score(runs: Any, collector: Collector) -> None:
    runs.chat._rules.insert(0, (lambda body: "Score the writing" in prompt(body), error(400), [-1]))
    await traced(runs, metrics="wq,da")
    roots = {span.name: span for span in collector.spans if not span.parent}
    assert roots["cited/wq"].failed
    assert roots["cited/wq"].facts["evaluations.0.evaluation.label"] == "failed"
    assert "evaluations.0.evaluation.score" not in roots["cited/wq"].facts
    calls = below(collector.spans, roots["cited/wq"])
    assert calls
    assert all(span.failed for span in calls)
    assert all("llm.token_count.prompt" not in span.facts for span in calls)
    assert not roots["cited/da"].failed


async def test_no_text_leaves_unless_asked_and_the_key_leads_to_it(
    runs: Any, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    await traced(runs, metrics="factuality")
    text = json.dumps([[span.name, span.facts] for span in collector.spans])
    for words in ("turbines", "barrage", "lindow-energy"):
        assert words not in text, words
    assert not [span for span in collector.spans if "input.value" in span.facts or "output.value" in span.facts]
    ledger = Path(open_run(runs.folder / "run").config.ledger)
    calls = [span for span in collector.spans if "dream.key" in span.facts]
    assert find_call(ledger, calls[0].facts["dream.key"]).info.kind
    collector.spans.clear()
    monkeypatch.setenv(CONTENT, "true")
    with tracing() as tracer:
        await runs.run("again", ("t1",), ("cited",), metrics="factuality", on_progress=tracer)
    calls = [span for span in collector.spans if "dream.key" in span.facts]
    assert calls
    assert all(span.facts["dream.reused"] for span in calls), "a second run reuses what the first one asked"
    for span in calls:
        assert span.facts["input.mime_type"] == "application/json"
        found = find_call(ledger, span.facts["dream.key"])
        assert json.loads(span.facts["input.value"]) == found.request
        assert json.loads(span.facts["output.value"]) == found.answer


async def test_a_provider_of_ones_own(runs: Any) -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    await runs.run("run", ("t1",), ("cited", "uncited"), metrics="wq", on_progress=Tracer(provider))
    spans: tuple[ReadableSpan, ...] = kept.get_finished_spans()
    assert {span.name for span in spans if span.parent is None} == {"cited/wq", "uncited/wq"}


async def test_what_a_stopped_run_left_open_is_ended(runs: Any) -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = Tracer(provider)
    result = await runs.run("run", ("t1",), ("cited",), metrics="factuality", budget_tokens=400, on_progress=tracer)
    assert result.state == "budget"
    tracer.close()
    for span in kept.get_finished_spans():
        assert "evaluations.0.evaluation.score" not in (span.attributes or {})
        assert span.end_time is not None


async def test_a_collector_that_is_not_there_ends_no_run_and_is_told_once(
    runs: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Collector() as gone:
        url = gone.url
    monkeypatch.setenv(ENDPOINT, url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    said: list[str] = []
    with tracing(said=said.append) as tracer:
        result = await runs.run("run", ("t1",), ("cited",), metrics="wq", on_progress=tracer)
    assert result.state == "finished"
    assert len(said) == 1
    assert said[0].startswith("traces could not be sent, the run goes on: ")
    assert capsys.readouterr().err == ""


def test_off_by_default_and_by_the_standard_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    with tracing() as tracer:
        assert tracer is None
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with tracing(asked=True) as tracer:
        assert tracer is None


def test_without_the_extra_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith("opentelemetry.sdk"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(UserError, match=r"pip install 'dream-eval\[otel\]'"), tracing(asked=True):
        pass
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    said: list[str] = []
    with tracing(said=said.append) as tracer:
        assert tracer is None
    assert said == ["traces need the extra `otel`: pip install 'dream-eval[otel]'"]

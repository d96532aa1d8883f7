"""Traces of a run for any tracing system: OpenTelemetry spans with OpenInference's names, one trace a unit.

A unit is the root span (``EVALUATOR``), its calls are the spans below it (``LLM``, ``TOOL``); where an agent does the
work, its span (``AGENT``) stands between. A protocol that is made is a trace of its own (``AGENT``), and so is a list
of claims (``CHAIN``). Names of attributes: the OpenInference specification (semantic conventions, annotations).

Texts stay out of it unless asked for: they may hold reports. Every span of a call carries the key of its record.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core import Json, Status
from ..errors import UserError
from ..ledger import Event, Kind
from ..protocols.catalogue import METRICS
from .data import UnitResult
from .labels import metric_of
from .progress import Notice, Progress

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Standard variables; one of them set switches traces on."""
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Standard variable; ``true`` puts requests and answers into the spans."""
INSTALL = "traces need the extra `otel`: pip install 'dream-eval[otel]'"
TOOLS = {
    Kind.SEARCH: "web_search",
    Kind.PAGE: "read_page",
    Kind.ARXIV: "arxiv",
    Kind.GITHUB: "github",
}
"""Names of the tools as agents know them."""

PLACE = ("dream.task", "dream.system", "dream.metric", "dream.judge", "dream.repeat")
"""Attributes that say which unit it is."""

Value = str | int | float | bool


@contextmanager
def tracing(*, asked: bool = False, said: Callable[[str], None] = lambda _: None) -> Iterator[Tracer | None]:
    """A listener that sends spans by OTLP over HTTP, or None when nobody wants them.

    Wanted: ``asked``, or the environment names a collector; ``OTEL_SDK_DISABLED=true`` wins. All other settings are the
    standard environment variables of OpenTelemetry. What could not be sent is told to ``said`` once, and the run goes
    on. Raises UserError when asked for and the extra is not installed; where just the environment wants it, that is
    told and no more.
    """
    wanted = asked or any(os.environ.get(name) for name in ENDPOINTS)
    if not wanted or _true("OTEL_SDK_DISABLED"):
        yield None
        return
    try:
        provider = _exporting()
    except ImportError as error:
        if asked:
            raise UserError(INSTALL) from error
        said(INSTALL)
        yield None
        return
    with _troubles(said):
        tracer = Tracer(provider, content=_true(CONTENT))
        try:
            yield tracer
        finally:
            tracer.close()
            provider.shutdown()


def _exporting() -> SdkProvider:
    from dream_eval import __version__
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or "dream-eval"
    provider = TracerProvider(resource=Resource.create({"service.name": name, "service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider as SdkProvider


class _Troubles(logging.Handler):
    """What OpenTelemetry complains of, told once in a line of ours."""

    def __init__(self, said: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._said: Callable[[str], None] | None = said

    def emit(self, record: logging.LogRecord) -> None:
        said, self._said = self._said, None
        if said is not None:
            said(f"traces could not be sent, the run goes on: {record.getMessage()}")


@contextmanager
def _troubles(said: Callable[[str], None]) -> Iterator[None]:
    log, handler = logging.getLogger("opentelemetry"), _Troubles(said)
    before = log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield
    finally:
        log.propagate = before
        log.removeHandler(handler)


def _true(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() == "true"


@dataclass
class _Trace:
    """A root span that is open, and the span below which calls stand."""

    root: Span
    below: Span
    ended: int | None = None
    """When its stage ended, nanoseconds of the clock; the unit's result is still to come."""


class Tracer:
    """A listener that makes spans. For a provider of your own: ``evaluate(…, on_progress=Tracer(provider))``."""

    def __init__(
        self,
        provider: TracerProvider,
        *,
        content: bool = False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """``content``: whether requests and answers go into the spans. ``clock``: nanoseconds since 1970."""
        self._tracer = provider.get_tracer("dream_eval")
        self._content, self._clock = content, clock
        self._open: dict[str, _Trace] = {}

    def __call__(self, progress: Progress, notice: Notice | None) -> None:
        """Begin and end spans as things happen."""
        if notice is None:
            return
        if notice.kind == "stage":
            self._begin(progress, notice)
        elif notice.kind == "stage_end":
            self._stage_ended(notice)
        elif notice.line is not None and not notice.reused:
            self._unit(notice.stage, notice.line)
        elif notice.event is not None:
            self._event(notice.event)

    def close(self) -> None:
        """End what a stopped run left open."""
        for name in list(self._open):
            self._end(name)

    def _begin(self, progress: Progress, notice: Notice) -> None:
        from opentelemetry.context import Context

        name, metric = notice.stage, notice.place[2] if notice.place else ""
        kind = "EVALUATOR" if metric else "AGENT" if metric_of(name) == "protocol" else "CHAIN"
        facts: dict[str, Value] = {"openinference.span.kind": kind}
        if progress.run:
            facts["session.id"] = progress.run
        if notice.place is not None:
            facts.update(zip(PLACE, notice.place, strict=True))
        root = self._tracer.start_span(name, context=Context(), attributes=facts, start_time=self._clock())
        below = root
        if metric and METRICS[metric].kind == "agent":
            agent = {"openinference.span.kind": "AGENT", "agent.name": metric}
            below = self._span(f"{metric} agent", agent, root, self._clock())
        self._open[name] = _Trace(root, below)

    def _stage_ended(self, notice: Notice) -> None:
        trace = self._open.get(notice.stage)
        if trace is None:
            return
        trace.ended = self._clock()
        if notice.place is None:
            self._end(notice.stage)

    def _unit(self, stage: str, line: UnitResult) -> None:
        trace, result = self._open.get(stage), line.result
        if trace is None:
            return
        about = "evaluations.0.evaluation"
        facts: dict[str, Value] = {
            f"{about}.name": line.metric,
            f"{about}.label": result.status.value,
            f"{about}.annotator_kind": "LLM",
            f"{about}.identifier": line.judge,
        }
        if result.score is not None:
            facts[f"{about}.score"] = result.score
        if result.reason:
            facts[f"{about}.explanation"] = result.reason
        trace.root.set_attributes(facts)
        if result.status is Status.FAILED:
            _fail(trace.root, result.reason)
        self._end(stage)

    def _end(self, name: str) -> None:
        trace = self._open.pop(name)
        if trace.below is not trace.root:
            trace.below.end(trace.ended)
        trace.root.end(trace.ended)

    def _event(self, event: Event) -> None:
        trace = self._open.get(event.scope)
        if event.phase == "wait":
            if trace is not None:
                about: dict[str, Value] = {"for": event.subject, "seconds": event.seconds, "reason": event.reason}
                trace.root.add_event("wait", about, timestamp=self._clock())
            return
        if event.phase == "start" or event.kind is None:
            return
        now = self._clock()
        name = "completion" if event.kind is Kind.COMPLETION else TOOLS[event.kind]
        below = None if trace is None else trace.below
        began = now if event.phase == "reused" else now - int(event.seconds * 1e9)
        span = self._span(name, {**_facts(event), **self._texts(event)}, below, began)
        if event.phase == "failed":
            _fail(span, event.reason)
        span.end(now)

    def _span(self, name: str, facts: Mapping[str, Value], below: Span | None, began: int) -> Span:
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        context = Context() if below is None else set_span_in_context(below, Context())
        return self._tracer.start_span(name, context=context, attributes=facts, start_time=began)

    def _texts(self, event: Event) -> dict[str, Value]:
        if not self._content or event.content is None:
            return {}
        request, answer = event.content()
        texts = {"input": request, "output": answer}
        facts: dict[str, Value] = {f"{name}.value": _text(value) for name, value in texts.items()}
        return facts | {f"{name}.mime_type": "application/json" for name in texts}


def _facts(event: Event) -> dict[str, Value]:
    """What a span says of a call, texts apart."""
    facts: dict[str, Value] = {"dream.key": event.key, "dream.endpoint": event.endpoint}
    facts["dream.reused"] = event.phase == "reused"
    if event.kind is not Kind.COMPLETION:
        name = TOOLS[event.kind] if event.kind else ""
        return {"openinference.span.kind": "TOOL", "tool.name": name, **facts}
    facts |= {"openinference.span.kind": "LLM", "llm.model_name": event.subject}
    if event.phase == "done":
        usage = event.usage
        count = "llm.token_count"
        facts |= {f"{count}.prompt": usage.prompt_tokens, f"{count}.completion": usage.completion_tokens}
        facts |= {f"{count}.total": usage.tokens, f"{count}.prompt_details.cache_read": usage.cached_tokens}
        if usage.cost_usd is not None:
            facts["llm.cost.total"] = usage.cost_usd
    return facts


def _fail(span: Span, reason: str) -> None:
    from opentelemetry.trace import Status as SpanStatus
    from opentelemetry.trace import StatusCode

    span.set_status(SpanStatus(StatusCode.ERROR, reason))


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)

"""A collector of traces: OTLP over HTTP on a real socket, decoded with OpenTelemetry's own protobuf classes."""

from __future__ import annotations

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class SpanSeen:
    """One span as it came over the wire."""

    name: str
    trace: str
    id: str
    parent: str
    start: int
    end: int
    facts: dict[str, Any]
    failed: bool
    events: tuple[str, ...]


class Collector:
    """Keeps the spans that are sent to it. ``status``: what it answers with."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.spans: list[SpanSeen] = []
        self.resource: dict[str, Any] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                if outer.status == 200:
                    assert self.path == "/v1/traces"
                    outer._take(ExportTraceServiceRequest.FromString(body))
                self.send_response(outer.status)
                self.end_headers()
                self.wfile.write(ExportTraceServiceResponse().SerializeToString())

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """What OTEL_EXPORTER_OTLP_ENDPOINT is set to."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _take(self, request: ExportTraceServiceRequest) -> None:
        for group in request.resource_spans:
            self.resource = {fact.key: _value(fact.value) for fact in group.resource.attributes}
            for scope in group.scope_spans:
                self.spans += [_span(span) for span in scope.spans]


def _span(span: Any) -> SpanSeen:
    return SpanSeen(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        {fact.key: _value(fact.value) for fact in span.attributes},
        span.status.code == 2,
        tuple(event.name for event in span.events),
    )


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))

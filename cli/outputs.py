"""Options of the verbs that evaluate: what else comes out of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorated = Callable[..., Any]


def output_options(function: Decorated) -> Decorated:
    """Add ``--junit``, ``--log-json`` and ``--otel`` (parameters ``junit``, ``log_json``, ``otel``)."""
    for option in (
        click.option("--otel", is_flag=True, help="Send traces (also when OTEL_EXPORTER_OTLP_ENDPOINT is set)."),
        click.option("--log-json", metavar="FILE|-", help="Append what happens as JSON lines; - for standard output."),
        click.option("--junit", metavar="FILE", help="Write the units as JUnit XML for a CI system."),
    ):
        function = option(function)
    return function

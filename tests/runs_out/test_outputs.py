"""All that comes out of one evaluation at once, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from servers.otlp import Collector
from world import AS_OF, QUERY


def test_one_command_gives_table_tests_events_and_traces(
    runs: Any, tmp_path: Path, dream: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = runs.folder
    what = ["--query", QUERY, "--judge", runs.chat.judge, "--search", f"corpus:{folder / 'corpus'}", "--as-of", AS_OF]
    where = ["--out", str(folder / "run"), "--ledger", str(folder / "ledger.sqlite"), "--metrics", "factuality,da"]
    also = ["--junit", str(tmp_path / "junit.xml"), "--log-json", "-", "--fail-under", "factuality=80"]
    reports = [str(folder / name) for name in ("cited.md", "uncited.md")]
    with Collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        code, out, err = dream("evaluate", *reports, *what, *where, *also)
    assert code == 10, err
    events = [json.loads(line) for line in out.splitlines()]
    assert (events[0]["event"], events[-1]["event"]) == ("plan", "end"), "standard output holds events and no more"
    assert "Factuality" in err
    assert "75.0" in err
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    failed = [case.attrib["classname"] for case in root.iter("testcase") if case.find("failure") is not None]
    assert failed == ["cited.gates"]
    assert {span.name for span in collector.spans if not span.parent} >= {"cited/factuality", "uncited/factuality"}


def test_help_names_them(dream: Callable[..., tuple[int, str, str]]) -> None:
    for verb in ("evaluate", "run"):
        out = dream(verb, "--help")[1]
        for option in ("--junit", "--log-json", "--otel"):
            assert option in out
    for verb in ("show", "export", "merge"):
        assert "Examples:" in dream(verb, "--help")[1]

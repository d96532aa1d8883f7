"""The page over loopback: every part on demand, to this machine and nobody else."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from dream_eval.viewer import ViewServer, open_bundle


@pytest.fixture
def client(run_folder: Path) -> Iterator[httpx.Client]:
    with (
        closing(open_bundle([run_folder])) as bundle,
        ViewServer(bundle) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        yield client


def test_the_page_holds_the_index_alone(client: httpx.Client) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.text.count('type="text/plain"') == 0
    assert "connect-src &#x27;self&#x27;" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_parts_are_made_when_they_are_asked_for(client: httpx.Client) -> None:
    answer = client.get("/part/0.report.1")
    assert json.loads(gzip.decompress(answer.content))["id"] == "beta"


@pytest.mark.parametrize(
    "path", ["/part/0.report.2", "/part/1.report.0", "/part/0.report.-1", "/part/", "/part/../run.json", "/x", "/index"]
)
def test_there_is_nothing_else(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_another_name_for_this_machine_is_refused(client: httpx.Client) -> None:
    assert client.get("/", headers={"Host": "rebound.example"}).status_code == 403
    assert client.post("/").status_code == 501

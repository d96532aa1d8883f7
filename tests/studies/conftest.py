"""What tests of studies share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from written import Scorer, Written


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a run folder: ``write_run(score, name="a", systems=…)``."""

    def write(score: Scorer, *, name: str = "run", **fields: object) -> Path:
        return Written(tmp_path / name, score, **fields).write()  # type: ignore[arg-type]

    return write


@pytest.fixture(autouse=True)
def own_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Calibration records of one test are not those of another."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))

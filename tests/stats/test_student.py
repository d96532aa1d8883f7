"""Student's t against scipy."""

from __future__ import annotations

import subprocess
import sys

import pytest
from dream_eval.stats.student import quantile, within
from scipy import stats


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 8, 9, 29, 30, 99, 998, 4999])
def test_as_scipy_has_it(df: int) -> None:
    for share in (0.5, 0.6, 0.9, 0.975, 0.9995):
        assert quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-9, abs=1e-12)
    for t in (0.0, 0.3, 2.0, 40.0):
        assert within(t, df) == pytest.approx(2 * stats.t.cdf(t, df) - 1, rel=1e-9, abs=1e-12)


def test_what_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="degree"):
        within(1.0, 0)
    with pytest.raises(ValueError, match="share"):
        quantile(0.3, 4)


def test_the_interval_of_a_run_does_without_scipy() -> None:
    code = (
        "import sys; from dream_eval.stats.paired import mean_interval; mean_interval([1.0, 2, 3, 4, 5, 7]);"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

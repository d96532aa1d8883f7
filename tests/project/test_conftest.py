"""The guards that all other tests rely on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"


def run_pytest(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `source` as a test file under a copy of our conftest, in a process of its own."""
    (folder / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    judge: runs the embedded judge\n")
    (folder / "test_it.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options]
    plain = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # it needs none of our plugins, and starts sooner
    return subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True, timeout=200, check=False)


def test_leak_fails_the_test_even_when_swallowed(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path,
        "import socket\n"
        "def test_swallows():\n"
        "    try:\n        socket.create_connection(('192.0.2.7', 80), timeout=1)\n"
        "    except Exception:\n        pass\n"
        "def test_name():\n"
        "    try:\n        socket.getaddrinfo('example.org', 443)\n"
        "    except Exception:\n        pass\n",
    )
    assert done.returncode == 1
    assert "192.0.2.7:80" in done.stdout
    assert "'example.org'" in done.stdout
    assert "2 errors" in done.stdout


def test_loopback_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()


def test_httpx_is_guarded(network_guard) -> None:
    with pytest.raises(Exception, match="must not leave this machine"):
        httpx.get("http://198.51.100.3/")
    assert "198.51.100.3:80" in network_guard.leaks[0]
    network_guard.leaks.clear()


def test_keys_settings_and_proxies_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "DREAM_JUDGE", "https_proxy", "TAVILY_API_KEY"):
        monkeypatch.setenv(name, "leaked")
    done = run_pytest(tmp_path, "import os\ndef test_it():\n    assert 'leaked' not in os.environ.values()\n")
    assert done.returncode == 0, done.stdout
    assert "home" in os.environ["XDG_DATA_HOME"]


JUDGE = "import pytest\ndef test_plain(): pass\n@pytest.mark.judge\ndef test_judge(): pass\n"


def test_judge_tests_run_only_alone(tmp_path: Path) -> None:
    assert "1 passed, 1 deselected" in run_pytest(tmp_path, JUDGE).stdout
    only = run_pytest(tmp_path, JUDGE, "-m", "judge").stdout
    assert "PASSED test_it.py::test_judge" in only
    assert "1 passed, 1 deselected" in only
    mixed = run_pytest(tmp_path, JUDGE, "-m", "judge or not judge")
    assert mixed.returncode == pytest.ExitCode.USAGE_ERROR

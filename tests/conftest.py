"""What all tests share: a clean environment, a guarded network, ledger paths, sample data, tests that run apart."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = ("_API_KEY", "_API_TOKEN", "_BASE_URL", "_API_BASE", "_ORG_ID")
VARIABLES = {
    *("GITHUB_TOKEN", "GH_TOKEN", "HF_TOKEN", "HF_HOME", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
}
"""What could let a test reach an account or the outside, or change what it does on this machine."""


# --- tests that run apart --------------------------------------------------------------------------------------------

APART = ("judge", "browser", "cluster", "recipes")
"""Markers of tests that need minutes, or a machine of their own: each is run by `-m MARKER` with nothing else."""


def pytest_configure(config: pytest.Config) -> None:
    """A marker of tests that run apart stands alone: they must not share the machine with others."""
    expression = config.option.markexpr
    for name in APART:
        if name in expression and expression not in (name, f"not {name}"):
            raise pytest.UsageError(f"tests marked `{name}` run alone: use `-m {name}` with nothing else")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `-m` the tests that run apart are left out."""
    for item in items:
        if item.get_closest_marker("judge"):
            item.add_marker(pytest.mark.usefixtures("embedded_file"))
    apart = [item for item in items if any(item.get_closest_marker(name) for name in APART)]
    if config.option.markexpr:
        return
    if apart:
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if item not in apart]


@pytest.fixture(scope="session")
def embedded_file() -> Path:
    """The embedded judge's file, fetched where need be; a loud skip where it is not to be had."""
    from dream_eval.errors import UserError
    from dream_eval.models.local_files import find_model

    try:
        return asyncio.run(find_model(lambda progress: print(progress, flush=True))).path
    except UserError as error:
        pytest.skip(f"THE EMBEDDED JUDGE IS NOT TO BE HAD AND IS NOT TESTED: {error}")


# --- the network guard -----------------------------------------------------------------------------------------------


class NetworkLeak(RuntimeError):
    """A test tried to reach something that is not this machine."""


class NetworkGuard:
    """Refuses look-ups and connections that leave loopback, in every thread, below all libraries that use `socket`.

    An audit hook, since no library can step around it. What was refused is kept too: code under test may swallow the
    exception, and the test must fail all the same.
    """

    def __init__(self) -> None:
        self.active = False
        self.leaks: list[str] = []
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[object, ...]) -> None:
        if not self.active or not event.startswith("socket."):
            return
        if event in ("socket.connect", "socket.sendto"):
            address = args[1]
            if isinstance(address, tuple) and not _is_loopback(address[0]):
                self._refuse(f"{event} {address[0]}:{address[1]}")
        elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not _is_number(args[0]):
            self._refuse(f"{event} {args[0]!r}")

    def _refuse(self, what: str) -> None:
        self.leaks.append(f"{what} (thread {threading.current_thread().name})")
        raise NetworkLeak(f"a test must not leave this machine: {what}")


def _is_number(host: object) -> bool:
    """An address in any spelling, or this machine: nobody has to be asked for it."""
    try:
        socket.inet_aton(str(host))
    except (OSError, ValueError):
        return _is_loopback(host) or ":" in str(host)
    return True


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost", "0.0.0.0", "::"):
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


GUARD = NetworkGuard()


@pytest.fixture(autouse=True)
def network_guard(request: pytest.FixtureRequest) -> Iterator[NetworkGuard]:
    """Only loopback; the embedded judge's own tests may fetch its file."""
    GUARD.leaks.clear()
    GUARD.active = request.node.get_closest_marker("judge") is None
    yield GUARD
    GUARD.active = False
    if GUARD.leaks:
        pytest.fail("left this machine: " + "; ".join(GUARD.leaks), pytrace=False)


# --- the environment -------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def clean_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No keys, no settings, no proxies, and user folders that are empty (the cache stays for tests marked judge)."""
    for name in list(os.environ):
        upper = name.upper()
        if upper.startswith("DREAM_") or upper.endswith(SUFFIXES) or upper in VARIABLES:
            monkeypatch.delenv(name)
    folders = ["DATA", "CONFIG", "STATE"]
    if request.node.get_closest_marker("judge") is None:
        folders.append("CACHE")
    home = tmp_path_factory.getbasetemp() / "home"
    for folder in folders:
        monkeypatch.setenv(f"XDG_{folder}_HOME", str(home / folder.lower()))


@pytest.fixture
def ledger_path(tmp_path: Path) -> Path:
    """Where a test may keep its ledger; nothing stands there yet."""
    return tmp_path / "ledger.sqlite"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository, which is the package."""
    return ROOT


SHARED_DATA = Path(os.environ.get("DREAM_SHARED_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public sample data; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no public sample data: set DREAM_SHARED_DATA to its folder (default: ../shared/data)")
    return SHARED_DATA

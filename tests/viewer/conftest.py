"""Runs to look at, and a real browser that notices every request and every complaint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from viewing import make_run

ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One task, two systems, one judge."""
    return make_run(tmp_path_factory.mktemp("runs") / "plain")


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight tasks, three systems, two judges, every unit twice."""
    systems = ("alpha", "beta", "gamma")
    return make_run(
        tmp_path_factory.mktemp("runs") / "many", tasks=8, systems=systems, judges=("judge/one", "judge/two"), repeats=2
    )


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that comes from outside is an attack, the names of systems too."""
    systems = ("<b>alpha</b><script>window.hacked=1</script>", "beta\u202etxt", "beta\u202dtxt", "long " * 800)
    return make_run(tmp_path_factory.mktemp("runs") / "hostile", systems=systems, hostile=True)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright; a skip with its reason where either is missing."""
    place = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if place is None:
        pytest.skip("no Chromium here (Debian and Ubuntu: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=place, args=list(ARGS), timeout=120_000)
        yield browser
        browser.close()


class Eyes:
    """Opens pages and remembers what they did. Whatever is wrong fails the test at its end."""

    def __init__(self, browser: Any, downloads: Path) -> None:
        self._browser, self.downloads = browser, downloads
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def open(self, address: str, *, width: int = 1280, scheme: str = "light", **options: Any) -> Any:
        """A page of its own, loaded until it says that it is ready."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 860}, color_scheme=scheme, accept_downloads=True, **options
        )
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        context.on("request", lambda request: self.requests.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    def outgoing(self) -> list[str]:
        """Requests for anything but a file, or this machine."""
        return [url for url in self.requests if not url.startswith(("file:", "blob:", "http://127.0.0.1:"))]


@pytest.fixture
def eyes(chromium: Any, tmp_path: Path) -> Iterator[Eyes]:
    """A browser in which nothing may go wrong and from which nothing may go out."""
    watching = Eyes(chromium, tmp_path)
    yield watching
    for context in chromium.contexts:
        context.close()
    assert not watching.complaints
    assert not watching.outgoing()

"""What ``dream view`` calls, and what other verbs say of the page that they leave in a run folder."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.text import Text

from ..errors import DreamError
from ..viewer import ViewServer, open_bundle, write, write_view
from .evaluating import make_console
from .text import one_line


def write_and_open(paths: Sequence[str], *, out: str | None, ledger: str | None, browser: bool) -> int:
    """Write the page, say where it is, and open it. Raises UserError, OSError."""
    console = make_console()
    written = write(paths, out, ledger=Path(ledger) if ledger else None)
    console.print(Text(one_line(f"written: {written.path} ({written.size / 1e6:.1f} MB)")), soft_wrap=True)
    if written.detail != "full":
        again = " ".join(one_line(path) for path in paths)
        console.print(Text(f"shortened to fit; all stored pages and calls: dream view {again} --serve"), soft_wrap=True)
    if browser:
        webbrowser.open(written.path.resolve().as_uri())
    return 0


def serve_page(paths: Sequence[str], *, ledger: str | None, port: int, browser: bool) -> int:
    """Serve the page until Ctrl-C. Raises UserError, OSError."""
    console = make_console()
    with (
        closing(open_bundle(paths, ledger=Path(ledger) if ledger else None)) as bundle,
        ViewServer(bundle, port=port) as server,
    ):
        console.print(Text(f"{server.url} (Ctrl-C ends it)"), soft_wrap=True)
        if browser:
            webbrowser.open(server.url)
        try:
            server.wait()
        except KeyboardInterrupt:
            console.print()
    return 0


def page_line(folder: Path | str) -> str:
    """Write a run's page and say where it is; what goes wrong is said and ends nothing, since the run is done."""
    try:
        return f"page: {write_view(folder)}"
    except (DreamError, OSError, ValueError) as error:
        return f"no page was written: {one_line(str(error))}"

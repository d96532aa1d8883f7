"""A local page on which a person rates a protocol's items, one at a time. Plain forms: no script, no network.

It listens on loopback only, on a free port. The address holds a random token, without which everything is 404; the
``Host`` must be our own (so that no other name can be made to point here), and what is sent must carry a second token
that only our forms have and, where a browser says so, come from our own origin.
"""

from __future__ import annotations

import hmac
import html
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from ..protocols.schema import KeyQuestion
from .ratings import MARKS, MEANING, Line, Mark, Question

LARGEST = 20_000
"""Bytes of a form, at most."""

_STYLE = """
body{font:17px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.3rem}fieldset{border:1px solid #bbb;border-radius:6px;margin:1rem 0}legend{font-weight:600}
label{display:inline-block;margin-right:1.1rem}q,.dim{color:#555}.ends{font-size:.85rem;color:#555}
textarea{width:100%;box-sizing:border-box;font:inherit}
button,a.go{font:inherit;padding:.45rem 1.1rem;margin-right:.6rem}
dl{margin:.5rem 0}dt{font-weight:600}dd{margin:0 0 .4rem 1rem;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{background:#161616;color:#e6e6e6}q,.dim,.ends{color:#aaa}}
"""


class RatingServer:
    """The page, running in a thread of its own. ``keep`` is called with every rating that was sent."""

    def __init__(
        self,
        questions: Sequence[Question],
        rater: str,
        keep: Callable[[Line], None],
        *,
        given: Mapping[tuple[str, str], Line] | None = None,
    ) -> None:
        self.questions, self.rater = tuple(questions), rater
        self.given = dict(given or {})
        """What the rater said before, by (digest of the protocol, item)."""
        self.done = threading.Event()
        """Set when the rater says that nothing more will come."""
        self._keep, self._lock = keep, threading.Lock()
        self._path, self._form = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.page = self
        self._thread = threading.Thread(target=self._server.serve_forever, name="rating-page", daemon=True)

    @property
    def host(self) -> str:
        """``127.0.0.1:port``."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The address to open, with its token."""
        return f"http://{self.host}/{self._path}/"

    def __enter__(self) -> RatingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    # what follows is called by the handler's threads

    def place(self, path: str) -> int | str | None:
        """The number of the item (from 0) or ``end`` that a path leads to; None: nothing is there."""
        parts = urlsplit(path).path.strip("/").split("/")
        if not hmac.compare_digest(parts[0].encode(), self._path.encode()) or len(parts) > 2:
            return None
        name = parts[1] if len(parts) == 2 else ""
        if name == "":
            return self.next_open
        if name == "end":
            return name
        return int(name) - 1 if name.isascii() and name.isdigit() and 1 <= int(name) <= len(self.questions) else None

    @property
    def next_open(self) -> int | str:
        """The first item that is not rated yet."""
        return next((n for n, question in enumerate(self.questions) if question.place not in self.given), "end")

    def address(self, place: int | str) -> str:
        """The path of an item or of the end."""
        return f"/{self._path}/{place if isinstance(place, str) else place + 1}"

    def take(self, place: int | str, form: Mapping[str, Sequence[str]]) -> int | str | None:
        """Keep what a form says; where to go next, or None for a form that is not ours or says nothing sensible."""
        if not hmac.compare_digest(form.get("form", [""])[0].encode(), self._form.encode()):
            return None
        if isinstance(place, str):
            self.done.set()
            return place
        question = self.questions[place]
        values = {mark: form[mark][0] for mark in MARKS if form.get(mark)}
        try:
            line = Line.model_validate(
                {
                    **values,
                    "item": question.item.id,
                    "note": form.get("note", [""])[0].strip()[:2000],
                    "protocol": question.protocol.digest,
                    "rater": self.rater,
                }
            )
        except ValidationError:
            return None
        if values or line.note:
            with self._lock:
                self._keep(line)
                self.given[question.place] = line
        return place + 1 if place + 1 < len(self.questions) else "end"

    def page(self, place: int | str) -> str:
        """The HTML of an item, or of the end."""
        body = self._end() if isinstance(place, str) else self._item(place)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width"><title>Rate a protocol</title>'
            f"<style>{_STYLE}</style></head><body>{body}</body></html>"
        )

    def _item(self, place: int) -> str:
        question = self.questions[place]
        known = self.given.get(question.place)
        note = html.escape(known.note if known else "")
        back = f'<a class="go" href="{self.address(place - 1)}">Back</a>' if place else ""
        return (
            f"<p class=dim>{place + 1} of {len(self.questions)}, rated by {html.escape(self.rater)}</p>"
            f"<p>Query: <q>{html.escape(question.protocol.task.prompt)}</q></p>"
            f"<h1>{html.escape(question.item.text)}</h1>{_details(question)}"
            f'<form method="post" action="{self.address(place)}">'
            f'<input type="hidden" name="form" value="{self._form}">'
            + "".join(_marks(mark, getattr(known, mark, None)) for mark in MARKS)
            + f'<label for="note">Note (optional)</label><textarea id="note" name="note" rows="2">{note}</textarea>'
            f'<p><button>Keep and go on</button>{back}<a class="go" href="{self.address("end")}">End</a></p></form>'
        )

    def _end(self) -> str:
        rated = sum(question.place in self.given for question in self.questions)
        left = self.next_open
        more = "" if left == "end" else f'<a class="go" href="{self.address(left)}">Go on rating</a>'
        return (
            f"<h1>{rated} of {len(self.questions)} items are rated</h1><p>Everything is kept already.</p>"
            f'<form method="post" action="{self.address("end")}"><input type="hidden" name="form" value="{self._form}">'
            f"<button>Close this page</button>{more}</form>"
        )


def _details(question: Question) -> str:
    """What an item rests on and how it is checked; not who made it."""
    item = question.item
    facts: list[tuple[str, str]] = []
    if isinstance(item, KeyQuestion):
        facts.append(("A yes needs", item.fact))
    else:
        plan = item.plan
        facts += [("Taken out of the report", plan.extract), (f"Looked up ({plan.where})", plan.lookup)]
        facts += [("Compared", plan.cross_check), ("Counts against the report", plan.against)]
    if item.rationale:
        facts.append(("Why", item.rationale))
    for source in item.provenance:
        when = f" ({source.published})" if source.published else ""
        facts.append((f"Evidence{when}", f"{source.quote} ({source.url})"))
    rows = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in facts)
    return f"<dl>{rows}</dl>"


def _marks(mark: Mark, known: int | None) -> str:
    asked, low, high = MEANING[mark]
    checked = {value: " checked" if value == known else "" for value in range(1, 6)}
    options = "".join(
        f'<label><input type="radio" name="{mark}" value="{value}"{state}> {value}</label>'
        for value, state in checked.items()
    )
    return (
        f"<fieldset><legend>{mark.capitalize()}: {html.escape(asked)}</legend>{options}"
        f'<div class="ends">1: {html.escape(low)} · 5: {html.escape(high)}</div></fieldset>'
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    page: RatingServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        place = self._place()
        if place is not None:
            self._send(200, self.server.page.page(place))

    def do_POST(self) -> None:
        place = self._place()
        if place is None:
            return
        if self.headers.get("Origin", f"http://{self.server.page.host}") != f"http://{self.server.page.host}":
            self._send(403, "not from this page")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST:
            self._send(413, "too much")
            return
        form = parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace"), max_num_fields=20)
        after = self.server.page.take(place, form)
        if after is None:
            self._send(400, "not a form of this page")
        elif self.server.page.done.is_set():
            self._send(200, "<p>This page is closed. Thank you.</p>")
        else:
            self._send(303, "", location=self.server.page.address(after))

    def _place(self) -> int | str | None:
        """Where the path leads; None after an answer that says that nothing is there."""
        page = self.server.page
        place = page.place(self.path) if self.headers.get("Host") == page.host else None
        if place is None:
            self._send(404, "nothing here")
        return place

    def _send(self, status: int, body: str, *, location: str = "") -> None:
        data = body.encode()
        self.send_response(status)
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Length": str(len(data)),
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
            "frame-ancestors 'none'; base-uri 'none'",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        for name, value in (headers | ({"Location": location} if location else {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

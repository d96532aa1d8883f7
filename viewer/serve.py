"""The same page over a loopback connection, where every part is made when it is asked for: no limit of size."""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..errors import DreamError
from .bundle import Bundle
from .page import head_html, index_block, packed, tail_html, title_of
from .parts import FULL

HOST = "127.0.0.1"


class ViewServer:
    """Serves one bundle to this machine. Used as a context manager; :attr:`url` is where."""

    def __init__(self, bundle: Bundle, *, port: int = 0) -> None:
        """``port`` 0: any free one. Raises OSError when it is taken."""
        index = {**bundle.index(), "detail": FULL.name, "served": True}
        page = head_html(title_of(index), connect=True).encode() + index_block(index)
        page += tail_html().encode() + b"</body>\n</html>\n"
        self._server = ThreadingHTTPServer((HOST, port), _handler(bundle, page))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self._server.server_port}/"

    def __enter__(self) -> ViewServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Serve until somebody presses Ctrl-C."""
        self._thread.join()


def _handler(bundle: Bundle, page: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = f"{HOST}:{self.server.server_port}"  # type: ignore[attr-defined]
            if self.headers.get("Host") != host:  # another site's name that leads to this machine
                self._send(HTTPStatus.FORBIDDEN, b"", "text/plain")
            elif self.path == "/":
                self._send(HTTPStatus.OK, page, "text/html; charset=utf-8")
            else:
                self._part(self.path.removeprefix("/part/"))

        def _part(self, name: str) -> None:
            try:
                data = packed(bundle.part(name))
            except (KeyError, DreamError):
                self._send(HTTPStatus.NOT_FOUND, b"", "text/plain")
            else:
                self._send(HTTPStatus.OK, data, "application/octet-stream")

        def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the terminal."""

    return Handler

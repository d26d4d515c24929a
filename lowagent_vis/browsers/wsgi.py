"""Calls a WSGI application in this process as a transport of httpx.

The transport that httpx ships puts decoded text into `PATH_INFO`; PEP 3333 asks for bytes as
Latin-1, and without that a path in any other script fails inside the application.
"""

import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import httpx

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


class WsgiTransport(httpx.BaseTransport):
    """Sends requests to `app`, one at a time."""

    def __init__(self, app: "WSGIApplication") -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Call the application and read its whole answer."""
        answer: dict[str, Any] = {}

        def start_response(
            status: str, headers: list[tuple[str, str]], _exc_info: object = None
        ) -> Callable[[bytes], object]:
            answer["status"] = int(status.partition(" ")[0])
            answer["headers"] = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in headers]
            return body.append

        body: list[bytes] = []
        chunks = self._app(_environ(request), start_response)
        try:
            body.extend(chunks)
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()
        return httpx.Response(answer["status"], headers=answer["headers"], content=b"".join(body))


def _environ(request: httpx.Request) -> dict[str, Any]:
    path, _mark, query = request.url.raw_path.partition(b"?")
    content = request.read()
    port = request.url.port or (443 if request.url.scheme == "https" else 80)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query.decode("ascii"),
        "SERVER_NAME": request.url.host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": request.url.scheme,
        "wsgi.input": io.BytesIO(content),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.raw:
        key = name.decode("ascii").upper().replace("-", "_")
        is_bare = key in ("CONTENT_TYPE", "CONTENT_LENGTH")
        environ[key if is_bare else f"HTTP_{key}"] = value.decode("latin-1")
    return environ

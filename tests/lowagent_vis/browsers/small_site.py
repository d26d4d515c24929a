"""A small WSGI site that remembers what it was asked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

PAGE = """<!DOCTYPE html><html><head><title>Small</title></head><body><h1>Small site</h1>
<a href="/next">Next</a></body></html>"""


@dataclass
class SmallSite:
    """Answers by path; `requests` holds method, path, query, cookies, referer and body fields."""

    requests: list[dict[str, object]] = field(default_factory=list)

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        path = environ["PATH_INFO"].encode("latin-1").decode()
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length).decode() if length else ""
        self.requests.append(
            {
                "method": environ["REQUEST_METHOD"],
                "path": path,
                "query": environ.get("QUERY_STRING", ""),
                "cookie": environ.get("HTTP_COOKIE", ""),
                "referer": environ.get("HTTP_REFERER", ""),
                "fields": parse_qsl(body, keep_blank_values=True),
            }
        )
        status, headers, text = self._answer(path)
        start_response(status, [("Content-Type", "text/html; charset=utf-8"), *headers])
        return [text.encode()]

    def _answer(self, path: str) -> tuple[str, list[tuple[str, str]], str]:
        redirects = {
            "/away": "http://elsewhere.invalid/app",
            "/away-port": "http://small.test:8080/",
            "/away-slashes": "//elsewhere.invalid/",
            "/harness": "/__harness/reset",
            "/harness-slashes": "//small.test//__harness/reset",
            "/loop": "/loop",
            "/relative": "next?x=1#part",
            "/absolute": "http://small.test/next",
            "/iri": "/খুঁজুন?q=কাপ",
        }
        if path in redirects:
            location = redirects[path].encode().decode("latin-1")
            return "303 See Other", [("Location", location)], ""
        if path == "/keep":
            return "307 Temporary Redirect", [("Location", "/next")], ""
        if path == "/set":
            return "200 OK", [("Set-Cookie", "sid=abc; Path=/; HttpOnly; SameSite=Lax")], PAGE
        if path == "/unset":
            return "200 OK", [("Set-Cookie", "sid=; Path=/; Max-Age=0")], PAGE
        if path == "/missing":
            return "404 Not Found", [], PAGE
        if path == "/broken":
            return "500 Internal Server Error", [], PAGE
        return "200 OK", [], PAGE


class FileSite(SmallSite):
    """Answers every path with a picture."""

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "image/jpeg")])
        return [b"\xff\xd8"]

"""Security headers of every answer (`common.md` 10)."""

from flask import Response

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


def add_headers(response: Response) -> Response:
    """Set the headers; pages are never stored, since each shows who is signed in."""
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response

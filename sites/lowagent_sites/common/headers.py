"""Security headers of every answer (`common.md` 10)."""

from flask import Response, request

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
    """Set the headers; account pages are never stored."""
    response.headers.update(HEADERS)
    if request.path.startswith(("/account", "/login", "/register", "/cart", "/wishlist")):
        response.headers["Cache-Control"] = "no-store"
    return response

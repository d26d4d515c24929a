"""Addresses inside a site: how they are shown, encoded and kept inside the origin."""

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, quote_plus, unquote, urlsplit

from lowagent_vis.browsers.base import HARNESS_PREFIX
from lowagent_vis.errors import ActionError

MAX_ADDRESS_LENGTH = 2000

_PATH_SAFE = "/%:@!$&'()*+,;=~-._"
_QUERY_SAFE = _PATH_SAFE + "?"
_ENCODED_NON_ASCII = re.compile("(?:%[89A-Fa-f][0-9A-Fa-f])+")
# The joiners are part of words in Indic scripts and Urdu; other invisible characters stay encoded.
_JOINERS = "\u200c\u200d"


def display_address(address: str) -> str:
    """Return `address` as shown to agents: non-ASCII text decoded, the rest as it is sent.

    Sequences that are not UTF-8 and characters that cannot be seen stay encoded, so that
    the result names the same page when it is requested.
    """
    if "%" not in address:
        return address
    return _ENCODED_NON_ASCII.sub(_decoded, address)


def _decoded(match: re.Match[str]) -> str:
    try:
        text = unquote(match[0], errors="strict")
    except UnicodeDecodeError:
        return match[0]
    return "".join(c if c.isprintable() or c in _JOINERS else quote(c) for c in text)


def encode_address(address: str) -> str:
    """Return path and query of `address` in percent-encoded ASCII, without its fragment."""
    if address.isascii() and "#" not in address and " " not in address:
        return address
    path, mark, query = address.partition("#")[0].partition("?")
    return quote(path, safe=_PATH_SAFE) + mark + quote(query, safe=_QUERY_SAFE)


def encode_fields(fields: Iterable[tuple[str, str]]) -> str:
    """Return names and values as `application/x-www-form-urlencoded`, as browsers write it."""
    return "&".join(f"{_form_encoded(name)}={_form_encoded(value)}" for name, value in fields)


def _form_encoded(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def is_harness_path(address: str) -> bool:
    """Whether `address` names a harness endpoint, however it is encoded."""
    path = _fully_unquoted(address.partition("?")[0].partition("#")[0])
    return re.sub("/+", "/", path).startswith(HARNESS_PREFIX)


def checked_address(address: str) -> str:
    """Check an address that the agent typed and return it encoded.

    Args:
        address: A path of the site, with or without a query; non-ASCII text may be raw.

    Raises:
        ActionError: It is no plain path of this site: another origin or scheme, a
            backslash, a control character, dot segments or empty segments (raw or encoded),
            or a path that is reserved.
    """
    if not address.startswith("/"):
        raise ActionError(
            f'goto takes a path of this site that starts with "/", not "{shortened(address)}"'
        )
    if len(address) > MAX_ADDRESS_LENGTH:
        raise ActionError(f"the path is longer than {MAX_ADDRESS_LENGTH} characters")
    path = _fully_unquoted(address.partition("#")[0].partition("?")[0])
    if "\\" in path or "//" in path or any(unicodedata.category(c) == "Cc" for c in address + path):
        raise ActionError(
            f'"{shortened(address)}" is not a path of this site '
            "(no //, no backslash, no control characters)"
        )
    if any(segment in (".", "..") for segment in path.split("/")):
        raise ActionError(
            f'"{shortened(address)}" is not a path of this site (no . or .. segments)'
        )
    if any(c.isspace() for c in address):
        raise ActionError("a path holds no spaces: write %20 (or + in the query)")
    if is_harness_path(address):
        raise ActionError(f'"{shortened(address)}" is not a page of this site')
    return encode_address(address)


def own_address(href: str, *, origin: str = "") -> str | None:
    """Return the path and query of `href` if it stays on this site, else None.

    Args:
        href: A resolved link target or redirect location.
        origin: `scheme://host[:port]` of the site; empty accepts paths only.
    """
    if href.startswith("/") and not href.startswith(("//", "/\\")):
        return href
    if not origin:
        return None
    try:
        parts = urlsplit(href)
        own = urlsplit(origin)
        same = (parts.scheme, parts.hostname, _port(parts.scheme, parts.port)) == (
            own.scheme,
            own.hostname,
            _port(own.scheme, own.port),
        )
    except ValueError:
        return None
    if not same or parts.username is not None:
        return None
    # A path that begins with two slashes would be read as another host.
    return "/" + parts.path.lstrip("/") + (f"?{parts.query}" if parts.query else "")


def _port(scheme: str, port: int | None) -> int | None:
    return port if port is not None else {"http": 80, "https": 443}.get(scheme)


def _fully_unquoted(path: str) -> str:
    for _ in range(3):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    return path


def shortened(text: str, limit: int = 80) -> str:
    """Return `text` on one line, cut visibly after `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"

"""One-time names: session ids, form ids, links of interruptions, salts."""

import base64
import hashlib
import hmac
import itertools
import secrets

_BYTES = 15


class TokenSource:
    """Makes names that nobody can guess; with a key, the same ones in the same order.

    Args:
        key: Seeds the names of an episode; without one they are random.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key
        self._counter = itertools.count(1)

    def next(self, purpose: str) -> str:
        """Return the next name, 24 characters of lower-case base32."""
        # The counter's step is atomic, so two threads of a server never share a name.
        count = next(self._counter)
        if self._key is None:
            raw = secrets.token_bytes(_BYTES)
        else:
            message = f"{purpose}/{count}".encode()
            raw = hmac.digest(self._key, message, hashlib.sha256)[:_BYTES]
        return base64.b32encode(raw).decode().lower()

    def reset(self) -> None:
        """Start again from the first name."""
        self._counter = itertools.count(1)

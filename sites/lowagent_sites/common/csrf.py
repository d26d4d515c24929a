"""Each POST form proves that it was shown in the session that sends it."""

import hashlib
import hmac

from flask import abort, current_app, request

from lowagent_sites.common.sessions import session_id

FIELD = "csrf_token"
_LENGTH = 32


def csrf_token() -> str:
    """Return the token that the forms of this session carry."""
    secret = str(current_app.config["SECRET_KEY"]).encode()
    message = f"csrf/{session_id()}".encode()
    return hmac.digest(secret, message, hashlib.sha256).hex()[:_LENGTH]


def check_csrf() -> None:
    """Refuse a POST without the session's token with status 400."""
    sent = request.form.get(FIELD, "")
    if not hmac.compare_digest(sent.encode(), csrf_token().encode()):
        abort(400)

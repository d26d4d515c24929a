"""Password hashes in Werkzeug's form, with a salt that the caller gives.

Databases are rebuilt byte by byte and episodes repeat exactly, so no salt is drawn here.
"""

import hashlib

_N, _R, _P = 1024, 8, 1
_MAX_MEMORY = 132 * _N * _R * _P


def hash_password(secret: str, salt: str) -> str:
    """Return the hash that `werkzeug.security.check_password_hash` reads."""
    digest = hashlib.scrypt(
        secret.encode(), salt=salt.encode(), n=_N, r=_R, p=_P, maxmem=_MAX_MEMORY
    )
    return f"scrypt:{_N}:{_R}:{_P}${salt}${digest.hex()}"

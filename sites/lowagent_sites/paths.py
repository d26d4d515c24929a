"""Where the project's data lies, in a checkout, in a wheel and in the user's cache."""

import os
from functools import cache
from pathlib import Path
from typing import Literal

import platformdirs

_PACKAGE = Path(__file__).resolve().parent


@cache
def data_dir(name: Literal["assets", "tasks"]) -> Path:
    """Return the folder of the packaged data `name`.

    A wheel carries it as `_data/name` beside this module; a checkout has it at its root.
    """
    packaged = _PACKAGE / "_data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parents[1] / name


def cache_dir() -> Path:
    """Return the folder for built files; `LOWAGENT_VIS_CACHE` overrides the user's cache.

    Databases and pictures are built there at first use and can be deleted at any time.
    """
    override = os.environ.get("LOWAGENT_VIS_CACHE")
    path = Path(override) if override else Path(platformdirs.user_cache_dir("lowagent-vis"))
    path.mkdir(parents=True, exist_ok=True)
    return path

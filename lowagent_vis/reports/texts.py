"""Texts of any language in an HTML file that needs nothing else."""

import base64
import html
import re
from collections.abc import Iterable
from functools import cache

from lowagent_sites.common.languages import get_language
from lowagent_sites.paths import data_dir

_REGULAR = "font-weight: 400"
# A bar stands between cells and belongs to no cell.
_LATIN_RUN = re.compile(r"[!-{}~]+(?: [!-{}~]+)*")


def isolated_lines(text: str) -> str:
    """Return the text as HTML in which neighbours never change the order of what is on a line.

    Every line and, within it, every run of Latin letters, digits and signs stands by itself: a
    date or an address after Urdu words is shown as it is written.
    """
    return "\n".join(map(_isolated, text.split("\n")))


def _isolated(line: str) -> str:
    direction = "ltr" if line[:1].isascii() else "auto"
    parts, end = [f'<bdi dir="{direction}">'], 0
    for run in _LATIN_RUN.finditer(line):
        latin = f'<bdi dir="ltr">{html.escape(run[0])}</bdi>'
        parts += [html.escape(line[end : run.start()]), latin]
        end = run.end()
    return "".join([*parts, html.escape(line[end:]), "</bdi>"])


def language_styles(codes: Iterable[str]) -> str:
    """Return the style sheet that draws texts of these languages on a machine without their fonts.

    Texts carry their language in `lang`. Languages in Latin letters need nothing.

    Raises:
        UnknownNameError: There is no such language.
    """
    languages = [get_language(code) for code in sorted(set(codes))]
    shown = [language for language in languages if language.script != "Latin"]
    rules = [
        f":lang({language.code}) {{ font-family: {language.font_family}, system-ui, sans-serif; "
        f"line-height: {language.line_height}; }}\n"
        f":is(code, .mixed):lang({language.code}) {{ "
        f"font-family: {language.code_font_family}, monospace; }}"
        for language in shown
    ]
    families = {name for language in shown for name in _families(language.code_font_family)}
    return "\n".join([*(face for name in sorted(families) for face in _faces(name)), *rules])


def _families(stack: str) -> list[str]:
    return re.findall(r'"([^"]+)"', stack)


@cache
def _faces(family: str) -> tuple[str, ...]:
    """Return the faces of a family in regular weight, with their files inside."""
    folder = data_dir("assets") / "fonts"
    sheet = (folder / "fonts.css").read_text("utf-8")
    faces = re.findall(r"@font-face \{[^}]*\}", sheet)
    return tuple(
        re.sub(r"/static/fonts/([\w-]+\.woff2)", lambda match: _data_address(match[1]), face)
        for face in faces
        if f'"{family}"' in face and _REGULAR in face
    )


def _data_address(name: str) -> str:
    data = (data_dir("assets") / "fonts" / name).read_bytes()
    return "data:font/woff2;base64," + base64.b64encode(data).decode()

"""Which fonts a page in Chromium really uses, for tests."""

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page


def fonts_used(page: Page) -> list[tuple[str, bool]]:
    """Return the family of each run of glyphs, and whether the page brought it along."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument", {"depth": -1})["root"]
    found = [
        (str(font["familyName"]), bool(font["isCustomFont"]))
        for node_id in text_nodes(root)
        for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node_id})["fonts"]
    ]
    session.detach()
    return found


def text_nodes(node: dict[str, Any]) -> Iterator[int]:
    if node["nodeName"] in {"HEAD", "OPTION"}:
        return
    if node["nodeType"] == 3 and node["nodeValue"].strip():
        yield node["nodeId"]
    for child in node.get("children", ()):
        yield from text_nodes(child)

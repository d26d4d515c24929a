"""A customer of Ministore: opens pages, sends forms, looks into the database."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import lxml.html

from lowagent_sites.common.changes import Diff
from lowagent_sites.common.languages import Language, baseline_language, get_language
from lowagent_vis.world import World

USERNAME, PASSWORD = "nila_shop", "Mini#Store26"


class Shop(httpx.Client):
    """An HTTP client of one world."""

    def __init__(self, world: World) -> None:
        """Visit the shop of a world as a guest."""
        super().__init__(transport=httpx.WSGITransport(world.wsgi), base_url=world.origin)
        self.world = world
        self.language: Language = get_language(world.language)

    def sign_in(self) -> None:
        """Become the test user."""
        name, value = self.world.login_cookie(USERNAME)
        self.cookies.set(name, value, domain=self.base_url.host)

    def open(self, path: str, status: int = 200) -> Any:
        """Return a page as lxml's element."""
        response = self.get(path, follow_redirects=True)
        assert response.status_code == status, (path, response.status_code)
        return parse(response)

    def submit(self, path: str, form: str, /, *, nth: int = 0, **values: str) -> httpx.Response:
        """Fill the form named `form` of the page at `path` and send it; nothing is followed."""
        found = self.open(path).xpath("//form[@name=$name]", name=form)[nth]
        data = {name: value or "" for name, value in found.fields.items()} | values
        headers = {"Referer": f"{self.world.origin}{path}"}
        if found.get("method") == "post":
            return self.post(found.get("action"), data=data, headers=headers)
        return self.get(found.get("action"), params=data)

    def rows(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        """Read the database."""
        return [dict(row) for row in self.world.query(sql, parameters)]

    def statements(self) -> AbstractContextManager[list[str]]:
        """Collect the SQL of the pages that are opened inside the `with` block."""
        return self.world._database.statements()

    def execute(self, sql: str, **parameters: Any) -> None:
        """Change the database behind the site's back."""
        with self.world.tampering() as connection:
            connection.execute(sql, parameters)

    def changes(self) -> Diff:
        """Return what changed since the world was opened."""
        return self.world.diff()


def parse(response: httpx.Response) -> Any:
    """Return a page as lxml's element; the types that xpath gives depend on the expression."""
    return lxml.html.document_fromstring(response.text)


def errors(response: httpx.Response) -> list[str]:
    """Return the error texts of a page."""
    return [text_of(e) for e in parse(response).xpath("//*[contains(@class, 'error')][self::p]")]


def flashes(page: Any) -> list[str]:
    """Return the notices at the top of a page."""
    return [text_of(e) for e in page.xpath("//*[contains(@class, 'flash')]")]


def text_of(element: Any) -> str:
    """Return an element's text on one line."""
    return " ".join("".join(element.itertext()).split())


@contextmanager
def open_shop(code: str | None = None, *, fixtures: tuple[str, ...] = ()) -> Iterator[Shop]:
    """Yield a guest in a fresh world."""
    language = code or baseline_language().code
    with World.open("ministore", language, fixtures=fixtures) as world, Shop(world) as shop:
        yield shop

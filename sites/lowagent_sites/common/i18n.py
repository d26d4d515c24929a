"""Interface texts: English msgids, translated from the .po files of a language."""

import io
from functools import cache

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from markupsafe import Markup, escape

from lowagent_sites.common.languages import Language, get_language
from lowagent_sites.common.runtime import current_language, current_site
from lowagent_sites.paths import data_dir

COMMON_DOMAIN = "common"


def read_catalog(language_code: str, domain: str) -> Catalog | None:
    """Return the catalogue of a language and domain, or None where there is none."""
    path = data_dir("assets") / "locale" / language_code / f"{domain}.po"
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return read_po(file, locale=language_code, domain=domain)


class Texts:
    """The interface texts of one site in one language."""

    def __init__(self, language: Language, translations: NullTranslations) -> None:
        self._brackets = language.message_brackets
        self._translations = translations

    def gettext(self, message: str, /, **values: object) -> str:
        """Return a text, its placeholders filled."""
        return self._finish(self._translations.ugettext(message), values)

    def ngettext(self, one: str, many: str, number: int, /, **values: object) -> str:
        """Return the form of a text that fits a number."""
        return self._finish(self._translations.ungettext(one, many, number), values)

    def pgettext(self, context: str, message: str, /, **values: object) -> str:
        """Return a text whose English has several meanings."""
        return self._finish(str(self._translations.upgettext(context, message)), values)

    def _finish(self, text: str, values: dict[str, object]) -> str:
        if self._brackets is not None:
            text = f"{self._brackets[0]}{text}{self._brackets[1]}"
        if not values:
            return text.replace("%%", "%")
        # A value may be markup, such as a date that keeps its direction; the rest is escaped then.
        has_markup = any(isinstance(value, Markup) for value in values.values())
        return (escape(text) if has_markup else text) % values


@cache
def load_texts(site_name: str, language_code: str) -> Texts:
    """Return the texts of a site in a language: its own domain first, then the common one."""
    merged: Translations | None = None
    for domain in (COMMON_DOMAIN, site_name):
        catalog = read_catalog(language_code, domain)
        if catalog is not None:
            buffer = io.BytesIO()
            write_mo(buffer, catalog)
            buffer.seek(0)
            found = Translations(buffer, domain=domain)
            merged = found if merged is None else merged.merge(found)
    return Texts(get_language(language_code), merged or NullTranslations())


def _texts() -> Texts:
    return load_texts(current_site().name, current_language().code)


def gettext(message: str, /, **values: object) -> str:
    """Return an interface text in the language of the current application."""
    return _texts().gettext(message, **values)


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """Return the form that fits a number."""
    return _texts().ngettext(one, many, number, **values)


def pgettext(context: str, message: str, /, **values: object) -> str:
    """Return a text whose English has several meanings."""
    return _texts().pgettext(context, message, **values)

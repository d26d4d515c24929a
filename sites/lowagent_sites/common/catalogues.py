"""Interface catalogues against the code: which texts it has, and which a language still lacks.

The domain `common` holds the texts of the common parts, the domain of a site those of its package.
`pybabel extract -F assets/locale/babel.cfg sites/lowagent_sites/<domain>` finds the same texts.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_mapping_cfg

from lowagent_sites.common.i18n import COMMON_DOMAIN, read_catalog
from lowagent_sites.paths import data_dir
from lowagent_sites.registry import load_site, site_names


def domains() -> tuple[str, ...]:
    """Return the names of all domains, the common one first."""
    return (COMMON_DOMAIN, *site_names())


@cache
def extract(domain: str) -> Catalog:
    """Return the texts that templates and modules of a domain contain, in English.

    Raises:
        UnknownNameError: There is no such domain.
    """
    config = data_dir("assets") / "locale" / "babel.cfg"
    with config.open(encoding="utf-8") as file:
        methods, options = parse_mapping_cfg(file, str(config))  # type: ignore[no-untyped-call]
    catalog = Catalog(domain=domain)
    folder = _folder(domain)
    for name, line, text, comments, context in extract_from_dir(
        folder, method_map=methods, options_map=options
    ):
        catalog.add(text, None, [(name, line)], auto_comments=comments, context=context)
    return catalog


def missing(language_code: str, domain: str) -> list[str]:
    """Return the texts of a domain that a language does not translate in every plural form.

    A site's text may stand in the common catalogue instead.

    Raises:
        UnknownNameError: There is no such domain.
    """
    known = [
        found
        for name in dict.fromkeys((domain, COMMON_DOMAIN))
        if (found := read_catalog(language_code, name)) is not None
    ]
    return [
        _name(message)
        for message in extract(domain)
        if message.id and not any(_is_translated(message, catalog) for catalog in known)
    ]


def unused(language_code: str, domain: str) -> list[str]:
    """Return the texts that a language translates though no template or module has them.

    Raises:
        UnknownNameError: There is no such domain.
    """
    catalog = read_catalog(language_code, domain)
    used = extract(domain)
    return [
        _name(message)
        for message in catalog or ()
        if message.id and used.get(_key(message), message.context) is None
    ]


def _folder(domain: str) -> Path:
    package = __name__.rpartition(".")[0] if domain == COMMON_DOMAIN else load_site(domain).package
    return Path(str(import_module(package).__file__)).parent


def _is_translated(message: Message, catalog: Catalog) -> bool:
    found = catalog.get(_key(message), message.context)
    if found is None or found.fuzzy or bool(found.pluralizable) != bool(message.pluralizable):
        return False
    forms = found.string if message.pluralizable else (found.string,)
    return len(forms or ()) == (catalog.num_plurals if message.pluralizable else 1) and all(
        forms or ()
    )


def _key(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def _name(message: Message) -> str:
    return f"{message.context}: {_key(message)}" if message.context else _key(message)

"""The words of a language's catalogue, and how names and measures are built from them.

What differs between languages (order of words, linking words, forms by gender) is data in
`lexicon.toml`; this module only looks it up.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from lowagent_sites.common.languages import Language
from lowagent_sites.common.numbers import format_decimal, format_integer
from lowagent_sites.ministore.content.sentences import content_dir

_GRAMS_PER_KILO = 1000
_ML_PER_LITRE = 1000


@dataclass(frozen=True)
class Lexicon:
    """The words of one language.

    Attributes:
        language: Decides the digits.
        words: Sections of `lexicon.toml`.
    """

    language: Language
    words: Mapping[str, Any]

    def text(self, section: str, key: str) -> str:
        """Return a word as it stands alone."""
        return str(self.words[section][key]["text"])

    def product_name(
        self, *, collection: str, ptype: str, material: str, feature: str, size: str
    ) -> str:
        """Return a product's name: collection, material or feature, kind, size."""
        kind = self.words["ptype"][ptype]
        looks = self.words["feature"][feature] if feature else self.words["material"][material]
        forms = looks["look"]
        pattern = self.words["patterns"]["feature" if feature else "material"]
        return str(
            pattern.format(
                collection=self.text("collection", collection),
                look=forms[min(kind.get("form", 0), len(forms) - 1)],
                link=kind.get("link", ""),
                ptype=kind["text"],
                size=size,
            )
        )

    def centimetres(self, mm: int) -> str:
        """Return a length with its unit."""
        return self._unit("cm", self._number(mm, 10))

    def board(self, w_mm: int, d_mm: int) -> str:
        """Return width by depth with the unit."""
        return self._unit("cm", f"{self._number(w_mm, 10)}×{self._number(d_mm, 10)}")

    def dimensions(self, w_mm: int, d_mm: int, h_mm: int) -> str:
        """Return width by depth by height with the unit."""
        numbers = (self._number(value, 10) for value in (w_mm, d_mm, h_mm))
        return self._unit("cm", "×".join(numbers))

    def capacity(self, ml: int) -> str:
        """Return a capacity in litres from one litre on, else in millilitres."""
        if ml >= _ML_PER_LITRE:
            return self._unit("litre", self._number(ml, _ML_PER_LITRE))
        return self._unit("ml", format_integer(ml, self.language))

    def weight(self, grams: int) -> str:
        """Return a weight in kilograms from one kilogram on, else in grams."""
        if grams >= _GRAMS_PER_KILO:
            return self._unit("kg", self._number(grams, _GRAMS_PER_KILO))
        return self._unit("g", format_integer(grams, self.language))

    def pieces(self, count: int) -> str:
        """Return the number of pieces with the word for them."""
        return self._unit("piece", format_integer(count, self.language))

    def _unit(self, unit: str, number: str) -> str:
        return str(self.words["units"][unit].format(n=number))

    def _number(self, value: int, divisor: int) -> str:
        exact = Decimal(value) / divisor
        places = max(0, -int(exact.normalize().as_tuple().exponent))
        return format_decimal(exact, places, self.language)


@cache
def load_lexicon(language: Language) -> Lexicon:
    """Read the lexicon of a language."""
    path = content_dir() / language.content / "lexicon.toml"
    return Lexicon(language, tomllib.loads(path.read_text("utf-8")))

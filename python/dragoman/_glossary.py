"""Glossaries: terms whose translation is given."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, Union

from dragoman import _core
from dragoman._arguments import Path


class Term(NamedTuple):
    """A part of the source, ``text[begin:end]``, and how it is to be translated: the first target is preferred."""

    begin: int
    end: int
    targets: list[str]


class Glossary:
    """Terms and their translations, from a file (tab-separated or TBX) or a mapping.

    >>> glossary = Glossary({"station": "gare", "bus station": "gare routière"})
    >>> len(glossary)
    2
    >>> glossary.terms("Where is the bus station?")
    [Term(begin=13, end=24, targets=['gare routière'])]
    """

    def __init__(
        self,
        source: Path | Mapping[str, str],
        source_language: str = "",
        target_language: str = "",
    ) -> None:
        if isinstance(source, Mapping):
            for term, translation in source.items():
                if not isinstance(term, str) or not isinstance(translation, str):
                    raise TypeError(f"a glossary must have a str for each term, not {term!r}: {translation!r}")
            self._core = _core.Glossary.of_entries(list(source.items()))
        else:
            self._core = _core.Glossary(os.fspath(source), source_language, target_language)

    def __len__(self) -> int:
        return len(self._core)

    def terms(self, text: str) -> list[Term]:
        """The terms that a text contains, from its beginning to its end."""
        return [Term(*term) for term in self._core.terms(text)]


Terms = Union[Glossary, Mapping[str, str], None]


def glossary_of(terms: Terms) -> Glossary | None:
    """A mapping's is made for the call."""
    if isinstance(terms, Mapping):
        return Glossary(terms)
    if terms is None or isinstance(terms, Glossary):
        return terms
    raise TypeError(f"a glossary must be a dragoman.Glossary or a dict of terms, not {type(terms).__name__}")

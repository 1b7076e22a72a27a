"""BLEU and chrF of a corpus: sacreBLEU's figures to the last digit, with its signatures."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal

from dragoman import _core

__all__ = ["CorpusScore", "bleu", "chrf"]


@dataclasses.dataclass(frozen=True)
class CorpusScore:
    """A metric's score, 0 to 100, and its details."""

    score: float
    name: str
    signature: str
    details: str

    def __str__(self) -> str:
        return f"{self.name} = {self.score:.1f}"


def _score_of(one: _core.CorpusScore) -> CorpusScore:
    return CorpusScore(one.score, one.name, one.signature, one.details)


def bleu(
    hypotheses: Iterable[str],
    references: Iterable[str],
    *,
    tokenizer: Literal["13a", "intl", "char", "none"] = "13a",
    lowercase: bool = False,
) -> CorpusScore:
    """BLEU of translations, with one reference each.

    >>> print(bleu(["The cat sits on the mat."], ["The cat sat on the mat."]))
    BLEU = 48.9
    """
    return _score_of(_core.bleu(list(hypotheses), list(references), tokenizer, lowercase, 0))


def chrf(hypotheses: Iterable[str], references: Iterable[str], *, lowercase: bool = False, word_order: int = 0) -> CorpusScore:
    """chrF of translations; ``word_order=2`` for chrF++.

    >>> print(chrf(["The cat sits on the mat."], ["The cat sat on the mat."]))
    chrF2 = 69.4
    """
    return _score_of(_core.chrf(list(hypotheses), list(references), "13a", lowercase, word_order))

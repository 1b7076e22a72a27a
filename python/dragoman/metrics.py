"""BLEU, chrF and TER of a corpus: sacreBLEU's figures to the last digit, with its signatures; and paired tests.

``references`` are one reference of each hypothesis, or a list of such lists, as sacreBLEU takes them.
"""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import Literal, Union

from dragoman import _core
from dragoman._arguments import list_of

__all__ = ["Comparison", "CorpusScore", "SystemScore", "bleu", "chrf", "compare", "ter", "tokenizers"]

References = Union[Iterable[str], Iterable[Iterable[str]]]


@dataclasses.dataclass(frozen=True)
class CorpusScore:
    """A metric's score and its details. TER, where lower is better, may be above 100; the others are 0 to 100."""

    score: float
    name: str
    signature: str
    details: str

    def __str__(self) -> str:
        return f"{self.name} = {self.score:.1f}"


@dataclasses.dataclass(frozen=True)
class SystemScore:
    """A score; the mean of those of resampled test sets, and half the width of the interval that holds 95 % of them."""

    score: float
    mean: float
    half_width: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two systems' scores, and how likely a difference as large is between equally good ones."""

    baseline: SystemScore
    system: SystemScore
    p_value: float


def _lists_of(references: References) -> list[list[str]]:
    lists = list_of(references)
    texts = [one for one in lists if isinstance(one, str)]
    return [texts] if len(texts) == len(lists) else [list_of(one) for one in lists]


def _settings(**given: str | int) -> _core.MetricSettings:
    settings = _core.MetricSettings()
    for name, value in given.items():
        setattr(settings, name, value)
    return settings


def _score_of(one: _core.CorpusScore) -> CorpusScore:
    return CorpusScore(one.score, one.name, one.signature, one.details)


def _system_of(one: _core.SystemScore) -> SystemScore:
    return SystemScore(one.score, one.mean, one.half_width)


def tokenizers() -> list[str]:
    """The names of BLEU's tokenizers. Those of FLORES and spBLEU-1K need their SentencePiece model."""
    return _core.bleu_tokenizers()


def bleu(
    hypotheses: Iterable[str],
    references: References,
    *,
    tokenizer: str = "13a",
    tokenizer_model: str | os.PathLike[str] = "",
    lowercase: bool = False,
) -> CorpusScore:
    """BLEU of translations; ``tokenizer`` is one of :func:`tokenizers`.

    >>> print(bleu(["The cat sits on the mat."], ["The cat sat on the mat."]))
    BLEU = 48.9
    """
    settings = _settings(tokenizer=tokenizer, tokenizer_model=os.fspath(tokenizer_model), lowercase=lowercase)
    return _score_of(_core.bleu(list_of(hypotheses), _lists_of(references), settings))


def chrf(hypotheses: Iterable[str], references: References, *, lowercase: bool = False, word_order: int = 0) -> CorpusScore:
    """chrF of translations; ``word_order=2`` for chrF++.

    >>> print(chrf(["The cat sits on the mat."], ["The cat sat on the mat."]))
    chrF2 = 69.4
    """
    settings = _settings(lowercase=lowercase, word_order=word_order)
    return _score_of(_core.chrf(list_of(hypotheses), _lists_of(references), settings))


def ter(
    hypotheses: Iterable[str],
    references: References,
    *,
    normalized: bool = False,
    no_punctuation: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> CorpusScore:
    """TER of translations: the edits that make the references of them, per 100 words. Lower is better.

    >>> print(ter(["The cat sits on the mat."], ["The cat sat on the mat."]))
    TER = 16.7
    """
    settings = _settings(
        ter_normalized=normalized,
        ter_no_punctuation=no_punctuation,
        ter_asian_support=asian_support,
        ter_case_sensitive=case_sensitive,
    )
    return _score_of(_core.ter(list_of(hypotheses), _lists_of(references), settings))


def compare(
    baseline: Iterable[str],
    system: Iterable[str],
    references: References,
    *,
    metric: Literal["bleu", "chrf", "ter", "exact_match"] = "bleu",
    test: Literal["bs", "ar"] = "bs",
    samples: int = 0,
    seed: int = 12345,
    tokenizer: str = "13a",
    tokenizer_model: str | os.PathLike[str] = "",
    lowercase: bool = False,
    word_order: int = 0,
    normalized: bool = False,
    no_punctuation: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Comparison:
    """Whether two systems differ: paired bootstrap resampling (``bs``) or approximate randomization (``ar``).

    ``samples=0`` are 1,000 of the bootstrap, 10,000 of the randomization. The other settings are the metric's.

    >>> references = ["The cat sat on the mat.", "It rains."] * 20
    >>> compare(["The cat sits on the mat.", "It rains."] * 20, references, references).p_value < 0.05
    True
    """
    paired = _core.PairedSettings()
    paired.metric, paired.test, paired.samples, paired.seed = metric, test, samples, seed
    settings = _settings(
        tokenizer=tokenizer,
        tokenizer_model=os.fspath(tokenizer_model),
        lowercase=lowercase,
        word_order=word_order,
        ter_normalized=normalized,
        ter_no_punctuation=no_punctuation,
        ter_asian_support=asian_support,
        ter_case_sensitive=case_sensitive,
    )
    done = _core.compare_systems(list_of(baseline), list_of(system), _lists_of(references), paired, settings)
    return Comparison(_system_of(done.baseline), _system_of(done.system), done.p_value)

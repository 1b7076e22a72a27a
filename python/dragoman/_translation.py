"""What a translation consists of."""
from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dragoman import _core
from dragoman._memory import MemorySegment


class Span(NamedTuple):
    """Characters [begin, end) of a text: ``text[span.begin:span.end]``."""

    begin: int
    end: int


@dataclasses.dataclass(frozen=True)
class Token:
    """A subword of the output."""

    text: str
    """As the vocabulary has it: ``"▁the"``."""
    log_probability: float
    span: Span
    """Its place in the hypothesis's text; white space belongs to none."""
    source: int
    """With ``alignment=True``: the number of the source token that it attended to most."""


@dataclasses.dataclass(frozen=True)
class Alignment:
    """A source word and an output word that are aligned: their indices and spans."""

    source: int
    target: int
    source_span: Span
    target_span: Span


@dataclasses.dataclass(frozen=True)
class WordConfidence:
    """A word of the output, and the probability that it is right: see :mod:`dragoman.confidence`. Of a model without a
    calibration how probable it found the word."""

    span: Span
    confidence: float


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """One possible translation. All but text and score need ``tokens=True`` or ``alignment=True``."""

    text: str
    score: float
    """The log-probability, divided by the length penalty."""
    tokens: list[Token] = dataclasses.field(default_factory=list, repr=False)
    words: list[WordConfidence] = dataclasses.field(default_factory=list, repr=False)
    alignment: list[Alignment] = dataclasses.field(default_factory=list, repr=False)
    attention: npt.NDArray[np.float32] | None = dataclasses.field(default=None, compare=False, repr=False)
    """With ``alignment=True``: what each token (a row) attended to, over the source's tokens."""
    confidence: float | None = dataclasses.field(default=None, repr=False)
    """The probability that few words would be changed; of a model without a calibration the geometric mean of the
    tokens' probabilities."""


@dataclasses.dataclass(frozen=True)
class Translation:
    """The translation of a text: the best hypothesis first."""

    source: str
    hypotheses: list[Hypothesis]
    source_tokens: list[str] = dataclasses.field(default_factory=list)
    """With ``alignment=True``."""
    invalid: bool = False
    """The source was not valid Unicode."""
    cut: bool = False
    """The source was split inside a sentence, or the output reached its maximum length."""
    unknown: bool = False
    """The source or the output has characters that the model has no token for."""
    repeats: bool = False
    """The output looped, and was translated again with loops forbidden."""
    terms_missed: bool = False
    """A term that was given is not in the best hypothesis."""
    too_short: bool = False
    """The output is so much shorter than the source that a part of it is likely missing."""
    unlikely: bool = False
    """The source has at most three words, and the output probably has nothing to do with them."""
    memory: bool = False
    """All of it is what the memory has for the source, as it is."""
    memory_segments: list[MemorySegment] = dataclasses.field(default_factory=list)
    """Those of the memory that were used."""

    @property
    def text(self) -> str:
        """The best hypothesis's text."""
        return self.hypotheses[0].text

    @property
    def score(self) -> float:
        """The best hypothesis's score."""
        return self.hypotheses[0].score

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        flags = [f.name for f in dataclasses.fields(self) if getattr(self, f.name) is True]
        return f"Translation({self.source!r} -> {self.text!r}, score={self.score:.4f}{''.join(', ' + f for f in flags)})"

    def _repr_html_(self) -> str:
        from dragoman._notebook import translation_html

        return translation_html(self)


@dataclasses.dataclass(frozen=True)
class Score:
    """The log-probability of a given translation."""

    total: float
    """Its end included; NaN where the pair was too long."""
    log_probabilities: list[float]
    """Of each token, and of the end."""
    alignment: list[Alignment] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Progress:
    """A translation in progress."""

    text: str
    """The best output so far."""
    final: str
    """The part of it that is final."""


def _span(span: _core.Span) -> Span:
    return Span(span.begin, span.end)


def _alignment(pairs: list[_core.WordAlignment]) -> list[Alignment]:
    return [Alignment(p.source, p.target, _span(p.source_span), _span(p.target_span)) for p in pairs]


def _hypothesis(one: _core.Hypothesis, tokens: bool, columns: int) -> Hypothesis:
    if not tokens:
        return Hypothesis(one.text, one.score)
    return Hypothesis(
        one.text,
        one.score,
        [Token(t.text, t.log_probability, _span(t.span), t.source) for t in one.tokens],
        [WordConfidence(_span(w.span), w.confidence) for w in one.words()],
        _alignment(one.alignment),
        one.attention(columns) if columns else None,
        one.confidence(),
    )


def translation_of(one: _core.Translation, tokens: bool) -> Translation:
    source_tokens = [token.text for token in one.source_tokens]
    return Translation(
        one.source,
        [_hypothesis(h, tokens, len(source_tokens)) for h in one.hypotheses],
        source_tokens,
        one.invalid,
        one.cut,
        one.unknown,
        one.repeats,
        one.terms_missed,
        one.too_short,
        one.unlikely,
        one.memory,
        [MemorySegment(s.source, s.target, s.similarity, s.exact) for s in one.memory_segments],
    )


def score_of(one: _core.Score) -> Score:
    return Score(one.total, one.log_probabilities, _alignment(one.alignment))

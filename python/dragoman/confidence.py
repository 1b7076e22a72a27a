"""How far to trust a translation: a model's calibration, and checks that need no model."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable

from dragoman import _core
from dragoman._arguments import Path, list_of

__all__ = ["Calibration", "Finding", "calibrate", "check"]


@dataclasses.dataclass(frozen=True)
class Finding:
    """What a translation lacks, or has too much of. No proof: a translator may have had a reason."""

    check: str
    """``numbers``, ``placeholders``, ``names``, ``negation``, ``repetition``, ``untranslated`` or ``wrong_language``."""
    extra: bool
    """It is in the translation and not in the source; else the reverse."""
    text: str
    description: str


@dataclasses.dataclass(frozen=True)
class Calibration:
    """What was measured, on translations that the calibration was not fitted to.

    An error is the mean difference between a probability and the share that was right: of the model's own probabilities
    before, of the calibrated ones after.
    """

    texts: int
    words: int
    right_words: float
    good_texts: float
    word_error_before: float
    word_error_after: float
    text_error_before: float
    text_error_after: float
    correlation_before: float
    correlation_after: float


def check(source: str, translation: str, *, source_language: str = "", target_language: str = "") -> list[Finding]:
    """What is missing from a translation, or too much.

    >>> [finding.description for finding in check("There are 37.", "Il y en a.")]
    ['“37” is missing']
    """
    found = _core.check_translation(source, translation, source_language, target_language)
    return [Finding(one.check, one.extra, one.text, one.description) for one in found]


def calibrate(folder: Path, sources: Iterable[str], references: Iterable[str], *, threads: int = 0) -> Calibration:
    """Translates the sources, and learns from the references how likely words and translations are right.

    The model's folder gets that as ``confidence.json``; a translator that is opened from then on gives calibrated
    confidences. The model must not have been trained on these pairs.

    >>> calibrate("models/en-fr", sources, references).word_error_after    # doctest: +SKIP
    0.018
    """
    done = _core.calibrate(os.fspath(folder), list_of(sources), list_of(references), threads)
    return Calibration(*(getattr(done, field.name) for field in dataclasses.fields(Calibration)))

"""Model folders: imported, exported, quantized and averaged."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import Literal

from dragoman import _core
from dragoman._arguments import Path, paths_of


@dataclasses.dataclass(frozen=True)
class Import:
    """How an imported model was interpreted."""

    system: str
    """The system that the model was made for: ``"Hugging Face Marian"``."""
    choices: list[str]
    source_language: str
    needs_languages: bool
    """Every request must name its languages: the model has several."""
    integers: bool
    """The new weights are the source's own integers."""


def import_model(
    source: Path,
    out: Path,
    *,
    format: str = "",
    vocabularies: Path | Iterable[Path] = (),
    source_language: str = "",
    target_language: str = "",
    precision: Literal["", "fp32", "bf16", "int8"] = "",
) -> Import:
    """Converts another system's model (a folder, an archive or a file) into a model folder.

    >>> import_model("opus-mt-en-fr", "models/en-fr").system        # doctest: +SKIP
    'Hugging Face Marian'
    """
    files = paths_of(vocabularies)
    done = _core.import_model(
        os.fspath(source), os.fspath(out), format, files, source_language, target_language, precision
    )
    return Import(done.system, done.choices, done.source_language, done.needs_languages, done.integers)


def export(
    folder: Path,
    format: Literal["ctranslate2", "huggingface", "marian", "bergamot"],
    out: Path,
    *,
    calibrate: Path = "",
) -> list[str]:
    """Writes a model for another system. Returns notes for its user, one per line.

    calibrate, for bergamot: a file of source lines, of which the first 500 fix the multipliers of activations.

    >>> export("models/en-fr", "ctranslate2", "en-fr-ct2")          # doctest: +SKIP
    []
    """
    return _core.export_model(os.fspath(folder), format, os.fspath(out), os.fspath(calibrate))


def quantize(folder: Path, precision: Literal["int8", "bf16"], out: Path) -> None:
    """Writes a quantized copy of a model.

    >>> quantize("models/en-fr", "int8", "models/en-fr-int8")       # doctest: +SKIP
    """
    _core.quantize(os.fspath(folder), precision, os.fspath(out))


def average(folders: Path | Iterable[Path], out: Path) -> None:
    """Writes the average of the weights of models of the same shape.

    >>> average(["models/seed-1", "models/seed-2"], "models/mean")  # doctest: +SKIP
    """
    _core.average(paths_of(folders), os.fspath(out))


def average_checkpoints(folder: Path, newest: int, out: Path) -> None:
    """Writes the mean of a model's newest checkpoints.

    >>> average_checkpoints("models/demo", 5, "models/demo-mean")   # doctest: +SKIP
    """
    _core.average_checkpoints(os.fspath(folder), newest, os.fspath(out))

"""Training from a recipe, with callbacks."""
from __future__ import annotations

import dataclasses
import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal

from dragoman import _core
from dragoman._arguments import Path, plain
from dragoman._log import logger

Recipe = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class TrainingStep:
    """After each update."""

    step: int
    epoch: int
    loss: float
    """Per target token, with label smoothing: what is trained on."""
    learning_rate: float
    gradient_norm: float
    tokens_per_second: float
    seconds: float
    """Of training so far, over all resumes."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """A sentence of the validation set."""

    source: str
    reference: str
    translation: str


@dataclasses.dataclass(frozen=True)
class Validation:
    """After each validation."""

    step: int
    epoch: int
    loss: float
    bleu: float | None
    chrf: float | None
    exact_match: float | None
    best: bool
    """The best so far: this model is kept."""
    samples: list[Sample]


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """A finished or stopped training run. A notebook shows its curves."""

    folder: str
    steps: int
    stopped: bool

    def _repr_html_(self) -> str:
        from dragoman._notebook import training_html

        return training_html(self.folder)


def _options_of(recipe: Recipe) -> dict[str, Any]:
    """``{"model": {"d_model": 256}}`` and ``{"model.d_model": 256}`` are the same; None is left out."""
    options = {}
    for name, value in recipe.items():
        table = {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, Mapping) else {name: value}
        options.update({key: plain(one) for key, one in table.items() if one is not None})
    return options


class _ProgressLine:
    """One line that is written over: in a terminal and in a notebook alike. Lines of the log come in its place."""

    def __init__(self) -> None:
        self._last = 0.0

    def step(self, step: TrainingStep) -> None:
        if step.seconds - self._last < 0.5:
            return
        self._last = step.seconds
        self._write(f"\r\033[Kepoch {step.epoch}  step {step.step}  loss {step.loss:.3f}  "
                    f"{step.tokens_per_second:,.0f} tokens/s")

    def validation(self, result: Validation) -> None:
        bleu = "" if result.bleu is None else f"  BLEU {result.bleu:.1f}"
        exact = "" if result.exact_match is None else f"  exact match {result.exact_match:.1f}"
        kept = "  the best so far" if result.best else ""
        self._write(f"\r\033[Kepoch {result.epoch}  step {result.step}  validation loss {result.loss:.4f}{bleu}{exact}{kept}\n")

    def filter(self, record: logging.LogRecord) -> bool:
        self._write("\r\033[K")
        return True

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def train(
    recipe: Path | Recipe,
    *,
    out: Path = "",
    options: Mapping[str, Any] | None = None,
    resume: Literal["automatic", "auto", "never", "require"] = "automatic",
    init_from: Path = "",
    on_step: Callable[[TrainingStep], object] | None = None,
    on_validation: Callable[[Validation], object] | None = None,
    progress: bool | None = None,
) -> TrainingResult:
    """Trains a model, and returns when training has ended.

    ``recipe`` is a TOML file, or its tables as a dict; ``options`` override it: ``{"model.d_model": 256}``, or tables,
    too. Options that are None are left out. An exception from a callback, and KeyboardInterrupt, saves a checkpoint first;
    calling it again resumes, with bit-identical results.
    ``progress``: a line of progress on standard error; by default where that is a terminal or a notebook.

    >>> recipe = {"data": {"synthetic": "copy"}, "training": {"max_steps": 100}}
    >>> train(recipe, out="models/copy").steps                      # doctest: +SKIP
    100
    """
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    line = _ProgressLine() if progress else None

    def stepped(one: _core.TrainingStep) -> None:
        step = TrainingStep(
            one.step, one.epoch, one.loss, one.learning_rate, one.gradient_norm, one.tokens_per_second, one.seconds
        )
        if line:
            line.step(step)
        if on_step:
            on_step(step)

    def validated(one: _core.ValidationResult) -> None:
        samples = [Sample(s.source, s.reference, s.translation) for s in one.samples]
        result = Validation(one.step, one.epoch, one.loss, one.bleu, one.chrf, one.exact_match, one.best, samples)
        if line:
            line.validation(result)
        if on_validation:
            on_validation(result)

    file, tables = ("", recipe) if isinstance(recipe, Mapping) else (os.fspath(recipe), {})
    if line:
        logger.addFilter(line)
    try:
        done = _core.train(
            file,
            {**_options_of(tables), **_options_of(options or {})},
            os.fspath(out),
            resume,
            os.fspath(init_from),
            stepped if line or on_step else None,
            validated if line or on_validation else None,
        )
    finally:
        if line:
            logger.removeFilter(line)
    return TrainingResult(done.folder, done.steps, done.stopped)

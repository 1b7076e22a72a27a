"""The translator of CTranslate2's Python package, over Dragoman: for programs that call that package.

    import sys
    import dragoman.ctranslate2
    sys.modules["ctranslate2"] = dragoman.ctranslate2       # before argostranslate is imported

Models are CTranslate2's own folders, or any other that can be imported. Tokens are SentencePiece's. An argument that
Dragoman does not support is refused unless it has its default; devices, queues and batch sizes are accepted and ignored,
since one continuous batch serves all calls.
"""
from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any, Union

from dragoman import __version__ as __version__
from dragoman._arguments import Path
from dragoman._translation import Translation, translation_of
from dragoman._translator import Translator as _Translator
from dragoman._translator import _How
from dragoman.huggingface import from_pretrained

__all__ = [
    "ScoringResult", "TranslationResult", "Translator", "contains_model", "get_cuda_device_count",
    "get_supported_compute_types",
]

_PRECISIONS = {
    "default": "", "auto": "", "float32": "fp32", "bfloat16": "bf16", "float16": "bf16", "int16": "fp32",
    "int8": "int8", "int8_float32": "int8", "int8_float16": "int8", "int8_bfloat16": "int8",
}
_DEFAULTS: dict[str, Any] = {  # of arguments that have no counterpart
    "patience": 1, "coverage_penalty": 0, "disable_unk": False, "suppress_sequences": None, "end_token": None,
    "return_end_token": False, "return_logits_vocab": False, "return_alternatives": False, "callback": None,
    "min_alternative_expansion_prob": 0,
}  # fmt: skip
_WITHOUT_EFFECT = {"max_batch_size", "batch_type", "use_vmap", "max_input_length"}


@dataclasses.dataclass(frozen=True)
class TranslationResult:
    """The translation of one sentence."""

    hypotheses: list[list[str]]
    scores: list[float] = dataclasses.field(default_factory=list)
    attention: list[list[list[float]]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class ScoringResult:
    """The log-probabilities of one translation."""

    tokens: list[str]
    log_probs: list[float]


class AsyncTranslationResult:
    """A translation that is under way."""

    def __init__(self, job: Any, prefix: Sequence[str], with_scores: bool, with_attention: bool) -> None:
        self._job, self._prefix = job, prefix
        self._with = (with_scores, with_attention)

    def done(self) -> bool:
        return bool(self._job.wait(0))

    def result(self) -> TranslationResult:
        while not self._job.wait(0.1):
            pass
        return _result_of(translation_of(self._job.result(), True), self._prefix, *self._with)


Prefixes = Union[Sequence[Union[Sequence[str], None]], None]


class Translator:
    """See the class of the same name in CTranslate2's documentation."""

    def __init__(
        self,
        model_path: Path,
        device: str = "cpu",
        *,
        compute_type: str = "default",
        inter_threads: int = 1,
        intra_threads: int = 0,
        **unused: Any,
    ) -> None:
        if device not in ("cpu", "auto"):
            raise ValueError(f'unknown device "{device}": use "cpu"')
        if compute_type not in _PRECISIONS:
            raise ValueError(f'unknown compute_type "{compute_type}": use one of {", ".join(_PRECISIONS)}')
        folder = pathlib.Path(model_path)
        package = folder.resolve().parent
        source = package if (package / "metadata.json").exists() else folder  # of Argos: it has the tokenizer
        self._translator: _Translator = from_pretrained(
            source, device="cpu", precision=_PRECISIONS[compute_type], threads=intra_threads * inter_threads
        )

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def compute_type(self) -> str:
        return {"fp32": "float32", "bf16": "bfloat16"}.get(self._translator.info.precision, "int8")

    def translate_batch(
        self,
        source: Iterable[Sequence[str]],
        target_prefix: Prefixes = None,
        *,
        beam_size: int = 2,
        num_hypotheses: int = 1,
        length_penalty: float = 1,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        prefix_bias_beta: float = 0,
        max_decoding_length: int = 256,
        min_decoding_length: int = 1,
        sampling_topk: int = 1,
        sampling_topp: float = 1,
        sampling_temperature: float = 1,
        replace_unknowns: bool = False,
        return_scores: bool = False,
        return_attention: bool = False,
        asynchronous: bool = False,
        **others: Any,
    ) -> Any:
        """Translates tokenised sentences.

        >>> Translator("en-fr/model").translate_batch([["▁The", "▁cat"]])[0].hypotheses[0]      # doctest: +SKIP
        ['▁Le', '▁chat']
        """
        _refuse(others)
        options: dict[str, Any] = {
            "beam": beam_size,
            "nbest": num_hypotheses,
            "length_penalty": float(length_penalty),
            "repetition_penalty": float(repetition_penalty),
            "no_repeat_ngram": no_repeat_ngram_size,
            "max_length": max_decoding_length,
            "min_length": min_decoding_length,
            "replace_unknown": replace_unknowns,
            "tokens": True,
            "alignment": return_attention,
        }
        if sampling_topk != 1 or sampling_topp < 1:
            options.update(sample=True, top_k=sampling_topk, top_p=float(sampling_topp))
            options.update(temperature=float(sampling_temperature))
            del options["beam"], options["length_penalty"]
        if prefix_bias_beta:
            options["prefix_bias"] = float(prefix_bias_beta)
        sentences = list(source)
        prefixes: list[Sequence[str]] = [one or [] for one in target_prefix or [None] * len(sentences)]
        if len(prefixes) != len(sentences):
            raise ValueError(f"there are {len(sentences)} sources and {len(prefixes)} prefixes: each needs one, or None")
        results: list[AsyncTranslationResult] = []
        try:
            for sentence, prefix in zip(sentences, prefixes):
                how = _How({**options, "prefix": _text_of(prefix)})
                job = self._translator._submit(_text_of(sentence), how)
                results.append(AsyncTranslationResult(job, prefix, return_scores, return_attention))
            if asynchronous:
                return results
            return [result.result() for result in results]
        except BaseException:  # KeyboardInterrupt, too
            for result in results:
                result._job.cancel()
            raise

    def score_batch(
        self, source: Iterable[Sequence[str]], target: Iterable[Sequence[str]], *, max_input_length: int = 1024, **others: Any
    ) -> list[ScoringResult]:
        """Scores tokenised translations; the last score is that of the end token."""
        if others.pop("asynchronous", False) or others.pop("offset", 0):
            raise ValueError("score_batch supports neither asynchronous results nor an offset: leave them out")
        _refuse(others)
        targets = list(target)
        scores = self._translator.score(
            [_text_of(one) for one in source], [_text_of(one) for one in targets], max_length=max_input_length
        )
        for tokens, score in zip(targets, scores):
            if len(score.log_probabilities) not in (0, len(tokens) + 1):  # none: the pair is too long
                raise ValueError(f"the model's tokenizer cuts {_text_of(tokens)!r} into other pieces than {list(tokens)}")
        return [
            ScoringResult([*tokens, "</s>"], score.log_probabilities) for tokens, score in zip(targets, scores)
        ]

    def unload_model(self, to_cpu: bool = False) -> None:
        """Does nothing: a model's file is mapped, and the system manages its memory."""

    def load_model(self, keep_cache: bool = False) -> None:
        """Does nothing: the model is always loaded."""

    @property
    def model_is_loaded(self) -> bool:
        return True


def contains_model(path: Path) -> bool:
    """Whether a folder holds a model."""
    return any((pathlib.Path(path) / name).exists() for name in ("model.bin", "model.safetensors"))


def get_cuda_device_count() -> int:
    """Always 0: these classes translate on the CPU. ``dragoman.Translator`` translates on GPUs, too."""
    return 0


def get_supported_compute_types(device: str, device_index: int = 0) -> set[str]:
    """The values of ``compute_type``."""
    return set(_PRECISIONS) - {"default", "auto"}


def _refuse(others: dict[str, Any]) -> None:
    for name, value in others.items():
        if name in _WITHOUT_EFFECT or (name in _DEFAULTS and value == _DEFAULTS[name]):
            continue
        raise ValueError(f"Dragoman does not support {name}={value!r}: leave it out")


def _text_of(pieces: Sequence[str]) -> str:
    """SentencePiece's text: the tokenizer of the model makes the same pieces of it again.

    Some models read an end mark, which CTranslate2's callers give and Dragoman adds by itself.
    """
    ended = len(pieces) > 0 and pieces[-1] == "</s>"
    return "".join(pieces[:-1] if ended else pieces).replace("▁", " ").strip()


def _result_of(translation: Translation, prefix: Sequence[str], scores: bool, attention: bool) -> TranslationResult:
    hypotheses = []
    for one in translation.hypotheses:
        tokens = [token.text for token in one.tokens]
        forced = bool(prefix) and tokens[: len(prefix)] != list(prefix)
        hypotheses.append([*prefix, *tokens] if forced else tokens)
    return TranslationResult(
        hypotheses,
        [one.score for one in translation.hypotheses] if scores else [],
        [one.attention.tolist() for one in translation.hypotheses if one.attention is not None] if attention else [],
    )

"""Models of Hugging Face's hub in a local folder, with the interface of transformers."""
from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Iterable
from typing import Any, TypedDict

from dragoman._arguments import Path
from dragoman._core import __version__
from dragoman._models import import_model
from dragoman._translator import Translator

__all__ = ["TranslationPipeline", "from_pretrained", "pipeline"]


class TranslatedText(TypedDict):
    """As transformers' pipelines answer."""

    translation_text: str


def _cache() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "dragoman" / "imported"


def _imported(path: pathlib.Path) -> pathlib.Path:
    """The folder that this model was imported into; imported once, and again when one of its files changes."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    state = [(str(f.relative_to(path)), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    key = hashlib.sha256(repr((__version__, str(path), state)).encode()).hexdigest()[:16]
    folder = _cache() / f"{path.name}-{key}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = pathlib.Path(tempfile.mkdtemp(dir=folder.parent, prefix="unfinished-"))
        try:
            import_model(path, unfinished / "model")
            try:
                os.rename(unfinished / "model", folder)
            except OSError:  # somebody else was faster
                if not folder.exists():
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def from_pretrained(path: Path, **settings: Any) -> Translator:
    """Opens a translation model of Hugging Face's, of CTranslate2's or any other that can be imported, or one of Dragoman's.

    It is imported on first use, into the user's cache folder. ``settings`` are those of :class:`dragoman.Translator`.

    >>> from_pretrained("opus-mt-en-fr").translate("Hello!").text   # doctest: +SKIP
    'Bonjour !'
    """
    folder = pathlib.Path(path).resolve()
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: no such folder: download the model first, with `dragoman get`")
    return Translator(folder if _is_ours(folder) else _imported(folder), **settings)


def _is_ours(folder: pathlib.Path) -> bool:
    config = folder / "config.json"
    if not config.exists() or not (folder / "model.safetensors").exists():
        return False
    return '"model_type"' not in config.read_text(encoding="utf-8")


class TranslationPipeline:
    """What ``transformers.pipeline("translation")`` returns: called with a text or a list of texts."""

    def __init__(self, translator: Translator, **defaults: Any) -> None:
        self.translator = translator
        self.defaults = defaults

    def __call__(self, text: str | Iterable[str], **options: Any) -> list[TranslatedText]:
        """``num_beams``, ``max_length``, ``num_return_sequences``, ``src_lang`` and ``tgt_lang`` are transformers'.

        >>> TranslationPipeline(translator)("The cat sleeps.")      # doctest: +ELLIPSIS
        [{'translation_text': ...}]
        """
        names = {
            "num_beams": "beam",
            "num_return_sequences": "nbest",
            "src_lang": "source_language",
            "tgt_lang": "target_language",
            "no_repeat_ngram_size": "no_repeat_ngram",
        }
        ours = self.defaults | {names.get(name, name): value for name, value in options.items()}
        texts = [text] if isinstance(text, str) else list(text)
        return [
            {"translation_text": hypothesis.text}
            for translation in self.translator.translate_batch(texts, **ours)
            for hypothesis in translation.hypotheses
        ]


def pipeline(task: str, model: Path, **settings: Any) -> TranslationPipeline:
    """A callable like transformers' pipeline of the same name.

    The languages of a task such as ``translation_en_to_fr`` are those of a model of many languages.

    >>> translate = pipeline("translation", "opus-mt-en-fr")        # doctest: +SKIP
    >>> translate("Hello!")                                         # doctest: +SKIP
    [{'translation_text': 'Bonjour !'}]
    """
    named = re.fullmatch("translation(?:_(.+)_to_(.+))?", task)
    if named is None:
        raise ValueError(f'unknown task "{task}": use "translation"')
    translator = from_pretrained(model, **settings)
    known = translator.info.source_languages, translator.info.target_languages
    keys = "source_language", "target_language"
    return TranslationPipeline(translator, **{
        key: language for key, language, of_model in zip(keys, named.groups(), known) if language in of_model
    })

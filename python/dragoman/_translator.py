"""Translator: a model, opened once, that translates and scores."""
from __future__ import annotations

import asyncio
import collections
import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NoReturn, overload

import numpy as np
import numpy.typing as npt

from dragoman import _core
from dragoman._arguments import OptionValue, Path, check_text, check_texts, list_of
from dragoman._arguments import milliseconds_of, options_of, paths_of
from dragoman._errors import UsageError
from dragoman._glossary import Term, Terms, glossary_of
from dragoman._memory import Memories, memory_of
from dragoman._notebook import Inspection
from dragoman._translation import Alignment, Progress, Score, Translation, score_of, translation_of

_AHEAD = 1024  # texts of an iterator that are under way
_PATIENCE = 0.1  # seconds between looks at signals


@dataclasses.dataclass(frozen=True)
class ModelInfo:
    """A model, and how it was opened."""

    folder: str
    language_model: bool
    config: dict[str, Any]
    precision: str
    instruction_set: str
    parameters: int
    source_vocabulary: int
    target_vocabulary: int
    max_tokens: int
    source_languages: list[str]
    target_languages: list[str]
    threads: int
    workers: int
    batch: int


@dataclasses.dataclass(frozen=True)
class Option:
    """An option that a translation may have. In Python its name has underscores: ``length_penalty``."""

    name: str
    help: str
    type: str
    limits: str
    default: OptionValue


class Stream(Iterator[Progress]):
    """A translation in progress: iterate to watch it grow. Leaving a ``with`` block cancels it."""

    def __init__(self, job: _core.Job, tokens: bool) -> None:
        self._job = job
        self._tokens = tokens

    def __next__(self) -> Progress:
        while True:
            news = self._job.progress(_PATIENCE)
            if news is not None:
                text, final_bytes = news
                return Progress(text, text.encode()[:final_bytes].decode(errors="ignore"))
            if self._job.wait(0):
                self._job.result()  # raises what ended it
                raise StopIteration

    def result(self) -> Translation:
        """Waits for the translation."""
        while not self._job.wait(_PATIENCE):
            pass
        return translation_of(self._job.result(), self._tokens)

    def cancel(self) -> None:
        """Frees its place in the batch within a step."""
        self._job.cancel()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()


class Translator:
    """A model, opened once.

    Safe to use from many threads: all requests go through one continuous batch, and each gets the same bytes as if it
    were alone.

    >>> translator = Translator("models/demo", precision="int8")    # doctest: +SKIP
    """

    def __init__(
        self,
        path: Path | Sequence[Path],
        *,
        device: str = "auto",
        precision: Literal["", "fp32", "bf16", "int8"] = "",
        threads: int = 0,
        batch: int = 0,
        batch_tokens: int = 0,
        workers: int = 0,
        verify: bool = True,
        cache_bytes: int = 0,
        language_model: Path | None = None,
        language_model_weight: float = 0.1,
    ) -> None:
        """Opens a model's folder, or several with one target vocabulary, whose probabilities are averaged.

        ``device``: "cpu", "cuda", "cuda:1", or "auto" for a GPU if one can be used, else the processor;
        "cuda:0,cuda:1" or "cuda:all" for several GPUs, which share the work. ``precision``: "" as in the folder.
        ``threads``: 0 for all processors. ``batch``: sentences that are translated at once, for each of the ``workers``;
        0: 32 on a processor, on a GPU as many as its memory holds well, up to 1024. ``cache_bytes``: memory for earlier
        sentences and their translations.
        ``language_model``: a folder of the target's vocabulary, whose log-probabilities are added, times the weight.
        """
        folders = paths_of(path)
        [fused] = paths_of(language_model) if language_model is not None else [""]
        self._core = _core.Translator(
            folders,
            device,
            threads,
            precision,
            batch,
            batch_tokens,
            workers,
            verify,
            cache_bytes,
            fused,
            language_model_weight,
        )

    @overload
    def translate(self, text: str, *, glossary: Terms = ..., memory: Memories = ..., **options: Any) -> Translation: ...
    @overload
    def translate(
        self, text: list[str], *, glossary: Terms = ..., memory: Memories = ..., **options: Any
    ) -> list[Translation]: ...
    @overload
    def translate(
        self, text: Iterable[str], *, glossary: Terms = ..., memory: Memories = ..., **options: Any
    ) -> Iterator[Translation]: ...
    def translate(self, text: Any, *, glossary: Terms = None, memory: Memories = None, **options: Any) -> Any:
        """Translates a text, a list, or an iterator, whose translations are yielded in order as they become ready.

        Options are those of `dragoman translate`, with underscores, and:

        - ``source_language``, ``target_language``: for a multilingual model
        - ``tokens=True``: hypotheses have tokens and the words' confidence
        - ``alignment=True``: they have word alignments and attention, too
        - ``prefix``: how the output begins
        - ``timeout``: in seconds; None: none

        ``glossary`` is a :class:`Glossary`, or a dict of terms and their translations; ``memory`` a :class:`Memory`, or
        its folder: texts that it has are translated as there, others with similar ones in view.

        >>> translator.translate("The cat sleeps.", beam=4, nbest=2).hypotheses[0].score    # doctest: +ELLIPSIS
        -...
        """
        if isinstance(text, str):
            return self.translate_batch([text], glossary=glossary, memory=memory, **options)[0]
        if isinstance(text, list):
            return self.translate_batch(text, glossary=glossary, memory=memory, **options)
        if isinstance(text, (bytes, bytearray)) or not isinstance(text, Iterable):
            check_text(text)
        return self._translate_in_order(iter(text), _How(options, glossary, memory))

    @overload
    def generate(self, text: str, **options: Any) -> Translation: ...
    @overload
    def generate(self, text: list[str], **options: Any) -> list[Translation]: ...
    def generate(self, text: Any, **options: Any) -> Any:
        """Continues a text, or a list of texts, with a language model: each result's text begins with what was given.

        Options are those of `dragoman generate`, with underscores. Without any, at most a hundred subwords are drawn.

        >>> model = Translator("models/tatoeba-en-lm")    # doctest: +SKIP
        >>> model.generate("I would like", seed=2).text    # doctest: +SKIP
        'I would like to go there with you.'
        """
        if not self.info.language_model:
            raise UsageError(f"{self.info.folder} is no language model: translate() translates with it")
        return self.translate(text, **options)

    def translate_batch(
        self, texts: Iterable[str], *, glossary: Terms = None, memory: Memories = None, **options: Any
    ) -> list[Translation]:
        """Translates texts at once, and waits for all of them. KeyboardInterrupt cancels them.

        >>> len(translator.translate_batch(["The cat sleeps.", "A dog barks."]))
        2
        """
        all_texts = list_of(texts)
        check_texts(all_texts)
        how = _How(options, glossary, memory)
        terms = [how.terms_in(one) for one in all_texts] if how.glossary is not None else []
        done = self._core.translate(all_texts, how.options, how.prefix, how.timeout, how.tokens, terms, how.memory)
        return [translation_of(one, how.tokens) for one in done]

    async def translate_async(
        self, text: str, *, glossary: Terms = None, memory: Memories = None, **options: Any
    ) -> Translation:
        """Translates a text without blocking the event loop. Cancelling the task frees its place in the batch."""
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def tell() -> None:
            try:
                loop.call_soon_threadsafe(done.set)
            except RuntimeError:  # the loop is closed: nobody waits
                pass

        how = _How(options, glossary, memory)
        job = self._submit(text, how, on_done=tell)
        try:
            await done.wait()
        except asyncio.CancelledError:
            job.cancel()
            raise
        return translation_of(job.result(), how.tokens)

    def stream(self, text: str, *, glossary: Terms = None, memory: Memories = None, **options: Any) -> Stream:
        """Translates a text, and shows it as it grows.

        >>> for progress in translator.stream("The cat sleeps."):
        ...     print(progress.text)                                # doctest: +SKIP
        """
        how = _How(options, glossary, memory)
        return Stream(self._submit(text, how, follow=True), how.tokens)

    @overload
    def score(
        self,
        source: str,
        target: str,
        *,
        alignment: bool = ...,
        max_length: int = ...,
        source_language: str = ...,
        target_language: str = ...,
    ) -> Score: ...
    @overload
    def score(
        self,
        source: list[str],
        target: list[str],
        *,
        alignment: bool = ...,
        max_length: int = ...,
        source_language: str = ...,
        target_language: str = ...,
    ) -> list[Score]: ...
    def score(
        self,
        source: str | list[str],
        target: str | list[str],
        *,
        alignment: bool = False,
        max_length: int = 2000,
        source_language: str = "",
        target_language: str = "",
    ) -> Score | list[Score]:
        """The log-probability of given translations; of any texts with a language model, where the sources are "".

        >>> translator.score("The cat sleeps.", "Le chat dort.").total < 0
        True
        """
        single = isinstance(source, str)
        sources = [source] if isinstance(source, str) else source
        targets = [target] if isinstance(target, str) else target
        check_texts(sources)
        check_texts(targets)
        if len(sources) != len(targets):
            raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets: each needs its own")
        pairs = list(zip(sources, targets))
        scores = self._core.score(pairs, max_length, alignment, source_language, target_language)
        return score_of(scores[0]) if single else [score_of(score) for score in scores]

    def alignments(self, text: str, **options: Any) -> list[Alignment]:
        """The word alignment of a text and its translation.

        >>> isinstance(translator.alignments("The cat sleeps."), list)
        True
        """
        options["alignment"] = True
        return self.translate_batch([text], **options)[0].hypotheses[0].alignment

    def attention(self, text: str, **options: Any) -> npt.NDArray[np.float32]:
        """What each token of a text's translation (a row) attended to, over the source's tokens: the mean over the heads
        of one layer. ``inspect`` has all layers and heads.

        >>> translator.attention("The cat sleeps.").ndim
        2
        """
        options["alignment"] = True
        best = self.translate_batch([text], **options)[0].hypotheses[0]
        return np.zeros((len(best.tokens), 0), np.float32) if best.attention is None else best.attention

    def inspect(
        self,
        text: str,
        target: str = "",
        *,
        alternatives: int = 5,
        source_language: str = "",
        target_language: str = "",
    ) -> Inspection:
        """Inspects a sentence, or a given translation of it: probabilities, and the attention of every
        layer and head. In a notebook it is the page of `dragoman inspect`.

        >>> translator.inspect("The cat sleeps.").attention("cross", layer=1).ndim      # head, row, column
        3
        """
        data = self._core.inspect(text, target, alternatives, source_language, target_language)
        return Inspection(os.path.basename(os.path.normpath(self.info.folder)), data)

    @property
    def info(self) -> ModelInfo:
        """The model, and how it was opened."""
        info = self._core.info()
        names = [field.name for field in dataclasses.fields(ModelInfo)]
        values = {name: getattr(info, name) for name in names}
        values["config"] = json.loads(info.config)
        return ModelInfo(**values)

    @staticmethod
    def options() -> list[Option]:
        """The options that a translation may have.

        >>> "beam" in [option.name for option in Translator.options()]
        True
        """
        return [Option(o.name, o.help, o.type, o.limits, o.default) for o in _core.Translator.options()]

    def _submit(self, text: str, how: _How, follow: bool = False, on_done: Any = None) -> _core.Job:
        check_text(text)
        terms = how.terms_in(text)
        return self._core.submit(
            text, how.options, how.prefix, how.timeout, how.tokens, terms, how.memory, follow, on_done
        )

    def _translate_in_order(self, texts: Iterator[str], how: _How) -> Iterator[Translation]:
        jobs: collections.deque[_core.Job] = collections.deque()
        ended: Exception | None = None
        try:
            while jobs or ended is None:
                if ended is None and len(jobs) < _AHEAD:
                    try:
                        jobs.append(self._submit(next(texts), how))
                    except Exception as error:  # StopIteration, too: first come those under way
                        ended = error
                waits = ended is not None or len(jobs) == _AHEAD
                while jobs and jobs[0].wait(_PATIENCE if waits else 0):
                    yield translation_of(jobs.popleft().result(), how.tokens)
                    waits = ended is not None
        finally:
            for job in jobs:
                job.cancel()
        if not isinstance(ended, StopIteration):
            raise ended

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Translator cannot be pickled or copied: open the model's folder in each process")

    def __repr__(self) -> str:
        info = self._core.info()
        return f"<dragoman.Translator {info.folder!r}, {info.precision}, {info.instruction_set}>"


class _How:
    """A request's options: those of the engine by name, and the others."""

    def __init__(self, options: dict[str, Any], glossary: Terms = None, memory: Memories = None) -> None:
        rest = dict(options)
        prefix = rest.pop("prefix", None)
        if not isinstance(prefix, (str, type(None))):
            raise TypeError(f"a prefix must be a str, the same for all texts, not {type(prefix).__name__}")
        self.prefix = prefix or ""
        self.timeout = milliseconds_of(rest.pop("timeout", None))
        self.tokens = bool(rest.pop("tokens", False)) or bool(rest.get("alignment", False))
        self.options = options_of(rest)
        self.glossary = glossary_of(glossary)
        self.memory = memory_of(memory)

    def terms_in(self, text: str) -> list[Term]:
        return self.glossary.terms(text) if self.glossary is not None else []

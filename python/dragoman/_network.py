"""Network: a Transformer whose pieces are called one at a time, on arrays."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn, Union

import numpy as np
import numpy.typing as npt

from dragoman import _core
from dragoman._arguments import OptionValue, Path, plain
from dragoman._errors import UsageError

Stack = Literal["encoder", "decoder"]
Matrix = npt.NDArray[np.float32]
Ids = Union[Sequence[int], npt.NDArray[np.integer[Any]]]
Batch = Union[Sequence[Ids], npt.NDArray[np.integer[Any]]]


class Network:
    """A Transformer whose pieces are called one at a time, on arrays: to see what each computes, to compare another
    implementation with it, or to write a training loop of one's own.

    All of it is in fp32 and without dropout. A sentence is a sequence of ids, and an array has a row for each of its
    tokens. For speed there are ``Translator`` and ``train``, which run the same pieces on many sentences at once.

    >>> network = Network.new(source_vocabulary=20, target_vocabulary=20, d_model=32, heads=4, d_ff=64)
    >>> memory = network.encode([1, 5, 6, 4, 2])
    >>> network.logits(network.decode([1, 7, 8], memory)).shape
    (3, 20)
    """

    def __init__(self, path: Path, *, device: str = "auto", threads: int = 0) -> None:
        """Opens a model's folder, whose weights must be in fp32."""
        self._core = _core.Network(os.fspath(path), device, threads)

    @classmethod
    def new(
        cls,
        *,
        target_vocabulary: int,
        source_vocabulary: int = 0,
        seed: int = 1,
        device: str = "auto",
        threads: int = 0,
        **model: OptionValue,
    ) -> Network:
        """A network with random weights, those that training begins with for this seed.

        ``model``: options of a recipe's section ``[model]``. A language model has no source.
        """
        options = {f"model.{name}": plain(value) for name, value in model.items() if value is not None}
        network = cls.__new__(cls)
        network._core = _core.Network.random(options, source_vocabulary, target_vocabulary, seed, device, threads)
        return network

    @property
    def config(self) -> dict[str, Any]:
        """The model's options and the sizes of its vocabularies."""
        config: dict[str, Any] = json.loads(self._core.config())
        return config

    def encode(self, source: Ids) -> Matrix:
        """The encoder's output, a row for each token."""
        return self._core.encode(_ids_of(source))

    def decode(self, target: Ids, memory: npt.ArrayLike | None = None) -> Matrix:
        """The decoder's output: each row has seen its own token, those before it, and the memory.

        ``memory`` is what ``encode`` returned. A language model has none.
        """
        return self._core.decode(_ids_of(target), _rows_of(np.empty((0, 0)) if memory is None else memory))

    def logits(self, states: npt.ArrayLike) -> Matrix:
        """The scores of all words after each row that ``decode`` returned."""
        return self._core.logits(_rows_of(states))

    def embed(self, stack: Stack, ids: Ids) -> Matrix:
        """What a stack's first layer reads: scaled embeddings, with their positions."""
        return self._core.embed(_stack_of(stack), _ids_of(ids))

    def positions(self, stack: Stack, count: int) -> Matrix:
        """The positions that are added to embeddings."""
        return self._core.positions(_stack_of(stack), count)

    def self_attention(self, stack: Stack, layer: int, x: npt.ArrayLike) -> Matrix:
        """A layer's self-attention, without its norm and residual connection; the decoder's is masked.

        ``layer`` is counted from 0.
        """
        return self._core.self_attention(_stack_of(stack), layer, _rows_of(x))

    def cross_attention(self, layer: int, x: npt.ArrayLike, memory: npt.ArrayLike) -> Matrix:
        """A decoder layer's attention to the source, without its norm and residual connection."""
        return self._core.cross_attention(layer, _rows_of(x), _rows_of(memory))

    def feed_forward(self, stack: Stack, layer: int, x: npt.ArrayLike) -> Matrix:
        """A layer's feed-forward network, without its norm and residual connection."""
        return self._core.feed_forward(_stack_of(stack), layer, _rows_of(x))

    def loss(self, source: Ids | Batch | None, target: Ids | Batch, label_smoothing: float = 0.0) -> float:
        """The cross-entropy of a sentence or of a batch of sentences, averaged over the target's tokens.

        The decoder reads the target without its last token, and predicts it without its first: a target begins with
        the start symbol and ends with the end symbol. The source of a language model is None.
        """
        return self._core.loss(_pairs_of(source, target), label_smoothing)

    def loss_and_gradients(
        self, source: Ids | Batch | None, target: Ids | Batch, label_smoothing: float = 0.0
    ) -> tuple[float, dict[str, Matrix]]:
        """The loss, and its gradient for each parameter that learns."""
        return self._core.gradients(_pairs_of(source, target), label_smoothing)

    def source_ids(self, text: str, *, source_language: str = "", target_language: str = "") -> list[int]:
        """A text as the encoder reads it. Only a folder that was opened has vocabularies.

        The languages are those of a model that has several; by default, its folder's.
        """
        return self._core.source_ids(text, source_language, target_language)

    def target_ids(self, text: str, *, source_language: str = "", target_language: str = "") -> list[int]:
        """A text as a target: start symbol, subwords, end symbol."""
        return self._core.target_ids(text, source_language, target_language)

    def target_text(self, ids: Ids) -> str:
        """The text of a target, or of the beginning of one."""
        return self._core.target_text(_ids_of(ids))

    def parameters(self) -> dict[str, Matrix]:
        """Copies of the parameters by their names, those of the model's file. Biases and gains are vectors."""
        return self._core.parameters()

    def set_parameters(self, values: Mapping[str, npt.ArrayLike]) -> None:
        """Sets parameters by their names, all of them or some."""
        self._core.set_parameters([(name, _rows_of(np.atleast_2d(value))) for name, value in values.items()])

    def save(self, folder: Path) -> None:
        """Writes a new model folder, with the vocabularies of the folder that was opened; a new network has none."""
        self._core.save(os.fspath(folder))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Network cannot be pickled or copied: save it, and open its folder")

    def __repr__(self) -> str:
        config = self.config
        return f"<dragoman.Network, {config['kind']}, d_model {config['d_model']}>"


def _stack_of(name: str) -> _core.Stack:
    if name not in ("encoder", "decoder"):
        raise UsageError(f'unknown stack "{name}": use encoder or decoder')
    return _core.Stack.encoder if name == "encoder" else _core.Stack.decoder


def _ids_of(ids: object) -> list[int]:
    array = np.asarray(ids)
    if array.ndim != 1 or array.size and array.dtype.kind not in "iu":
        found = f"{array.ndim} dimensions" if array.ndim != 1 else f"an array of {array.dtype}"
        raise TypeError(f"a sentence must be a sequence of whole numbers, the ids of its tokens, not {found}")
    found_ids: list[int] = array.tolist()
    return found_ids


def _rows_of(x: npt.ArrayLike) -> Matrix:
    array = np.ascontiguousarray(x, dtype=np.float32)
    if array.ndim != 2:
        raise TypeError(f"a matrix with a row for each token has two dimensions, not {array.ndim}")
    return array


def _pairs_of(source: Ids | Batch | None, target: Ids | Batch) -> list[tuple[list[int], list[int]]]:
    """One pair, or those of a batch."""
    if len(target) == 0 or np.ndim(target[0]) == 0:
        return [(_ids_of([] if source is None else source), _ids_of(target))]
    sources = [[]] * len(target) if source is None else source
    if len(sources) != len(target):
        raise UsageError(f"a batch has {len(sources)} sources and {len(target)} targets: give one for each other")
    return [(_ids_of(one), _ids_of(other)) for one, other in zip(sources, target)]

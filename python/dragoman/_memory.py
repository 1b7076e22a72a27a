"""Memories: what has been translated before."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple, Union

from dragoman import _core
from dragoman._arguments import Path


class MemorySegment(NamedTuple):
    """A segment of a memory, and how similar its source is to a text: 1 minus the share of words to change."""

    source: str
    target: str
    similarity: float
    exact: bool


class Memory:
    """A folder that `dragoman memory build` made. To add to it, open it with ``add=True``: one process at a time may.

    >>> memory = Memory("memories/mine", add=True)    # doctest: +SKIP
    >>> memory.add([("The cat sleeps.", "Le chat dort.")])    # doctest: +SKIP
    >>> translator.translate("The cat sleeps.", memory=memory).text    # doctest: +SKIP
    'Le chat dort.'
    """

    def __init__(self, path: Path, *, add: bool = False) -> None:
        self._core = _core.Memory(os.fspath(path), add)

    @property
    def languages(self) -> tuple[str, str]:
        """The language of the sources, and that of the targets."""
        return self._core.languages()

    def look_up(
        self,
        text: str,
        *,
        at_most: int = 5,
        at_least: float = 0.5,
        match_case: bool = True,
        match_numbers: bool = True,
    ) -> list[MemorySegment]:
        """The most similar segments first, exact ones before all others."""
        found = self._core.look_up(text, at_most, at_least, match_case, match_numbers)
        return [MemorySegment(s.source, s.target, s.similarity, s.exact) for s in found]

    def add(self, segments: Iterable[tuple[str, str]], *, origin: str = "") -> None:
        """Adds sources and targets, which are on the disk when this returns. Of equal sources the newest counts; an
        empty target removes it. ``origin``: who or what they are from."""
        self._core.add([(source, target) for source, target in segments], origin)


Memories = Union[Memory, Path, None]


def memory_of(memory: Memories) -> _core.Memory | None:
    """A folder's is opened for the call."""
    if memory is None:
        return None
    return (memory if isinstance(memory, Memory) else Memory(memory))._core

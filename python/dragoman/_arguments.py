"""What many functions take: paths, options by name, as the command line has them, and timeouts."""
from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, Union

import numpy as np

from dragoman._errors import UsageError

Path = Union[str, "os.PathLike[str]"]
OptionValue = Union[bool, int, float, str, Sequence[str], Sequence[float], None]
Item = TypeVar("Item")

_LONGEST = 1e9  # seconds, of a timeout: the library counts nanoseconds in 64 bits


def options_of(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """``length_penalty=1`` is the option ``length-penalty``; options that are None are left out."""
    names = {"source_language": "from", "target_language": "to"}
    return {
        names.get(name, name.replace("_", "-")): plain(value) for name, value in options.items() if value is not None
    }


def plain(value: Any) -> Any:
    """Python's own value of what stands for one: NumPy's numbers and arrays, paths. Any other is returned."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if not isinstance(value, (int, float)):
        for method, convert in (("__index__", operator.index), ("__float__", float)):
            if hasattr(value, method):
                return convert(value)
    return value


def paths_of(paths: Path | Iterable[Path]) -> list[str]:
    """Those of one path or of several."""
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


def list_of(items: Iterable[Item]) -> list[Item]:
    """A list of texts, or of lists of them. One str is refused: it would be a list of its characters."""
    if isinstance(items, str):
        raise TypeError("give a list of texts, not a str")
    return list(items)


def check_text(text: object) -> None:
    if not isinstance(text, str):
        hint = ": decode it first" if isinstance(text, (bytes, bytearray)) else ""
        raise TypeError(f"a text must be a str, not {type(text).__name__}{hint}")


def check_texts(texts: object) -> None:
    for one in texts if isinstance(texts, Iterable) else [texts]:
        check_text(one)


def milliseconds_of(timeout: float | None) -> int:
    """A timeout as the library has it, where 0 is none."""
    if timeout is None:
        return 0
    if not timeout >= 0:  # NaN, too
        raise UsageError(f"a timeout cannot be {timeout}: give seconds from 0 on, or None to wait without one")
    return max(1, math.ceil(min(float(timeout), _LONGEST) * 1000))

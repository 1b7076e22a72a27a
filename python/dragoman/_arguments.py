"""What many functions take: paths, and options by name, as the command line has them."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

Path = Union[str, "os.PathLike[str]"]
OptionValue = Union[bool, int, float, str, Sequence[str], Sequence[float]]


def options_of(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """``length_penalty=1`` is the option ``length-penalty``."""
    return {name.replace("_", "-"): value for name, value in options.items()}

"""Options by name, as the command line and recipes have them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

OptionValue = Union[bool, int, float, str, Sequence[str], Sequence[float]]


def options_of(options: Mapping[str, OptionValue]) -> dict[str, Any]:
    """``length_penalty=1`` is the option ``length-penalty``."""
    return {name.replace("_", "-"): value for name, value in options.items()}

"""What notebooks show."""
from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dragoman import _core

if TYPE_CHECKING:
    from dragoman._translation import Translation


def _frame(page: str, height: int) -> str:
    """A page apart from the notebook's own styles and scripts."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts"'
        f' style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


class Inspection:
    """The inspection of a sentence. A notebook shows it as the page of `dragoman inspect`."""

    def __init__(self, model: str, data: str) -> None:
        self._model = model
        self._json = data
        self.data: dict[str, Any] = json.loads(data)
        """The object of `dragoman inspect --format json`, with attention in thousandths."""

    def attention(
        self, kind: Literal["encoder", "decoder", "cross"] = "cross", layer: int = 1
    ) -> npt.NDArray[np.float32]:
        """The attention of a layer, counted from 1: [head, query, key]."""
        layers = self.data["attention"][kind]
        if not 1 <= layer <= len(layers):
            raise ValueError(f"there is no layer {layer} of {kind} attention: the model has {len(layers)}")
        return np.asarray(layers[layer - 1], dtype=np.float32) / np.float32(1000)

    def page(self) -> str:
        """A self-contained HTML page."""
        return _core.inspection_page([self._json], self._model)

    def _repr_html_(self) -> str:
        return _frame(self.page(), 900)


def translation_html(translation: Translation) -> str:
    """The text, each word shaded by the model's doubt where its confidence is known."""
    best = translation.hypotheses[0]
    parts, end = [], 0
    for word in best.words:
        doubt = 1 - word.confidence
        parts.append(html.escape(best.text[end : word.span.begin]))
        parts.append(
            f'<span title="{word.confidence:.0%}" style="background: rgba(200, 80, 0, {doubt * 0.45:.2f})">'
            f"{html.escape(best.text[word.span.begin : word.span.end])}</span>"
        )
        end = word.span.end
    parts.append(html.escape(best.text[end:]))
    source = html.escape(translation.source)
    return (
        '<div style="white-space: pre-wrap">'
        f'<div dir="auto" style="opacity: 0.65">{source}</div><div dir="auto">{"".join(parts)}</div></div>'
    )


def training_html(folder: str) -> str:
    """The curves of a training run, as `dragoman report` draws them."""
    return _frame(_core.training_page([folder]), 900)

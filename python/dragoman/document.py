"""Whole files: text in them is translated, and everything else stays as it is, byte for byte."""
from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import TYPE_CHECKING

from dragoman import _core
from dragoman._arguments import OptionValue, Path, milliseconds_of, options_of
from dragoman._glossary import Terms, glossary_of
from dragoman._memory import Memories, memory_of

if TYPE_CHECKING:
    from dragoman._translator import Translator

__all__ = ["Document", "Format", "formats", "translate", "translate_bytes"]


@dataclasses.dataclass(frozen=True)
class Document:
    """A translated file, and how many of its texts have each flag."""

    bytes: bytes = dataclasses.field(repr=False)
    segments: int
    """Texts that were translated: paragraphs, cells, messages."""
    cut: int
    unknown: int
    repeats: int
    terms_missed: int
    repaired: int
    """Texts in which a placeholder was restored or a duplicate removed."""


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of files that can be translated."""

    name: str
    description: str
    endings: list[str]
    written_as: str = ""
    """The format of a translation, where it is another."""


def formats() -> list[Format]:
    """The formats that can be translated.

    >>> "html" in [format.name for format in formats()]
    True
    """
    return [Format(f.name, f.description, f.endings, f.written_as) for f in _core.document_formats()]


def translate_bytes(
    translator: Translator,
    data: bytes,
    *,
    name: str = "",
    format: str = "",
    columns: str = "",
    glossary: Terms = None,
    memory: Memories = None,
    mark_unconfirmed: bool = False,
    timeout: float | None = None,
    **options: OptionValue,
) -> Document:
    """Translates a file's bytes. The extension of ``name`` determines the format, unless ``format`` does. ``columns``
    are those of a table that are translated, by name or number: ``"title,text"`` or ``"2,3"``; by default those that
    have text. Options are those of ``Translator.translate``, which each text gets; ``timeout`` is of them all. With
    ``mark_unconfirmed`` translations in PO and XLIFF that the memory does not have are marked for review.

    >>> translate_bytes(translator, b"<p>The cat sleeps.</p>", format="html").bytes
    b'<p>...</p>'
    """
    terms = glossary_of(glossary)
    core = terms._core if terms is not None else None
    milliseconds = milliseconds_of(timeout)
    done = _core.translate_document(
        translator._core,
        data,
        name,
        format,
        columns,
        options_of(options),
        milliseconds,
        core,
        memory_of(memory),
        mark_unconfirmed,
    )
    return Document(
        done.bytes, done.segments, done.cut, done.unknown, done.repeats, done.terms_missed, done.repaired
    )


def translate(
    translator: Translator,
    source: Path,
    target: Path,
    *,
    format: str = "",
    columns: str = "",
    glossary: Terms = None,
    memory: Memories = None,
    mark_unconfirmed: bool = False,
    timeout: float | None = None,
    **options: OptionValue,
) -> Document:
    """Translates a file into a new one; ``target`` is written when all is done, or not at all."""
    path = pathlib.Path(source)
    document = translate_bytes(
        translator,
        path.read_bytes(),
        name=path.name,
        format=format,
        columns=columns,
        glossary=glossary,
        memory=memory,
        mark_unconfirmed=mark_unconfirmed,
        timeout=timeout,
        **options,
    )
    unfinished = pathlib.Path(f"{os.fspath(target)}.part")
    unfinished.write_bytes(document.bytes)
    unfinished.replace(target)
    return document

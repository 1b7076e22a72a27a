"""Neural machine translation: training, decoding, and models of other systems.

>>> import dragoman
>>> translator = dragoman.Translator("models/demo")              # doctest: +SKIP
>>> translator.translate("Where is the station?").text           # doctest: +SKIP
'Où est la gare ?'
"""
from dragoman import confidence, document, metrics
from dragoman._core import __version__
from dragoman._errors import Cancelled, Error, Expired, InternalError, UsageError
from dragoman._glossary import Glossary, Term
from dragoman._memory import Memory, MemorySegment
from dragoman._models import Import, average, average_checkpoints, export, import_model, quantize
from dragoman._network import Network
from dragoman._training import Sample, TrainingResult, TrainingStep, Validation, train
from dragoman._translation import Alignment, Hypothesis, Progress, Score, Span, Token, Translation, WordConfidence
from dragoman._translator import ModelInfo, Option, Stream, Translator

__all__ = [
    "Alignment", "Cancelled", "Error", "Expired", "Glossary", "Hypothesis", "Import", "InternalError", "Memory",
    "MemorySegment", "ModelInfo", "Network", "Option", "Progress", "Sample", "Score", "Span", "Stream", "Term",
    "Token", "TrainingResult", "TrainingStep", "Translation", "Translator", "UsageError", "Validation",
    "WordConfidence", "__version__", "average", "average_checkpoints", "confidence", "document", "export", "import_model",
    "metrics", "quantize", "train",
]

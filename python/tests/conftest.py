"""A small model that knows a few words, imported from a fixture."""
import pathlib

import dragoman
import pytest

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/fixtures"
SENTENCES = ["The cat sleeps.", "A dog barks.", "Where is the station?", "The house is small.", ""]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "joint"
    made = dragoman.import_model(FIXTURES / "huggingface/joint", out)
    assert made.system == "Hugging Face Marian"
    return out


@pytest.fixture(scope="session")
def translator(folder):
    return dragoman.Translator(folder, threads=2)

"""A language model: texts go on, and its scores need no source."""
import math

import dragoman
import pytest


@pytest.fixture(scope="module")
def language_model(folder, tmp_path_factory):
    """With the words of the translation model."""
    where = tmp_path_factory.mktemp("language_model")
    (where / "text").write_text("la chatte noire .\nune chienne noire .\n" * 20, encoding="utf-8")
    recipe = {
        "data": {"text": [str(where / "text")]},
        "vocabulary": {"from": str(folder)},
        "model": {"kind": "language_model", "decoder_layers": 1, "d_model": 16, "heads": 2, "d_ff": 16},
        "training": {"batch_tokens": 100, "schedule": "constant", "learning_rate": 0.01, "max_steps": 20},
    }
    dragoman.train(recipe, out=where / "model", progress=False)
    return where / "model"


def test_texts_go_on(language_model):
    model = dragoman.Translator(language_model, threads=1)
    assert model.info.language_model
    both = model.generate(["la chatte", "une"], max_length=5, seed=3)
    assert [one.text[: len(text)] for one, text in zip(both, ["la chatte", "une"])] == ["la chatte", "une"]
    assert model.generate("une", max_length=5, seed=3).text == both[1].text
    assert model.generate("une", max_length=5, sample=False, top_p=1.0, beam=2, nbest=2).hypotheses[1].text
    score = model.score("", "la chatte noire .")
    assert math.isclose(score.total, sum(score.log_probabilities), rel_tol=1e-5)


def test_each_kind_has_its_method(translator, folder, language_model):
    assert not translator.info.language_model
    with pytest.raises(dragoman.UsageError, match="no language model"):
        translator.generate("la chatte")
    with pytest.raises(dragoman.UsageError, match="no language model"):
        dragoman.Translator(folder, threads=1, language_model=folder)


def test_a_fused_language_model_changes_scores(folder, translator, language_model):
    text = "The cat sleeps."
    plain = translator.translate(text).score
    assert dragoman.Translator(folder, threads=1, language_model=language_model,
                               language_model_weight=0).translate(text).score == plain
    assert dragoman.Translator(folder, threads=1, language_model=language_model,
                               language_model_weight=0.5).translate(text).score < plain

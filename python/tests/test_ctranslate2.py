"""Programs that call CTranslate2's Python package get the same translations from Dragoman's."""
import json
import pathlib
import shutil
import subprocess
import sys
import time

import dragoman
import pytest
from conftest import FIXTURES
from dragoman import ctranslate2

TRAINED = FIXTURES / "ctranslate2/trained"
ARGOS = """
import sys, pathlib
if sys.argv[1] == "dragoman":
    import dragoman.ctranslate2
    sys.modules["ctranslate2"] = dragoman.ctranslate2
import argostranslate.package, argostranslate.translate as argos

class Lines:
    def split_sentences(self, text):
        return text.split("\\n")

package = argostranslate.package.Package(pathlib.Path(sys.argv[2]))
translator = argos.ctranslate2.Translator(str(package.package_path / "model"), device="cpu", inter_threads=1,
                                          intra_threads=1)
for text in ["the cat sees a dog .", "a small bird\\nthe old house"]:
    # Of models that transformers trained, the caller ends the source.
    package.tokenizer.encode = lambda text, encode=type(package.tokenizer).encode: [
        *encode(package.tokenizer, text), "</s>"]
    for hypothesis in argos.apply_packaged_translation(package, text, translator, Lines(), num_hypotheses=3):
        print(hypothesis.value, round(hypothesis.score, 4))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Of Argos Translate."""
    folder = tmp_path_factory.mktemp("argos") / "en_fr"
    (folder / "model").mkdir(parents=True)
    for name in ("config.json", "model.bin", "shared_vocabulary.json"):
        shutil.copy(TRAINED / "float32" / name, folder / "model" / name)
    shutil.copy(TRAINED / "source.spm", folder / "sentencepiece.model")
    (folder / "metadata.json").write_text(json.dumps({"from_code": "en", "to_code": "fr", "package_version": "1.9"}),
                                          encoding="utf-8")
    (folder / "README.md").write_text("a model", encoding="utf-8")
    return folder


def test_tokens_are_those_of_ctranslate2(package):
    translator = ctranslate2.Translator(str(package / "model"), device="cpu", intra_threads=1)
    references = json.loads((TRAINED / "float32/reference.json").read_text(encoding="utf-8"))
    for reference in references:
        result = translator.translate_batch([[*reference["pieces"], "</s>"]], beam_size=1, return_scores=True)[0]
        assert "".join(result.hypotheses[0]).replace("▁", " ").strip() == reference["greedy"]
        assert result.scores[0] < 0
    waiting = translator.translate_batch([references[0]["pieces"]] * 3, num_hypotheses=2, asynchronous=True)
    assert [len(one.result().hypotheses) for one in waiting] == [2, 2, 2] and waiting[0].done()
    assert waiting[0].result() == waiting[0].result()
    job = translator._translator.stream("the cat", timeout=0.001, beam=50, min_length=200)._job
    late = ctranslate2.AsyncTranslationResult(job, [], with_scores=False, with_attention=False)
    for _ in range(2):
        with pytest.raises(dragoman.Expired):
            late.result()


def test_prefixes_scores_and_attention(package):
    translator = ctranslate2.Translator(package / "model", compute_type="int8")
    assert (translator.device, translator.compute_type) == ("cpu", "int8")
    source = [["▁t", "he", "▁", "c", "a", "t"]]
    prefixed = translator.translate_batch(source, target_prefix=[["▁", "l", "a"]], return_attention=True)[0]
    assert "".join(prefixed.hypotheses[0]).lstrip("▁").startswith("la")
    assert len(prefixed.attention[0]) == len(prefixed.hypotheses[0])
    for prefixes in ([["▁la"]], [["▁la"]] * 3):
        with pytest.raises(ValueError, match=f"2 sources and {len(prefixes)} prefixes"):
            translator.translate_batch(source * 2, target_prefix=prefixes)
    score = translator.score_batch(source, [["▁", "l", "a"]])[0]
    assert score.tokens[-1] == "</s>" and all(one <= 0 for one in score.log_probs)
    with pytest.raises(ValueError, match="other pieces"):
        translator.score_batch(source, [["▁la", "la"]])


def test_what_ends_a_call_cancels_all_its_sentences(package, monkeypatch):
    translator = ctranslate2.Translator(package / "model", intra_threads=1)
    long = [["▁the", "▁cat"] * 30] * 500

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ctranslate2.AsyncTranslationResult, "result", interrupted)
    for sentences, error in (([*long, None], TypeError), (long, KeyboardInterrupt)):
        with pytest.raises(error):
            translator.translate_batch(sentences, beam_size=50, min_decoding_length=200)
        until = time.monotonic() + 10
        while translator._translator._core.pending() > 0:
            assert time.monotonic() < until
            time.sleep(0.01)


def test_what_has_no_counterpart_is_refused(package):
    translator = ctranslate2.Translator(package / "model")
    translator.translate_batch([["▁a"]], max_batch_size=16, batch_type="tokens", disable_unk=False)
    with pytest.raises(ValueError, match="coverage_penalty=0.5"):
        translator.translate_batch([["▁a"]], coverage_penalty=0.5)
    with pytest.raises(ValueError, match="cuda"):
        ctranslate2.Translator(package / "model", device="cuda")
    with pytest.raises(ValueError, match="float64"):
        ctranslate2.Translator(package / "model", compute_type="float64")
    assert ctranslate2.contains_model(package / "model") and not ctranslate2.contains_model(package)


def test_argos_translate_works_unchanged(package):
    pytest.importorskip("argostranslate")

    def printed(library):
        done = subprocess.run([sys.executable, "-c", ARGOS, library, package], capture_output=True, text=True, check=True,
                              cwd=pathlib.Path.cwd())
        return done.stdout

    theirs, ours = printed("ctranslate2"), printed("dragoman")
    assert theirs.count("\n") == 6 and theirs == ours

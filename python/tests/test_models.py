import dragoman
import pytest
from conftest import FIXTURES, SENTENCES
from dragoman import huggingface


def test_quantising_and_averaging(folder, tmp_path, translator):
    dragoman.quantize(folder, "int8", tmp_path / "int8")
    small = dragoman.Translator(tmp_path / "int8", threads=1)
    assert small.info.precision == "int8"
    dragoman.average([folder, folder], tmp_path / "mean")
    mean = dragoman.Translator(tmp_path / "mean", threads=1)
    assert [one.text for one in mean.translate(SENTENCES)] == [one.text for one in translator.translate(SENTENCES)]
    dragoman.average(str(folder), tmp_path / "mean of one")
    with pytest.raises(dragoman.Error, match="mean"):
        dragoman.average([folder, folder], tmp_path / "mean")


def test_exports_come_back(folder, tmp_path, translator):
    dragoman.export(folder, "huggingface", tmp_path / "huggingface")
    back = huggingface.from_pretrained(tmp_path / "huggingface", threads=1)
    assert [one.text for one in back.translate(SENTENCES)] == [one.text for one in translator.translate(SENTENCES)]
    with pytest.raises(dragoman.UsageError, match="ctranslate2, huggingface, marian or bergamot"):
        dragoman.export(folder, "onnx", tmp_path / "onnx")


def test_pipelines(folder, translator, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    translate = huggingface.pipeline("translation_en_to_fr", FIXTURES / "huggingface/joint", threads=1)
    best = translator.translate(SENTENCES[0], beam=3)
    assert translate(SENTENCES[0], num_beams=3) == [{"translation_text": best.text}]
    assert len(translate(SENTENCES[:2], num_beams=3, num_return_sequences=2)) == 4
    assert len(list(tmp_path.glob("dragoman/imported/*"))) == 1
    huggingface.from_pretrained(FIXTURES / "huggingface/joint", threads=1)
    assert len(list(tmp_path.glob("dragoman/imported/*"))) == 1
    assert huggingface.from_pretrained(folder, threads=1).info.folder == str(folder)
    translate = huggingface.pipeline("translation_en_to_cs", FIXTURES / "m2m/m2m", threads=1)
    named = {"source_language": "en", "target_language": "cs"}
    assert translate.defaults == named
    best = translate.translator.translate(SENTENCES[0], **named)
    assert translate(SENTENCES[0]) == [{"translation_text": best.text}]
    assert translate(SENTENCES[0], tgt_lang="de") != translate(SENTENCES[0])
    for unknown in ("summarization", "translation_en"):
        with pytest.raises(ValueError, match=unknown):
            huggingface.pipeline(unknown, folder)
    with pytest.raises(FileNotFoundError, match="no-such-model"):
        huggingface.from_pretrained("no-such-model")

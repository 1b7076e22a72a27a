import subprocess
import sys

import dragoman
import pytest
from conftest import SENTENCES
from dragoman import confidence, document, metrics


def test_metrics_are_those_of_sacrebleu():
    hypotheses = ["The cat sits on the mat.", "A dog."]
    references = ["The cat sat on the mat.", "A dog."]
    bleu = metrics.bleu(hypotheses, references)
    assert bleu.score == pytest.approx(53.89561679446264) and bleu.name == "BLEU" and "tok:13a" in bleu.signature
    assert metrics.chrf(hypotheses, references, word_order=2).name == "chrF2++"
    assert metrics.bleu(references, references).score == pytest.approx(100)
    with pytest.raises(dragoman.UsageError, match="2 hypotheses and 1 references"):
        metrics.bleu(hypotheses, references[:1])


def test_metrics_with_several_references():
    hypotheses = ["a cat sits here", "A dog."]
    references = [["the cat sat here", "One dog."], ("a cat sits there", "A dog.")]
    assert metrics.ter(hypotheses, references).score == pytest.approx(100 / 6)
    assert "nrefs:2|" in metrics.bleu(hypotheses, iter(references), tokenizer="zh").signature
    assert metrics.chrf(hypotheses, references).score > metrics.chrf(hypotheses, references[0]).score
    assert metrics.ter(["A dog."], ["a dog"], no_punctuation=True).score == 0
    assert {"13a", "intl", "zh", "char", "none", "flores200"} <= set(metrics.tokenizers())
    with pytest.raises(dragoman.UsageError, match="13a, intl, zh"):
        metrics.bleu(hypotheses, references, tokenizer="14a")


def test_a_list_of_texts_is_not_a_str(translator):
    text, texts = "A dog.", ["A dog."]
    for call in (
        lambda: translator.translate_batch(text),
        lambda: metrics.bleu(text, texts),
        lambda: metrics.chrf(texts, text),
        lambda: metrics.ter(texts, [texts, text]),
        lambda: metrics.compare(texts, text, texts),
        lambda: confidence.calibrate("no-such-model", texts, text),
    ):
        with pytest.raises(TypeError, match="give a list of texts, not a str"):
            call()


def test_paired_tests():
    references = [f"the cat number {i} sat on the mat" for i in range(60)]
    system = [text if i % 6 else "the cat sat" for i, text in enumerate(references)]
    baseline = [text if i % 2 else "the cat sat" for i, text in enumerate(references)]
    for test in ("bs", "ar"):
        result = metrics.compare(baseline, system, references, test=test, samples=500)
        assert result.p_value < 0.01 and result.system.score == metrics.bleu(system, references).score
    assert metrics.compare(system, system, [references], metric="ter", case_sensitive=True).p_value == 1


def test_documents_keep_all_but_their_text(translator, tmp_path):
    page = b"<h1>The cat sleeps.</h1>\n<p id=a>A dog barks.</p>\n"
    done = document.translate_bytes(translator, page, name="page.html")
    assert done.segments == 2 and done.bytes.startswith(b"<h1>") and b"<p id=a>" in done.bytes
    (tmp_path / "page.html").write_bytes(page)
    document.translate(translator, tmp_path / "page.html", tmp_path / "out.html")
    assert (tmp_path / "out.html").read_bytes() == done.bytes
    options = {"beam": 2, "source_language": "en", "timeout": 60, "glossary": {"dog": "dog"}}
    assert b"dog" in document.translate_bytes(translator, page, name="page.html", **options).bytes
    with pytest.raises(dragoman.Expired):
        document.translate_bytes(translator, page, name="page.html", timeout=0)
    with pytest.raises(dragoman.Error, match="page.unknown"):
        document.translate_bytes(translator, page, name="page.unknown")
    names = [one.name for one in document.formats()]
    assert "html" in names and "docx" in names


def test_columns_of_a_table(translator):
    table = b"id,title,text\n1,a dog,The cat sleeps.\n2,a cat,A dog barks.\n"
    rows = [line.split(",") for line in table.decode().splitlines()]
    done = document.translate_bytes(translator, table, name="goods.csv", columns="title")
    changed = [line.split(",") for line in done.bytes.decode().splitlines()]
    assert done.segments == 2 and changed[0] == rows[0]
    assert [(row[0], row[2]) for row in changed] == [(row[0], row[2]) for row in rows]
    assert document.translate_bytes(translator, table, name="goods.csv", columns="2,3").segments == 4
    with pytest.raises(dragoman.Error, match="titel"):
        document.translate_bytes(translator, table, name="goods.csv", columns="titel")


def test_messages_that_no_memory_has_are_marked(translator):
    messages = b'msgid ""\nmsgstr ""\n\nmsgid "The cat sleeps."\nmsgstr ""\n'
    done = document.translate_bytes(translator, messages, name="a.po")
    marked = document.translate_bytes(translator, messages, name="a.po", mark_unconfirmed=True)
    assert b"#, fuzzy" not in done.bytes and b'#, fuzzy\nmsgid "The cat' in marked.bytes


def test_glossaries(tmp_path, translator):
    (tmp_path / "terms.tsv").write_text("cat\tchat\ndog\tchien\n", encoding="utf-8")
    glossary = dragoman.Glossary(tmp_path / "terms.tsv")
    assert len(glossary) == 2
    assert glossary.terms("A dog barks.") == [dragoman.Term(2, 5, ["chien"])]
    page = document.translate_bytes(translator, b"<p>The cat sleeps.</p>", format="html", glossary=glossary)
    assert b"chat" in page.bytes
    (tmp_path / "terms.tsv").write_text("cat\n", encoding="utf-8")
    with pytest.raises(dragoman.Error, match="terms.tsv.*1"):
        dragoman.Glossary(tmp_path / "terms.tsv")


def test_memories(tmp_path, translator):
    (tmp_path / "segments.tsv").write_text("The cat sleeps.\tLe chat dort.\n", encoding="utf-8")
    build = ["memory", "build", tmp_path / "segments.tsv", "--from", "en", "--to", "fr", "--out", tmp_path / "memory"]
    subprocess.run([sys.executable, "-m", "dragoman", *build], check=True)
    memory = dragoman.Memory(tmp_path / "memory", add=True)
    assert memory.languages == ("en", "fr")
    known = translator.translate(SENTENCES[0], memory=memory)
    assert known.text == "Le chat dort." and known.memory
    assert known.memory_segments == [dragoman.MemorySegment(SENTENCES[0], "Le chat dort.", 1.0, True)]
    assert translator.translate(SENTENCES, memory=memory)[0] == known
    memory.add([(SENTENCES[1], "Un chien aboie.")], origin="test")
    assert translator.translate(SENTENCES[1], memory=memory).text == "Un chien aboie."
    page = document.translate_bytes(translator, b"<p>A dog barks.</p>", format="html", memory=tmp_path / "memory")
    assert page.bytes == b"<p>Un chien aboie.</p>"
    assert [segment.similarity for segment in memory.look_up("The cat sleeps", at_most=1)] == [0.75]
    with pytest.raises(dragoman.Error, match="to be read"):
        dragoman.Memory(tmp_path / "memory").add([("a", "b")])


def test_a_glossary_of_a_mapping_is_one_of_a_file(translator):
    glossary = dragoman.Glossary({"The cat": "le chat"})
    translation = translator.translate(SENTENCES[0], glossary=glossary)
    assert translation.text.count("le chat") == 1 and not translation.terms_missed

import asyncio
import concurrent.futures
import copy
import fractions
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time

import dragoman
import numpy as np
import pytest
from conftest import SENTENCES


def test_texts_lists_and_iterators_give_the_same(translator):
    alone = [translator.translate(text).text for text in SENTENCES]
    assert [one.text for one in translator.translate(SENTENCES)] == alone
    assert [one.text for one in translator.translate(iter(SENTENCES))] == alone
    assert str(translator.translate(SENTENCES[0])) == alone[0]
    assert translator.translate([]) == []


def test_the_program_gives_the_same(translator, folder):
    program = os.environ.get("DRAGOMAN_PROGRAM")
    if not program:
        pytest.skip("DRAGOMAN_PROGRAM is not set")
    done = subprocess.run([program, "translate", "--model", folder], input="\n".join(SENTENCES) + "\n",
                          capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == [translator.translate(text).text for text in SENTENCES]


def test_an_iterator_is_read_as_translations_are_taken(translator):
    read = []

    def texts():
        for i in range(5000):
            read.append(i)
            yield SENTENCES[i % 4]

    translations = translator.translate(texts(), max_length=4)
    next(translations)
    assert len(read) < 2000
    translations.close()


def test_translations_of_an_iterator_come_as_they_are_ready(translator):
    read = []

    def texts():
        for text in SENTENCES * 4:
            translator.translate(text)  # meanwhile those before it are translated, too
            read.append(text)
            yield text

    taken = [(one.text, len(read)) for one in translator.translate(texts())]
    assert taken[0][1] < 10
    assert [text for text, _ in taken] == [one.text for one in translator.translate(SENTENCES * 4)]


def test_what_an_iterator_raises_loses_nothing(translator):
    def failing():
        yield from SENTENCES
        raise OSError("the disk is gone")

    for texts, error in ((failing(), OSError), (iter([*SENTENCES, None]), TypeError)):
        translations = translator.translate(texts)
        assert [next(translations).text for _ in SENTENCES] == [translator.translate(text).text for text in SENTENCES]
        with pytest.raises(error, match="the disk is gone|must be a str, not NoneType"):
            next(translations)


def test_invalid_text_is_flagged_as_the_program_does(translator):
    [valid, escaped, lone] = translator.translate(["The cat", "The cat\udcff", "The cat\ud800"])
    assert (valid.invalid, escaped.invalid, lone.invalid) == (False, True, True)
    assert escaped.source == "The cat\ufffd" and lone.source.startswith("The cat\ufffd")
    assert [one.invalid for one in translator.translate(iter(["\udcff"]))] == [True]
    assert translator.translate("The cat", prefix="\udcff").text
    assert translator.score("The cat\udcff", "\ud800").total < 0
    assert translator.inspect("The cat\udcff").data
    assert dragoman.metrics.chrf(["a\udcff b"], ["a\udcff b"]).score == 100
    assert dragoman.Glossary({"cat": "c\udcff"}).terms("a \udcff cat")[0].begin == 4


def test_any_file_has_a_name(folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "mod\udcffel")
    assert dragoman.Translator(copied, threads=1).info.folder == str(copied)
    with pytest.raises(dragoman.Error, match="absent-\udcff"):
        dragoman.Translator(tmp_path / "absent-\udcff")


def test_options_have_the_names_of_the_command_line(translator):
    best = translator.translate(SENTENCES[0], beam=4, nbest=3, length_penalty=1.0)
    assert len(best.hypotheses) == 3
    assert best.hypotheses[0].score >= best.hypotheses[1].score
    assert translator.translate(SENTENCES[0], max_length=1).cut
    with pytest.raises(dragoman.UsageError, match="length-penalty"):
        translator.translate(SENTENCES[0], length_penalties=1)
    with pytest.raises(ValueError, match="beam"):
        translator.translate(SENTENCES, beam=0)
    with pytest.raises(TypeError, match='"beam" cannot be a dict'):
        translator.translate(SENTENCES[0], beam={})
    with pytest.raises(TypeError, match="must be a str.*bytes"):
        translator.translate([b"x"])
    with pytest.raises(TypeError, match="must be a str, not bytes: decode it first"):
        translator.translate(b"x")
    for wrong in (None, 5):
        with pytest.raises(TypeError, match=f"must be a str, not {type(wrong).__name__}"):
            translator.translate(wrong)
        for pair in ((SENTENCES[0], wrong), ([wrong], SENTENCES[:1])):
            with pytest.raises(TypeError, match=f"must be a str, not {type(wrong).__name__}"):
                translator.score(*pair)
        with pytest.raises(TypeError, match=f"a glossary must have a str for each term, not 'cat': {wrong}"):
            translator.translate(SENTENCES[0], glossary={"cat": wrong})


def test_lines_stay_lines(translator):
    lines = [translator.translate(text).text for text in SENTENCES[:2]]
    assert translator.translate("\n".join(SENTENCES[:2])).text == "\n".join(lines)


def test_what_is_shown_fits_a_line(translator):
    full = translator.translate(SENTENCES[0], alignment=True, nbest=2)
    assert len(repr(full)) < 200 and repr(full).startswith(f"Translation({SENTENCES[0]!r} -> {full.text!r}, score=-")
    assert "attention" not in repr(full.hypotheses) and "tokens" not in repr(full.hypotheses)
    document = dragoman.document.translate_bytes(translator, b"The cat sleeps." * 100, name="a.txt")
    assert len(repr(document)) < 200
    assert ", invalid" in repr(translator.translate("The cat\udcff"))


def test_tokens_words_and_alignment(translator):
    text = SENTENCES[0]
    plain, full = translator.translate(text), translator.translate(text, alignment=True)
    best = full.hypotheses[0]
    assert plain.hypotheses[0].tokens == [] and plain.hypotheses[0].attention is None
    assert (best.text, best.score) == (plain.text, plain.score)
    assert len(best.tokens) > 0
    assert plain.hypotheses[0].confidence is None and 0 < best.confidence <= 1
    for word in best.words:
        assert 0 <= word.confidence <= 1 and best.text[slice(*word.span)].strip()
    for pair in best.alignment:
        assert text[slice(*pair.source_span)] and best.text[slice(*pair.target_span)]
    assert best.alignment == translator.alignments(text)


def test_attention_is_an_array_of_its_own(translator):
    text = SENTENCES[0]
    full = translator.translate(text, alignment=True)
    attention = translator.attention(text)
    assert attention.dtype == np.float32
    assert attention.shape == (len(full.hypotheses[0].tokens), len(full.source_tokens))
    # The source's end mark takes the rest.
    assert (attention.sum(axis=1) <= 1.001).all() and (attention >= 0).all()
    np.testing.assert_array_equal(attention, full.hypotheses[0].attention)
    del full
    assert attention.argmax(axis=1).max() < attention.shape[1]


def test_prefix_timeout_and_glossary(translator):
    first = translator.translate(SENTENCES[0]).text.split()[0]
    assert translator.translate(SENTENCES[0], prefix=first).text.startswith(first)
    with pytest.raises(dragoman.Expired):
        translator.translate(SENTENCES[0] * 50, timeout=0.001, beam=50)
    with pytest.raises(TimeoutError):
        translator.translate(SENTENCES[0] * 50, timeout=0.001, beam=50)
    glossary = dragoman.Glossary({"cat": "cat"})
    assert "cat" in translator.translate(SENTENCES[0], glossary=glossary).text
    assert "cat" in translator.translate(SENTENCES[0], glossary={"cat": "cat"}).text
    assert "cat" in next(translator.translate(iter(SENTENCES), glossary={"cat": "cat"})).text
    with pytest.raises(TypeError, match="a glossary must be a dragoman.Glossary or a dict of terms, not str"):
        translator.translate(SENTENCES[0], glossary="terms.tsv")
    assert "cat" in translator.translate([SENTENCES[0]], glossary=glossary)[0].text


def test_a_prefix_is_a_text_or_none(translator):
    assert translator.translate(SENTENCES[0], prefix=None) == translator.translate(SENTENCES[0])
    for prefix in (b"la", ["la"], 1):
        with pytest.raises(TypeError, match="a prefix must be a str"):
            translator.translate(SENTENCES[0], prefix=prefix)


def test_timeouts_are_numbers_of_seconds(translator):
    slow = SENTENCES[0] * 50
    for timeout in (None, 3600, threading.TIMEOUT_MAX, 1e10, float("inf")):
        assert translator.translate(SENTENCES[0], timeout=timeout).text
    for timeout in (0, 1e-9, 0.0009, np.float32(0.0001)):
        with pytest.raises(dragoman.Expired):
            translator.translate(slow, timeout=timeout, beam=50)
    for timeout in (-5, -1e-9, float("nan")):
        with pytest.raises(dragoman.UsageError, match="a timeout cannot be"):
            translator.translate(SENTENCES[0], timeout=timeout)


def test_what_stands_for_a_number_is_one(translator):
    plain = translator.translate(SENTENCES[0], beam=4, length_penalty=0.5, alignment=True)
    assert plain == translator.translate(SENTENCES[0], beam=np.int64(4), length_penalty=np.float32(0.5),
                                         alignment=np.bool_(True), temperature=None)
    assert plain == translator.translate(SENTENCES[0], beam=4, length_penalty=fractions.Fraction(1, 2), alignment=True)
    with pytest.raises(dragoman.UsageError, match='"beam" cannot be 9223372036854775808'):
        translator.translate(SENTENCES[0], beam=2**63)


def test_streams_grow_to_the_translation(translator):
    whole = translator.translate(SENTENCES[0])
    stream = translator.stream(SENTENCES[0])
    final = ""
    for progress in stream:
        assert progress.text.startswith(progress.final) and progress.final.startswith(final)
        final = progress.final
    assert whole.text.startswith(final)
    assert stream.result().text == whole.text
    with translator.stream(SENTENCES[0] * 100, beam=50) as cancelled:
        pass
    with pytest.raises(dragoman.Cancelled):
        cancelled.result()


def test_a_stream_that_failed_fails_again(translator):
    stream = translator.stream(SENTENCES[0] * 100, beam=50, timeout=0.001)
    for taken in (list, list, dragoman.Stream.result, dragoman.Stream.result):
        with pytest.raises(dragoman.Expired):
            taken(stream)


def test_many_at_once_with_asyncio(translator):
    alone = [translator.translate(text).text for text in SENTENCES]

    async def all_at_once():
        return await asyncio.gather(*(translator.translate_async(text) for text in SENTENCES * 50))

    assert [one.text for one in asyncio.run(all_at_once())] == alone * 50


def test_a_cancelled_task_frees_its_place(translator):
    async def cancelled():
        task = asyncio.create_task(translator.translate_async(SENTENCES[0] * 200, beam=100))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    until = time.monotonic() + 10
    while translator._core.pending() > 0:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_threads_get_the_same_bytes(translator):
    alone = [translator.translate(text, beam=3) for text in SENTENCES]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in pool.map(lambda _: [translator.translate(text, beam=3) for text in SENTENCES], range(16)):
            assert done == alone


def test_the_global_lock_is_free_meanwhile(translator):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    translator.translate([SENTENCES[0] * 5] * 200, beam=5)
    stop.set()
    thread.join()
    assert counted[0] > 1000


READING_CALLS = [
    ("terms.tsv", "dragoman.Glossary('terms.tsv')"),
    ("memory.json", "dragoman.Memory('.')"),
    ("config.json", "dragoman._core.training_page(['.'])"),
]


@pytest.mark.parametrize("name, call", READING_CALLS)
def test_a_thread_may_write_what_a_call_reads(tmp_path, name, call):
    program = f"""
import os, threading, time, dragoman
open("metrics.jsonl", "w").close()
os.mkfifo("{name}")
def write():  # each time that it is opened
    while True:
        try:
            with open("{name}", "w") as pipe: pipe.write("a cat\\tun chat\\n")
        except BrokenPipeError: pass
        time.sleep(0.01)
threading.Thread(target=write, daemon=True).start()
try: {call}
except dragoman.Error: pass
print("read")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout == "read\n", done.stderr


LONG_CALLS = [
    "translator.translate(TEXTS * 1000, beam=20)",
    "translator.score(TEXTS * 1000, TEXTS * 1000)",
    "dragoman.metrics.chrf(TEXTS * 1000, TEXTS * 1000)",
    "dragoman.document.translate_bytes(translator, PAGE, name='page.txt', beam=20)",
    "dragoman.ctranslate2.Translator(sys.argv[1]).translate_batch([[text] for text in TEXTS * 1000], beam_size=20)",
]


@pytest.mark.parametrize("call", LONG_CALLS)
def test_interrupting_ends_a_long_call(folder, call):
    program = f"""
import os, signal, sys, threading, time, dragoman.ctranslate2
TEXTS = ["The cat sleeps. " * 30] * 100
PAGE = b"\\n\\n".join(b"The cat sleeps. " * 30 + str(i).encode() for i in range(10000))
def interrupt():
    global told
    time.sleep(0.4)
    told = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
translator = dragoman.Translator(sys.argv[1], threads=1)
threading.Thread(target=interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - told)
"""
    done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=60)
    # Undisturbed it takes 0.4 seconds where the calls take minutes.
    assert done.stdout and float(done.stdout) < 10, done.stderr
    assert done.returncode == 0


def test_scores(translator):
    translation = translator.translate(SENTENCES[0], beam=1, tokens=True)
    score = translator.score(SENTENCES[0], translation.text)
    assert score.total < 0 and abs(sum(score.log_probabilities) - score.total) < 1e-4
    scores = translator.score(SENTENCES[:2], [translation.text] * 2, alignment=True)
    assert scores[0].total == score.total and scores[0].total > scores[1].total
    with pytest.raises(ValueError, match="2 sources and 1 targets"):
        translator.score(SENTENCES[:2], ["x"])


def test_inspections_are_pages(translator):
    inspection = translator.inspect(SENTENCES[0])
    heads = inspection.attention("cross", layer=1)
    np.testing.assert_allclose(heads.sum(axis=2), 1, atol=0.02)
    assert "<html" in inspection.page() and "srcdoc" in inspection._repr_html_()
    with pytest.raises(ValueError, match="layer 9"):
        inspection.attention("cross", layer=9)
    page = translator.translate("A <b>cat</b>.", tokens=True)._repr_html_()
    assert "&lt;b&gt;" in page and "<b>" not in page
    assert page.count('dir="auto"') == 2 and "white-space: pre-wrap" in page


def test_what_is_wrong_is_said(tmp_path, translator):
    with pytest.raises(dragoman.Error, match="nothing-here"):
        dragoman.Translator(tmp_path / "nothing-here")
    with pytest.raises(dragoman.UsageError, match="fp32, bf16 or int8"):
        dragoman.Translator(tmp_path, precision="int4")
    for refused in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="open the model's folder in each process"):
            refused(translator)


def test_the_model_tells_of_itself(translator, folder):
    info = translator.info
    assert info.folder == str(folder) and info.precision == "fp32" and info.threads == 2
    assert info.config["model"]["d_model"] > 0 and info.parameters > 0
    assert "fp32" in repr(translator)
    beam = next(option for option in translator.options() if option.name == "beam")
    assert beam.type == "integer" and "1" in beam.limits and beam.default >= 1


def test_calls_leave_no_memory_behind(translator):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def some(calls):
        for i in range(calls):
            translator.translate(SENTENCES[i % 4], max_length=2, beam=1, alignment=True)

    some(300)
    before = resident()
    some(2000)
    assert resident() - before < 4 << 20

#!/usr/bin/env python3
"""Writes fixtures/metrics_more.json: TER, several references, BLEU's zh, subwords and paired tests by sacreBLEU 2.x.

    pip install sacrebleu==2.6.0 sentencepiece && tests/golden/make_significance_golden.py

The tokenizer flores101 gets the SentencePiece model of docs/model instead of FLORES'. The sentences are those of make_metrics_golden.py. tests/metrics/more_metrics_test.cpp makes the further references and
the second system by the same rules as variant() and system() here.
"""
import json
import os
import pathlib
import random
import shutil
import tempfile

# Where sacreBLEU has its tokenizers' models; it reads the name when it is imported.
models = tempfile.TemporaryDirectory()
os.environ["SACREBLEU"] = models.name

from sacrebleu.metrics import BLEU, CHRF, TER  # noqa: E402
from sacrebleu.significance import PairedTest  # noqa: E402
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: E402
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer  # noqa: E402
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh  # noqa: E402

fixtures = pathlib.Path(__file__).resolve().parent / "fixtures"
random = random.Random(1)


def lines_of(name):
    return (fixtures / f"metrics_{name}.txt").read_bytes().decode().split("\n")[:-1]


def variant(line):
    """The second half of the words before the first."""
    words = line.split(" ")
    half = len(words) // 2
    return " ".join(words[half:] + words[:half])


def system(number, hypothesis, reference):
    """Every twentieth line is right, and another twentieth is in a wrong order."""
    return {3: reference, 13: variant(hypothesis)}.get(number % 20, hypothesis)


def shifted(words):
    """Phrases moved, and some words replaced, removed or added."""
    words = list(words)
    for _ in range(random.randrange(8)):
        begin = random.randrange(len(words) + 1)
        phrase = words[begin : begin + random.randrange(1, 13)]
        del words[begin : begin + len(phrase)]
        to = random.randrange(len(words) + 1)
        words[to:to] = phrase
    for _ in range(random.randrange(6)):
        at = random.randrange(len(words) + 1)
        words[at : at + random.randrange(2)] = [str(random.randrange(20))] * random.randrange(3)
    return words


def edits():
    """[hypothesis, reference, edits]: words as numbers; repetitive, short, long, of very different lengths."""
    metric = TER()
    pairs = []
    for number in range(160):
        kinds = random.choice([1, 2, 5, 20, 200])
        words = [str(random.randrange(kinds)) for _ in range(random.choice([0, 1, 5, 25, 60, 120]))]
        others = shifted(words) if number % 4 else [str(random.randrange(kinds)) for _ in range(random.choice([0, 3, 300]))]
        pairs.append((words, others))
    for words, others in pairs + list(limits()):
        hypothesis, reference = " ".join(words), " ".join(others)
        yield hypothesis, reference, metric._extract_corpus_statistics([hypothesis], [[reference]])[0][0]


def limits():
    """Phrases that are just short enough and just too long to be moved, and as far; and some that stand where they would go."""
    for texts in ("4122004 0124204", "33101302 33203101", "1010000100100 1001110000010"):
        hypothesis, reference = map(list, texts.split())
        yield hypothesis, reference
    for length in (10, 11):
        phrase, rest = [f"p{i}" for i in range(length)], [f"r{i}" for i in range(30)]
        yield phrase + rest, rest + phrase
    for distance in (50, 51):
        rest = [f"r{i}" for i in range(distance)]
        yield ["p"] + rest, rest + ["p"]
        yield rest + ["p"], ["p"] + rest


def tokens():
    """[first character, tokens of it between letters], for each run of characters that make as many: all but surrogates."""
    zh, ter, plain = TokenizerZh(), TercomTokenizer(normalized=True, asian_support=True), TercomTokenizer(no_punct=True, asian_support=True)
    for name, tokenizer in (("zh", zh), ("13a", Tokenizer13a()), ("ter_normalized", ter), ("ter_no_punct", plain)):
        runs = []
        for c in range(0x21, 0x10000):
            if 0xD800 <= c < 0xE000:
                continue
            text = f"a {chr(c)} b" if tokenizer is plain else f"a{chr(c)}b"
            count = len(tokenizer(text).split())
            if not runs or runs[-1][1] != count:
                runs.append([c, count])
        yield name, runs


def scores(metric, hypotheses, streams):
    """Of the whole, and of each group of four lines."""
    whole = metric.corpus_score(hypotheses, streams)
    signature = str(metric.get_signature()).split("|version:")[0]
    groups = [metric.corpus_score(hypotheses[i : i + 4], [s[i : i + 4] for s in streams]) for i in range(0, len(hypotheses), 4)]
    return {"signature": signature, "scores": [f"{score.score:.6f}" for score in [whole] + groups]}


def paired(hypotheses, references, test, samples):
    others = [system(i, h, r) for i, (h, r) in enumerate(zip(hypotheses, references))]
    named = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
    _, results = PairedTest([("a", hypotheses), ("b", others)], named, [references], test, samples, samples)()
    return {name: {key: float(value) for key, value in vars(results[name][1]).items()} for name in named}


def main():
    (pathlib.Path(models.name) / "models").mkdir()
    shutil.copy(fixtures.parents[2] / "docs/model/shared.spm", pathlib.Path(models.name) / "models/sacrebleu_tokenizer_spm.model")
    hypotheses, references = lines_of("hypotheses"), lines_of("references")
    streams = [references, [variant(line) for line in references], references[1:] + references[:1]]
    all_scores = []
    for count in (1, 2, 3):
        for options in ({}, {"normalized": True}, {"no_punct": True}, {"normalized": True, "asian_support": True},
                        {"normalized": True, "no_punct": True, "asian_support": True}, {"case_sensitive": True}):
            all_scores.append({"metric": "ter", "references": count, **options} | scores(TER(**options), hypotheses, streams[:count]))
        for tokenize in ("13a", "zh", "flores101"):
            all_scores.append({"metric": "bleu", "references": count, "tokenize": tokenize}
                              | scores(BLEU(tokenize=tokenize, force=True), hypotheses, streams[:count]))
        for order in (0, 2):
            all_scores.append({"metric": "chrf", "references": count, "word_order": order}
                              | scores(CHRF(word_order=order), hypotheses, streams[:count]))
    result = {"scores": all_scores, "edits": list(edits()), "tokens": dict(tokens()),
              "bootstrap": paired(hypotheses, references, "bs", 4000), "randomization": paired(hypotheses, references, "ar", 4000)}
    text = "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in result.items()) + "\n}\n"
    (fixtures / "metrics_more.json").write_text(text)


main()

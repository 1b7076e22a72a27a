#!/usr/bin/env python3
"""Compares how Dragoman, pysbd and spaCy's sentencizer split paragraphs whose sentences are known.

    pip install pysbd spacy
    python3 sentence_splitting.py --language en --text sentences.en --program build/release/bench/bench_sentences

The text has one sentence a line; a line that may be several is left out. Lines are shuffled and joined into paragraphs
of two to eight. Prints precision, recall and F1 of the boundaries inside paragraphs, and the time.
"""
import argparse
import random
import re
import subprocess
import time

# After these a full stop followed by a capital is no evidence of a second sentence in a line.
ABBREVIATIONS = set("""Mr Mrs Ms Dr Prof St Jr Sr Rev Gen Col Capt Lt Sgt Gov Sen No Mt vs e.g i.e etc U.S U.K a.m p.m D.C
    Ph.D B.C A.D Inc Ltd Co Fig M MM Mme Mlle Pr Me art vol cf Ste av p chap z.B d.h usw bzw ca Nr Hr Fr Abs Art Str
    v.Chr n.Chr""".split())


def is_one_sentence(line, language):
    if line[-1] not in ".?!…\"”»":
        return False
    for found in re.finditer(r"(\S*?)([.?!…])([\"”»)']*)\s+(?=\S)", line):
        word = found.group(1).lstrip("(\"“«'")
        may_go_on = found.group(2) == "." and not found.group(3) and (
            word in ABBREVIATIONS or re.fullmatch(r"[^\W\d_]", word)
            or language == "de" and re.fullmatch(r"\d{1,2}", word))
        if not may_go_on and not line[found.end()].islower():
            return False
    return True


def paragraphs(options):
    with open(options.text, encoding="utf-8") as file:
        lines = [re.sub(r"\s+", " ", line.strip()) for line in file if line.strip()]
    lines = [line for line in lines if is_one_sentence(line, options.language)]
    draw = random.Random(1)
    draw.shuffle(lines)
    if options.abbreviations:
        harder = [line for line in lines if re.search(r"\.\s", line)]
        lines = harder + lines[:len(harder)]
        draw.shuffle(lines)
    lines = lines[:options.sentences]
    result = []
    while lines:
        count = draw.randint(2, 8)
        result.append(lines[:count])
        lines = lines[count:]
    return result


def dragoman(options, texts):
    run = subprocess.run([options.program, options.language], input="\n".join(texts) + "\n", text=True,
                         capture_output=True, check=True)
    return [line.split("\t") for line in run.stdout.split("\n")[:-1]]


def pysbd(options, texts):
    import pysbd as package
    segmenter = package.Segmenter(language=options.language, clean=False)
    return [segmenter.segment(text) for text in texts]


def spacy(options, texts):
    import spacy as package
    pipeline = package.blank(options.language)
    pipeline.add_pipe("sentencizer")
    return [[str(sentence) for sentence in pipeline(text).sents] for text in texts]


def boundaries(sentences):
    """Where each sentence but the last one ends, in characters other than white space."""
    ends, count = set(), 0
    for sentence in sentences[:-1]:
        count += len(re.sub(r"\s", "", sentence))
        ends.add(count)
    return ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--abbreviations", action="store_true",
                        help="every second sentence has a full stop inside, as after an abbreviation")
    parser.add_argument("--sentences", type=int, default=10000)
    options = parser.parse_args()
    known = paragraphs(options)
    for splitter in (dragoman, pysbd, spacy):
        begin = time.time()
        found = splitter(options, [" ".join(paragraph) for paragraph in known])
        seconds = time.time() - begin
        right = wrong = missed = 0
        for expected, got in zip(map(boundaries, known), map(boundaries, found)):
            right += len(expected & got)
            wrong += len(got - expected)
            missed += len(expected - got)
        precision, recall = right / (right + wrong), right / (right + missed)
        print(f"{splitter.__name__:9} precision {precision:.4f}  recall {recall:.4f}  "
              f"F1 {2 * precision * recall / (precision + recall):.4f}  {seconds:.2f} s")


if __name__ == "__main__":
    main()

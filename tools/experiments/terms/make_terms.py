#!/usr/bin/env python3
"""Writes terms.tsv, what recipes/terms.toml trains with, and held_out.tsv, up to 500 terms that it never sees.

    tools/experiments/terms/make_terms.py --out data/terms

Both are pairs of words of data/tatoeba-en-fr that occur together far more often than apart. The held-out ones occur in
its validation set, on both sides of a pair, and none of their source words is in terms.tsv.
"""
import argparse
import collections
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
CORPUS = ROOT / "data/tatoeba-en-fr"
HELD_OUT = 500
MOST_FREQUENT = 200  # source words that are no terms: the, you, ...


def read(name):
    result = subprocess.run(["zstd", "-dcq", CORPUS / name], check=True, capture_output=True)
    return result.stdout.decode().splitlines()


def words(text):
    return set(re.findall(r"[^\W\d_]{3,}", text.lower()))


def lexicon(pairs):
    """The likeliest target of each source word, by Dice's coefficient."""
    sources, targets, both = collections.Counter(), collections.Counter(), collections.Counter()
    for source, target in pairs:
        sources.update(source)
        targets.update(target)
        both.update((s, t) for s in source for t in target)
    frequent = {word for word, _ in sources.most_common(MOST_FREQUENT)}
    best = {}
    for (s, t), count in both.items():
        score = 2 * count / (sources[s] + targets[t])
        if count >= 3 and score > 0.4 and s not in frequent and s != t and score > best.get(s, (0, ""))[0]:
            best[s] = (score, t)
    return {s: t for s, (_, t) in sorted(best.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    terms = lexicon([tuple(map(words, line.split("\t")[:2])) for line in read("train.tsv.zst")])
    valid = list(zip(map(words, read("valid.en.zst")), map(words, read("valid.fr.zst"))))
    seen = sorted(s for s, t in terms.items() if any(s in source and t in target for source, target in valid))
    random.Random(1).shuffle(seen)
    held_out = set(seen[:HELD_OUT])
    for name, chosen in [("terms.tsv", terms.keys() - held_out), ("held_out.tsv", held_out)]:
        (out / name).write_text("".join(f"{s}\t{terms[s]}\n" for s in sorted(chosen)), encoding="utf-8")
        print(f"{out / name}: {len(chosen)} terms")


if __name__ == "__main__":
    main()

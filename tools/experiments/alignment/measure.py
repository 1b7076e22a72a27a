#!/usr/bin/env python3
"""The alignment error rate of `dragoman align`, fast_align and eflomal on generated text with known links.

  tools/experiments/alignment/measure.py [--sizes 1000,5000,20000] [--seeds 3] [--program build/release/dragoman]
      [--fast-align FOLDER] [--eflomal PROGRAM]

The sentences imitate what makes alignment hard: words as frequent as in text (Zipf's law), two translations for each, of one
word or of two, neighbours that change places, clauses that move to the front, words without a counterpart on both sides, and
one target word that translates two different source words. FOLDER has fast_align and atools; PROGRAM is eflomal-align, from
`pip install eflomal`. Their two directions are joined by atools, all by grow-diag-final-and. A missing program is left out.
Every link is a sure one, so that the error rate is 1 - F1. Prints a table in Markdown: means over the seeds, in per cent, and
the seconds that the largest corpus takes.
"""
import argparse
import bisect
import itertools
import pathlib
import random
import subprocess
import tempfile
import time

WORDS = 3000


class Language:
    """A dictionary, and sentences translated by it."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.cumulated = list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))
        self.translations = {}
        for word in range(WORDS):
            one = [f"t{word}a", f"t{word}b"] if self.draw.random() < 0.3 else [f"t{word}a"]
            other = [f"t{self.draw.randrange(WORDS)}a"] if self.draw.random() < 0.3 else [f"t{word}c"]
            self.translations[word] = (one, other)

    def word(self):
        return bisect.bisect(self.cumulated, self.draw.random() * self.cumulated[-1])

    def source_and_units(self):
        """The source words; and for those that are translated, their place with their translation."""
        source, units = [], []
        for _ in range(self.draw.randint(3, 18)):
            if self.draw.random() < 0.15:
                source.append(f"of{self.draw.randrange(5)}")
                continue
            word = self.word()
            if self.draw.random() > 0.04:
                units.append((len(source), self.translations[word][self.draw.random() < 0.3]))
            source.append(f"s{word}")
        return source, units

    def reorder(self, units):
        if len(units) > 6 and self.draw.random() < 0.2:
            cut = self.draw.randint(2, len(units) - 2)
            units = units[cut:] + units[:cut]
        for i in range(len(units) - 1):
            if self.draw.random() < 0.2:
                units[i], units[i + 1] = units[i + 1], units[i]
        return units

    def pair(self):
        """Source words, target words, and their links."""
        source, units = self.source_and_units()
        target, links = [], []
        for place, words in self.reorder(units):
            if self.draw.random() < 0.15:
                target.append(f"le{self.draw.randrange(5)}")
            for word in words:
                links.append((place, len(target)))
                target.append(word)
        return source, target or ["le0"], links


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options).stdout


def by_dragoman(program, folder):
    return run(program, "align", "--tokens", "--source", folder / "source", "--target", folder / "target")


def joined(atools, forward, backward):
    return run(atools, "-i", forward, "-j", backward, "-c", "grow-diag-final-and")


def by_fast_align(programs, folder):
    for name, reverse in (("forward", []), ("backward", ["-r"])):
        (folder / name).write_text(run(programs / "fast_align", "-i", folder / "both", "-d", "-o", "-v", *reverse))
    return joined(programs / "atools", folder / "forward", folder / "backward")


def by_eflomal(program, atools, folder):
    run(program, "-s", folder / "source", "-t", folder / "target", "-f", folder / "forward", "-r", folder / "backward", "--overwrite")
    return joined(atools, folder / "forward", folder / "backward")


def error_rate(known, found):
    lines = [set(line.split()) for line in found.split("\n")[:-1]]
    assert len(lines) == len(known), "an aligner printed another number of lines"
    both = sum(len(a & b) for a, b in zip(known, lines))
    return 1 - 2 * both / (sum(map(len, known)) + sum(map(len, lines)))


def write_corpus(folder, size, seed):
    language = Language(seed)
    pairs = [language.pair() for _ in range(size)]
    sides = [[" ".join(pair[side]) for pair in pairs] for side in (0, 1)]
    for name, lines in zip(("source", "target"), sides):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    (folder / "both").write_text("".join(f"{source} ||| {target}\n" for source, target in zip(*sides)))
    return [{f"{i}-{j}" for i, j in pair[2]} for pair in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,5000,20000")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--program", default="build/release/dragoman")
    parser.add_argument("--fast-align", type=pathlib.Path)
    parser.add_argument("--eflomal")
    o = parser.parse_args()
    sizes = [int(size) for size in o.sizes.split(",")]
    aligners = {"`dragoman align`": lambda folder: by_dragoman(o.program, folder)}
    if o.fast_align:
        aligners["fast_align"] = lambda folder: by_fast_align(o.fast_align, folder)
    if o.fast_align and o.eflomal:
        aligners["eflomal"] = lambda folder: by_eflomal(o.eflomal, o.fast_align / "atools", folder)
    rates, seconds = {name: {size: [] for size in sizes} for name in aligners}, {}
    for size, seed in itertools.product(sizes, range(1, o.seeds + 1)):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            known = write_corpus(folder, size, seed)
            for name, align in aligners.items():
                begin = time.monotonic()
                rates[name][size].append(error_rate(known, align(folder)))
                seconds[name] = time.monotonic() - begin
    print("| |" + "".join(f" {size:,} pairs |" for size in sizes) + " seconds |\n|---|" + "---|" * (len(sizes) + 1))
    for name, by_size in rates.items():
        print(f"| {name} |" + "".join(f" {100 * sum(r) / len(r):.1f} |" for r in by_size.values()) + f" {seconds[name]:.0f} |")


if __name__ == "__main__":
    main()

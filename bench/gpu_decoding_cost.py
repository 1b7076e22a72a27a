#!/usr/bin/env python3
"""What decoding with a base model in bf16 asks of a GPU, computed as bench/gpu_cost.py computes training: the model in
docs/gpu.md. Nothing of it has been measured.

    bench/gpu_decoding_cost.py                       the tables of that page
    bench/gpu_decoding_cost.py --kernels             every kernel of a step, of one sentence: tests/search/step_kernels_test.cpp
                                                     counts them
    bench/gpu_decoding_cost.py --check docs/gpu.md   whether the page shows these tables

Sentences and translations have 25 tokens, all sentences begin together, and each takes 26 steps, its end mark the last.
The kernels are listed as src/search/ensemble.cpp and src/model/transformer.cpp call them. The host's own work on beams is
not counted: searches side by side do it while another one's kernels run.
"""
import argparse
import pathlib
import sys

from gpu_cost import ATTENTION_SHARE, BYTES_PER_SECOND, FLOAT, HALF, PEAK, SIZES, START, Step

LENGTH = 25
STEPS = LENGTH + 1
DOWNLOAD = 15e-6  # seconds that the host waits for a step's best words, besides the kernels
BATCHES = (1, 32, 256, 1024)
BEAMS = (1, 4)


class Decoding(Step):
    """Queries, keys, values, what attention gives, and the inner activation are in bf16 alone; other activations are
    floats, which each product rounds. Weights are kept as products read them."""


    def multiply(self, name, rows, inner, columns, x=FLOAT, out=FLOAT):
        if x == FLOAT:
            self.add(f"{name}: round x", "rounding", FLOAT * rows * inner, HALF * rows * inner)
        self.product(name, rows, inner, columns, out=out)

    def look_up(self, n, name):
        self.add(f"widen the {name}'s words", "embeddings", HALF * n * self.size.d, FLOAT * n * self.size.d)
        self.embed(n, name)

    def add_rows(self, name, part, rows, columns):
        self.add(name, part, HALF * rows * columns, HALF * rows * columns)

    def attend(self, name, rows, keys):
        """By the tensor cores; each row reads the keys and values of its own sentence."""
        d = self.size.d
        self.add(f"attention {name}", "attention", HALF * rows * (d + 2 * keys * d), HALF * rows * d,
                 4 * rows * keys * d, PEAK * ATTENTION_SHARE)

    def feed_forward(self, n):
        self.norm_in_floats(n)
        self.multiply("inner", n, self.size.d, self.size.ff, out=HALF)
        self.multiply("outer", n, self.size.ff, self.size.d, x=HALF)

    def norm_in_floats(self, n):
        self.add("add + norm", "norms", 2 * FLOAT * n * self.size.d, 2 * FLOAT * n * self.size.d)

    def self_attention(self, n, keys, name, caches):
        d = self.size.d
        self.norm_in_floats(n)
        self.multiply("q, k, v", n, d, 3 * d, out=HALF)
        if caches:
            self.add_rows("keys and values to the cache", "cache", n, 2 * d)
        self.attend(name, n, keys)
        self.multiply("output", n, d, d, x=HALF)

    def run_encoder(self, sentences):
        s, n = self.size, sentences * LENGTH
        self.look_up(n, "source")
        for _ in range(s.layers):
            self.self_attention(n, LENGTH, "self", caches=False)
            self.feed_forward(n)
        self.norm_in_floats(n)
        for _ in range(s.layers):
            self.multiply("k, v of the source", n, s.d, 2 * s.d, out=HALF)
            self.add_rows("keys and values to the cache", "cache", n, 2 * s.d)
        self.finite(n)
        return self

    def finite(self, n):
        self.add("clear", "finite?", 0, FLOAT * n)
        self.add("zero if finite", "finite?", 2 * FLOAT * n, FLOAT * n)

    def run_step(self, rows):
        """With half of the target's tokens in the cache."""
        s = self.size
        self.look_up(rows, "target")
        for _ in range(s.layers):
            self.self_attention(rows, STEPS / 2, "to the target", caches=True)
            self.norm_in_floats(rows)
            self.multiply("q", rows, s.d, s.d, out=HALF)
            self.attend("to the source", rows, LENGTH)
            self.multiply("output", rows, s.d, s.d, x=HALF)
            self.feed_forward(rows)
        self.norm_in_floats(rows)
        self.multiply("logits", rows, s.d, s.words)
        self.finite(rows)
        self.add("add to the logits", "finite?", 2 * FLOAT * rows, FLOAT * rows)
        self.add("top", "top", FLOAT * rows * s.words, 0)
        return self


def seconds_of(size, sentences, beam):
    """Of a step, with what the host waits; and of all sentences."""
    step = Decoding(size).run_step(sentences * beam).seconds() + DOWNLOAD
    encoder = Decoding(size).run_encoder(sentences).seconds() + DOWNLOAD
    return step, encoder + STEPS * step


def peer_step(size, rows, beam):
    """CTranslate2 in fp16, a kernel for each of its operations as its source has them: how many, and seconds. Of a layer:
    three norms, six products, their biases, three sums of residuals; of both attentions queries, keys and values split
    into heads, joined with the cache, two products, a softmax, and heads joined again. Weights are read once; of caches a
    beam's rows are gathered at each step, which is counted for beams alone."""
    layer = 3 + 6 + 6 + 3 + (2 + 2 + 3 + 1) + (1 + 3 + 1)
    kernels = 2 + size.layers * layer + 1 + 1 + 3  # embeddings, the last norm, logits, the best
    weights = size.layers * (6 * size.d**2 + 2 * size.d * size.ff) + size.words * size.d
    cache = rows * size.layers * 2 * size.d * (LENGTH + STEPS / 2)
    gathered = 2 * rows * size.layers * 2 * size.d * STEPS / 2 if beam > 1 else 0
    halves = weights + cache + gathered + 2 * rows * size.words
    operations = 2 * rows * weights / PEAK
    return kernels, kernels * START + max(HALF * halves / BYTES_PER_SECOND, operations) + DOWNLOAD


def batches_table(size):
    yield "| base, batch | beam | kernels a step | step, ms | tokens/s | CTranslate2: kernels | step, ms |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for beam in BEAMS:
        for sentences in BATCHES:
            kernels = len(Decoding(size).run_step(sentences * beam).kernels)
            step, whole = seconds_of(size, sentences, beam)
            peer_kernels, peer = peer_step(size, sentences * beam, beam)
            tokens = sentences * LENGTH
            yield (f"| {sentences:,} | {beam} | {kernels} | {step * 1e3:.2f} | {tokens / whole:,.0f} | "
                   f"{peer_kernels} | {peer * 1e3:.2f} |")


def sentence_table(size):
    yield "| one sentence of 25 words, greedily | model, ms |"
    yield "|---|--:|"
    yield f"| now | {seconds_of(size, 1, 1)[1] * 1e3:.1f} |"
    yield f"| CTranslate2, its 26 steps alone | {STEPS * peer_step(size, 1, 1)[1] * 1e3:.1f} |"
    yield "| goal | 25 |"


def page_tables():
    base = SIZES["base"]
    return [list(batches_table(base)), list(sentence_table(base))]


def check(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for table in page_tables():
        if "\n".join(table) not in text:
            sys.exit(f"{path} does not show this table, which bench/gpu_decoding_cost.py prints:\n\n" +
                     "\n".join(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", action="store_true", help="each of a step, in their order")
    parser.add_argument("--check", metavar="PAGE")
    options = parser.parse_args()
    if options.check:
        check(options.check)
    elif options.kernels:
        for kernel in Decoding(SIZES["base"]).run_step(1).kernels:
            print(f"{kernel.name:40} {kernel.bytes / 1e6:9.2f} MB {kernel.seconds * 1e6:8.1f} µs")
    else:
        print("\n\n".join("\n".join(table) for table in page_tables()))


if __name__ == "__main__":
    main()

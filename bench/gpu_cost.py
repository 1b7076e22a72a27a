#!/usr/bin/env python3
"""What a step of training in bf16 asks of a GPU, kernel by kernel, beside what was measured: the model in docs/gpu.md.

    bench/gpu_cost.py                       the tables of that page
    bench/gpu_cost.py --size base --kernels every kernel of one model's step
    bench/gpu_cost.py --check docs/gpu.md   whether the page shows these tables

A kernel takes as long as its bytes need or as its multiplications need, whichever is more, and 4 µs to start. Bytes are
those that must pass through the GPU's memory; what a kernel reads twice within a block is counted once. The kernels are
listed as src/model/transformer.cpp and src/ops/ call them, in the order of a step.
"""
import argparse
import dataclasses
import pathlib
import sys

# An H100 (SXM), as measured: by an addition of arrays of a gigabyte, and by large products of random numbers.
BYTES_PER_SECOND = 2.72e12
PEAK = 750e12
# Fitted to PROFILE.
TENSOR_SHARE = 0.78  # of the peak: products, where they fill the GPU
ATTENTION_SHARE = 0.03  # counting a sentence's own pairs alone
START = 4e-6  # seconds that a kernel adds
WAIT = 0.4e-6  # seconds until a thread has what it reads from the cache
PROCESSORS = 132
TILE = 128  # rows and columns of c that one processor computes
FLOAT, HALF = 4, 2  # bytes

NORM_BLOCKS, BIAS_BLOCKS = 264, 792  # in norm_backward.inl.h and activations.inl.h of src/kernels/cuda
SORTED_TILE = 256  # in sorting.inl.h
CHUNK_LOGITS = 128 << 20  # logits_per_chunk in table.cpp


@dataclasses.dataclass(frozen=True)
class Size:
    name: str
    d: int
    heads: int
    ff: int
    layers: int
    words: int
    goal: str
    measured: int  # tokens in a second, by bench_training
    share: float  # of the peak that it measured in the same run
    mib: int
    tokens: int = 25_000  # of each side of a batch
    length: int = 30  # of a sentence


SIZES = {
    "base": Size("base", 512, 8, 2048, 6, 32_000, "900,000", 1_440_157, 0.352, 6_674),
    "small": Size("d 256", 256, 4, 1024, 3, 8_000, "3,000,000", 5_761_336, 0.178, 2_140),
    "big": Size("big", 1024, 16, 4096, 6, 32_000, "40 %", 618_164, 0.522, 13_848),
}

# Milliseconds of the base model's kernels in one step, by ncu (gpu__time_duration).
PROFILE = {
    "products": 7.40,
    "norms": 5.48,
    "loss: products": 4.58,
    "attention": 4.54,
    "products: weights' gradients": 4.27,
    "activations": 4.10,
    "loss: softmax": 1.80,
    "weights": 0.88,
    "embeddings": 0.39,
}


@dataclasses.dataclass
class Kernel:
    name: str
    part: str  # of the step, in the tables
    read: float
    written: float
    operations: float = 0  # multiplications and additions
    rate: float = 1  # of these, in a second
    waits: int = 0  # one after another, of the thread that waits most often

    @property
    def bytes(self):
        return self.read + self.written

    @property
    def by_memory(self):
        return self.bytes / BYTES_PER_SECOND

    @property
    def by_operations(self):
        return self.operations / self.rate

    @property
    def seconds(self):
        return max(self.by_memory, self.by_operations, self.waits * WAIT) + START


def share_of_processors(rows, columns):
    """That have work, where c has fewer tiles than there are processors. Tiles of a quarter of the size are half as
    fast, as they read twice as much for each multiplication."""

    def share(tile):
        return min(1.0, -(-rows // tile) * -(-columns // tile) / PROCESSORS)

    return max(share(TILE), 0.5 * share(TILE // 2))


class Step:
    """The kernels of one step, by methods called like the ops. Matrices are in bf16 unless something is said."""

    def __init__(self, size):
        self.size, self.kernels = size, []

    def add(self, name, part, read, written, operations=0.0, rate=1.0, waits=0):
        self.kernels.append(Kernel(name, part, read, written, operations, rate, waits))

    def add_sums(self, name, part, blocks, width):
        """Of columns, of which another kernel has left a sum for each block of rows."""
        self.add(name, part, FLOAT * blocks * width, FLOAT * width)

    # --- products -------------------------------------------------------------------------------------------------

    def product(self, name, rows, inner, columns, *, part="products", accumulate=False, split=False, out=HALF):
        """split: whether this product may be split over its inner index; then a second kernel adds the parts."""
        tiles = -(-rows // TILE) * -(-columns // TILE)
        parts, share = 1, share_of_processors(rows, columns)
        if split:
            parts = max(1, min(PROCESSORS // tiles, inner // 1024))
            share = min(1.0, tiles * parts / PROCESSORS)
        result = out * rows * columns
        read = HALF * (rows * inner + inner * columns) + (result if accumulate and parts == 1 else 0)
        self.add(name, part, read, parts * result, 2 * rows * inner * columns, PEAK * TENSOR_SHARE * share)
        if parts > 1:
            self.add(f"{name}, sum of parts", part, (parts + 1) * result, result)

    def linear(self, name, n, inner, out, relu=False):
        self.product(f"{name}: x·W + b", n, inner, out)
        if relu:  # which is in the product's epilogue; dropout is not
            self.add(f"{name}: dropout", "activations", HALF * n * out, HALF * n * out)

    def linear_backward(self, name, n, inner, out, relu=False, accumulate=False, dx=FLOAT):
        """dx: bytes of each element of x's gradient; that of a norm is in floats."""
        if relu:  # its output and its gradient become the gradient of its input
            self.add(f"{name}: relu and dropout backward, bias", "activations", 2 * HALF * n * out, HALF * n * out)
        else:
            self.add(f"{name}: bias's gradient, in parts", "activations", HALF * n * out, 0)
        self.add_sums(f"{name}: bias's gradient", "activations", BIAS_BLOCKS * 256 / out, out)
        self.product(f"{name}: dy·Wᵀ", n, out, inner, accumulate=accumulate, out=dx)
        self.product(f"{name}: xᵀ·dy", inner, n, out, accumulate=True, split=True, out=FLOAT,
                     part="products: weights' gradients")

    # --- norms ----------------------------------------------------------------------------------------------------

    def norm(self, n, branch=True, name="add + dropout + norm"):
        """Sums are floats; branches and what has been normalised are not."""
        count = n * self.size.d
        self.add(name, "norms", (FLOAT + (HALF if branch else 0)) * count, ((FLOAT if branch else 0) + HALF) * count)

    def norm_backward(self, n, branch=True, end=False):
        """end: of a stack. Its norm has been kept, and its sum has no gradient yet."""
        count = n * self.size.d
        if not end:
            self.norm(n, branch=False, name="norm, computed again")
        self.add("norm backward", "norms", (2 * FLOAT + (0 if end else FLOAT)) * count,
                 (FLOAT + (HALF if branch else 0)) * count)
        self.add_sums("norm backward: gain, bias", "norms", NORM_BLOCKS, 2 * self.size.d)

    # --- attention ------------------------------------------------------------------------------------------------

    def attention_kernel(self, name, n, matrices_read, matrices_written, products):
        count = n * self.size.d
        self.add(f"attention {name}", "attention", HALF * matrices_read * count, HALF * matrices_written * count,
                 2 * products * count * self.size.length, PEAK * ATTENTION_SHARE)

    def attention(self, n, name):
        self.attention_kernel(name, n, 3, 1, 2)

    def attention_backward(self, n, name):
        self.attention_kernel(f"{name}, gradients", n, 5, 3, 5)
        self.attention_kernel(f"{name}, gradients of long spans", 0, 0, 0, 0)

    # --- the ends -------------------------------------------------------------------------------------------------

    def embed(self, n, name):
        count = n * self.size.d
        self.add(f"embed {name}", "embeddings", FLOAT * count, FLOAT * count)

    def embed_backward(self, n, name):
        d, rows, tiles = self.size.d, min(n, self.size.words), -(-n // SORTED_TILE)
        self.add(f"sort tiles {name}", "embeddings", FLOAT * n, 2 * FLOAT * n)
        # A row looks for its place in every other tile, four of them at once, by nine reads.
        self.add(f"merge tiles {name}", "embeddings", 2 * FLOAT * n, 2 * FLOAT * n, waits=9 * tiles // 4)
        self.add(f"embed backward {name}", "embeddings", FLOAT * (n + rows) * d, FLOAT * rows * d)
        self.add(f"join windows {name}", "embeddings", FLOAT * n / 16 * d, FLOAT * n / 32 * d)

    def logits_rows(self):
        """At once."""
        return min(self.size.tokens, max(64, CHUNK_LOGITS // self.size.words // 64 * 64))

    def cross_entropy(self):
        n, words, d, rows = self.size.tokens, self.size.words, self.size.d, self.logits_rows()
        for begin in range(0, n, rows):
            m = min(rows, n - begin)
            self.product("logits", m, d, words, part="loss: products", out=FLOAT)
            self.add("cross-entropy", "loss: softmax", FLOAT * m * words, HALF * m * words)
            self.product("hidden's gradient", m, words, d, part="loss: products", out=FLOAT)
            self.product("words' gradient", words, m, d, part="loss: products", accumulate=True, split=True, out=FLOAT)

    def weights(self):
        s = self.size
        encoder = 4 * s.d**2 + 2 * s.d * s.ff + 9 * s.d + s.ff
        return s.layers * (2 * encoder + 4 * s.d**2 + 6 * s.d) + 4 * s.d + s.words * s.d

    def update(self):
        count = self.weights()
        self.add("norm of the gradient", "weights", FLOAT * count, 0)
        self.add("Adam", "weights", FLOAT * 4 * count, FLOAT * 3 * count)
        self.add("weights in bf16", "weights", FLOAT * count, HALF * count)

    # --- a step ---------------------------------------------------------------------------------------------------

    def run(self):
        s, n = self.size, self.size.tokens
        self.add("clear gradients", "weights", 0, FLOAT * self.weights())
        for side, layers in (("source", self.encoder_layer), ("target", self.decoder_layer)):
            self.embed(n, side)
            for layer in range(s.layers):
                layers(n, layer == 0)
            self.norm(n)
        self.cross_entropy()
        for side, layers in (("target", self.decoder_layer_backward), ("source", self.encoder_layer_backward)):
            self.norm_backward(n, end=True)
            for layer in reversed(range(s.layers)):
                layers(n, layer == 0, layer == s.layers - 1)
            self.embed_backward(n, side)
        self.update()
        return self

    def self_attention(self, n, first, name):
        d = self.size.d
        self.norm(n, branch=not first)
        self.linear("q, k, v", n, d, 3 * d)
        self.attention(n, name)
        self.linear("output", n, d, d)

    def feed_forward(self, n):
        self.norm(n)
        self.linear("inner", n, self.size.d, self.size.ff, relu=True)
        self.linear("outer", n, self.size.ff, self.size.d)

    def encoder_layer(self, n, first):
        self.self_attention(n, first, "self")
        self.feed_forward(n)

    def decoder_layer(self, n, first):
        d = self.size.d
        self.self_attention(n, first, "causal")
        self.norm(n)
        self.linear("q", n, d, d)
        self.linear("k, v", n, d, 2 * d)
        self.attention(n, "cross")
        self.linear("output", n, d, d)
        self.feed_forward(n)

    def feed_forward_backward(self, n):
        self.linear_backward("outer", n, self.size.ff, self.size.d, dx=HALF)
        self.linear_backward("inner", n, self.size.d, self.size.ff, relu=True)
        self.norm_backward(n)

    def self_attention_backward(self, n, first, name):
        d = self.size.d
        self.linear_backward("output", n, d, d, dx=HALF)
        self.attention_backward(n, name)
        self.linear_backward("q, k, v", n, d, 3 * d)
        self.norm_backward(n, branch=not first)

    def encoder_layer_backward(self, n, first, _last):
        self.feed_forward_backward(n)
        self.self_attention_backward(n, first, "self")

    def decoder_layer_backward(self, n, first, last):
        d = self.size.d
        self.feed_forward_backward(n)
        self.linear_backward("output", n, d, d, dx=HALF)
        self.attention_backward(n, "cross")
        self.linear_backward("k, v", n, d, 2 * d, accumulate=not last)
        self.linear_backward("q", n, d, d)
        self.norm_backward(n)
        self.self_attention_backward(n, first, "causal")

    # --- what comes of it -----------------------------------------------------------------------------------------

    def seconds(self):
        return sum(kernel.seconds for kernel in self.kernels)

    def tokens_per_second(self):
        return 2 * self.size.tokens / self.seconds()

    def memory(self):
        """Bytes at the end of the forward pass: weights, which are there rounded, too, gradients and moments; what
        backward reads; logits and their gradients."""
        s = self.size
        encoder = 2 * FLOAT * s.d + HALF * (4 * s.d + s.ff)  # sums of residuals; q, k, v, heads, the inner activation
        decoder = 3 * FLOAT * s.d + HALF * (8 * s.d + s.ff)
        saved = s.layers * (encoder + decoder) + 2 * (FLOAT + HALF) * s.d
        return (4 * FLOAT + HALF) * self.weights() + s.tokens * saved + (FLOAT + HALF) * self.logits_rows() * s.words


# --- the page's tables ----------------------------------------------------------------------------------------------


def parts_of(step):
    groups = {}
    for kernel in step.kernels:
        groups.setdefault(kernel.part, []).append(kernel)
    return sorted(groups.items(), key=lambda group: -sum(kernel.seconds for kernel in group[1]))


def parts_table(step, profile=None):
    measured = profile is not None
    yield f"| one step, {step.size.name} | kernels | GB | TFLOP | model, ms |" + (" measured, ms |" if measured else "")
    yield "|---|--:|--:|--:|--:|" + ("--:|" if measured else "")
    for name, kernels in [*parts_of(step), ("**all**", step.kernels)]:
        seconds = sum(kernel.seconds for kernel in kernels)
        operations = sum(kernel.operations for kernel in kernels) / 1e12
        row = (f"| {name} | {len(kernels):,} | {sum(kernel.bytes for kernel in kernels) / 1e9:.1f} | "
               f"{operations:.2f} | {seconds * 1e3:.2f} |")
        yield row + (f" {profile.get(name, sum(profile.values())):.2f} |" if measured else "")


def sizes_table():
    yield ("| | weights | model, ms | measured, ms | model, tokens/s | measured, tokens/s | of the peak | goal | "
           "model, MiB | measured, MiB |")
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for size in SIZES.values():
        step = Step(size).run()
        yield (f"| {size.name} | {step.weights() / 1e6:.1f} M | {step.seconds() * 1e3:.1f} | "
               f"{2e3 * size.tokens / size.measured:.1f} | {step.tokens_per_second():,.0f} | {size.measured:,} | "
               f"{100 * size.share:.0f} % | {size.goal} | {step.memory() / 2**20:,.0f} | "
               f"{size.mib:,} |")


def page_tables():
    return [list(parts_table(Step(SIZES["base"]).run(), PROFILE)), list(sizes_table())]


def check(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for table in page_tables():
        if "\n".join(table) not in text:
            sys.exit(f"{path} does not show this table, which bench/gpu_cost.py prints:\n\n" + "\n".join(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES)
    parser.add_argument("--kernels", action="store_true", help="each of them, in the order of a step")
    parser.add_argument("--check", metavar="PAGE")
    options = parser.parse_args()
    if options.check:
        check(options.check)
    elif options.size:
        step = Step(SIZES[options.size]).run()
        if options.kernels:
            for kernel in step.kernels:
                limit = "operations" if kernel.by_operations > kernel.by_memory else "memory"
                print(f"{kernel.name:40} {kernel.bytes / 1e6:9.1f} MB {kernel.operations / 1e9:9.1f} GFLOP "
                      f"{kernel.seconds * 1e6:8.1f} µs  {limit}")
        print("\n".join(parts_table(step)))
        print(f"\n{step.tokens_per_second():,.0f} tokens/s")
    else:
        print("\n\n".join("\n".join(table) for table in page_tables()))


if __name__ == "__main__":
    main()

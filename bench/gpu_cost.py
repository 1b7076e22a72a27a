#!/usr/bin/env python3
"""What a step of training asks of a GPU, kernel by kernel, and the least time that it needs: the model in docs/gpu.md.

    bench/gpu_cost.py                       the tables of that page
    bench/gpu_cost.py --size base --kernels every kernel of one model's step
    bench/gpu_cost.py --size big --precision tf32 --with sums
    bench/gpu_cost.py --check docs/gpu.md   whether the page shows these tables

A kernel takes as long as its bytes need or as its multiplications need, whichever is more, and 2.5 µs to start. Bytes
are those that must pass through the GPU's memory; what a kernel reads twice within a block is counted once. The kernels
are listed as src/model/transformer.cpp and src/ops/ call them, in the order of a step.
"""
import argparse
import dataclasses
import pathlib
import sys

# An H100 (SXM): what its data sheet says, and the part of it that a good kernel reaches.
BYTES_PER_SECOND = 3.35e12
BANDWIDTH_SHARE = 0.80
PEAKS = {"bf16": 990e12, "tf32": 495e12, "fp32": 67e12}  # of products; fp32 is that of the ordinary cores
TENSOR_SHARE = 0.60  # of a product's peak, where it fills the GPU
# Of fp32's peak, for attention: its operands come from shared memory, twenty floats in five reads for sixteen
# multiply-adds.
CORE_SHARE = 0.30
ATTENTION_TENSOR_SHARE = 0.10  # of the tensor cores' peak
START = 2.5e-6  # seconds that a kernel adds
WAIT = 0.5e-6  # seconds until a thread has what it reads from memory
PROCESSORS = 132
TILE = 128  # rows and columns of c that one processor computes
FLOAT, HALF = 4, 2  # bytes

SUMMED_ROWS = 64  # summed_rows in src/kernels/cuda/rows.inl.h
SORTING_THREADS, DIGIT_BITS = 512, 4  # src/kernels/cuda/sorting.inl.h
CHUNK_LOGITS = 128 << 20  # logits_per_chunk in src/kernels/cuda/table.cpp


@dataclasses.dataclass(frozen=True)
class Size:
    name: str
    d: int
    heads: int
    ff: int
    layers: int
    words: int
    goal: str
    tokens: int = 25_000  # of each side of a batch
    length: int = 30  # of a sentence


SIZES = {
    "base": Size("base", 512, 8, 2048, 6, 32_000, "900,000"),
    "small": Size("d 256", 256, 4, 1024, 3, 8_000, "3,000,000"),
    "big": Size("big", 1024, 16, 4096, 6, 32_000, "40 %"),
}

# What may be changed, in the order in which it is worth its work.
CHANGES = {
    "sums": "sums over rows (the gradients of gains and biases) by the kernel that makes what is summed, one a block",
    "halves": "all activations but the sums of residuals in bf16 alone, logits included",
    "tensor": "attention on the tensor cores, at a tenth of their peak",
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
        return self.bytes / (BYTES_PER_SECOND * BANDWIDTH_SHARE)

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
    """The kernels of one step, by methods called like the ops."""

    def __init__(self, size, precision="bf16", changes=(), tensor_share=TENSOR_SHARE):
        self.size, self.precision, self.tensor_share, self.kernels = size, precision, tensor_share, []
        self.changes = {change for change in changes if precision == "bf16" or change != "halves"}
        self.operand = HALF if precision == "bf16" else FLOAT  # bytes of a product's
        self.activation = HALF if "halves" in self.changes else FLOAT  # of what is no sum of residuals
        # Beside an activation or a gradient that products read, written by the kernel that makes it or sums it.
        self.copy = HALF if precision == "bf16" and "halves" not in self.changes else 0
        self.rounds = precision == "bf16"

    def add(self, name, part, read, written, operations=0.0, rate=1.0, waits=0):
        self.kernels.append(Kernel(name, part, read, written, operations, rate, waits))

    def parts_of_sums(self, n):
        return PROCESSORS if "sums" in self.changes else -(-n // SUMMED_ROWS)

    def add_sums(self, name, part, n, width, read, vectors=1, copied=0):
        """Over rows: of what a kernel reads again, and may copy; or of parts that another kernel has left."""
        parts = FLOAT * self.parts_of_sums(n) * width
        if "sums" not in self.changes:
            self.add(f"{name}, in parts", part, read, vectors * parts + copied)
        for _ in range(vectors):
            self.add(name, part, parts, FLOAT * width)

    # --- products -------------------------------------------------------------------------------------------------

    def round(self, what, count):
        if self.rounds:
            self.add(f"round {what}", "rounding to bf16", FLOAT * count, HALF * count)

    def product(self, name, rows, inner, columns, *, part="products", accumulate=False, split=False, out=FLOAT):
        """split: whether this product may be split over its inner index."""
        tiles = -(-rows // TILE) * -(-columns // TILE)
        parts, share = 1, share_of_processors(rows, columns)
        if split:
            parts = max(1, min(PROCESSORS // tiles, inner // 1024))
            share = min(1.0, tiles * parts / PROCESSORS)
        partial = FLOAT * (parts - 1) * rows * columns  # sums of parts, written and read again
        read = self.operand * (rows * inner + inner * columns) + (out * rows * columns if accumulate else 0)
        self.add(name, part, read + partial, out * rows * columns + partial, 2 * rows * inner * columns,
                 PEAKS[self.precision] * self.tensor_share * share)

    def linear(self, name, n, inner, out, relu=False):
        self.round("weight", inner * out)  # once a step: the backward pass reads the same
        self.product(f"{name}: x·W + b", n, inner, out, out=self.activation)
        if relu:  # which is in the product's epilogue; dropout is not
            count = n * out
            self.add(f"{name}: dropout", "activations", self.activation * count, (self.activation + self.copy) * count)

    def linear_backward(self, name, n, inner, out, relu=False, accumulate=False):
        count = n * out
        if relu:  # its output and its gradient become the gradient of its input
            self.add(f"{name}: relu and dropout backward", "activations", 2 * self.activation * count,
                     (self.activation + self.copy) * count)
        # The kernel above sums, as the CPU's does; for other products it is one that only reads.
        if relu:
            self.add(f"{name}: bias's gradient", "activations", FLOAT * self.parts_of_sums(n) * out, FLOAT * out)
        else:
            self.add_sums(f"{name}: bias's gradient", "activations", n, out, self.activation * count,
                          copied=self.copy * count)
        self.product(f"{name}: dy·Wᵀ", n, out, inner, accumulate=accumulate, out=self.activation)
        self.product(f"{name}: xᵀ·dy", inner, n, out, accumulate=True, split=True,
                     part="products: weights' gradients")

    # --- norms ----------------------------------------------------------------------------------------------------

    def norm(self, n, branch=True, name="add + dropout + norm"):
        count = n * self.size.d
        before, after = (self.activation, FLOAT) if branch else (0, 0)  # the branch, and the sum
        self.add(name, "norms", (FLOAT + before) * count, (after + self.activation + self.copy) * count)

    def norm_backward(self, n, branch=True, end=False):
        """end: of a stack. Its norm has been kept, and its sum has no gradient yet."""
        count = n * self.size.d
        if not end:
            self.norm(n, branch=False, name="norm, computed again")
        self.add_sums("norm backward: gain, bias", "norms", n, self.size.d, (FLOAT + self.activation) * count, 2)
        self.add("norm backward", "norms", (FLOAT + self.activation + (0 if end else FLOAT)) * count,
                 (FLOAT + (self.activation if branch else 0)) * count)

    # --- attention ------------------------------------------------------------------------------------------------

    def attention_rate(self):
        if "tensor" in self.changes and self.precision != "fp32":
            return PEAKS[self.precision] * ATTENTION_TENSOR_SHARE
        return PEAKS["fp32"] * CORE_SHARE

    def attention_kernel(self, name, n, matrices_read, matrices_written, products, copied=0):
        count = n * self.size.d
        self.add(f"attention {name}", "attention", self.activation * matrices_read * count,
                 (self.activation * matrices_written + copied) * count,
                 2 * products * n * self.size.length * self.size.d, self.attention_rate())

    def attention(self, n, name):
        self.attention_kernel(name, n, 3, 1, 2, copied=self.copy)

    def attention_backward(self, n, name):
        """The last two kernels compute the scores and the gradients of their softmax; then one, or two products."""
        self.attention_kernel(f"{name}: out · dout", n, 2, 0, 0)
        self.attention_kernel(f"{name}: dq", n, 4, 1, 3)
        self.attention_kernel(f"{name}: dk and dv", n, 4, 2, 4)

    # --- the ends -------------------------------------------------------------------------------------------------

    def embed(self, n, name):
        count = n * self.size.d
        self.add(f"embed {name}", "embeddings", FLOAT * count, FLOAT * count)

    def embed_backward(self, n, name):
        count, rows = n * self.size.d, min(n, self.size.words)
        passes = -(-(self.size.words - 1).bit_length() // DIGIT_BITS)
        waits = 2 * passes * -(-n // SORTING_THREADS)  # a block sorts, each thread a run of rows, twice in each pass
        self.add(f"sort ids {name}", "embeddings", 3 * FLOAT * passes * n, 2 * FLOAT * passes * n, waits=waits)
        self.add(f"embed backward {name}", "embeddings", FLOAT * (count + rows * self.size.d),
                 FLOAT * rows * self.size.d)
        self.add(f"join windows {name}", "embeddings", FLOAT * n / 16 * self.size.d, FLOAT * n / 32 * self.size.d)

    def logits_rows(self):
        """At once."""
        return min(self.size.tokens, max(64, CHUNK_LOGITS // self.size.words // 64 * 64))

    def cross_entropy(self):
        s = self.size
        n, words, d, logit = s.tokens, s.words, s.d, self.activation
        rows = self.logits_rows()
        gradient = HALF if self.precision == "bf16" else FLOAT  # of a logit: rounded, it is written so alone
        self.round("words, transposed", words * d)
        self.round("words", words * d)
        for begin in range(0, n, rows):
            m = min(rows, n - begin)
            self.product("logits", m, d, words, part="loss: products", out=logit)
            self.add("cross-entropy", "loss: softmax", 2 * logit * m * words, gradient * m * words)
            self.product("hidden's gradient", m, words, d, part="loss: products", out=logit)
            self.product("words' gradient", words, m, d, part="loss: products", accumulate=True, split=True)

    def weights(self):
        s = self.size
        encoder = 4 * s.d**2 + 2 * s.d * s.ff + 9 * s.d + s.ff
        return s.layers * (2 * encoder + 4 * s.d**2 + 6 * s.d) + 4 * s.d + s.words * s.d

    def update(self):
        count = self.weights()
        self.add("norm of the gradient", "weights", FLOAT * count, 0, waits=40)  # the host's, for its result
        self.add("Adam", "weights", FLOAT * 4 * count, FLOAT * 3 * count)

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
        self.linear_backward("outer", n, self.size.ff, self.size.d)
        self.linear_backward("inner", n, self.size.d, self.size.ff, relu=True)
        self.norm_backward(n)

    def self_attention_backward(self, n, first, name):
        d = self.size.d
        self.linear_backward("output", n, d, d)
        self.attention_backward(n, name)
        self.linear_backward("q, k, v", n, d, 3 * d)
        self.norm_backward(n, branch=not first)

    def encoder_layer_backward(self, n, first, _last):
        self.feed_forward_backward(n)
        self.self_attention_backward(n, first, "self")

    def decoder_layer_backward(self, n, first, last):
        d = self.size.d
        self.feed_forward_backward(n)
        self.linear_backward("output", n, d, d)
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

    def useful(self):
        """Multiplications and additions of the products and of attention: what the share of the peak counts."""
        s = self.size
        layer = 4 * s.d**2 + 2 * s.d * s.ff
        products = s.layers * (2 * layer + 4 * s.d**2 + 3 * 2 * s.length * s.d) + s.d * s.words
        return 3 * 2.0 * s.tokens * products

    def share_of_peak(self):
        return self.useful() / self.seconds() / PEAKS[self.precision]

    def memory(self):
        """Bytes at the end of the forward pass: weights and moments, what backward reads, and the logits."""
        s = self.size
        saved = s.layers * (6 * s.d + s.ff + 11 * s.d + s.ff) + 4 * s.d
        return FLOAT * (4 * self.weights() + s.tokens * saved + self.logits_rows() * s.words)


# --- the page's tables ----------------------------------------------------------------------------------------------


def parts_of(step):
    groups = {}
    for kernel in step.kernels:
        groups.setdefault(kernel.part, []).append(kernel)
    return sorted(groups.items(), key=lambda group: -sum(kernel.seconds for kernel in group[1]))


def parts_table(step):
    yield f"| one step, {step.size.name}, {step.precision} | kernels | GB | TFLOP | ms | of it |"
    yield "|---|--:|--:|--:|--:|--:|"
    rows = [(name, kernels) for name, kernels in parts_of(step)] + [("**all**", step.kernels)]
    for name, kernels in rows:
        seconds = sum(kernel.seconds for kernel in kernels)
        operations = sum(kernel.operations for kernel in kernels) / 1e12
        yield (f"| {name} | {len(kernels):,} | {sum(kernel.bytes for kernel in kernels) / 1e9:.1f} | "
               f"{operations:.2f} | {seconds * 1e3:.2f} | {100 * seconds / step.seconds():.0f} % |")


def sizes_table():
    yield "| | weights | precision | kernels | ms a step | tokens/s | of the peak | goal | memory |"
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|"
    for size in SIZES.values():
        for precision in PEAKS:
            step, goal = Step(size, precision).run(), size.goal if precision == "bf16" else ""
            yield (f"| {size.name} | {step.weights() / 1e6:.1f} M | {precision} | {len(step.kernels):,} | "
                   f"{step.seconds() * 1e3:.1f} | {step.tokens_per_second():,.0f} | "
                   f"{100 * step.share_of_peak():.0f} % | {goal} | {step.memory() / 1e9:.1f} GB |")


def changes_table():
    yield "| bf16, one change after the other | " + " | ".join(f"{size.name}, ms | tokens/s | of the peak"
                                                              for size in SIZES.values()) + " |"
    yield "|---|" + "--:|--:|--:|" * len(SIZES)
    made = []
    for change in [None, *CHANGES]:
        made += [change] if change else []
        steps = [Step(size, "bf16", made).run() for size in SIZES.values()]
        cells = (f"{step.seconds() * 1e3:.1f} | {step.tokens_per_second():,.0f} | {100 * step.share_of_peak():.0f} %"
                 for step in steps)
        yield f"| {change or 'as they are'} | " + " | ".join(cells) + " |"


def shares_table():
    shares = (0.5, 0.6, 0.7)
    yield "| all changes, and products at | " + " | ".join(f"{100 * share:.0f} %" for share in shares) + " |"
    yield "|---|" + "--:|" * len(shares)
    for size in SIZES.values():
        steps = [Step(size, "bf16", CHANGES, share).run() for share in shares]
        cells = (f"{step.tokens_per_second():,.0f} tokens/s, {100 * step.share_of_peak():.0f} %" for step in steps)
        yield f"| {size.name} | " + " | ".join(cells) + " |"


def page_tables():
    tables = parts_table(Step(SIZES["base"]).run()), sizes_table(), changes_table(), shares_table()
    return [list(table) for table in tables]


def check(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for table in page_tables():
        if "\n".join(table) not in text:
            sys.exit(f"{path} does not show this table, which bench/gpu_cost.py prints:\n\n" + "\n".join(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES)
    parser.add_argument("--precision", choices=PEAKS, default="bf16")
    parser.add_argument("--with", dest="changes", default="", help="with commas between them: " + ", ".join(CHANGES))
    parser.add_argument("--kernels", action="store_true", help="each of them, in the order of a step")
    parser.add_argument("--check", metavar="PAGE")
    options = parser.parse_args()
    changes = [change.strip() for change in options.changes.split(",") if change.strip()]
    if unknown := [change for change in changes if change not in CHANGES]:
        parser.error(f"no change is called {unknown[0]}")
    if options.check:
        check(options.check)
    elif options.size:
        step = Step(SIZES[options.size], options.precision, changes).run()
        if options.kernels:
            for kernel in step.kernels:
                limit = "operations" if kernel.by_operations > kernel.by_memory else "memory"
                print(f"{kernel.name:34} {kernel.bytes / 1e6:9.1f} MB {kernel.operations / 1e9:9.1f} GFLOP "
                      f"{kernel.seconds * 1e6:8.1f} µs  {limit}")
        print("\n".join(parts_table(step)))
        print(f"\n{step.tokens_per_second():,.0f} tokens/s, {100 * step.share_of_peak():.0f} % of the peak")
    else:
        print("\n\n".join("\n".join(table) for table in page_tables()))


if __name__ == "__main__":
    main()

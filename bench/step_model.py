#!/usr/bin/env python3
"""The model in docs/scale.md of the time per update on N processes, and of what the articles' recipes take on GPUs.

    bench/step_model.py --parameters 60.5e6 --last 19e6 --compute 3.5 --gbit 1 10 100
    bench/step_model.py --recipes                the page's table of the articles' recipes, and what their heads say
    bench/step_model.py --check docs/scale.md    whether the page and the recipes show these

An update of one batch per process computes for `compute` seconds, of which the last two thirds are the backward pass.
Gradients are sent during that pass, except those of the `last` parameters (a tied embedding's, which it computes last).
Each process sends and receives 2 (N - 1) / N times the gradients, at the link's speed, in slices of max(2^20, 2^14 N)
floats, each of which costs 2 (N - 1) messages of some microseconds. All wait for the slowest of N processes: if times
have a relative standard deviation s, it takes about s sqrt(2 ln N) longer than the mean.

GPUs: each sends every other one its part of a slice of 2^22 floats, over NVLink within a node of eight, and else over the
node's link, which its GPUs share; the sums are gathered so that they pass over each link once. A slice costs some
microseconds whatever N is.
"""
import argparse
import dataclasses
import math
import pathlib
import sys
import tomllib

RECIPES = pathlib.Path(__file__).resolve().parent.parent / "recipes"
SPREAD = 0.03  # relative standard deviation of the times of processes that compute the same

# Measured on one H100 in bf16, by d_model: source and target tokens a second, in batches of MEASURED_TOKENS a side with
# MEASURED_WORDS words.
MEASURED = {512: 1.44e6, 1024: 0.62e6}
MEASURED_TOKENS, MEASURED_WORDS = 25_000, 32_000
KERNELS, LAUNCH = 700, 4e-6  # of a step with 6+6 layers; seconds for each, by a run with batches of 4,096 (see the page)
MEMORY = 2.72e12  # bytes a second, measured
WEIGHT_BYTES = 40  # that an update reads and writes for each weight: clearing, rounding, the norm, Adam

# Assumed, not measured: bytes a second of a GPU over NVLink and of a node's link, each way, and seconds a slice.
NODE, NVLINK, LINK, SLICE = 8, 400e9, 400e9 / 8, 100e-6

# Two processors of an AMD EPYC (Zen 4) in bf16, with d_model 512 and 16,000 words: docs/performance.md.
PROCESSORS, PROCESSORS_WORDS = 1978, 16_000
EUROPARL_TOKENS = 35  # of a side of a pair, with 10,000 subwords: the corpus has 25 words a sentence

LARGE = 400_000  # tokens a side in an update, as in fairseq's run
PUBLISHED = {
    ("paper-base-wmt-en-de", 25_000): "8 P100: 12 hours",
    ("paper-base-wmt-en-de", LARGE): "",
    ("paper-big-wmt-en-de", 25_000): "8 P100: 3.5 days",
    ("paper-big-wmt-en-fr", 25_000): "8 P100: 3.5 days",
    ("paper-big-wmt-en-de", LARGE): "fairseq, 128 V100: 85 minutes",
    ("paper-big-wmt-en-fr", LARGE): "fairseq, 128 V100: 8.5 hours",
    ("tensor2tensor-wmt-de-en", 4096): "",
    ("europarl-en-fr", 4096): "",
}


def update_seconds(n, compute, spread, parameters, last, exchange):
    slowest = compute * (1 + spread * math.sqrt(2 * math.log(n)))
    beyond_backward = max(0.0, exchange(parameters - last) - 2 / 3 * slowest)
    return slowest + beyond_backward + exchange(last)


def slices(n, count, least=2**20):
    return -(-count // max(least, 2**14 * n))


def by_messages(n, bytes_each, bytes_per_second, message_seconds):
    return lambda count: (2 * (n - 1) / n * count * bytes_each / bytes_per_second
                          + slices(n, count) * 2 * (n - 1) * message_seconds)


def between_gpus(n, bytes_each):
    within, nodes = min(n, NODE), -(-n // NODE)
    parts = (within - 1) / n / NVLINK + within * (n - within) / n / LINK
    sums = (within - 1) / within / NVLINK + (nodes - 1) / nodes / LINK
    return lambda count: count * bytes_each * (parts + sums) + (slices(n, count, 2**22) * SLICE if n > 1 else 0)


# --- the articles' recipes ------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Article:
    name: str
    d: int
    ff: int
    words: int
    tied: bool
    tokens: int  # of each side in an update
    updates: float

    def weights(self):
        layer = 4 * self.d**2 + 2 * self.d * self.ff + 9 * self.d + self.ff
        return 6 * (2 * layer + 4 * self.d**2 + 6 * self.d) + (1 if self.tied else 3) * self.embedding()

    def embedding(self):
        return self.words * self.d

    def work(self, words):
        """Multiply-adds of the products, for each pair of a source and a target token."""
        return 6 * (12 * self.d**2 + 4 * self.d * self.ff) + words * self.d

    def in_updates_of(self, tokens):
        return dataclasses.replace(self, tokens=tokens, updates=self.updates * self.tokens / tokens)

    def gpu_seconds(self, tokens):
        """What one GPU computes in an update, in parts of at most MEASURED_TOKENS."""
        def once(weights):
            return weights * WEIGHT_BYTES / MEMORY

        measured = dataclasses.replace(self, words=MEASURED_WORDS, tied=True)
        each = 2 * MEASURED_TOKENS / MEASURED[self.d] - KERNELS * LAUNCH - once(measured.weights())
        each *= self.work(self.words) / self.work(MEASURED_WORDS) / MEASURED_TOKENS
        parts = math.ceil(tokens / MEASURED_TOKENS)
        return parts * KERNELS * LAUNCH + once(self.weights()) + tokens * each

    def seconds(self, gpus, bytes_each=4):
        return self.updates * update_seconds(gpus, self.gpu_seconds(self.tokens / gpus), SPREAD, self.weights(),
                                             self.embedding(), between_gpus(gpus, bytes_each))

    def processors_seconds(self):
        base = dataclasses.replace(self, d=512, ff=2048)
        return self.updates * 2 * self.tokens * self.work(self.words) / base.work(PROCESSORS_WORDS) / PROCESSORS


def read_article(name):
    recipe = tomllib.loads((RECIPES / f"{name}.toml").read_text(encoding="utf-8"))
    model, training = recipe["model"], recipe["training"]
    tokens = training["batch_tokens"] * training.get("accumulate", 1)
    updates = training.get("max_steps")
    if updates is None:
        updates = training["max_epochs"] * recipe["data"]["limit"] * EUROPARL_TOKENS / tokens
    return Article(name, model.get("d_model", 512), model.get("d_ff", 2048), recipe["vocabulary"]["size"],
                   model["tied"] == "all", tokens, updates)


def span(seconds):
    if seconds < 90 * 60:
        return f"{max(1, round(seconds / 60))} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"


def recipes_table():
    yield ("| recipe | tokens a side in an update | updates | 1 H100 | 8 H100 | 64 H100 | 64, gradients in bf16 | "
           "published |")
    yield "|---|--:|--:|--:|--:|--:|--:|---|"
    for (name, tokens), published in PUBLISHED.items():
        article = read_article(name).in_updates_of(tokens)
        times = (span(article.seconds(*run)) for run in ((1,), (8,), (64,), (64, 2)))
        yield f"| `{name}` | {tokens:,} | {article.updates:,.0f} | " + " | ".join(times) + f" | {published} |"


def heads():
    """What each recipe's first comment says."""
    for name in dict.fromkeys(name for name, _ in PUBLISHED):
        article = read_article(name)
        yield name, (f"# It would take {span(article.seconds(1))} on one H100, and {span(article.processors_seconds())} "
                     "on two processors (Zen 4, bf16): computed from the\n"
                     "# measured speeds (docs/scale.md), not run.")


def check(path):
    table = "\n".join(recipes_table())
    if table not in pathlib.Path(path).read_text(encoding="utf-8"):
        sys.exit(f"{path} does not show this table, which bench/step_model.py prints:\n\n{table}")
    for name, head in heads():
        if head not in (RECIPES / f"{name}.toml").read_text(encoding="utf-8"):
            sys.exit(f"recipes/{name}.toml does not say, as bench/step_model.py does:\n\n{head}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--recipes", action="store_true")
    p.add_argument("--check", metavar="PAGE")
    p.add_argument("--parameters", type=float)
    p.add_argument("--last", type=float, default=0, help="parameters whose gradients are completed last")
    p.add_argument("--compute", type=float, help="seconds that a process computes per update")
    p.add_argument("--spread", type=float, default=SPREAD, help="relative standard deviation of those seconds")
    p.add_argument("--bf16", action="store_true", help="send gradients in 16 bits")
    p.add_argument("--gbit", type=float, nargs="+", default=[1, 10, 100], help="bandwidths of a process's link, each way")
    p.add_argument("--message-us", type=float, default=20)
    p.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4, 8, 16, 64, 256, 1000])
    a = p.parse_args()
    if a.check:
        return check(a.check)
    if a.recipes:
        return print("\n".join(recipes_table()), *(f"{name}:\n{head}" for name, head in heads()), sep="\n\n")
    if a.parameters is None or a.compute is None:
        p.error("give --parameters and --compute, or --recipes, or --check")
    print("processes" + "".join(f"{g:>14g} Gbit/s" for g in a.gbit))
    for n in a.processes:
        cells = []
        for gbit in a.gbit:
            exchange = by_messages(n, 2 if a.bf16 else 4, gbit * 1e9 / 8, a.message_us * 1e-6)
            t = update_seconds(n, a.compute, a.spread, a.parameters, a.last, exchange)
            cells.append(f"{t:9.2f} s {100 * a.compute / t:5.0f} %  ")
        print(f"{n:>9}" + "  ".join(cells))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""PyTorch doing the work of bench_training, for a side-by-side comparison:

    pip install torch numpy
    bench_training --size small --against 'python3 bench/peers/pytorch_training.py --size small'

torch.nn.Transformer as its documentation suggests, on batches bucketed by length; padding is not counted. Prints
one JSON object: tokens_per_second and peak_mib. --compile for torch.compile.
"""
import argparse
import json
import resource
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SIZES = {
    "small": dict(d_model=256, heads=4, d_ff=1024, layers=3, vocabulary=8000),
    "base": dict(d_model=512, heads=8, d_ff=2048, layers=6, vocabulary=16000),
}
PADDING, START, END = 0, 1, 2


class Model(nn.Module):
    """Pre-norm, sinusoidal positions, one matrix for both embeddings and the generator."""

    def __init__(self, d_model, heads, d_ff, layers, vocabulary, dropout):
        super().__init__()
        self.words = nn.Embedding(vocabulary, d_model, padding_idx=PADDING)
        nn.init.normal_(self.words.weight, std=d_model**-0.5)
        self.stacks = nn.Transformer(d_model, heads, layers, layers, d_ff, dropout, batch_first=True, norm_first=True)
        self.dropout = nn.Dropout(dropout)
        angles = np.arange(256)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
        table = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(256, d_model)
        self.register_buffer("positions", torch.tensor(table, dtype=torch.float32))

    def embedded(self, ids):
        scaled = self.words(ids) * self.words.embedding_dim**0.5
        return self.dropout(scaled + self.positions[: ids.shape[1]])

    def forward(self, source, target):
        length = target.shape[1]
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        decoded = self.stacks(
            self.embedded(source),
            self.embedded(target),
            tgt_mask=future,
            src_key_padding_mask=source == PADDING,
            tgt_key_padding_mask=target == PADDING,
            memory_key_padding_mask=source == PADDING,
        )
        return decoded @ self.words.weight.T


def make_batches(batch_tokens, vocabulary):
    """Lengths of ordinary text; a batch is a padded rectangle of at most batch_tokens per side."""
    rng = np.random.default_rng(1)
    source = np.clip(np.exp(3.1 + 0.5 * rng.standard_normal(20000)).astype(int), 4, 100)
    target = np.clip((source * rng.uniform(0.8, 1.25, 20000)).astype(int), 4, 100)
    batches, rows, width = [], [], 0
    for n, m in sorted(zip(source.tolist(), target.tolist())):
        if rows and max(width, n, m + 1) * (len(rows) + 1) > batch_tokens:
            batches.append(rows)
            rows, width = [], 0
        rows.append((n, m))
        width = max(width, n, m + 1)
    rng.shuffle(batches)

    def rectangle(lengths, first, last):
        ids = torch.full((len(lengths), max(lengths) + len(first) + len(last)), PADDING)
        for row, n in enumerate(lengths):
            words = rng.integers(3, vocabulary, n).tolist()
            ids[row, : n + len(first) + len(last)] = torch.tensor(first + words + last)
        return ids

    for rows in batches:
        sources, targets = [n for n, _ in rows], [m for _, m in rows]
        yield rectangle(sources, [], []), rectangle(targets, [START], [END]), sum(sources) + sum(targets) + len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--warm", type=int, default=2)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    size = SIZES[options.size]
    model = Model(dropout=0.1, **size).train()
    forward = torch.compile(model, dynamic=True) if options.compile else model
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

    tokens = 0
    for step, (source, target, count) in enumerate(make_batches(options.batch_tokens, size["vocabulary"])):
        if step == options.warm:
            tokens, begin = 0, time.perf_counter()
        if step == options.warm + options.steps:
            break
        scores = forward(source, target[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(scores, target[:, 1:].flatten(), ignore_index=PADDING, label_smoothing=0.1)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        tokens += count
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"tokens_per_second": tokens / seconds, "peak_mib": peak, "version": torch.__version__}))


if __name__ == "__main__":
    main()

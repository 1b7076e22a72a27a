#!/usr/bin/env python3
"""PyTorch doing the work of bench_training, for a side-by-side comparison:

    pip install torch numpy
    bench_training --size small --against 'python3 bench/peers/pytorch_training.py --size small'
    bench_training --size base --device cuda --batch-tokens 25000 \
        --against 'python3 bench/peers/pytorch_training.py --size base --device cuda --batch-tokens 25000'

On a processor: torch.nn.Transformer as its documentation suggests, on batches bucketed by length. On a GPU, PyTorch at
its best: bf16 by autocast, torch.compile, fused Adam, and attention over packed sentences, in batches of one shape, so
that nothing is compiled twice. Ways of attention (--attention):

    module   torch.nn.Transformer on padded rectangles
    sdpa     scaled_dot_product_attention on padded rectangles
    flex     flex_attention over packed sentences, with a mask of documents; no dropout of weights; GPUs only
    varlen   torch.nn.attention.varlen over packed sentences, where it exists; no dropout of weights

Padding is never counted. Prints one JSON object: tokens_per_second, the median of the rounds, and peak_mib.
"""
import argparse
import json
import resource
import statistics
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SIZES = {
    "small": dict(d_model=256, heads=4, d_ff=1024, layers=3, vocabulary=8000),
    "base": dict(d_model=512, heads=8, d_ff=2048, layers=6, vocabulary=16000),
    "big": dict(d_model=1024, heads=16, d_ff=4096, layers=6, vocabulary=32000),
}
PADDING, START, END = 0, 1, 2
LONGEST = 101  # rows of a sentence


class Attention(nn.Module):
    def __init__(self, width, heads, way, causal=False, dropout=0.0):
        super().__init__()
        self.width, self.heads, self.way, self.causal, self.dropout = width, heads, way, causal, dropout
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x, memory, queries, keys, mask):
        """memory: what keys and values are made of, or None: x."""
        if memory is None:
            q, k, v = self.query_key_value(x).split(self.width, dim=-1)
        else:
            weight, bias = self.query_key_value.weight, self.query_key_value.bias
            q = F.linear(x, weight[: self.width], bias[: self.width])
            k, v = F.linear(memory, weight[self.width :], bias[self.width :]).split(self.width, dim=-1)
        q, k, v = (rows.unflatten(-1, (self.heads, -1)) for rows in (q, k, v))
        return self.output(self.attend(q, k, v, queries, keys, mask).flatten(-2))

    def attend(self, q, k, v, queries, keys, mask):
        if self.way == "varlen" and q.device.type != "cuda":
            return self.attend_one_by_one(q, k, v, queries, keys)
        if self.way == "varlen":
            from torch.nn.attention.varlen import varlen_attn

            window = (-1, 0) if self.causal else (-1, -1)
            return varlen_attn(q, k, v, queries, keys, LONGEST, LONGEST, window_size=window)
        q, k, v = (rows.transpose(-2, -3) for rows in (q, k, v))
        if self.way == "flex":
            from torch.nn.attention.flex_attention import flex_attention

            return flex_attention(q[None], k[None], v[None], block_mask=mask)[0].transpose(0, 1)
        drop = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=drop, is_causal=self.causal)
        return mixed.transpose(-2, -3)

    def attend_one_by_one(self, q, k, v, queries, keys):
        """What a processor has in place of varlen_attn, so that the rest can be tried on one."""
        pieces = []
        for i in range(len(queries) - 1):
            own, others = slice(queries[i], queries[i + 1]), slice(keys[i], keys[i + 1])
            heads = (rows.transpose(0, 1) for rows in (q[own], k[others], v[others]))
            pieces.append(F.scaled_dot_product_attention(*heads, is_causal=self.causal).transpose(0, 1))
        return torch.cat(pieces)


class Layer(nn.Module):
    def __init__(self, width, heads, d_ff, dropout, way, decoder):
        super().__init__()
        self.attention = Attention(width, heads, way, causal=decoder, dropout=dropout)
        self.cross = Attention(width, heads, way, dropout=dropout) if decoder else None
        self.inner, self.outer = nn.Linear(width, d_ff), nn.Linear(d_ff, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if decoder else 2))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, own, own_mask, memory=None, others=None, cross_mask=None):
        x = x + self.dropout(self.attention(self.norms[0](x), None, own, own, own_mask))
        if self.cross is not None:
            x = x + self.dropout(self.cross(self.norms[1](x), memory, own, others, cross_mask))
        inner = self.dropout(F.relu(self.inner(self.norms[-1](x))))
        return x + self.dropout(self.outer(inner))


class Model(nn.Module):
    """Pre-norm, sinusoidal positions, one matrix for both embeddings and the generator."""

    def __init__(self, d_model, heads, d_ff, layers, vocabulary, dropout, way):
        super().__init__()
        self.way = way
        self.words = nn.Embedding(vocabulary, d_model, padding_idx=PADDING)
        nn.init.normal_(self.words.weight, std=d_model**-0.5)
        if way == "module":
            self.stacks = nn.Transformer(d_model, heads, layers, layers, d_ff, dropout, batch_first=True,
                                         norm_first=True)
        else:
            parts = d_model, heads, d_ff, dropout, way
            self.encoder = nn.ModuleList(Layer(*parts, decoder=False) for _ in range(layers))
            self.decoder = nn.ModuleList(Layer(*parts, decoder=True) for _ in range(layers))
            self.ends = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
        self.dropout = nn.Dropout(dropout)
        angles = np.arange(256)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
        table = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(256, d_model)
        self.register_buffer("positions", torch.tensor(table, dtype=torch.float32))

    def embedded(self, ids, positions):
        scaled = self.words(ids) * self.words.embedding_dim**0.5
        return self.dropout(scaled + self.positions[positions])

    def states(self, batch):
        x, y = batch["source"], batch["target"]
        source = self.embedded(x, batch["source_positions"])
        target = self.embedded(y, batch["target_positions"])
        if self.way == "module":
            future = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool, device=y.device).triu(1)
            return self.stacks(source, target, tgt_mask=future, src_key_padding_mask=x == PADDING,
                               tgt_key_padding_mask=y == PADDING, memory_key_padding_mask=x == PADDING)
        # A rectangle's padding is at the end, where the causal mask hides it from all rows that count.
        own, cross = batch["source_mask"], batch["cross_mask"]
        for layer in self.encoder:
            source = layer(source, batch["source_spans"], own)
        memory = self.ends[0](source)
        for layer in self.decoder:
            target = layer(target, batch["target_spans"], batch["target_mask"], memory, batch["source_spans"], cross)
        return self.ends[1](target)

    def forward(self, batch):
        scores = self.states(batch) @ self.words.weight.T
        labels = batch["labels"].flatten()
        return F.cross_entropy(scores.flatten(0, -2), labels, ignore_index=PADDING, label_smoothing=0.1)


# --- batches --------------------------------------------------------------------------------------------------------


def lengths_of_text(rng):
    source = np.clip(np.exp(3.1 + 0.5 * rng.standard_normal(20000)).astype(int), 4, LONGEST - 1)
    target = np.clip((source * rng.uniform(0.8, 1.25, 20000)).astype(int), 4, LONGEST - 1)
    return sorted(zip(source.tolist(), target.tolist()))


def group(pairs, batch_tokens, padded):
    """Pairs of about the same length; padded: what counts is the rectangle around them."""
    batches, rows, sums, width = [], [], [0, 0], 0
    for n, m in pairs:
        wider = max(width, n, m + 1)
        size = wider * (len(rows) + 1) if padded else max(sums[0] + n, sums[1] + m + 1)
        if rows and size > batch_tokens:
            batches.append(rows)
            rows, sums, wider = [], [0, 0], max(n, m + 1)
        rows.append((n, m))
        sums, width = [sums[0] + n, sums[1] + m + 1], wider
    return batches


def sentences(rng, vocabulary, rows):
    for n, m in rows:
        yield rng.integers(3, vocabulary, n).tolist(), rng.integers(3, vocabulary, m).tolist()


def rectangle(rows):
    ids = torch.full((len(rows), max(map(len, rows))), PADDING)
    for row, words in enumerate(rows):
        ids[row, : len(words)] = torch.tensor(words)
    return ids


def padded_batch(pairs, way):
    sources, targets = zip(*pairs)
    source, target = rectangle(sources), rectangle([[START, *words] for words in targets])
    mask = (source != PADDING)[:, None, None, :] if way == "sdpa" else None
    return {"source": source, "target": target, "labels": rectangle([[*words, END] for words in targets]),
            "source_positions": torch.arange(source.shape[1]), "target_positions": torch.arange(target.shape[1]),
            "source_spans": None, "target_spans": None, "source_mask": mask, "cross_mask": mask, "target_mask": None}


def fillers(missing_source, missing_target):
    """Lengths of sentences of nothing, which give all batches one shape."""
    count = max(-(-missing_source // LONGEST), -(-missing_target // LONGEST))
    return [(missing_source * (i + 1) // count - missing_source * i // count,
             missing_target * (i + 1) // count - missing_target * i // count) for i in range(count)]


def packed(rows, spans):
    ends = np.cumsum([0] + [len(row) for row in rows])
    ends = np.append(ends, [ends[-1]] * (spans + 1 - len(ends)))  # spans of nothing
    ids = torch.tensor([word for row in rows for word in row])
    positions = torch.tensor([i for row in rows for i in range(len(row))])
    return ids, positions, torch.tensor(ends, dtype=torch.int32)


def fillers_of(rows, batch_tokens):
    return fillers(batch_tokens - sum(n for n, _ in rows), batch_tokens - sum(m + 1 for _, m in rows))


def packed_batch(pairs, way, batch_tokens, spans, device):
    """spans: of all batches, so that they have one shape, and as few as that takes: attention starts blocks for each."""
    more = fillers_of([(len(x), len(y)) for x, y in pairs], batch_tokens)
    sources = [x for x, _ in pairs] + [[PADDING] * n for n, _ in more]
    targets = [[START, *y] for _, y in pairs] + [[PADDING] * m for _, m in more]
    batch = {"labels": torch.tensor([w for _, y in pairs for w in (*y, END)] + [PADDING] * sum(m for _, m in more)),
             "source_mask": None, "cross_mask": None, "target_mask": None}
    batch["source"], batch["source_positions"], batch["source_spans"] = packed(sources, spans)
    batch["target"], batch["target_positions"], batch["target_spans"] = packed(targets, spans)
    return with_block_masks(batch, sources, targets, device) if way == "flex" else batch


def with_block_masks(batch, sources, targets, device):
    from torch.nn.attention.flex_attention import create_block_mask

    def documents(rows):
        return torch.repeat_interleave(torch.arange(len(rows)), torch.tensor([len(row) for row in rows])).to(device)

    x, y = documents(sources), documents(targets)

    def mask(q, k, causal):
        def allowed(_batch, _head, i, j):
            same = q[i] == k[j]
            return same & (i >= j) if causal else same

        return create_block_mask(allowed, None, None, len(q), len(k), device=device)

    return {**batch, "source_mask": mask(x, x, False), "target_mask": mask(y, y, True), "cross_mask": mask(y, x, False)}


def make_batches(options, vocabulary, device):
    rng = np.random.default_rng(1)
    padded = options.attention in ("module", "sdpa")
    groups = group(lengths_of_text(rng), options.batch_tokens, padded)
    rng.shuffle(groups)
    groups = groups[: options.batches]
    spans = 0 if padded else max(len(rows) + len(fillers_of(rows, options.batch_tokens)) for rows in groups)
    for rows in groups:
        pairs = list(sentences(rng, vocabulary, rows))
        batch = padded_batch(pairs, options.attention) if padded else packed_batch(
            pairs, options.attention, options.batch_tokens, spans, device)
        count = sum(n + m + 1 for n, m in rows)
        yield {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in batch.items()}, count


# --- steps ----------------------------------------------------------------------------------------------------------


def has_varlen():
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: F401
    except ImportError:
        return False
    return True


def chosen(options):
    """The defaults that depend on the device."""
    gpu = options.device.startswith("cuda")
    options.attention = options.attention or ("module" if not gpu else "varlen" if has_varlen() else "flex")
    options.precision = options.precision or ("bf16" if gpu else "fp32")
    options.compile = options.compile or ("on" if gpu else "off")
    options.warm = options.warm if options.warm is not None else (12 if gpu else 2)
    return options


def make_step(options, model, device):
    if options.precision == "tf32":
        torch.set_float32_matmul_precision("high")
    forward = model
    if options.compile != "off":
        mode = "max-autotune" if options.compile == "max" else None
        forward = torch.compile(model, dynamic=options.attention in ("module", "sdpa"), mode=mode)
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step(batch):
        adam.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=options.precision == "bf16"):
            loss = forward(batch)
        loss.backward()
        adam.step()

    return step


def timed_rounds(options, step, batches, device):
    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize()

    turn = 0
    for _ in range(options.warm):
        step(batches[turn % len(batches)][0])
        turn += 1
    for _ in range(options.rounds):
        wait()
        begin, tokens = time.perf_counter(), 0
        for _ in range(options.steps):
            batch, count = batches[turn % len(batches)]
            step(batch)
            tokens, turn = tokens + count, turn + 1
        wait()
        yield tokens / (time.perf_counter() - begin)


def peak_mib(device):
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--vocabulary", type=int, help="words, if not the size's own number")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="of the larger side")
    parser.add_argument("--steps", type=int, default=5, help="in a round")
    parser.add_argument("--rounds", type=int, default=1, help="of which the median counts")
    parser.add_argument("--warm", type=int, help="steps before the first round")
    parser.add_argument("--batches", type=int, default=64, help="different ones")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], help="by default bf16 on a GPU, else fp32")
    parser.add_argument("--attention", choices=["module", "sdpa", "flex", "varlen"])
    parser.add_argument("--compile", nargs="?", const="on", choices=["off", "on", "max"], help="max: max-autotune")
    options = chosen(parser.parse_args())
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    device, size = torch.device(options.device), dict(SIZES[options.size])
    size["vocabulary"] = options.vocabulary or size["vocabulary"]
    model = Model(dropout=0.1, way=options.attention, **size).train().to(device)
    batches = list(make_batches(options, size["vocabulary"], device))
    rounds = list(timed_rounds(options, make_step(options, model, device), batches, device))
    print(json.dumps({
        "tokens_per_second": statistics.median(rounds), "peak_mib": peak_mib(device), "version": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu", "size": options.size,
        "precision": options.precision, "attention": options.attention, "compile": options.compile, "rounds": rounds}))


if __name__ == "__main__":
    main()

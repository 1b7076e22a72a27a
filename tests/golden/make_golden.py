#!/usr/bin/env python3
"""Writes the golden fixtures: small Transformers computed by PyTorch, which replay_test.cpp recomputes.

    pip install torch numpy
    python3 tests/golden/make_golden.py [NAME ...]     (rewrites tests/golden/fixtures/*.safetensors, or those of these names)

The model below follows "Attention Is All You Need" and uses Dragoman's parameter names, in plain tensor operations
and 64-bit floats, one sentence at a time: no batches, no padding, no dropout, nothing shared with the C++ code that
it checks. A fixture contains

    __metadata__           "config": the keys of [model] and the two vocabularies' sizes, as JSON; a key that is
                           younger than the fixture is missing, and means its default
                           "training": label_smoothing, smoothing_over, factor, warmup, beta1, beta2, epsilon
    parameter/NAME         a random model; no gain is 1 and no bias is 0, so that mistakes in them show
    gradient/NAME          of the sum over the target tokens of the smoothed cross-entropy; constants have none
    source_ids, source_lengths, target_input, target_output, target_lengths    all sentences, concatenated
    logits                 [target tokens, target vocabulary]
    loss                   [sum of the smoothed cross-entropy, sum of -log p(target)]
    adam_losses            the smoothed loss per target token before each of ten Adam updates with Noam's rates
"""

import json
import math
import pathlib
import random
import struct
import sys

import numpy
import torch

START, END, FIRST_WORD = 1, 2, 3
ADAM_UPDATES = 10

MODEL_DEFAULTS = dict(norm="post", norm_eps=1e-6, activation="relu", positions="sinusoidal", max_positions=64, tied="none",
                      dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, embedding_dropout=0.0)
LATER_DEFAULTS = dict(kind="translation", position_offset=0, embedding_scale=0, embedding_norm=False, tied_bias=False, zero_start=False,
                      decoder_heads=0, decoder_d_ff=0, decoder_self_attention="attention", norm_kind="layer", gated=False,
                      head_width=0, rotary_base=10000, position_buckets=32, max_distance=128, relative_distance=0,
                      query_key_norm=False)
TRAINING_DEFAULTS = dict(label_smoothing=0.1, smoothing_over="all", factor=0.05, warmup=4,
                         beta1=0.9, beta2=0.98, epsilon=1e-9)

# Lengths are pairs (source tokens, target words); the end mark comes on top of the target's.
# Some widths are deliberately not a multiple of a vector register.
FIXTURES = {
    "post_norm_sinusoidal": dict(
        model=dict(encoder_layers=2, decoder_layers=2, d_model=16, heads=4, d_ff=40, norm="post",
                   source_vocabulary=17, target_vocabulary=23),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 7)]),
    "pre_norm_tied_all": dict(
        model=dict(encoder_layers=2, decoder_layers=2, d_model=24, heads=3, d_ff=48, norm="pre", norm_eps=1e-3,
                   tied="all", source_vocabulary=29, target_vocabulary=29),
        training=dict(warmup=3, factor=0.03),
        lengths=[(4, 4), (7, 2), (1, 5)]),
    "tensor2tensor_swish_tied_output": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=20, heads=2, d_ff=37, norm="pre", activation="swish",
                   positions="tensor2tensor", tied="output", source_vocabulary=11, target_vocabulary=40),
        training=dict(label_smoothing=0.0, beta2=0.997, warmup=20, factor=1.0),
        lengths=[(6, 8), (2, 0), (11, 3)]),
    "raw_index_long_and_short": dict(
        model=dict(encoder_layers=1, decoder_layers=1, d_model=16, heads=2, d_ff=32, norm="pre", positions="raw_index",
                   source_vocabulary=31, target_vocabulary=13),
        training=dict(label_smoothing=0.3, smoothing_over="others"),
        lengths=[(40, 2), (2, 33), (1, 0)]),
    "learned_deep_encoder_gelu": dict(
        model=dict(encoder_layers=3, decoder_layers=1, d_model=18, heads=3, d_ff=30, norm="post", norm_eps=1e-5,
                   activation="gelu", positions="learned", max_positions=12, source_vocabulary=19, target_vocabulary=21),
        # Adam's steps depend on epsilon, and on the scale of the gradients, only if epsilon is large.
        training=dict(label_smoothing=0.1, smoothing_over="others", beta1=0.8, epsilon=1e-2, factor=0.2),
        lengths=[(12, 4), (1, 1), (6, 11)]),
    "learned_deep_decoder_tied_all": dict(
        model=dict(encoder_layers=1, decoder_layers=3, d_model=32, heads=1, d_ff=24, norm="pre", activation="gelu",
                   positions="learned", max_positions=10, tied="all", source_vocabulary=33, target_vocabulary=33),
        lengths=[(1, 9), (8, 1), (3, 3)]),
    # What models of other systems have.
    "marian": dict(
        model=dict(encoder_layers=2, decoder_layers=1, d_model=20, heads=2, d_ff=33, norm="post", norm_eps=1e-5,
                   activation="gelu_sigmoid", positions="halves", position_offset=2, tied="all", tied_bias=True,
                   zero_start=True, decoder_d_ff=21, source_vocabulary=27, target_vocabulary=27),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 7)]),
    "bart": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=18, heads=3, d_ff=25, norm="pre", norm_eps=1e-5,
                   activation="gelu_tanh", positions="stored", max_positions=13, embedding_scale=1.5,
                   embedding_norm=True, tied="output", tied_bias=True, decoder_heads=2, decoder_d_ff=31,
                   source_vocabulary=12, target_vocabulary=26),
        lengths=[(12, 4), (1, 1), (6, 11)]),
    "bergamot": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=18, heads=3, d_ff=25, norm="post",
                   positions="tensor2tensor", tied="all", tied_bias=True, zero_start=True,
                   decoder_self_attention="ssru", source_vocabulary=24, target_vocabulary=24),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 7)]),
    "rms_norm_gated_swish": dict(
        model=dict(encoder_layers=2, decoder_layers=1, d_model=20, heads=2, d_ff=27, norm="pre", norm_kind="rms", norm_eps=1e-5,
                   activation="swish", gated=True, embedding_norm=True, source_vocabulary=17, target_vocabulary=23),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 7)]),
    "rms_norm_post_gated_relu": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=18, heads=3, d_ff=33, norm="post", norm_kind="rms", norm_eps=1e-3,
                   gated=True, decoder_d_ff=19, tied="all", source_vocabulary=26, target_vocabulary=26),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 7)]),
    "gated_gelu": dict(
        model=dict(encoder_layers=1, decoder_layers=1, d_model=16, heads=2, d_ff=40, norm="pre", activation="gelu", gated=True,
                   tied="output", source_vocabulary=19, target_vocabulary=21),
        lengths=[(12, 4), (1, 1), (6, 11)]),
}
# Lengths of a language model's sources are 0.
FIXTURES |= {
    "language_model": dict(
        model=dict(kind="language_model", encoder_layers=1, decoder_layers=3, d_model=20, heads=2, d_ff=31, norm="pre",
                   norm_kind="rms", activation="swish", gated=True, tied="output", embedding_norm=True,
                   source_vocabulary=27, target_vocabulary=27),
        lengths=[(0, 6), (0, 0), (0, 1), (0, 13)]),
    "language_model_post_norm": dict(
        model=dict(kind="language_model", encoder_layers=1, decoder_layers=2, d_model=18, heads=3, d_ff=25, norm="post",
                   activation="gelu", positions="learned", max_positions=12, source_vocabulary=21, target_vocabulary=21),
        training=dict(label_smoothing=0.0),
        lengths=[(0, 11), (0, 3), (0, 1)]),
}
# Whose attention knows distances.
FIXTURES |= {
    "rotary_tied_inputs": dict(
        model=dict(encoder_layers=2, decoder_layers=1, d_model=16, heads=2, d_ff=24, norm="pre", activation="gelu",
                   positions="rotary", rotary_base=50, head_width=6, tied="inputs", source_vocabulary=23, target_vocabulary=23),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 17)]),
    "alibi_post_norm": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=18, heads=3, d_ff=25, norm="post", activation="swish",
                   positions="alibi", decoder_heads=2, tied="output", source_vocabulary=17, target_vocabulary=19),
        lengths=[(12, 4), (1, 1), (6, 11)]),
    "t5_gated_rms_norm": dict(
        model=dict(encoder_layers=2, decoder_layers=2, d_model=20, heads=2, d_ff=27, norm="pre", norm_kind="rms",
                   activation="gelu_tanh", gated=True, positions="t5", position_buckets=8, max_distance=10, head_width=7,
                   embedding_scale=1, tied="all", source_vocabulary=26, target_vocabulary=26),
        training=dict(factor=0.02),
        lengths=[(15, 4), (1, 1), (6, 18)]),
    "relative_distances": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=16, heads=4, d_ff=25, norm="pre", activation="gelu",
                   positions="none", relative_distance=3, source_vocabulary=15, target_vocabulary=21),
        lengths=[(12, 4), (1, 1), (6, 11)]),
    "query_key_norm": dict(
        model=dict(encoder_layers=1, decoder_layers=2, d_model=18, heads=3, d_ff=25, norm="post", query_key_norm=True,
                   norm_eps=1e-3, decoder_heads=2, tied="output", source_vocabulary=17, target_vocabulary=19),
        lengths=[(5, 6), (1, 0), (3, 1), (9, 7)]),
    "query_key_norm_rotary": dict(
        model=dict(encoder_layers=2, decoder_layers=1, d_model=16, heads=2, d_ff=24, norm="pre", activation="gelu",
                   positions="rotary", query_key_norm=True, tied="all", source_vocabulary=23, target_vocabulary=23),
        lengths=[(12, 4), (1, 1), (6, 11)]),
}
CONSTANTS = ("encoder.positions", "decoder.positions")  # with positions = "stored"


# --- parameters ---------------------------------------------------------------------------------------------

def parameter_shapes(c):
    d, d_ff = c["d_model"], c["d_ff"]
    shapes = {}
    stacks = ["encoder", "decoder"] if c["kind"] == "translation" else ["decoder"]
    sides = ["source", "target"][-len(stacks):]

    def norm(name):
        shapes[f"{name}.gain"] = (d,)
        if c["norm_kind"] == "layer":
            shapes[f"{name}.bias"] = (d,)

    def linear(name, rows, columns):
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (rows, columns), (columns,)

    def feed_forward(name, d_ff):
        norm(f"{name}.norm")
        linear(f"{name}.inner", d, d_ff)
        linear(f"{name}.outer", d_ff, d)
        if c["gated"]:
            linear(f"{name}.value", d, d_ff)

    def attention_width(name):
        return heads_of(c, name) * c["head_width"] or d

    def self_attention(name):
        width = attention_width(name)
        norm(f"{name}.norm")
        linear(f"{name}.qkv", d, 3 * width)
        linear(f"{name}.output", width, d)
        if c["relative_distance"]:
            for kind in ("keys", "values"):
                shapes[f"{name}.distance_{kind}"] = (2 * c["relative_distance"] + 1, width // heads_of(c, name))

    def cross_attention(name):
        width = attention_width(name)
        norm(f"{name}.norm")
        linear(f"{name}.query", d, width)
        linear(f"{name}.key_value", d, 2 * width)
        linear(f"{name}.output", width, d)

    if c["tied"] in ("all", "inputs"):
        shapes["shared_embedding.weight"] = (c["source_vocabulary"], d)
    else:
        shapes |= {f"{side}_embedding.weight": (c[f"{side}_vocabulary"], d) for side in sides}
    if c["positions"] == "learned":
        shapes |= {f"{side}_positions.weight": (c["max_positions"], d) for side in sides}
    if c["positions"] == "stored":
        shapes |= {f"{stack}.positions": (c["max_positions"], d) for stack in stacks}
    if c["positions"] == "t5":
        shapes |= {f"{stack}.position_bias": (c["position_buckets"], heads_of(c, stack)) for stack in stacks}
    if c["embedding_norm"]:
        for stack in stacks:
            norm(f"{stack}.embedding_norm")
    for n in range(c["encoder_layers"] if "encoder" in stacks else 0):
        self_attention(f"encoder.layers.{n}.self_attention")
        feed_forward(f"encoder.layers.{n}.feed_forward", d_ff)
    for n in range(c["decoder_layers"]):
        if c["decoder_self_attention"] == "ssru":
            norm(f"decoder.layers.{n}.ssru.norm")
            linear(f"decoder.layers.{n}.ssru.gate_and_input", d, 2 * d)
        else:
            self_attention(f"decoder.layers.{n}.self_attention")
        if "encoder" in stacks:
            cross_attention(f"decoder.layers.{n}.cross_attention")
        feed_forward(f"decoder.layers.{n}.feed_forward", c["decoder_d_ff"] or d_ff)
    if c["norm"] == "pre":
        for stack in stacks:
            norm(f"{stack}.norm")
    if c["tied"] in ("none", "inputs"):
        shapes["generator.weight"] = (c["target_vocabulary"], d)
    if c["tied"] in ("none", "inputs") or c["tied_bias"]:
        shapes["generator.bias"] = (c["target_vocabulary"],)
    return shapes


def random_parameters(c, dice):
    def value(name, shape):
        if name.endswith(".gain"):
            return 1 + 0.3 * dice.gauss(0, 1)
        if name.endswith(".bias"):
            return 0.3 * dice.gauss(0, 1)
        if "embedding" in name or name.startswith("generator"):
            return dice.gauss(0, 1) * c["d_model"] ** -0.5
        if "position" in name or "distance" in name:
            return 0.5 * dice.gauss(0, 1)
        return dice.gauss(0, 1) * shape[0] ** -0.5

    parameters = {}
    for name, shape in parameter_shapes(c).items():
        # Rounded to 32 bits, so that C++ reads from the file exactly the values used here.
        values = torch.tensor([value(name, shape) for _ in range(math.prod(shape))]).float().double().reshape(shape)
        parameters[name] = values.requires_grad_(name not in CONSTANTS)
    return parameters


# --- the model ----------------------------------------------------------------------------------------------

def heads_of(c, name):
    return name.startswith("decoder") and c["decoder_heads"] or c["heads"]


def rotated(x, base):
    """Each pair of columns (i, i + half) by the angle of its row."""
    half = x.shape[1] // 2
    angles = torch.arange(len(x), dtype=torch.float64)[:, None] * base ** (-torch.arange(half, dtype=torch.float64) / half)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[:, :half], x[:, half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=1)


def alibi_slope(head, heads):
    below = 2 ** math.floor(math.log2(heads))
    return 2 ** (-8 * (head + 1) / below) if head < below else 2 ** (-8 * (2 * (head - below) + 1) / (2 * below))


def t5_bucket(distance, both_directions, c):
    count, first, far = c["position_buckets"], 0, max(-distance, 0)
    if both_directions:
        count, far = count // 2, abs(distance)
        first = count if distance > 0 else 0
    if far < count // 2:
        return first + far
    share = math.log(far / (count // 2)) / math.log(c["max_distance"] / (count // 2))
    return first + min(count // 2 + int(share * (count - count // 2)), count - 1)


def position_table(kind, first, length, d):
    rows = []
    for position in range(first, first + length):
        row = []
        for column in range(d):
            if kind in ("tensor2tensor", "halves"):
                timescale = 10000 ** ((column % (d // 2)) / (d // 2 - (1 if kind == "tensor2tensor" else 0)))
                wave = math.sin if column < d // 2 else math.cos
            else:
                exponent = 2 * column if kind == "raw_index" else 2 * (column // 2)
                timescale = 10000 ** (exponent / d)
                wave = math.sin if column % 2 == 0 else math.cos
            row.append(wave(position / timescale))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)


def activation(kind, x):
    if kind == "relu":
        return torch.where(x > 0, x, torch.zeros_like(x))
    if kind == "gelu":
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    if kind == "gelu_tanh":
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    if kind == "gelu_sigmoid":
        return x * torch.sigmoid(1.702 * x)
    return x / (1 + torch.exp(-x))


class Model:
    """One sentence at a time. p: the parameters by name; c: the configuration."""

    def __init__(self, c, p):
        self.c, self.p = c, p
        self.kink = math.inf  # the smallest absolute value of an argument of relu

    def linear(self, name, x):
        return x @ self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def divided_by_root_mean_square(self, x):
        return x / torch.sqrt((x ** 2).mean(dim=1, keepdim=True) + self.c["norm_eps"])

    def norm(self, name, x):
        if self.c["norm_kind"] == "rms":
            return self.divided_by_root_mean_square(x) * self.p[f"{name}.gain"]
        centred = x - x.mean(dim=1, keepdim=True)
        variance = (centred ** 2).mean(dim=1, keepdim=True)
        return centred / torch.sqrt(variance + self.c["norm_eps"]) * self.p[f"{name}.gain"] + self.p[f"{name}.bias"]

    def sublayer(self, name, x, function):
        if self.c["norm"] == "pre":
            return x + function(self.norm(f"{name}.norm", x))
        return self.norm(f"{name}.norm", x + function(x))

    def heads(self, name, q, k, v, causal, distances=None):
        """distances: of each key from each query, in self-attention."""
        count = heads_of(self.c, name)
        width = q.shape[1] // count
        outputs = []
        for h in range(count):
            columns = slice(h * width, (h + 1) * width)
            head_q, head_k, head_v = q[:, columns], k[:, columns], v[:, columns]
            if self.c["query_key_norm"]:
                head_q, head_k = (self.divided_by_root_mean_square(m) for m in (head_q, head_k))
            if distances is not None and self.c["positions"] == "rotary":
                head_q, head_k = (rotated(m, self.c["rotary_base"]) for m in (head_q, head_k))
            scores = head_q @ head_k.T
            if distances is not None and self.c["relative_distance"]:
                near = distances.clamp(-self.c["relative_distance"], self.c["relative_distance"]) + self.c["relative_distance"]
                scores = scores + (head_q[:, None] * self.p[f"{name}.distance_keys"][near]).sum(-1)
            scores = scores / math.sqrt(width)
            if distances is not None:
                scores = scores + torch.as_tensor(self.distance_bias(name, h, count, distances)).to(scores.dtype)
            if causal:
                future = torch.ones_like(scores).triu(diagonal=1).bool()
                scores = scores.masked_fill(future, -math.inf)
            weights = torch.softmax(scores, dim=1)
            output = weights @ head_v
            if distances is not None and self.c["relative_distance"]:
                output = output + (weights[:, :, None] * self.p[f"{name}.distance_values"][near]).sum(1)
            outputs.append(output)
        return torch.cat(outputs, dim=1)

    def distance_bias(self, name, head, heads, distances):
        if self.c["positions"] == "alibi":
            return -alibi_slope(head, heads) * distances.abs().double()
        if self.c["positions"] != "t5":
            return 0
        stack = name.split(".")[0]
        buckets = [[t5_bucket(d, stack == "encoder", self.c) for d in row] for row in distances.tolist()]
        return self.p[f"{stack}.position_bias"][torch.tensor(buckets), head]

    def self_attention(self, name, x, causal):
        q, k, v = self.linear(f"{name}.qkv", x).chunk(3, dim=1)
        places = torch.arange(len(x))
        distances = places[None, :] - places[:, None]
        return self.linear(f"{name}.output", self.heads(name, q, k, v, causal, distances))

    def recurrent_unit(self, name, x):
        gate, added = self.linear(f"{name}.gate_and_input", x).chunk(2, dim=1)
        keep, state, states = torch.sigmoid(gate), torch.zeros_like(added[0]), []
        for row in range(len(x)):
            state = keep[row] * state + (1 - keep[row]) * added[row]
            states.append(state)
        states = torch.stack(states)
        self.kink = min(self.kink, states.detach().abs().min().item())
        return torch.where(states > 0, states, torch.zeros_like(states))

    def cross_attention(self, name, x, memory):
        k, v = self.linear(f"{name}.key_value", memory).chunk(2, dim=1)
        return self.linear(f"{name}.output", self.heads(name, self.linear(f"{name}.query", x), k, v, causal=False))

    def feed_forward(self, name, x):
        inner = self.linear(f"{name}.inner", x)
        self.kink = min(self.kink, inner.detach().abs().min().item())
        activated = activation(self.c["activation"], inner)
        if self.c["gated"]:
            activated = activated * self.linear(f"{name}.value", x)
        return self.linear(f"{name}.outer", activated)

    def embed(self, side, ids):
        stack = "encoder" if side == "source" else "decoder"
        table = self.p["shared_embedding.weight" if self.c["tied"] in ("all", "inputs") else f"{side}_embedding.weight"]
        if self.c["positions"] == "learned":
            positions = self.p[f"{side}_positions.weight"][:len(ids)]
        elif self.c["positions"] == "stored":
            positions = self.p[f"{stack}.positions"][:len(ids)]
        elif self.c["positions"] in ("rotary", "alibi", "t5", "none"):
            positions = torch.zeros(1)
        else:
            positions = position_table(self.c["positions"], self.c["position_offset"], len(ids), self.c["d_model"])
        words = table[ids] * (self.c["embedding_scale"] or math.sqrt(self.c["d_model"]))
        if self.c["zero_start"] and side == "target":
            words = torch.cat([torch.zeros_like(words[:1]), words[1:]])
        x = words + positions.to(table.dtype)
        return self.norm(f"{stack}.embedding_norm", x) if self.c["embedding_norm"] else x

    def end_of_stack(self, name, x):
        return self.norm(name, x) if self.c["norm"] == "pre" else x

    def encode(self, ids):
        x = self.embed("source", ids)
        for n in range(self.c["encoder_layers"]):
            layer = f"encoder.layers.{n}"
            x = self.sublayer(f"{layer}.self_attention", x,
                              lambda y: self.self_attention(f"{layer}.self_attention", y, causal=False))
            x = self.sublayer(f"{layer}.feed_forward", x, lambda y: self.feed_forward(f"{layer}.feed_forward", y))
        return self.end_of_stack("encoder.norm", x)

    def decode(self, memory, ids):
        x = self.embed("target", ids)
        for n in range(self.c["decoder_layers"]):
            layer = f"decoder.layers.{n}"
            if self.c["decoder_self_attention"] == "ssru":
                x = self.sublayer(f"{layer}.ssru", x, lambda y: self.recurrent_unit(f"{layer}.ssru", y))
            else:
                x = self.sublayer(f"{layer}.self_attention", x,
                                  lambda y: self.self_attention(f"{layer}.self_attention", y, causal=True))
            if memory is not None:
                x = self.sublayer(f"{layer}.cross_attention", x,
                                  lambda y: self.cross_attention(f"{layer}.cross_attention", y, memory))
            x = self.sublayer(f"{layer}.feed_forward", x, lambda y: self.feed_forward(f"{layer}.feed_forward", y))
        return self.end_of_stack("decoder.norm", x)

    def logits(self, source, target_input):
        x = self.decode(self.encode(source) if self.c["kind"] == "translation" else None, target_input)
        tables = {"none": "generator.weight", "inputs": "generator.weight", "output": "target_embedding.weight", "all": "shared_embedding.weight"}
        x = x @ self.p[tables[self.c["tied"]]].T
        return x + self.p["generator.bias"] if "generator.bias" in self.p else x


# --- loss and training --------------------------------------------------------------------------------------

def smoothed_targets(t, targets, size):
    amount = t["label_smoothing"]
    if t["smoothing_over"] == "others":
        rows = torch.full((len(targets), size), amount / (size - 1), dtype=torch.float64)
        rows[range(len(targets)), targets] = 1 - amount
    else:
        rows = torch.full((len(targets), size), amount / size, dtype=torch.float64)
        rows[range(len(targets)), targets] += 1 - amount
    return rows


def losses(t, logits, targets):
    """The two sums over the tokens: the smoothed cross-entropy and -log p(target)."""
    log_p = torch.log_softmax(logits, dim=1)
    wanted = smoothed_targets(t, targets, logits.shape[1]).to(logits.dtype)
    return -(wanted * log_p).sum(), -log_p[range(len(targets)), targets].sum()


def all_logits(model, sentences):
    return torch.cat([model.logits(source, [START] + words) for source, words in sentences])


def all_targets(sentences):
    return [token for _, words in sentences for token in words + [END]]


def adam_losses(c, t, start, sentences, dtype):
    p = {name: value.detach().to(dtype, copy=True).requires_grad_(value.requires_grad) for name, value in start.items()}
    trained = [value for value in p.values() if value.requires_grad]
    optimizer = torch.optim.Adam(trained, betas=(t["beta1"], t["beta2"]), eps=t["epsilon"])
    targets, result = all_targets(sentences), []
    for step in range(1, ADAM_UPDATES + 1):
        optimizer.zero_grad()
        loss = losses(t, all_logits(Model(c, p), sentences), targets)[0] / len(targets)
        loss.backward()
        result.append(loss.item())
        rate = t["factor"] * c["d_model"] ** -0.5 * min(step ** -0.5, step * t["warmup"] ** -1.5)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    return result


# --- files --------------------------------------------------------------------------------------------------

def write_safetensors(path, metadata, tensors):
    header, offset = {"__metadata__": metadata}, 0
    for name, array in tensors.items():
        kind = {"float32": "F32", "int32": "I32"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(array.astype(array.dtype.newbyteorder("<")).tobytes())


def make(name, fixture, folder):
    written = MODEL_DEFAULTS | fixture["model"]
    c = LATER_DEFAULTS | written
    t = TRAINING_DEFAULTS | fixture.get("training", {})
    dice = random.Random(name)

    def words(count, vocabulary):
        return [dice.randrange(FIRST_WORD, vocabulary) for _ in range(count)]

    sentences = [(words(m, c["source_vocabulary"]), words(n, c["target_vocabulary"])) for m, n in fixture["lengths"]]
    p = random_parameters(c, dice)
    model = Model(c, p)
    logits = all_logits(model, sentences)
    smoothed, likelihood = losses(t, logits, all_targets(sentences))
    smoothed.backward()

    # 32-bit floats must be able to reproduce a fixture: no relu argument near zero, no chaotic training.
    adam = adam_losses(c, t, p, sentences, torch.float64)
    drift = max(abs(a / b - 1) for a, b in zip(adam_losses(c, t, p, sentences, torch.float32), adam))
    assert drift < 2e-5, f"{name}: Adam's losses differ by {drift:.1e} between 32 and 64 bits; use another rate"
    assert c["activation"] != "relu" or model.kink > 1e-5, f"{name}: relu at {model.kink:.1e}; use another seed"

    floats = {f"parameter/{key}": value for key, value in p.items()}
    floats |= {f"gradient/{key}": value.grad for key, value in p.items() if value.requires_grad}
    floats |= {"logits": logits, "loss": torch.tensor([smoothed.item(), likelihood.item()], dtype=torch.float64),
               "adam_losses": torch.tensor(adam, dtype=torch.float64)}
    integers = {"source_ids": [token for source, _ in sentences for token in source],
                "source_lengths": [len(source) for source, _ in sentences],
                "target_input": [token for _, target in sentences for token in [START] + target],
                "target_output": all_targets(sentences),
                "target_lengths": [len(target) + 1 for _, target in sentences]}
    tensors = {key: numpy.array(value, dtype=numpy.int32) for key, value in integers.items()}
    tensors |= {key: value.detach().numpy().astype(numpy.float32) for key, value in floats.items()}
    path = folder / f"{name}.safetensors"
    write_safetensors(path, {"config": json.dumps(written), "training": json.dumps(t)}, tensors)
    print(f"{path.name}: {path.stat().st_size} bytes, loss {adam[0]:.4f} to {adam[-1]:.4f}, drift {drift:.1e}")


def main():
    torch.set_num_threads(1)
    folder = pathlib.Path(__file__).parent / "fixtures"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIXTURES:
        make(name, FIXTURES[name], folder)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes fixtures/explanation.json: the numbers that `dragoman explain` should show for sentences of two fixtures.

    python3 tests/golden/make_explanation_golden.py        (needs nothing but Python)

The paper's Transformer in loops over lists of 64-bit floats, which read as its formulas do. Nothing is shared with the
C++ code, nor with make_golden.py, whose random parameters this reads. The tables have the names and places of
`dragoman explain --format json`, for the first layer and the second head.
"""

import json
import math
import pathlib
import struct

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
HEAD, BEST = 1, 5


def read_fixture(name):
    data = (FIXTURES / f"{name}.safetensors").read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    tensors = {}
    for tensor, entry in header.items():
        if tensor == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        form = {"F32": "f", "I32": "i", "I64": "q"}[entry["dtype"]]
        values = list(struct.unpack(f"<{(end - begin) // struct.calcsize(form)}{form}", data[begin:end]))
        if len(entry["shape"]) == 2:
            columns = entry["shape"][1]
            values = [values[i:i + columns] for i in range(0, len(values), columns)]
        tensors[tensor] = values
    metadata = header["__metadata__"]
    return json.loads(metadata["config"]), json.loads(metadata["training"]), tensors


# --- matrices are lists of rows

def product(a, b):
    columns = list(zip(*b))
    return [[math.sumprod(row, column) if hasattr(math, "sumprod") else sum(x * y for x, y in zip(row, column))
             for column in columns] for row in a]


def transposed(a):
    return [list(row) for row in zip(*a)]


def plus(a, b):
    return [[x + y for x, y in zip(row, other)] for row, other in zip(a, b)]


def columns_of(a, begin, count):
    return [row[begin:begin + count] for row in a]


def softmax(row):
    exponentials = [math.exp(score - max(row)) for score in row]
    return [e / sum(exponentials) for e in exponentials]


class Model:
    def __init__(self, config, parameters):
        self.config, self.parameters, self.tables = config, parameters, {}

    def keep(self, step, section, **tables):
        self.tables.setdefault(step, {}).setdefault(section, {}).update(tables)

    def linear(self, x, name):
        bias = self.parameters[f"{name}.bias"]
        return [[y + b for y, b in zip(row, bias)] for row in product(x, self.parameters[f"{name}.weight"])]

    def norm(self, x, name, section=None):
        gain, bias = self.parameters[f"{name}.gain"], self.parameters[f"{name}.bias"]
        rows, moments = [], []
        for row in x:
            mean = sum(row) / len(row)
            variance = sum((value - mean) ** 2 for value in row) / len(row)
            root = math.sqrt(variance + self.config["norm_eps"])
            moments.append([mean, variance, root])
            rows.append([(value - mean) / root * g + b for value, g, b in zip(row, gain, bias)])
        if section:
            self.keep("norm", section, moments=moments, parameters=[gain, bias], after=rows)
        return rows

    # Embeddings and the paper's positions.
    def embedded(self, ids, side, table):
        d = self.config["d_model"]
        rows = [self.parameters[table][i] for i in ids]
        scaled = [[value * math.sqrt(d) for value in row] for row in rows]
        positions = [[(math.sin if c % 2 == 0 else math.cos)(p / 10000 ** ((c - c % 2) / d)) for c in range(d)]
                     for p in range(len(ids))]
        x = plus(scaled, positions)
        self.keep("embedding", side, rows=rows, scaled=scaled)
        self.keep("positions", side, positions=positions, sum=x)
        return x

    def attention(self, q, k, v, causal, name, section):
        width = len(q[0]) // self.config["heads"]
        heads = []
        for h in range(self.config["heads"]):
            q_h, k_h, v_h = (columns_of(m, h * width, width) for m in (q, k, v))
            scores = [[score / math.sqrt(width) for score in row] for row in product(q_h, transposed(k_h))]
            if causal:
                scores = [[-math.inf if j > i else s for j, s in enumerate(row)] for i, row in enumerate(scores)]
            weights = [softmax(row) for row in scores]
            heads.append(product(weights, v_h))
            if section and h == HEAD:
                self.keep("attention", section, q=q_h, k=k_h, v=v_h, head=heads[-1],
                          scores=[[None if s == -math.inf else s for s in row] for row in scores],
                          weights=[row + [sum(row)] for row in weights])
        joined = [sum(rows, []) for rows in zip(*heads)]
        output = self.linear(joined, f"{name}.output")
        if section:
            self.keep("attention", section, concatenated=joined, output=output)
        return output

    def self_attention(self, x, name, causal, section):
        if section:
            self.keep("attention", section, x=x)
        qkv = self.linear(x, f"{name}.qkv")
        d = len(qkv[0]) // 3
        q, k, v = (columns_of(qkv, i * d, d) for i in range(3))
        return self.attention(q, k, v, causal, name, section)

    def cross_attention(self, x, memory, name, section):
        if section:
            self.keep("attention", section, x=x, memory=memory)
        kv = self.linear(memory, f"{name}.key_value")
        d = len(kv[0]) // 2
        return self.attention(self.linear(x, f"{name}.query"), columns_of(kv, 0, d), columns_of(kv, d, d), False,
                              name, section)

    def feed_forward(self, x, name, section):
        inner = [[max(0.0, value) for value in row] for row in self.linear(x, f"{name}.inner")]
        output = self.linear(inner, f"{name}.outer")
        if section:
            zeros = [sum(value == 0 for value in row) for row in inner]
            self.keep("feed-forward", section, x=x, inner=inner, output=output,
                      activity=[[len(inner[0]), z, len(inner[0]) - z] for z in zeros])
        return output

    def sublayer(self, x, name, function, section=None):
        if self.config["norm"] == "pre":
            branch = function(self.norm(x, f"{name}.norm", section))
            total = plus(x, branch)
            result = total
        else:
            branch = function(x)
            total = plus(x, branch)
            result = self.norm(total, f"{name}.norm", section)
        if section:
            self.keep("norm", section, x=x, sublayer=branch, sum=total)
        return result

    def encode(self, ids):
        x = self.embedded(ids, "source", self.table("source"))
        for n in range(self.config["encoder_layers"]):
            name, section = f"encoder.layers.{n}", "encoder" if n == 0 else None
            x = self.sublayer(x, f"{name}.self_attention",
                              lambda y: self.self_attention(y, f"{name}.self_attention", False, section), section)
            x = self.sublayer(x, f"{name}.feed_forward",
                              lambda y: self.feed_forward(y, f"{name}.feed_forward", section))
        return self.norm(x, "encoder.norm") if self.config["norm"] == "pre" else x

    def decode(self, ids, memory):
        x = self.embedded(ids, "target", self.table("target"))
        for n in range(self.config["decoder_layers"]):
            name, first = f"decoder.layers.{n}", n == 0
            section = "decoder" if first else None
            x = self.sublayer(x, f"{name}.self_attention",
                              lambda y: self.self_attention(y, f"{name}.self_attention", True, section), section)
            x = self.sublayer(x, f"{name}.cross_attention",
                              lambda y: self.cross_attention(y, memory, f"{name}.cross_attention",
                                                             "cross" if first else None))
            x = self.sublayer(x, f"{name}.feed_forward",
                              lambda y: self.feed_forward(y, f"{name}.feed_forward", section))
        return self.norm(x, "decoder.norm") if self.config["norm"] == "pre" else x

    def table(self, side):
        return "shared_embedding.weight" if self.config["tied"] == "all" else f"{side}_embedding.weight"

    # The smoothed loss of the sentence.
    def loss(self, source, read, expected, epsilon):
        decoded = self.decode(read, self.encode(source))
        tied = self.config["tied"] == "all"
        logits = product(decoded, transposed(self.parameters[self.table("target") if tied else "generator.weight"]))
        if not tied:
            logits = [[x + b for x, b in zip(row, self.parameters["generator.bias"])] for row in logits]
        log_sums = [max(row) + math.log(sum(math.exp(x - max(row)) for x in row)) for row in logits]
        log_p = [[x - log_sum for x in row] for row, log_sum in zip(logits, log_sums)]
        words = len(logits[0])
        losses = [-(1 - epsilon) * row[word] - epsilon / words * sum(row) for row, word in zip(log_p, expected)]
        plain = [-row[word] for row, word in zip(log_p, expected)]
        self.keep("output", "decoder", decoded=decoded)
        self.keep("output", "words", logits=logits)
        ranks = [1 + sum(x > row[word] for x in row) for row, word in zip(logits, expected)]
        self.keep("output", "words", expected=[
            [f"t{word}", row[word], log_sum, row[word] - log_sum, math.exp(row[word] - log_sum), rank]
            for row, word, log_sum, rank in zip(logits, expected, log_sums, ranks)])
        best = [sorted(range(words), key=lambda word: -row[word])[:BEST] for row in logits]
        self.keep("output", "words", best=[
            sum(([f"t{word}", math.exp(row[word])] for word in of_row), []) for row, of_row in zip(log_p, best)])
        total, count = sum(losses), len(losses)
        self.keep("loss", "sentence", tokens=[list(pair) for pair in zip(plain, losses)],
                  totals=[[sum(plain), total], [sum(plain) / count, total / count],
                          [math.exp(sum(plain) / count), None]])
        right, other = 1 - epsilon + epsilon / words, epsilon / words
        first, rest = log_p[0][expected[0]], sum(log_p[0]) - log_p[0][expected[0]]
        self.keep("loss", "smoothing", target=[
            [1, right, right, first, -right * first],
            [words - 1, other, other * (words - 1), rest, -other * rest],
            [words, None, 1, first + rest, -right * first - other * rest]])
        return total


# The slopes of the loss in the elements of a vector.
def slopes(model, arguments, vector):
    h, found = 1e-5, []
    for i, value in enumerate(vector):
        sides = []
        for vector[i] in (value + h, value - h):
            sides.append(model.loss(*arguments))
        vector[i] = value
        found.append((sides[0] - sides[1]) / (2 * h))
    return found


def explained(name, sentence):
    config, training, tensors = read_fixture(name)
    parameters = {key.removeprefix("parameter/"): value for key, value in tensors.items() if key.startswith("parameter/")}
    model = Model(config, parameters)
    sides = []
    for side, lengths in (("source_ids", "source_lengths"), ("target_input", "target_lengths"),
                          ("target_output", "target_lengths")):
        begin = sum(tensors[lengths][:sentence])
        sides.append(tensors[side][begin:begin + tensors[lengths][sentence]])
    arguments = (*sides, training["label_smoothing"])
    weight = "encoder.layers.0.self_attention.output.bias"
    gradient = slopes(model, arguments, parameters[weight])
    model.loss(*arguments)
    return {"fixture": name, "source": sides[0], "read": sides[1], "expected": sides[2],
            "smoothing": training["label_smoothing"], "weight": weight, "gradient": gradient, "steps": model.tables}


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    cases = [explained("post_norm_sinusoidal", 0), explained("pre_norm_tied_all", 0)]
    (FIXTURES / "explanation.json").write_text(json.dumps(rounded(cases)) + "\n")

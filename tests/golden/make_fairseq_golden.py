#!/usr/bin/env python3
"""Makes tests/golden/fixtures/fairseq/: small trained models as fairseq saves them, and what they compute.

    python3 -m venv venv && venv/bin/pip install torch sentencepiece
    venv/bin/python tests/golden/make_fairseq_golden.py

fairseq itself does not install on today's Python. The model here is its Transformer written down once more with
PyTorch's functions: token embeddings times √d, tensor2tensor's positions from 2, layers before or after their norms.
Each folder has a checkpoint with fairseq's names of tensors and options, the dictionaries and the SentencePiece file,
and a reference.json: for each source line its ids, the log-probabilities of given targets, and the greedy output.
"""
import argparse
import collections
import io
import json
import math
import pathlib
import random
import shutil
import sys

import sentencepiece
import torch
import torch.nn.functional as F

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures/fairseq"
WORDS = {"the": "la", "cat": "chatte", "dog": "chienne", "bird": "poule", "sees": "voit", "likes": "aime", "hears": "entend",
         "a": "une", "house": "maison", "river": "rivière"}
LINES = ["the cat sees a dog", "a bird likes the house", "the  river hears", "the café sees ß", "a cat", "the dog likes a river"]
D, HEADS, FFN, EOS = 16, 4, 24, 2


def pairs(count):
    draw = random.Random(1)
    for _ in range(count):
        words = []
        for _ in range(draw.randint(1, 3)):
            words += [draw.choice(["the", "a"]), draw.choice(["cat", "dog", "bird", "house", "river"]), draw.choice(["sees", "likes", "hears"])]
        words = words[:draw.randint(2, len(words))]
        yield " ".join(words), " ".join(WORDS[w] for w in words)


def sinusoidal(rows):
    half = D // 2
    rates = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    angles = torch.arange(rows)[:, None] * rates[None]
    return torch.cat([angles.sin(), angles.cos()], 1)


class Model:
    """The tensors by fairseq's names, and the functions of its Transformer."""

    def __init__(self, args, source_rows, target_rows):
        self.args = args
        torch.manual_seed(1)
        self.t = collections.OrderedDict()
        self.matrix("encoder.embed_tokens.weight", source_rows, D)
        self.matrix("decoder.embed_tokens.weight", target_rows, D)
        if args.share_all_embeddings:
            self.t["decoder.embed_tokens.weight"] = self.t["encoder.embed_tokens.weight"]
        shared = args.share_all_embeddings or args.share_decoder_input_output_embed
        if shared:
            self.t["decoder.output_projection.weight"] = self.t["decoder.embed_tokens.weight"]
        else:
            self.matrix("decoder.embed_out", target_rows, D)
        for side in ("encoder", "decoder"):
            if args.encoder_learned_pos:
                self.matrix(f"{side}.embed_positions.weight", args.max_source_positions + 2, D)
            for i in range(args.encoder_layers):
                at = f"{side}.layers.{i}."
                self.attention(at + "self_attn.")
                if side == "decoder":
                    self.attention(at + "encoder_attn.")
                    self.norm(at + "encoder_attn_layer_norm")
                self.norm(at + "self_attn_layer_norm")
                self.norm(at + "final_layer_norm")
                self.linear(at + "fc1", D, FFN)
                self.linear(at + "fc2", FFN, D)
            if args.encoder_normalize_before:
                self.norm(side + ".layer_norm")

    def matrix(self, name, rows, columns):
        self.t[name] = (torch.randn(rows, columns) * D ** -0.5).requires_grad_()

    def linear(self, name, inputs, outputs):
        self.matrix(name + ".weight", outputs, inputs)
        self.t[name + ".bias"] = (torch.randn(outputs) * 0.1).requires_grad_()

    def norm(self, name):
        self.t[name + ".weight"] = (1 + torch.randn(D) * 0.1).requires_grad_()
        self.t[name + ".bias"] = (torch.randn(D) * 0.1).requires_grad_()

    def attention(self, at):
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            self.linear(at + name, D, D)

    def apply(self, name, x):
        return F.linear(x, self.t[name + ".weight"], self.t[name + ".bias"])

    def attend(self, at, x, memory, mask):
        def heads(y):
            return y.view(y.shape[0], -1, HEADS, D // HEADS).transpose(1, 2)
        q, k, v = (heads(self.apply(at + n, y)) for n, y in (("q_proj", x), ("k_proj", memory), ("v_proj", memory)))
        scores = q @ k.transpose(2, 3) / math.sqrt(D // HEADS) + mask
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape)
        return self.apply(at + "out_proj", mixed)

    def residual(self, norm, x, function):
        def normed(y):
            return F.layer_norm(y, (D,), self.t[norm + ".weight"], self.t[norm + ".bias"])
        return x + function(normed(x)) if self.args.encoder_normalize_before else normed(x + function(x))

    def feed_forward(self, at, x):
        activation = F.gelu if self.args.activation_fn == "gelu" else F.relu
        return self.apply(at + "fc2", activation(self.apply(at + "fc1", x)))

    def stack(self, side, ids, mask, memory=None, memory_mask=None):
        if self.args.encoder_learned_pos:
            positions = self.t[side + ".embed_positions.weight"]
        else:
            positions = sinusoidal(ids.shape[1] + 2)
        x = math.sqrt(D) * self.t[side + ".embed_tokens.weight"][ids] + positions[2:2 + ids.shape[1]]
        for i in range(self.args.encoder_layers):
            at = f"{side}.layers.{i}."
            x = self.residual(at + "self_attn_layer_norm", x, lambda y: self.attend(at + "self_attn.", y, y, mask))
            if memory is not None:
                x = self.residual(at + "encoder_attn_layer_norm", x,
                                  lambda y: self.attend(at + "encoder_attn.", y, memory, memory_mask))
            x = self.residual(at + "final_layer_norm", x, lambda y: self.feed_forward(at, y))
        if self.args.encoder_normalize_before:
            x = F.layer_norm(x, (D,), self.t[side + ".layer_norm.weight"], self.t[side + ".layer_norm.bias"])
        return x

    def logits(self, source, read):
        hidden = (source == 1)[:, None, None] * -1e9
        memory = self.stack("encoder", source, hidden)
        causal = torch.triu(torch.full((read.shape[1], read.shape[1]), -1e9), 1)
        x = self.stack("decoder", read, causal, memory, hidden)
        return F.linear(x, self.t.get("decoder.output_projection.weight", self.t.get("decoder.embed_out")))


def learn_pieces(lines, path):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=50, model_type="bpe",
                                             hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2)
    path.write_bytes(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def dictionary(path, processor, lines):
    """Most frequent pieces first, filled up to a multiple of 8."""
    counts = collections.Counter(piece for line in lines for piece in processor.encode(line, out_type=str))
    tokens = [piece for piece, _ in counts.most_common()]
    fill = -(len(tokens) + 4) % 8
    rows = [(t, counts[t]) for t in tokens] + [(f"madeupword{i:04d}", 0) for i in range(fill)]
    path.write_text("".join(f"{t} {n}\n" for t, n in rows))
    return {t: i for i, t in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + [t for t, _ in rows])}


def padded(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [1] * (longest - len(row)) for row in rows])


def train(model, encoded, updates=1200):
    parameters = list({id(p): p for p in model.t.values()}.values())
    optimizer = torch.optim.Adam(parameters, lr=5e-3)
    draw = random.Random(5)
    for _ in range(updates):
        some = draw.sample(encoded, 24)
        source, target = padded([s for s, _ in some]), padded([[EOS] + t for _, t in some])
        loss = F.cross_entropy(model.logits(source, target[:, :-1]).transpose(1, 2), target[:, 1:], ignore_index=1, label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


@torch.no_grad()
def reference(model, processor, source_ids, target_tokens):
    found = []
    for line in LINES:
        ids = [source_ids.get(p, 3) for p in processor.encode(line, out_type=str)] + [EOS]
        read = [EOS]
        while len(read) < 40 and (len(read) == 1 or read[-1] != EOS):
            row = model.logits(torch.tensor([ids]), torch.tensor([read]))[0, -1]
            row[:2] = -math.inf
            read.append(row.argmax().item())
        target = read[1:]
        targets = []
        for labels in (target, target[-2::-1] + target[-1:]):
            rows = model.logits(torch.tensor([ids]), torch.tensor([[EOS] + labels[:-1]]))[0].double().log_softmax(-1)
            targets.append({"ids": labels, "log_probabilities": [round(rows[i, w].item(), 6) for i, w in enumerate(labels)]})
        found.append({"source": line, "ids": ids, "targets": targets,
                      "greedy": processor.decode_pieces([target_tokens[i] for i in target[:-1]])})
    return found


def before_2019(tensors):
    """Queries, keys and values in one matrix, and norms by number."""
    old = collections.OrderedDict()
    for name, value in tensors.items():
        for today, number in (("self_attn_layer_norm", "0"), ("encoder_attn_layer_norm", "1"),
                              ("final_layer_norm", "2" if name.startswith("decoder") else "1")):
            name = name.replace(today, "layer_norms." + number)
        if "q_proj" in name:
            parts = [tensors[name.replace("q_proj", p)] for p in ("q_proj", "k_proj", "v_proj")]
            old[name.replace("q_proj.", "in_proj_")] = torch.cat(parts)
        elif "k_proj" not in name and "v_proj" not in name:
            old[name] = value
    return old


def make(name, joined, new, **choices):
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    args = argparse.Namespace(
        arch="transformer", encoder_layers=1 + joined, decoder_layers=1 + joined, encoder_embed_dim=D, decoder_embed_dim=D, encoder_ffn_embed_dim=FFN,
        decoder_ffn_embed_dim=FFN, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, decoder_output_dim=D,
        decoder_input_dim=D, dropout=0.1, attention_dropout=0.0, max_source_positions=64, max_target_positions=64,
        adaptive_softmax_cutoff=None, no_token_positional_embeddings=False, source_lang="en", target_lang="fr",
        **{"encoder_normalize_before": False, "encoder_learned_pos": False, "share_all_embeddings": False,
           "share_decoder_input_output_embed": False, "activation_fn": "relu", **choices})
    args.decoder_normalize_before, args.decoder_learned_pos = args.encoder_normalize_before, args.encoder_learned_pos
    both = list(pairs(2000))
    sides = [[s for s, _ in both], [t for _, t in both]]
    processor = learn_pieces(sides[0] + sides[1], folder / "sentencepiece.bpe.model")
    texts = [sides[0] + sides[1]] * 2 if joined else sides
    ids = [dictionary(folder / f"dict.{language}.txt", processor, lines) for language, lines in zip(("en", "fr"), texts)]
    encoded = [[[table.get(p, 3) for p in processor.encode(text, out_type=str)] + [EOS] for table, text in zip(ids, pair)] for pair in both]
    model = Model(args, len(ids[0]), len(ids[1]))
    train(model, encoded)
    halves = {id(p): p.detach().half() for p in model.t.values()}  # half the size; what is shared stays shared
    tensors = collections.OrderedDict((n, halves[id(p)]) for n, p in model.t.items())
    model.t = {n: p.float() for n, p in tensors.items()}
    if not args.encoder_learned_pos:
        for side in ("encoder", "decoder"):
            tensors[side + ".embed_positions._float_tensor"] = torch.zeros(1)
    tensors["encoder.version"] = tensors["decoder.version"] = torch.tensor([3.0])
    if not new:
        tensors = before_2019(tensors)
    checkpoint = {"args": None if new else args, "model": tensors, "optimizer_history": [],
                  "extra_state": {"epoch": 1, "best": 1.0}, "last_optimizer_state": None}
    if new:
        checkpoint["cfg"] = {"_name": None, "model": args, "task": {"_name": "translation", "source_lang": "en", "target_lang": "fr"}}
    torch.save(checkpoint, folder / "model.pt", _use_new_zipfile_serialization=new)
    found = reference(model, processor, ids[0], {i: t for t, i in ids[1].items()})
    (folder / "reference.json").write_text("[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in found) + "\n]\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    makers = {
        "post": lambda: make("post", joined=True, new=True, share_all_embeddings=True),
        "pre": lambda: make("pre", joined=False, new=True, encoder_normalize_before=True, share_decoder_input_output_embed=True,
                            encoder_learned_pos=True, activation_fn="gelu"),
        "old": lambda: make("old", joined=False, new=False)}
    for name in sys.argv[1:] or makers:
        makers[name]()

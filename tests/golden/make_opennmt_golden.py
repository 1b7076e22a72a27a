#!/usr/bin/env python3
"""Makes tests/golden/fixtures/opennmt/: small trained models of OpenNMT-py, and what it computes with them.

    python3 -m venv venv && venv/bin/pip install torch sentencepiece OpenNMT-py
    venv/bin/python tests/golden/make_opennmt_golden.py

v3 is saved as OpenNMT-py 3 saves it; so are gated, which has RMSNorm and gated feed-forward layers, rotary, and
relative, whose attention knows distances beside the positions of its embeddings. v2 has the layout of version 2: the generator in a Sequential, options under their
former names, vocabularies as torchtext's objects, and the first versions' names of norms. Each folder has a
reference.json: for each source line its ids, the log-probabilities of given targets, and the greedy output.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import shutil
import sys
import types

import pyonmttok
import torch
import torch.nn.functional as F
from onmt import opts
from onmt.inputters.inputter import vocabs_to_dict
from onmt.model_builder import build_base_model
from onmt.utils.parse import ArgumentParser
from make_fairseq_golden import LINES, learn_pieces, pairs

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures/opennmt"
SPECIALS = ["<unk>", "<blank>", "<s>", "</s>"]
START, END = 2, 3


def vocabulary(processor, lines):
    counts = collections.Counter(piece for line in lines for piece in processor.encode(line, out_type=str))
    made = pyonmttok.build_vocab_from_tokens([piece for piece, _ in counts.most_common()], special_tokens=SPECIALS)
    made.default_id = 0
    return made


def padded(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [1] * (longest - len(row)) for row in rows])[:, :, None], torch.tensor([len(row) for row in rows])


def logits(model, sources, targets):
    """Of what follows each token of the targets."""
    source, lengths = padded(sources)
    read, _ = padded([t + [1] for t in targets])  # the model drops the last
    out, _ = model(source, read, lengths)
    return model.generator(out)


def train(model, encoded, updates=900):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    draw = random.Random(5)
    model.train()
    for _ in range(updates):
        some = draw.sample(encoded, 24)
        wanted, _ = padded([t + [END] for _, t in some])
        loss = F.cross_entropy(logits(model, [s for s, _ in some], [[START] + t for _, t in some]).transpose(1, 2), wanted[:, :, 0],
                               ignore_index=1, label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    print(f"loss {loss.item():.3f}")


@torch.no_grad()
def reference(model, processor, source, target):
    found = []
    for line in LINES:
        ids = [source[piece] for piece in processor.encode(line, out_type=str)]
        read = [START]
        while len(read) < 40 and read[-1] != END:
            row = logits(model, [ids], [read])[0, -1]
            row[1:3] = -math.inf
            read.append(row.argmax().item())
        said = read[1:]
        targets = []
        for labels in (said, said[-2::-1] + said[-1:]):
            rows = logits(model, [ids], [[START] + labels[:-1]])[0].double().log_softmax(-1)
            targets.append({"ids": labels, "log_probabilities": [round(rows[i, w].item(), 6) for i, w in enumerate(labels)]})
        found.append({"source": line, "ids": ids, "targets": targets,
                      "greedy": processor.decode_pieces([target.ids_to_tokens[i] for i in said[:-1]])})
    return found


def objects_of_torchtext(vocabs):
    """The same lists as objects of classes that pickle knows by these names."""
    def new(module, name, **state):
        for end in [i for i, c in enumerate(module) if c == "."] + [len(module)]:
            sys.modules.setdefault(module[:end], types.ModuleType(module[:end]))
        cls = getattr(sys.modules[module], name, None) or type(name, (), {"__module__": module})
        setattr(sys.modules[module], name, cls)
        made = cls()
        made.__dict__.update(state)
        return made

    def field(side):
        tokens = vocabs[side].ids_to_tokens
        words = new("torchtext.vocab", "Vocab", freqs=collections.Counter(tokens), itos=list(tokens), stoi={t: i for i, t in enumerate(tokens)})
        return new("onmt.inputters.text_dataset", "TextMultiField", fields=[(side, new("torchtext.data.field", "Field", vocab=words, eos_token="</s>"))])
    return {"src": field("src"), "tgt": field("tgt"), "indices": new("torchtext.data.field", "Field", use_vocab=False)}


def version_2(checkpoint, vocabs):
    names = {"layer_norm.weight": "layer_norm.a_2", "layer_norm.bias": "layer_norm.b_2"}
    model = collections.OrderedDict()
    for name, value in checkpoint["model"].items():
        for today, before in names.items():
            name = name.replace(today, before)
        for number in "12":
            name = name.replace(f"layer_norm_{number}.weight", f"layer_norm_{number}.a_2").replace(f"layer_norm_{number}.bias", f"layer_norm_{number}.b_2")
        model[name] = value
    opt = checkpoint["opt"]
    kept = {key: getattr(opt, key) for key in ("encoder_type", "decoder_type", "heads", "transformer_ff", "dropout", "attention_dropout",
                                               "position_encoding", "max_relative_positions", "share_embeddings", "share_decoder_embeddings",
                                               "copy_attn", "generator_function", "self_attn_type", "pos_ffn_activation_fn")}
    kept.update(enc_layers=opt.enc_layers, dec_layers=opt.dec_layers, rnn_size=opt.hidden_size, enc_rnn_size=opt.hidden_size)
    return {"model": model, "generator": {"0." + name: value for name, value in checkpoint["generator"].items()},
            "vocab": objects_of_torchtext(vocabs), "opt": argparse.Namespace(**kept), "optim": {}}


def make(name, joined, old, flags):
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parser = ArgumentParser()
    opts.train_opts(parser)
    opt, _ = parser.parse_known_args(
        ["-data", "{}", "-src_vocab", "none", "-encoder_type", "transformer", "-decoder_type", "transformer", "-enc_layers", "1", "-dec_layers", "1",
         "-hidden_size", "16", "-word_vec_size", "16", "-heads", "4", "-transformer_ff", "24", "-dropout", "0.0",
         "-attention_dropout", "0.0"] + flags)
    ArgumentParser.update_model_opts(opt)
    both = list(pairs(2000))
    sides = [[s for s, _ in both], [t for _, t in both]]
    processor = learn_pieces(sides[0] + sides[1], folder / "sentencepiece.model")
    source = vocabulary(processor, sides[0] + sides[1] if joined else sides[0])
    vocabs = {"src": source, "tgt": source if joined else vocabulary(processor, sides[1]), "data_task": "seq2seq", "decoder_start_token": "<s>"}
    torch.manual_seed(1)
    model = build_base_model(opt, vocabs)
    for name_of, parameter in model.named_parameters():
        if parameter.dim() > 1:
            torch.nn.init.xavier_uniform_(parameter)
        else:
            torch.nn.init.normal_(parameter, float("norm" in name_of and name_of.endswith("weight")), 0.1)
    encoded = [[[vocabs[side][piece] for piece in processor.encode(text, out_type=str)] for side, text in zip(("src", "tgt"), pair)] for pair in both]
    train(model, encoded)
    for parameter in model.parameters():  # saved in 16 bits
        parameter.data = parameter.data.half().float()
    found = reference(model, processor, vocabs["src"], vocabs["tgt"])
    for module in model.modules():  # 5000 rows that it would compute again
        if hasattr(module, "pe") and torch.is_tensor(module.pe):
            module.pe = module.pe[:4].clone()
    model.half()
    checkpoint = {"model": {n: p for n, p in model.state_dict().items() if "generator" not in n}, "generator": model.generator.state_dict(),
                  "vocab": vocabs_to_dict(vocabs), "opt": opt, "optim": {}}
    torch.save(version_2(checkpoint, vocabs) if old else checkpoint, folder / "model.pt", _use_new_zipfile_serialization=not old)
    (folder / "reference.json").write_text("[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in found) + "\n]\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    added = ["-position_encoding"]
    for name in sys.argv[1:] or ["v3", "v2", "gated", "rotary", "relative"]:
        if name == "rotary":
            make(name, False, False, ["-max_relative_positions", "-1", "-rotary_theta", "200"])
        elif name == "relative":
            make(name, False, False, ["-max_relative_positions", "3"] + added)
        elif name == "gated":  # its silu is gated
            make(name, False, False, added + ["-pos_ffn_activation_fn", "silu", "-layer_norm", "rms", "-norm_eps", "1e-5", "-add_ffnbias"])
        elif name == "v3":
            make(name, False, False, added + ["-pos_ffn_activation_fn", "gelu", "-position_encoding_type", "SinusoidalConcat"])
        else:
            make(name, True, True, added + ["-share_embeddings", "-share_decoder_embeddings", "-share_vocab", "-add_qkvbias", "-add_ffnbias"])

#!/usr/bin/env python3
"""Writes small files with PyTorch and safetensors, which tests/convert/ reads without them.

    pip install torch numpy safetensors
    python3 tests/golden/make_torch_golden.py            (rewrites tests/golden/fixtures/torch/)

tensors.json has the values of the tensors of state_dict.*, row by row:

    {"NAME": {"type": "f32", "shape": [2, 3], "values": [...]}, ...}

state_dict.*     tensors of every type, views, and tensors that share memory
checkpoint.*     what OpenNMT-py and fairseq save: nested dicts, options, vocabularies, objects of unknown classes
module.pt        a whole module, which is code and not data
hostile.pt       tensors, and a call of os.system
"""

import argparse
import collections
import json
import os
import pathlib
import zipfile

import safetensors.torch
import torch

FOLDER = pathlib.Path(__file__).parent / "fixtures" / "torch"
TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64", torch.int8: "i8",
         torch.uint8: "u8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.bool: "boolean"}


def state_dict():
    torch.manual_seed(1)
    matrix = torch.randn(3, 4)
    stack = torch.randn(3, 2, 2)
    tensors = {"shared": matrix, "tied": matrix, "transposed": matrix.t(), "rows": matrix[1:], "column": matrix[:, 2],
               "block": matrix[1:3, 1:3].t(), "permuted": stack.permute(2, 0, 1), "parameter": torch.nn.Parameter(torch.randn(2)),
               "scalar": torch.tensor(-2.5), "empty": torch.empty(0, 4)}
    # Zeros, the smallest and largest numbers, infinities.
    half = torch.tensor([0.0, -0.0, 1.0, -1.5, 6e-8, 6.1e-5, 65504.0, float("inf"), -float("inf")])
    tensors["half"] = half.half()
    tensors["brain"] = torch.tensor([0.0, -1.0, 3.140625, 1e-40, 3e38, float("inf")]).bfloat16()
    tensors["double"] = torch.tensor([0.1, -1e30], dtype=torch.float64)
    for kind in (torch.int8, torch.int16, torch.int32, torch.int64):
        tensors[TYPES[kind]] = torch.tensor([torch.iinfo(kind).min, -1, 2], dtype=kind)
    tensors["u8"] = torch.tensor([[0, 255]], dtype=torch.uint8)
    tensors["boolean"] = torch.tensor([True, False])
    return collections.OrderedDict(tensors)


def values_of(tensors):
    return {name: {"type": TYPES[t.dtype], "shape": list(t.shape),
                   "values": [str(v) if isinstance(v, float) and v in (float("inf"), -float("inf")) else v
                              for v in t.detach().double().flatten().tolist()]} for name, t in tensors.items()}


class Field:
    """As torchtext's: its list of words is an attribute."""

    def __init__(self, words):
        self.itos = words
        self.stoi = collections.defaultdict(int, {word: i for i, word in enumerate(words)})


class Command:
    def __reduce__(self):
        return os.system, ("echo run > hostile-was-run",)


def checkpoint():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LayerNorm(3))
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) + 10 * i)
    words = ["<unk>", "<blank>", "café", "日本"]
    options = argparse.Namespace(heads=8, layers=-6, dropout=[0.1, 0.25], optim="adam", pool=None, share=True, steps=2**40,
                                 huge=2**70, sizes=(1, 2, 3, 4))
    options.itself = options
    return {"model": model.state_dict(), "generator": {0: {"weight": torch.tensor([[7.0, 8.0]])}}, "opt": options,
            "vocab": {"src": words, "tgt": Field(words)}, "optim": [torch.tensor([1.0])], "epoch": 3,
            "names": {"ä"}, "raw": b"\x00\xff"}


def save(name, value, **settings):
    torch.save(value, FOLDER / name, **settings)


def deflate(name, to):
    with zipfile.ZipFile(FOLDER / name) as stored, zipfile.ZipFile(FOLDER / to, "w", zipfile.ZIP_DEFLATED) as deflated:
        for member in stored.namelist():
            deflated.writestr(member, stored.read(member))


def save_shards(name, tensors, save_file):
    """NAME.index.json and two files, as transformers saves large models."""
    stem, suffix = name.rsplit(".", 1)
    index = {"metadata": {}, "weight_map": {}}
    for i in range(2):
        shard = f"{stem}-{i + 1:05}-of-00002.{suffix}"
        part = dict(list(tensors.items())[i::2])
        save_file(part, FOLDER / shard)
        index["weight_map"].update({tensor: shard for tensor in part})
    (FOLDER / f"{name}.index.json").write_text(json.dumps(index, indent=1) + "\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    tensors = state_dict()
    (FOLDER / "tensors.json").write_text(json.dumps(values_of(tensors)) + "\n")
    for name, value in (("state_dict", tensors), ("checkpoint", checkpoint())):
        save(f"{name}.pt", value)
        save(f"{name}.old.pt", value, _use_new_zipfile_serialization=False)
    for protocol in (3, 4, 5):
        save(f"checkpoint.protocol{protocol}.pt", checkpoint(), pickle_protocol=protocol)
    deflate("state_dict.pt", "state_dict.deflated.pt")
    save("module.pt", torch.nn.Linear(1, 1))
    save("hostile.pt", {"weight": torch.tensor([1.0]), "command": Command()})
    contiguous = {name: t.detach().contiguous().clone() for name, t in tensors.items()}
    safetensors.torch.save_file(contiguous, FOLDER / "state_dict.safetensors")
    few = dict(list(contiguous.items())[:4])
    save_shards("model.safetensors", few, safetensors.torch.save_file)
    save_shards("pytorch_model.bin", few, torch.save)
    for file in FOLDER.glob("*.safetensors"):
        file.chmod(0o644)


if __name__ == "__main__":
    main()

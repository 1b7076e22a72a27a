#!/usr/bin/env python3
"""Writes small model files of Marian's and CTranslate2's formats, which tests/convert/ reads without Python.

    pip install numpy ctranslate2 pymarian
    python3 tests/golden/make_foreign_golden.py          (rewrites tests/golden/fixtures/marian/ and ctranslate2/)

tensors.json beside them has the values, row by row: {"NAME": {"type": "f32", "shape": [2, 3], "values": [...]}, ...}
matrices.json has those of marian/*.bin before they were rounded.
"""

import json
import pathlib
import subprocess
import tempfile

import ctranslate2.specs.model_spec as model_spec
import numpy

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
TYPES = {"float32": "f32", "float16": "f16", "float64": "f64", "int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32",
         "int64": "i64", "bool": "boolean"}
CONFIGURATION = "type: transformer\ndim-emb: 4\n"


def write_values(path, tensors):
    values = {name: {"type": TYPES[str(t.dtype)], "shape": list(t.shape), "values": t.flatten().tolist()}
              for name, t in tensors.items()}
    path.write_text(json.dumps(values) + "\n")


def make_npz(folder):
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(1)
    tensors = {"Wemb": random.normal(size=(3, 4)).astype(numpy.float32),
               "encoder_l1_self_Wq": random.normal(size=(4, 2)).astype(numpy.float16),
               "encoder_l1_self_bq": random.normal(size=(1, 2)).astype(numpy.float64),
               "columns": numpy.asfortranarray(numpy.arange(6, dtype=numpy.float32).reshape(2, 3)),
               "scalar": numpy.array(1.5, dtype=numpy.float32), "empty": numpy.zeros((0, 3), dtype=numpy.float32)}
    for kind in ("int8", "uint8", "int16", "int32", "int64"):
        tensors[kind] = numpy.array([numpy.iinfo(kind).max, 1], dtype=kind)
    tensors["bool"] = numpy.array([True, False])
    configuration = numpy.frombuffer(CONFIGURATION.encode() + b"\0", dtype=numpy.int8)
    numpy.savez(folder / "model.npz", **tensors, **{"special:model.yml": configuration})
    numpy.savez_compressed(folder / "compressed.npz", **tensors, **{"special:model.yml": configuration})
    write_values(folder / "tensors.json", tensors)


def make_binaries(folder):
    """By Marian's own converter, which transposes matrices correctly if their sizes are multiples of 16."""
    random = numpy.random.default_rng(1)
    shapes = {"Wemb": (16, 16), "encoder_l1_ffn_W1": (16, 32), "decoder_ff_logit_out_Wt": (32, 16), "encoder_l1_ffn_b1": (1, 32)}
    tensors = {name: (random.integers(-100, 100, size=shape) / 8).astype(numpy.float32) for name, shape in shapes.items()}
    configuration = numpy.frombuffer(CONFIGURATION.encode() + b"\0", dtype=numpy.int8)
    with tempfile.TemporaryDirectory() as temporary:
        source = f"{temporary}/model.npz"
        numpy.savez(source, **tensors, **{"special:model.yml": configuration})
        for kind in ("float32", "intgemm8", "intgemm16"):
            subprocess.run(["pymarian", "convert", "--from", source, "--to", folder / f"{kind}.bin", "--gemm-type", kind],
                           check=True)
    write_values(folder / "matrices.json", tensors)


class Layer(model_spec.LayerSpec):
    def __init__(self):
        self.weight = None
        self.weight_scale = model_spec.OPTIONAL
        self.bias = None


class Model(model_spec.ModelSpec):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
        self.projection = Layer()
        self.pre_norm = True
        self.num_heads = numpy.dtype("int8").type(8)

    @property
    def name(self):
        return "TransformerSpec"

    @property
    def revision(self):
        return 7


def make_ctranslate2(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for quantization in ("float32", "int8", "int16", "float16", "bfloat16"):
        random = numpy.random.default_rng(1)
        model = Model()
        model.layer.weight = random.normal(size=(3, 4)).astype(numpy.float32)
        model.layer.bias = random.normal(size=3).astype(numpy.float32)
        model.projection.weight = model.layer.weight.copy()
        model.projection.bias = random.normal(size=3).astype(numpy.float32)
        model.validate()
        model.optimize(quantization=None if quantization == "float32" else quantization)
        model._serialize(str(folder / f"{quantization}.bin"))
        if quantization == "int8":
            write_values(folder / "tensors.json", {name: numpy.asarray(value.numpy()) for name, value in model.variables().items()
                                  if not isinstance(value, str)})


make_npz(FIXTURES / "marian")
make_binaries(FIXTURES / "marian")
make_ctranslate2(FIXTURES / "ctranslate2")

#!/usr/bin/env python3
"""Measures how fast Marian translates with a small SSRU student on this machine, for comparison with `dragoman bench`.

    pip install pymarian numpy sentencepiece
    python3 marian_decoding.py --spm shared.spm --keep student
    dragoman import student/model.bin --out imported && dragoman bench --model imported

The architecture of Firefox Translations' tiny models, with random weights; the pieces of the .spm file are the vocabulary,
with </s> and <unk> in the first two places. The end of a sentence is never chosen, so that outputs have the length of
their sources. The time to load the model is taken out by translating the text once and five times. Prints one JSON
object: precision, batch, beam, tokens_per_second.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import time

import numpy
import sentencepiece


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spm", required=True)
    parser.add_argument("--keep", required=True, help="new folder for the model")
    parser.add_argument("--encoder_layers", type=int, default=6)
    parser.add_argument("--decoder_layers", type=int, default=2)
    parser.add_argument("--d_model", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--d_ff", type=int, default=1536)
    parser.add_argument("--precision", choices=["fp32", "int8"], default="int8")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--sentences", type=int, default=512)
    return parser.parse_args()


def weights(o, vocabulary):
    draw = numpy.random.default_rng(1)
    tensors = {}

    def matrix(name, rows, columns):
        tensors[name] = draw.standard_normal((rows, columns), dtype=numpy.float32) / numpy.float32(rows ** 0.5)

    def linear(name, rows, columns, bias):
        matrix(name, rows, columns)
        tensors[bias] = numpy.zeros((1, columns), numpy.float32)

    def norm(name):
        tensors[name + "_ln_scale"] = numpy.ones((1, o.d_model), numpy.float32)
        tensors[name + "_ln_bias"] = numpy.zeros((1, o.d_model), numpy.float32)

    def attention(prefix):
        for letter in "qkvo":
            linear(f"{prefix}_W{letter}", o.d_model, o.d_model, f"{prefix}_b{letter}")
        norm(prefix + "_Wo")

    def feed_forward(prefix):
        linear(prefix + "_W1", o.d_model, o.d_ff, prefix + "_b1")
        linear(prefix + "_W2", o.d_ff, o.d_model, prefix + "_b2")
        norm(prefix + "_ffn")

    matrix("Wemb", vocabulary, o.d_model)
    for layer in range(1, o.encoder_layers + 1):
        attention(f"encoder_l{layer}_self")
        feed_forward(f"encoder_l{layer}_ffn")
    for layer in range(1, o.decoder_layers + 1):
        prefix = f"decoder_l{layer}_rnn"
        matrix(prefix + "_W", o.d_model, o.d_model)
        linear(prefix + "_Wf", o.d_model, o.d_model, prefix + "_bf")
        norm(prefix + "_ffn")
        attention(f"decoder_l{layer}_context")
        feed_forward(f"decoder_l{layer}_ffn")
    tensors["decoder_ff_logit_out_b"] = numpy.zeros((1, vocabulary), numpy.float32)
    tensors["decoder_ff_logit_out_b"][0, 0] = -1e6  # </s>
    return tensors


def configuration(o, vocabulary):
    return {"type": "transformer", "dim-emb": o.d_model, "dim-vocabs": [vocabulary, vocabulary],
            "enc-depth": o.encoder_layers, "dec-depth": o.decoder_layers, "transformer-heads": o.heads,
            "transformer-dim-ffn": o.d_ff, "transformer-decoder-dim-ffn": 0, "transformer-ffn-depth": 2,
            "transformer-decoder-ffn-depth": 0, "transformer-ffn-activation": "relu", "transformer-dim-aan": 2048,
            "transformer-aan-depth": 2, "transformer-aan-activation": "swish", "transformer-aan-nogate": False,
            "transformer-preprocess": "", "transformer-preprocess-emb": "d", "transformer-postprocess": "dan",
            "transformer-postprocess-emb": "d", "transformer-postprocess-top": "", "transformer-no-projection": False,
            "transformer-no-bias": False, "transformer-no-affine": False, "transformer-rnn-projection": False,
            "transformer-train-position-embeddings": False, "transformer-depth-scaling": False,
            "transformer-guided-alignment-layer": "last", "transformer-tied-layers": [], "transformer-pool": False,
            "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "dec-cell-base-depth": 2,
            "dec-cell-high-depth": 1, "tied-embeddings": False, "tied-embeddings-all": True, "tied-embeddings-src": False,
            "skip": False, "layer-normalization": False, "right-left": False, "input-types": [], "factors-combine": "sum",
            "lemma-dim-emb": 0, "lemma-dependency": "", "output-omit-bias": False, "ulr": False, "bert-train-type-embeddings": True,
            "bert-type-vocab-size": 2, "char-stride": 5, "char-highway": 4, "version": "v1.12.0"}


def make_model(o):
    processor = sentencepiece.SentencePieceProcessor(model_file=o.spm)
    pieces = [processor.id_to_piece(i) for i in range(len(processor))]
    pieces = ["</s>", "<unk>"] + [piece for piece in pieces if piece not in ("</s>", "<unk>", "<s>")]
    os.makedirs(o.keep, exist_ok=True)
    tensors = weights(o, len(pieces))
    text = "\n".join(f"{key}: {json.dumps(value)}" for key, value in configuration(o, len(pieces)).items())
    tensors["special:model.yml"] = numpy.frombuffer((text + "\n\0").encode(), dtype=numpy.int8)
    numpy.savez(os.path.join(o.keep, "model.npz"), **tensors)
    for name in ("source.spm", "target.spm"):
        shutil.copy(o.spm, os.path.join(o.keep, name))
    with open(os.path.join(o.keep, "vocab.yml"), "w", encoding="utf-8") as file:
        for i, piece in enumerate(pieces):
            file.write(f"{json.dumps(piece, ensure_ascii=False)}: {i}\n")
    return [piece for piece in pieces[2:] if piece.startswith("▁") and len(piece) > 1]


def seconds(o, model, text, times):
    with open(os.path.join(o.keep, "text"), "w", encoding="utf-8") as file:
        file.write(text * times)
    begin = time.perf_counter()
    output = subprocess.run(
        ["pymarian", "decode", "--models", model, "--vocabs", "vocab.yml", "vocab.yml", "--input", "text", "--cpu-threads",
         str(o.threads), "--mini-batch", str(o.batch), "--maxi-batch", "100", "--maxi-batch-sort", "src", "--workspace", "512",
         "--beam-size", str(o.beam), "--max-length-factor", "1", "--normalize", "1", "--quiet"],
        cwd=o.keep, check=True, text=True, capture_output=True).stdout
    return time.perf_counter() - begin, len(output.split())


def main():
    o = options()
    words = make_model(o)
    model = "model.npz"
    if o.precision == "int8":
        model = "model.bin"
        subprocess.run(["pymarian", "convert", "--from", "model.npz", "--to", model, "--gemm-type", "intgemm8"], cwd=o.keep,
                       check=True, capture_output=True)
    draw = random.Random(1)
    text = "".join(" ".join(draw.choices(words, k=o.length - 1)) + "\n" for _ in range(o.sentences))
    once, tokens_once = seconds(o, model, text, 1)
    often, tokens_often = seconds(o, model, text, 5)
    print(json.dumps({"precision": o.precision, "batch": o.batch, "beam": o.beam,
                      "tokens_per_second": (tokens_often - tokens_once) / (often - once),
                      "tokens_a_sentence": tokens_once / o.sentences}))


if __name__ == "__main__":
    main()

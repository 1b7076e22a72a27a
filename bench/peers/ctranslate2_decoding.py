#!/usr/bin/env python3
"""Measures how fast CTranslate2 translates on this machine, for comparison with `dragoman bench`.

    pip install ctranslate2 numpy
    CT2_USE_MKL=0 python3 ctranslate2_decoding.py --workers 2 --threads 1
    python3 ctranslate2_decoding.py --device cuda --workers 1 --precision float16 --batch 1 32 1024 --sentences 4096

A base model with random weights, sentences of random words, and outputs of the same length as their sources. To measure
the same model here, keep it with the pieces of some .spm file as its vocabulary, and import it:

    python3 ctranslate2_decoding.py --spm shared.spm --keep base-ct2
    dragoman import base-ct2 --vocab shared.spm --out base && dragoman bench --model base

Prints one JSON object for each batch size and beam: tokens_per_second and milliseconds_a_sentence, medians of the
rounds, and peak_mib of the host's memory while it is measured, Python's included; another process makes the model. A
batch of one sentence gets a quarter of the sentences, at most 64.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import time

import ctranslate2
import numpy
from ctranslate2.specs import common_spec, transformer_spec


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--d_model", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--d_ff", type=int, default=2048)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--threads", type=int, default=1, help="threads of each worker")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, nargs="+", default=[32])
    parser.add_argument("--beam", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--length", type=int, default=25)
    parser.add_argument("--sentences", type=int, default=128)
    parser.add_argument("--spm", help="SentencePiece model whose pieces are the vocabulary (pip install sentencepiece)")
    parser.add_argument("--keep", help="write the model, with weights in the precision, to this new folder")
    return parser.parse_args()


class MadeUp:
    """Fills a model specification with random weights of the usual magnitude."""

    def __init__(self, d_model, d_ff):
        self.random, self.d_model, self.d_ff = numpy.random.default_rng(1), d_model, d_ff

    def matrix(self, rows, columns):
        return self.random.standard_normal((rows, columns), dtype=numpy.float32) / numpy.float32(columns ** 0.5)

    def linear(self, spec, out, inner):
        spec.weight, spec.bias = self.matrix(out, inner), numpy.zeros(out, numpy.float32)

    def norm(self, spec):
        spec.gamma = numpy.ones(self.d_model, numpy.float32)
        spec.beta = numpy.zeros(self.d_model, numpy.float32)

    def attention(self, spec, outputs):
        self.norm(spec.layer_norm)
        for linear, out in zip(spec.linear, outputs):
            self.linear(linear, out * self.d_model, self.d_model)

    def feed_forward(self, spec):
        self.norm(spec.layer_norm)
        self.linear(spec.linear_0, self.d_ff, self.d_model)
        self.linear(spec.linear_1, self.d_model, self.d_ff)


def vocabulary_of(o):
    if not o.spm:
        return ["<unk>", "<s>", "</s>"] + [str(i) for i in range(3, o.vocabulary)]
    import sentencepiece
    processor = sentencepiece.SentencePieceProcessor(model_file=o.spm)
    return [processor.id_to_piece(i) for i in range(len(processor))]


def make_model(o, vocabulary, folder):
    o.vocabulary = len(vocabulary)
    spec = transformer_spec.TransformerSpec.from_config(
        (o.layers, o.layers), o.heads, pre_norm=False, activation=common_spec.Activation.RELU)
    fill = MadeUp(o.d_model, o.d_ff)
    words = fill.matrix(o.vocabulary, o.d_model)
    positions = fill.matrix(512, o.d_model)
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = words
    for stack in (spec.encoder, spec.decoder):
        stack.position_encodings.encodings = positions
        for layer in stack.layer:
            fill.attention(layer.self_attention, (3, 1))
            fill.feed_forward(layer.ffn)
    for layer in spec.decoder.layer:
        fill.attention(layer.attention, (1, 2, 1))
    fill.linear(spec.decoder.projection, o.vocabulary, o.d_model)
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.validate()
    spec.optimize(quantization=o.precision if o.keep else None)
    spec.save(folder)


def forget_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def peak_mib():
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024


def seconds_of(o, translator, text, batch, beam):
    """The median of the rounds, and the tokens of each."""
    how = dict(beam_size=beam, max_batch_size=batch, min_decoding_length=o.length, max_decoding_length=o.length)
    translator.translate_batch(text[:batch], **how)
    rounds = []
    for _ in range(o.rounds):
        start = time.perf_counter()
        results = translator.translate_batch(text, **how)
        rounds.append(time.perf_counter() - start)
    return statistics.median(rounds), sum(len(result.hypotheses[0]) for result in results)


def main():
    o = options()
    vocabulary = vocabulary_of(o)
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.keep or temporary
        os.makedirs(folder, exist_ok=True)
        maker = multiprocessing.get_context("fork").Process(target=make_model, args=(o, vocabulary, folder))
        maker.start()
        maker.join()
        if maker.exitcode != 0:
            sys.exit("ctranslate2_decoding.py: no model was made")
        translator = ctranslate2.Translator(
            folder, device=o.device, compute_type=o.precision, inter_threads=o.workers, intra_threads=o.threads)
        draw = random.Random(1)
        text = [draw.choices(vocabulary[3:], k=o.length) for _ in range(o.sentences)]
        for batch in o.batch:
            few = text[: min(64, len(text) // 4)] if batch == 1 else text
            for beam in o.beam:
                forget_peak()
                seconds, tokens = seconds_of(o, translator, few, batch, beam)
                print(json.dumps({
                    "batch": batch, "beam": beam, "tokens_per_second": tokens / seconds,
                    "milliseconds_a_sentence": 1000 * seconds / len(few), "precision": o.precision,
                    "peak_mib": peak_mib()}), flush=True)


main()

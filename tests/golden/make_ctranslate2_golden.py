#!/usr/bin/env python3
"""Makes the models of tests/golden/fixtures/ctranslate2/, and what CTranslate2 computes with them.

    python3 -m venv venv && venv/bin/pip install ctranslate2 transformers torch sentencepiece
    venv/bin/python tests/golden/make_ctranslate2_golden.py

trained/QUANTIZATION/ is the model that make_huggingface_golden.py trained, converted by CTranslate2. random/NAME/ has
random weights, and the choices of architecture that the trained model lacks. versions/N/ has binary version N, which
only this script still writes. Each has a reference.json beside it: source lines as pieces, the log-probabilities of
given targets, and greedy translations of the trained model. Weights in 8 and 16 bits are used as 32 bits by CTranslate2.
"""
import json
import os
import pathlib
import shutil
import struct

os.environ["CUDA_VISIBLE_DEVICES"] = ""
import ctranslate2
import numpy
import sentencepiece
from ctranslate2.converters import TransformersConverter
from ctranslate2.specs import common_spec, transformer_spec

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
OUT = FIXTURES / "ctranslate2"
TRAINED = FIXTURES / "huggingface/joint"
LINES = ["the cat sees a dog .", "a small bird likes the old house , and the dog hears a river .", "the  cat   likes a dog",
         "the café sees ß a dog", "school", "the old cat and the old dog and the old bird and the small house sees the river today ."]
PLAIN = {"beam_size": 1, "return_scores": False}
Activation = common_spec.Activation


def pieces_of(line, processor):
    marks = [line[:7]] if line.startswith(">>") else []
    return marks + processor.encode(line[7:] if marks else line, out_type=str)


def reference(folder, lines, spm, caller_ends, texts):
    """caller_ends: the source's </s> is for the caller to add."""
    translator = ctranslate2.Translator(str(folder), compute_type="float32", inter_threads=1, intra_threads=1)
    source_pieces = sentencepiece.SentencePieceProcessor(model_file=str(spm / "source.spm"))
    target_pieces = sentencepiece.SentencePieceProcessor(model_file=str(spm / "target.spm"))
    found = []
    for line in lines:
        source = pieces_of(line, source_pieces)
        read = source + (["</s>"] if caller_ends else [])
        best = translator.translate_batch([read], **PLAIN, max_decoding_length=90 if texts else 20)[0].hypotheses[0]
        targets = [best[:20], best[:20][::-1]] if best else [["▁la"], ["▁la"]]
        scored = translator.score_batch([read] * 2, targets)
        one = {"source": line, "pieces": source,
               "targets": [{"pieces": t, "log_probabilities": [round(p, 6) for p in s.log_probs]} for t, s in zip(targets, scored)]}
        if texts:
            one["greedy"] = target_pieces.decode(best)
        found.append(one)
    (folder / "reference.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")


def make_trained():
    folder = OUT / "trained"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("source.spm", "target.spm"):  # beside the models, as in Argos's packages
        shutil.copy(TRAINED / name, folder / name)
    for quantization in ("float32", "float16", "bfloat16", "int16", "int8"):
        out = folder / quantization
        TransformersConverter(str(TRAINED)).convert(str(out), quantization=quantization, force=True)
        reference(out, [">>fra<< " + line for line in LINES], folder, caller_ends=True, texts=True)


# --- Random weights -------------------------------------------------------------------------------------------------


def set_linear(spec, out, into, draw, bias=True):
    spec.weight = draw.normal(0, into**-0.5, (out, into)).astype(numpy.float32)
    if bias:
        spec.bias = draw.normal(0, 0.3, out).astype(numpy.float32)


def set_norm(spec, d, draw):
    spec.gamma = draw.normal(1, 0.2, d).astype(numpy.float32)
    if hasattr(spec, "beta"):
        spec.beta = draw.normal(0, 0.2, d).astype(numpy.float32)


def set_attention(spec, d, draw, bias, cross=False):
    set_norm(spec.layer_norm, d, draw)
    for linear, out in zip(spec.linear, (d, 2 * d, d) if cross else (3 * d, d)):
        set_linear(linear, out, d, draw, bias)


def set_distances(spec, first, heads, d, draw):
    """Shaw's vectors, or T5's bias, which the first layer has for all."""
    if hasattr(spec, "relative_position_keys"):
        for name in ("relative_position_keys", "relative_position_values"):
            setattr(spec, name, draw.normal(0, 0.5, (7, d // heads)).astype(numpy.float32))
    if hasattr(spec, "relative_attention_bias"):
        own = draw.normal(0, 1, (8, heads)).astype(numpy.float32) if spec is first else first.relative_attention_bias
        spec.relative_attention_bias = own
        spec.relative_attention_max_distance = numpy.dtype("int32").type(9)


def set_stack(spec, vocabulary, d, d_ff, draw, positions, bias, scale):
    embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
    embeddings.weight = draw.normal(0, 0.5, (vocabulary, d)).astype(numpy.float32)
    spec.scale_embeddings = scale
    if positions:
        spec.position_encodings.encodings = draw.normal(0, 0.5, (positions, d)).astype(numpy.float32)
    for norm in ("layer_norm", "layernorm_embedding"):
        if hasattr(spec, norm):
            set_norm(getattr(spec, norm), d, draw)
    for layer in spec.layer:
        set_attention(layer.self_attention, d, draw, bias)
        set_distances(layer.self_attention, spec.layer[0].self_attention, int(spec.num_heads), d, draw)
        if hasattr(layer, "attention"):
            set_attention(layer.attention, d, draw, bias, cross=True)
        set_norm(layer.ffn.layer_norm, d, draw)
        set_linear(layer.ffn.linear_0, d_ff, d, draw)
        set_linear(layer.ffn.linear_1, d, d_ff, draw)
        if hasattr(layer.ffn, "linear_0_noact"):
            set_linear(layer.ffn.linear_0_noact, d_ff, d, draw)


def vocabulary_of(name, marks):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(TRAINED / name))
    return marks + [processor.id_to_piece(i) for i in range(2, processor.get_piece_size())]


def random_spec(layers=(1, 1), heads=4, decoder_heads=None, d=8, positions=0, tied=False, separate=False, bias=True, scale=True,
                output_bias=True, zero_start=False, marks=("<unk>", "<s>", "</s>"), epsilon=None, source_eos=True, seed=1, t5=False, **choices):
    draw = numpy.random.default_rng(seed)
    spec = transformer_spec.TransformerSpec.from_config(layers, heads, **choices)
    source, target = vocabulary_of("source.spm", list(marks)), vocabulary_of("target.spm", list(marks))
    if not separate:
        source = target = list(dict.fromkeys(source + target))
    set_stack(spec.encoder, len(source), d, 12, draw, positions, bias, scale)
    set_stack(spec.decoder, len(target), d, 12, draw, positions, bias, scale)
    if decoder_heads:
        spec.decoder.num_heads = numpy.dtype("int16").type(decoder_heads)
    spec.decoder.start_from_zero_embedding = zero_start
    if t5:
        spec.decoder.scale_outputs = numpy.float32(0.4)
        for layer in spec.encoder.layer + spec.decoder.layer:
            for attention in (layer.self_attention, getattr(layer, "attention", None)):
                if attention:
                    attention.queries_scale = 1.0
    set_linear(spec.decoder.projection, len(target), d, draw, output_bias)
    if tied:
        spec.decoder.projection.weight = spec.decoder.embeddings.weight
    if tied == "all":
        spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.add_source_eos = source_eos
    spec.config.layer_norm_epsilon = epsilon
    return spec


def make_random(name, quantization=None, **choices):
    folder = OUT / "random" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spec = random_spec(**choices)
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))
    reference(folder, LINES[:4], OUT / "trained", caller_ends=False, texts=False)


# --- Binary versions 1 to 5 -----------------------------------------------------------------------------------------


def text(characters):
    return struct.pack("<H", len(characters) + 1) + characters.encode() + b"\0"


def variable(name, value, version):
    value = numpy.asarray(value, order="C")
    data = text(name) + struct.pack("<B", value.ndim) + struct.pack(f"<{value.ndim}I", *value.shape)
    if version >= 4:
        types = {"float32": 0, "int8": 1, "int16": 2, "int32": 3}
        return data + struct.pack("<BI", types[str(value.dtype)], value.nbytes) + value.tobytes()
    return data + struct.pack("<BI", value.itemsize, value.size) + value.tobytes()


def first_name(name):
    """As OpenNMT-tf called it."""
    changes = [("self_attention", "masked_multi_head" if name.startswith("decoder") else "multi_head"), ("/attention/", "/multi_head/"),
               ("embeddings_0/weight", "w_embs"), ("embeddings/weight", "w_embs"), ("weight", "kernel"), ("layer_norm", "LayerNorm"),
               ("projection", "dense"), ("linear_0", "conv1d"), ("linear_", "conv1d_")]
    for change in changes:
        name = name.replace(*change)
    return f"transformer/{name}:0"


def old_name(name, version):
    if version == 1:
        return first_name(name)
    name = name.replace("embeddings_0", "embeddings")
    if version < 5:
        for attribute in ("num_heads", "pre_norm", "activation", "alignment_layer", "alignment_heads", "embeddings_merge"):
            if name == f"encoder/{attribute}":
                return attribute
            if name == f"decoder/{attribute}":
                return None
    return name


def make_version(version, quantization):
    """Version 1 has neither scalars nor the scales of int16; version 2 says its heads by the model's class."""
    folder = OUT / "versions" / str(version)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    spec = random_spec(heads=8, activation=Activation.RELU if version == 1 else Activation.SWISH, separate=version < 3, tied=version >= 3,
                       pre_norm=version != 4, source_eos=version == 5)
    spec.validate()
    spec.optimize(quantization=quantization)
    variables, aliases = {}, {}
    for name, value in spec.variables(ordered=True):
        if isinstance(value, str):
            aliases[name] = value
        else:
            variables[name] = value.numpy()
    if version == 1:  # rounded by the scale that is not saved
        variables = {name: value for name, value in variables.items() if value.ndim > 0}
        for name, value in variables.items():
            if value.dtype == numpy.int16:
                scale = spec
                for part in name.replace("/weight", "").split("/"):
                    at = part.rsplit("_", 1)
                    scale = getattr(scale, part) if hasattr(scale, part) else getattr(scale, at[0])[int(at[1])]
                variables[name] = numpy.rint(value / scale.weight_scale.numpy() * 1000).astype(numpy.int16)
    if version == 5:
        variables["with_source_eos"] = numpy.int8(1)
    named = {old_name(name, version): value for name, value in variables.items()}
    named.pop(None, None)
    if version == 2:
        del named["num_heads"]
    data = struct.pack("<I", version)
    if version >= 2:
        data += text("TransformerBase" if version == 2 else "TransformerSpec") + struct.pack("<I", version)
    data += struct.pack("<I", len(named)) + b"".join(variable(name, value, version) for name, value in named.items())
    if version >= 3:
        data += struct.pack("<I", len(aliases)) + b"".join(text(a) + text(n) for a, n in aliases.items())
    else:
        assert not aliases, aliases
    (folder / "model.bin").write_bytes(data)
    vocabularies = {"source": spec._vocabularies["source"][0], "target": spec._vocabularies["target"][0]}
    if version >= 3:
        vocabularies = {"shared": vocabularies["source"]}
    for side, tokens in vocabularies.items():
        (folder / f"{side}_vocabulary.txt").write_text("".join(token + "\n" for token in tokens))
    reference(folder, LINES[:2], OUT / "trained", caller_ends=False, texts=False)


T5 = dict(t5=True, layers=(2, 2), scale=False, bias=False, output_bias=False, relative_attention_bias=True, rms_norm=True, ffn_glu=True,
          activation=Activation.GELUTanh)

if __name__ == "__main__":
    make_random("relative", with_relative_position=True, layers=(2, 1))
    make_random("t5", **T5)
    make_random("t5_rounded", quantization="int8", **T5)
    make_trained()
    make_random("pre_norm", separate=True, activation=Activation.SWISH, layers=(2, 1), decoder_heads=2, epsilon=1e-6)
    make_random("post_norm", pre_norm=False, activation=Activation.GELU, positions=60, layernorm_embedding=True, zero_start=True, tied="all",
                marks=("</s>", "<unk>"), output_bias=False)
    make_random("unscaled", activation=Activation.GELUTanh, scale=False, bias=False, tied="output", separate=True, source_eos=False)
    make_random("scaled", pre_norm=False, activation=Activation.GELUSigmoid, scale=numpy.float32(1.7), output_bias=False)
    make_random("rounded", activation=Activation.RELU, quantization="int8_float16", positions=60, tied="all")
    make_random("gated", activation=Activation.SWISH, ffn_glu=True, rms_norm=True)
    make_random("gated_rounded", pre_norm=False, activation=Activation.GELU, ffn_glu=True, quantization="int8", tied="all")
    for version, quantization in ((1, "int16"), (2, "int16"), (3, "int8"), (4, None), (5, "int8")):
        make_version(version, quantization)

#!/usr/bin/env python3
"""Makes tests/golden/fixtures/eole/ and eole_gated/: small trained models of eole, as it saves them, and what it computes.

    python3 -m venv venv && venv/bin/pip install torch sentencepiece eole OpenNMT-py
    venv/bin/python tests/golden/make_eole_golden.py

eole_gated has RMSNorm and gated feed-forward layers, the others the positions that their names say. reference.json has for each source line its ids, the log-probabilities of given targets, and the greedy output.
"""
import json
import pathlib
import shutil
import sys

import torch
from eole.config import recursive_model_fields_set
from eole.config.models import TransformerModelConfig
from eole.inputters.inputter import vocabs_to_dict
from eole.models.model import EncoderDecoderModel
from safetensors.torch import save_file
from make_fairseq_golden import learn_pieces, pairs
import make_opennmt_golden as opennmt

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"


def logits(model, sources, targets):
    source, lengths = opennmt.padded(sources)
    read, _ = opennmt.padded([t + [1, 1] for t in targets])  # the model drops the last, and takes one alone for a step of decoding
    return model.generator(model(source[:, :, 0], read[:, :, 0], lengths).dec_out)[:, :-1]


def make(name, positions=None, **choices):
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = TransformerModelConfig(
        architecture="transformer", layers=1, heads=4, hidden_size=16, transformer_ff=24, norm_eps=1e-6,
        embeddings=positions or dict(word_vec_size=16, position_encoding_type="SinusoidalInterleaved"), share_decoder_embeddings=True,
        add_qkvbias=True, add_ffnbias=True, **choices)
    both = list(pairs(2000))
    sides = [[s for s, _ in both], [t for _, t in both]]
    processor = learn_pieces(sides[0] + sides[1], folder / "sentencepiece.model")
    vocabs = {"src": opennmt.vocabulary(processor, sides[0]), "tgt": opennmt.vocabulary(processor, sides[1]), "decoder_start_token": "<s>",
              "specials": {"bos_token": "<s>", "pad_token": "<blank>", "eos_token": "</s>", "unk_token": "<unk>"}}
    torch.manual_seed(1)
    model = EncoderDecoderModel.build_blocks(config, vocabs)
    model.build_generator(config, None, vocabs)
    model.src_pad_idx = model.tgt_pad_idx = 1
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            torch.nn.init.xavier_uniform_(parameter)
        else:
            torch.nn.init.normal_(parameter, float("norm" in name and name.endswith("weight")), 0.1)
    encoded = [[[vocabs[side][piece] for piece in processor.encode(text, out_type=str)] for side, text in zip(("src", "tgt"), pair)] for pair in both]
    opennmt.logits = logits
    opennmt.train(model, encoded)
    for parameter in model.parameters():  # saved in 16 bits
        parameter.data = parameter.data.half().float()
    found = opennmt.reference(model, processor, vocabs["src"], vocabs["tgt"])
    tensors = {n: p.half().contiguous() for n, p in model.state_dict().items() if not n.endswith(".pe") and n != "generator.weight"}
    save_file(tensors, folder / "model.00.safetensors")
    (folder / "vocab.json").write_text(json.dumps(vocabs_to_dict(vocabs), ensure_ascii=False))
    (folder / "config.json").write_text(json.dumps({"model": recursive_model_fields_set(config)}, indent=1))
    (folder / "reference.json").write_text("[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in found) + "\n]\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    def positions(kind, **more):
        return dict(word_vec_size=16, position_encoding_type=kind, **more)
    models = {"eole": dict(mlp_activation_fn="gelu"), "eole_gated": dict(mlp_activation_fn="gated-silu", layer_norm="rms"),
              "eole_rotary": dict(positions=positions("Rotary"), rope_config=dict(rotary_interleave=False, rotary_theta=300)),
              "eole_rotary_pairs": dict(positions=positions("Rotary"), rope_config=dict(rotary_interleave=True, rotary_theta=300)),
              "eole_alibi": dict(positions=positions("Alibi")),
              "eole_relative": dict(positions=positions("Relative", n_positions=2))}
    for name in sys.argv[1:] or models:
        make(name, **models[name])

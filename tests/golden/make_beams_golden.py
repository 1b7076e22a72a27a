#!/usr/bin/env python3
"""Writes beams.json beside the models of Marian, OpenNMT-py, eole and fairseq in tests/golden/fixtures/: whole beams, as
these programs find them.

    python3 -m venv venv && venv/bin/pip install torch sentencepiece safetensors OpenNMT-py eole pymarian pyyaml
    git clone https://github.com/facebookresearch/fairseq
    . venv/bin/activate && PYTHONPATH=fairseq tests/golden/make_beams_golden.py [marian|opennmt|eole|fairseq ...]

Marian decodes by itself. Of the others the search is the program's own, and runs on the model of the maker of the
fixture, which computes a whole output again at each step. Lines are random, most of them unlike what the models were
trained on, so that margins are narrow and the rules of a beam decide. Each beam has its width, the exponent of the
length, the ids of its outputs and their scores, the best first. A beam is left out that reaches the maximum length, or
has two neighbours whose scores differ by less than 1e-4. <blank> and <s> are not output, which OpenNMT-py and eole leave
to the model.
"""
import argparse
import importlib.util
import json
import math
import pathlib
import random
import sys
import types

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
LONGEST = 40


def lines_of(words, count):
    draw = random.Random(9)
    for i in range(count):
        line = " ".join(draw.choices(words + ["café", "zz"], k=draw.randint(1, 8)))
        yield line, [2, 3, 4, 5, 6][i % 5], [1, 0.6, 0][i % 3]


def is_clear(scores):
    return all(a - b > 1e-4 for a, b in zip(scores, scores[1:]))


def save(folder, found):
    print(f"{folder.name}: beams of {len(found)} lines")
    (folder / "beams.json").write_text("[" + ",\n".join(json.dumps(beam, ensure_ascii=False) for beam in found) + "]\n")


def search_lines(folder, words, encode, search, count=60):
    """search(ids, width, exponent) → (ids of an output with its end mark, score) pairs, or None if one is cut."""
    found = []
    for line, width, exponent in lines_of(words, count):
        ids = encode(line)
        beam = search(ids, width, exponent)
        if beam is None or not is_clear([score for _, score in beam]):
            continue
        found.append({"source": line, "ids": ids, "width": width, "exponent": exponent,
                      "outputs": [output[:-1] for output, _ in beam], "scores": [round(score, 5) for _, score in beam]})
    save(folder, found)


# --- Marian -----------------------------------------------------------------------------------------

def marian():
    import sentencepiece
    import yaml
    import make_marian_golden as maker
    for name in ("tied", "opus", "ssru"):
        folder, kind, found = FIXTURES / "marian_models" / name, maker.MODELS[name]["vocabularies"], []
        vocabularies = maker.Vocabularies.__new__(maker.Vocabularies)
        files = ["vocab.spm"] * 2 if kind == "joint" else ["source.spm", "target.spm"]
        vocabularies.is_list = kind == "list"
        vocabularies.sides = [sentencepiece.SentencePieceProcessor(model_file=str(folder / file)) for file in files]
        vocabularies.files = ["opus.vocab.yml"] * 2 if kind == "list" else files
        if kind == "list":
            vocabularies.ids = yaml.safe_load((folder / "opus.vocab.yml").read_text())
        id_of = vocabularies.ids.get if kind == "list" else vocabularies.sides[1].piece_to_id
        for width, exponent in {(w, e) for _, w, e in lines_of(list(maker.WORDS), 60)}:
            lines = [line for line, w, e in lines_of(list(maker.WORDS), 60) if (w, e) == (width, exponent)]
            source = maker.write_lines(folder / "lines.src", [vocabularies.split(line, 0) for line in lines])
            rows = maker.pymarian("decode", folder, models="model.npz", vocabs=vocabularies.files, max_length_factor=6,
                                  normalize=exponent, input=source, beam_size=width, n_best=True, mini_batch=1, no_spm_decode=True)
            beams = [[row.split(" ||| ") for row in rows if row.startswith(f"{i} ")] for i in range(len(lines))]
            for line, fields in zip(lines, beams):
                ids, scores = vocabularies.encode(line, 0), [float(f[-1]) for f in fields]
                outputs = [[id_of(piece) for piece in f[1].split()] for f in fields]
                if is_clear(scores) and max(map(len, outputs)) + 2 < 6 * len(ids):
                    found.append({"source": line, "ids": ids, "width": width, "exponent": exponent, "outputs": outputs, "scores": scores})
        (folder / "lines.src").unlink()
        save(folder, sorted(found, key=lambda beam: (beam["width"], beam["exponent"], beam["source"])))


# --- OpenNMT-py and eole ----------------------------------------------------------------------------

def advance_to_the_end(beam, next_logits, ids):
    """As the programs' translators drive their beams; encoded again for each hypothesis and step."""
    import torch
    for _ in range(LONGEST):
        rows = next_logits([ids] * len(beam.alive_seq), beam.alive_seq.tolist()).log_softmax(-1).float()
        rows[:, 1:3] = -1e9
        beam.advance(rows, None)
        if any(map(any, beam.is_finished_list)):
            beam.update_finished()
            if beam.done:
                break
    outputs = list(zip([p.tolist() for p in beam.predictions[0]], [float(s) for s in beam.scores[0]]))
    return outputs if all(output[-1] == 3 for output, _ in outputs) else None


def beam_options(scorer, width):
    return dict(beam_size=width, batch_size=1, pad=1, bos=2, eos=3, unk=0, start=2, n_best=width, global_scorer=scorer, min_length=0,
                max_length=LONGEST, return_attention=False, block_ngram_repeat=0, exclusion_tokens=set(), stepwise_penalty=False,
                ratio=-0.0, ban_unk_token=False)


def opennmt():
    import torch
    import pyonmttok  # noqa: F401
    import sentencepiece
    from onmt.inputters.inputter import dict_to_vocabs
    from onmt.model_builder import build_base_model
    from onmt.translate.beam_search import BeamSearch, GNMTGlobalScorer
    import make_fairseq_golden
    import make_opennmt_golden as maker
    for name in ("v3",):
        folder = FIXTURES / "opennmt" / name
        checkpoint = torch.load(folder / "model.pt", weights_only=False)
        vocabs = dict_to_vocabs(checkpoint["vocab"])
        model = build_base_model(checkpoint["opt"], vocabs)
        weights = {n: p.float() for n, p in checkpoint["model"].items() if not n.endswith(".pe")}
        torch.nn.Module.load_state_dict(model, weights, strict=False)
        model.generator.load_state_dict({n: p.float() for n, p in checkpoint["generator"].items()})
        model.eval()
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))

        @torch.no_grad()
        def search(ids, width, exponent):
            kind = "none" if exponent == 0 else "wu" if exponent == 0.6 else "avg"
            beam = BeamSearch(**beam_options(GNMTGlobalScorer(exponent, 0, kind, "none"), width))
            beam.initialize(torch.zeros(1, 1, 1), torch.tensor([len(ids)]))
            return advance_to_the_end(beam, lambda s, t: maker.logits(model, s, t)[:, -1], ids)
        search_lines(folder, list(make_fairseq_golden.WORDS),
                     lambda line: [vocabs["src"][piece] for piece in processor.encode(line, out_type=str)], search)


def eole():
    import torch
    import pyonmttok
    import sentencepiece
    from eole.config.models import TransformerModelConfig
    from eole.models.model import EncoderDecoderModel
    from eole.predict.beam_search import BeamSearch, GNMTGlobalScorer
    from safetensors.torch import load_file
    import make_eole_golden as maker
    import make_fairseq_golden
    folder = FIXTURES / "eole"
    lists = json.loads((folder / "vocab.json").read_text())
    vocabs = {side: pyonmttok.build_vocab_from_tokens(lists[side][4:], special_tokens=lists[side][:4]) for side in ("src", "tgt")}
    vocabs |= {"decoder_start_token": lists["decoder_start_token"], "specials": lists["specials"]}
    for side in ("src", "tgt"):
        assert vocabs[side].ids_to_tokens == lists[side]
        vocabs[side].default_id = 0
    config = TransformerModelConfig(**json.loads((folder / "config.json").read_text())["model"])
    model = EncoderDecoderModel.build_blocks(config, vocabs)
    model.build_generator(config, None, vocabs)
    model.src_pad_idx = model.tgt_pad_idx = 1
    weights = {n: p.float() for n, p in load_file(folder / "model.00.safetensors").items()}
    missing = torch.nn.Module.load_state_dict(model, weights, strict=False).missing_keys
    for name in missing:  # a bias that the model was trained without
        assert name.endswith((".pe", "final_linear.bias")) or name == "generator.weight", name
        if name.endswith("bias"):
            torch.nn.init.zeros_(model.get_parameter(name))
    model.generator.weight = model.tgt_emb.embeddings.weight
    model.eval()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model"))

    @torch.no_grad()
    def search(ids, width, exponent):
        kind = "none" if exponent == 0 else "wu" if exponent == 0.6 else "avg"
        beam = BeamSearch(**beam_options(GNMTGlobalScorer(exponent, 0, kind, "none"), width))
        beam.initialize(torch.zeros(1, 1, 1), torch.tensor([len(ids)]))
        return advance_to_the_end(beam, lambda s, t: maker.logits(model, s, t)[:, -1], ids)
    search_lines(folder, list(make_fairseq_golden.WORDS),
                 lambda line: [vocabs["src"][piece] for piece in processor.encode(line, out_type=str)], search)


# --- fairseq ----------------------------------------------------------------------------------------

def fairseq_module(name):
    """One file of fairseq, whose package needs what today's Python lacks."""
    root = next(pathlib.Path(p) / "fairseq" for p in sys.path if (pathlib.Path(p) / "fairseq/sequence_generator.py").exists())
    for stub in ("fairseq", "fairseq.utils", "fairseq.data", "fairseq.data.data_utils", "fairseq.models"):
        sys.modules.setdefault(stub, types.ModuleType(stub))
    sys.modules["fairseq"].utils = sys.modules["fairseq.utils"]
    sys.modules["fairseq.data"].data_utils = sys.modules["fairseq.data.data_utils"]
    sys.modules["fairseq.models"].FairseqIncrementalDecoder = type("FairseqIncrementalDecoder", (), {})
    spec = importlib.util.spec_from_file_location("fairseq." + name, root / (name + ".py"))
    module = sys.modules["fairseq." + name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    setattr(sys.modules["fairseq"], name, module)
    return module


class Dictionary:
    def __init__(self, size):
        self.size = size

    pad, eos, unk, __len__ = lambda self: 1, lambda self: 2, lambda self: 3, lambda self: self.size


def fairseq():
    import torch
    import sentencepiece
    import make_fairseq_golden as maker
    for name in ("token_generation_constraints", "search", "ngram_repeat_block"):
        fairseq_module(name)
    generator = fairseq_module("sequence_generator")

    class Wrapped(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        class Encoder:
            forward_torchscript = staticmethod(lambda net_input: net_input["src_tokens"])
            reorder_encoder_out = staticmethod(lambda source, order: source.index_select(0, order))

        encoder = Encoder()

        @property
        def decoder(self):
            return types.SimpleNamespace(forward=lambda tokens, encoder_out: (self.model.logits(encoder_out, tokens), None))

        get_normalized_probs = staticmethod(lambda out, log_probs, sample: out[0].log_softmax(-1))
        max_decoder_positions = staticmethod(lambda: 60)

    for name in ("post", "pre", "old"):
        folder = FIXTURES / "fairseq" / name
        checkpoint = torch.load(folder / "model.pt", weights_only=False)
        tensors = {n: p.float() for n, p in checkpoint["model"].items()}
        if name == "old":
            tensors = today(tensors)
        model = maker.Model.__new__(maker.Model)
        model.args, model.t = checkpoint["args"] or checkpoint["cfg"]["model"], tensors
        tables = []
        for language in ("en", "fr"):
            tokens = ["<s>", "<pad>", "</s>", "<unk>"] + [row.rsplit(" ", 1)[0] for row in (folder / f"dict.{language}.txt").read_text().splitlines()]
            tables.append({token: i for i, token in enumerate(tokens)})
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))

        @torch.no_grad()
        def search(ids, width, exponent):
            searcher = generator.SequenceGenerator([Wrapped(model)], Dictionary(len(tables[1])), beam_size=width, max_len_b=LONGEST,
                                                   len_penalty=exponent)
            found = searcher.forward({"net_input": {"src_tokens": torch.tensor([ids]), "src_lengths": torch.tensor([len(ids)])}})[0]
            beam = [(h["tokens"].tolist(), float(h["score"])) for h in found]
            return beam if all(len(output) < LONGEST for output, _ in beam) else None
        search_lines(folder, list(maker.WORDS),
                     lambda line: [tables[0].get(p, 3) for p in processor.encode(line, out_type=str)] + [2], search)


def today(old):
    """The names of a checkpoint from before 2019, as they are today."""
    tensors = {}
    for name, value in old.items():
        decoder = name.startswith("decoder")
        for number, norm in (("0", "self_attn_layer_norm"), ("1", "encoder_attn_layer_norm" if decoder else "final_layer_norm"),
                             ("2", "final_layer_norm")):
            name = name.replace("layer_norms." + number, norm)
        if "in_proj_" in name:
            for part, third in zip(("q_proj.", "k_proj.", "v_proj."), value.chunk(3)):
                tensors[name.replace("in_proj_", part)] = third
        else:
            tensors[name] = value
    return tensors


if __name__ == "__main__":
    for program in sys.argv[1:] or ["marian", "opennmt", "eole", "fairseq"]:
        globals()[program]()

#!/usr/bin/env python3
"""Makes tests/golden/fixtures/t5/: small trained models of T5's kinds, and what transformers computes with them.

    python3 -m venv venv && venv/bin/pip install torch transformers sentencepiece protobuf
    venv/bin/python tests/golden/make_t5_golden.py

t5 is as the first models: relu, one matrix for embeddings and generator, the output scaled. madlad has gated layers, a
generator of its own, and sources that begin with the target language. byt5 reads bytes, and its heads are not
d_model / heads wide. Each folder is what the published models consist of, and has a reference.json beside it: for each
source line its ids, the log-probabilities of given targets, the greedy output, and the best of a beam with its score.
They learn to translate a made-up language. It prints the buckets of distances in tests/model/distance_bias_test.cpp.
"""
import io
import json
import pathlib
import random
import shutil
import sys

import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config, T5ForConditionalGeneration
from transformers.models.t5.modeling_t5 import T5Attention
from make_huggingface_golden import LINES, sentences

LONGEST = 200
FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures/t5"
DISTANCES = [-500, -128, -127, -64, -33, -32, -16, -15, -9, -8, -7, -1, 0, 1, 7, 8, 9, 15, 16, 32, 33, 64, 127, 500]


class Pieces:
    """A SentencePiece file with <pad>, </s> and <unk> as T5 numbers them, or <unk>, <s> and </s> as MADLAD does."""

    def __init__(self, folder, lines, madlad):
        rules = folder / "rules.tsv"
        rules.write_text("".join(f"{0xFEE0 + ord(c):X}\t{ord(c):X}\n" for c in "ABCTabcdefghest") + "3000\t20\n")
        model = io.BytesIO()
        ids = dict(unk_id=0, bos_id=1, eos_id=2, pad_id=-1) if madlad else dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=model, vocab_size=90, model_type="unigram", hard_vocab_limit=False,
            user_defined_symbols=["<2fr>", "<2en>", "<2zh_Hant>"] if madlad else [], normalization_rule_tsv=str(rules),
            minloglevel=2, **ids)
        rules.unlink()
        (folder / "spiece.model").write_bytes(model.getvalue())
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        self.size, self.end = self.processor.get_piece_size(), self.processor.eos_id()

    def encode(self, text):
        return self.processor.encode(text)

    def decode(self, ids):
        return self.processor.decode(ids)


class Bytes:
    size, end = 259, 1

    def encode(self, text):
        return [b + 3 for b in text.encode()]

    def decode(self, ids):
        return bytes(i - 3 for i in ids if 3 <= i < 259).decode(errors="ignore")


def train(model, words, pairs, updates, start, pad):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, updates)
    draw = random.Random(5)
    model.train()

    def padded(rows, fill):
        longest = max(map(len, rows))
        return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])

    for _ in range(updates):
        some = draw.sample(pairs, 32)
        source = padded([words.encode(s) + [words.end] for s, _ in some], -1)
        labels = padded([words.encode(t) + [words.end] for _, t in some], -100)
        read = torch.cat([torch.full((len(some), 1), start), labels[:, :-1].clamp(min=0)], 1)
        loss = model(input_ids=source.clamp(min=0), attention_mask=(source >= 0).long(), decoder_input_ids=read,
                     labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    print(f"loss {loss.item():.3f}")


def reference(model, words, lines, start):
    found = []
    for line in lines:
        ids = words.encode(line) + [words.end]
        given = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        greedy = model.generate(**given, num_beams=1, do_sample=False, max_length=LONGEST)[0].tolist()
        beam = model.generate(**given, num_beams=4, length_penalty=1.0, max_length=LONGEST, output_scores=True,
                              return_dict_in_generate=True)
        target = greedy[1:] + ([] if greedy[-1] == words.end else [words.end])
        targets = []
        for labels in (target, target[-2::-1] + target[-1:]):
            with torch.no_grad():
                logits = model(**given, decoder_input_ids=torch.tensor([[start] + labels[:-1]])).logits[0]
            rows = torch.log_softmax(logits.double(), -1)
            targets.append({"ids": labels, "log_probabilities": [round(rows[i, w].item(), 6) for i, w in enumerate(labels)]})
        best = [i for i in beam.sequences[0].tolist()[1:]]
        found.append({"source": line, "ids": ids, "start": [start], "targets": targets,
                      "greedy": words.decode([i for i in target if i != words.end]),
                      "beam": words.decode([i for i in best if i not in (words.end, model.config.pad_token_id)]),
                      "score": round(beam.sequences_scores[0].item(), 6)})
    return found


def make(name, words_of, config, untied, lines_of, updates=2500):
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pairs = list(sentences(3000, 1))
    words = words_of(folder, [text for pair in pairs for text in pair])
    told = T5Config(eos_token_id=words.end, dropout_rate=0.05, tie_word_embeddings=not untied, **config)
    torch.manual_seed(1)
    model = untied_if(untied, T5ForConditionalGeneration(told))
    pairs = [(lines_of(s), t) for s, t in pairs]
    train(model, words, pairs, updates, told.decoder_start_token_id, told.pad_token_id)
    saved = told.to_dict() | {"tie_word_embeddings": not untied, "architectures": ["T5ForConditionalGeneration"]}
    (folder / "config.json").write_text(json.dumps(saved, indent=1) + "\n")
    skipped = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"} | (set() if untied else {"lm_head.weight"})
    save_file({k: v.half().contiguous() for k, v in model.state_dict().items() if k not in skipped},
              folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    if name == "byt5":
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "ByT5Tokenizer", "extra_ids": 125}) + "\n")
    refer(name, words, untied, lines_of)


def untied_if(untied, model):
    """transformers 5 ties what the published models do not."""
    if untied:
        model.lm_head.weight = torch.nn.Parameter(0.05 * torch.randn_like(model.shared.weight))
    return model


def refer(name, words, untied, lines_of):
    folder = FIXTURES / name
    told = T5Config(**json.loads((folder / "config.json").read_text()))
    model = untied_if(untied, T5ForConditionalGeneration(told)).eval()
    missing, unknown = model.load_state_dict({k: v.float() for k, v in load_file(folder / "model.safetensors").items()}, strict=False)
    assert not unknown and all("embed_tokens" in name or name == "lm_head.weight" for name in missing)
    model.generation_config.update(decoder_start_token_id=told.decoder_start_token_id, eos_token_id=words.end,
                                   pad_token_id=told.pad_token_id)
    found = reference(model, words, [lines_of(line) for line in LINES], told.decoder_start_token_id)
    (folder / "reference.json").write_text("[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in found) + "\n]\n")


SIZES = dict(d_model=24, num_heads=3, num_layers=2, num_decoder_layers=1, relative_attention_num_buckets=8,
             relative_attention_max_distance=16)

if __name__ == "__main__":
    torch.set_num_threads(1)
    for how in ((True, 32, 128), (False, 32, 128), (True, 10, 20)):
        print(how, T5Attention._relative_position_bucket(torch.tensor(DISTANCES), *how).tolist())
    models = {
        "t5": (lambda f, lines: Pieces(f, lines, False), dict(
            vocab_size=96, d_kv=8, d_ff=40, feed_forward_proj="relu", decoder_start_token_id=0, pad_token_id=0, **SIZES),
            False, lambda line: line),
        "madlad": (lambda f, lines: Pieces(f, lines, True), dict(
            vocab_size=96, d_kv=10, d_ff=32, feed_forward_proj="gated-gelu", decoder_start_token_id=0, pad_token_id=1,
            **SIZES), True, lambda line: "<2fr> " + line),
        "byt5": (lambda f, lines: Bytes(), dict(
            vocab_size=384, d_kv=6, d_ff=32, feed_forward_proj="gated-gelu", decoder_start_token_id=0, pad_token_id=0,
            **SIZES), True, lambda line: line, 4000)}
    for name in sys.argv[1:] or models:
        make(name, *models[name])

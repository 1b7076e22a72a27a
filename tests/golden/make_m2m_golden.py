#!/usr/bin/env python3
"""Makes tests/golden/fixtures/m2m/: small trained models of many languages, and what transformers computes with them.

    python3 -m venv venv && venv/bin/pip install torch transformers sentencepiece protobuf
    venv/bin/python tests/golden/make_m2m_golden.py

m2m is an M2M100 model, nllb one with NLLB's tokenizer, mbart and mbart50 are MBart models with theirs. Each folder is
what the published models consist of, and has a reference.json beside it: for each source line and pair of languages its
ids, the log-probabilities of given targets, the greedy output, and the best of a beam with its score. They learn to
translate a made-up language into another and back.
"""
import io
import json
import pathlib
import random
import shutil
import sys

import sentencepiece
import torch
from transformers import (M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer, MBart50Tokenizer, MBartConfig,
                          MBartForConditionalGeneration, MBartTokenizer, NllbTokenizer)
from make_huggingface_golden import LINES as ALL_LINES, sentences

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures/m2m"
SPM = "sentencepiece.bpe.model"
LINES = ALL_LINES[:7]
BACK = ["la chatte voit une chienne .", "une  poule petite aime", "la forêt et la rivière", "la ß voit"]


def learn_pieces(folder, lines, kind):
    rules = folder / "rules.tsv"
    rules.write_text("".join(f"{0xFEE0 + ord(c):X}\t{ord(c):X}\n" for c in "ABCTabcdefghest") + "3000\t20\n")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=90, model_type=kind, hard_vocab_limit=False,
        normalization_rule_tsv=str(rules), minloglevel=2)
    rules.unlink()
    (folder / SPM).write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]


def m2m_tokenizer(folder, pieces):
    random.Random(3).shuffle(pieces)  # by frequency elsewhere: not in the order of the .spm file
    numbered = {token: i for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + pieces)}
    (folder / "vocab.json").write_text(json.dumps(numbered, ensure_ascii=False))
    return M2M100Tokenizer(vocab_file=str(folder / "vocab.json"), spm_file=str(folder / SPM), language_codes="wmt21",
                           src_lang="en", tgt_lang="is")


def nllb_tokenizer(folder, pieces):
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn",
        "extra_special_tokens": ["ace_Arab", "eng_Latn", "fra_Latn", "zul_Latn"]}))
    return NllbTokenizer.from_pretrained(folder)


def mbart_tokenizer(kind):
    def make(folder, pieces):
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind.__name__, "src_lang": "en_XX"}))
        return kind.from_pretrained(folder)
    return make


def train(model, tokenizer, pairs, updates, start_of):
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, updates)
    draw = random.Random(5)
    model.train()
    for _ in range(updates):
        language, other, some = draw.choice(pairs)
        some = draw.sample(some, 32)
        tokenizer.src_lang = language
        batch = tokenizer([s for s, _ in some], return_tensors="pt", padding=True)
        start = start_of(tokenizer, other)
        texts = tokenizer([t for _, t in some], add_special_tokens=False)["input_ids"]
        rows = [start + ids + [2] for ids in texts]
        longest = max(map(len, rows))
        padded = torch.tensor([row + [1] * (longest - len(row)) for row in rows])
        labels = padded[:, 1:].masked_fill(padded[:, 1:] == 1, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], decoder_input_ids=padded[:, :-1],
                     labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    print(f"loss {loss.item():.3f}")


def reference(model, tokenizer, language, other, lines, start_of):
    tokenizer.src_lang = language
    found = []
    for line in lines:
        ids = tokenizer([line], return_tensors="pt")
        start = start_of(tokenizer, other)
        how = {"max_length": 100, "decoder_start_token_id": start[0], "forced_bos_token_id": start[1] if len(start) > 1 else None}
        greedy = model.generate(**ids, num_beams=1, do_sample=False, **how)[0].tolist()
        beam = model.generate(**ids, num_beams=4, length_penalty=1.0, output_scores=True, return_dict_in_generate=True, **how)
        target = greedy[len(start):]
        log_p, targets = [], (target, target[-2::-1] + target[-1:])
        for labels in targets:
            with torch.no_grad():
                logits = model(**ids, decoder_input_ids=torch.tensor([start + labels[:-1]])).logits[0][len(start) - 1:]
            rows = torch.log_softmax(logits.double(), -1)
            log_p.append([round(rows[i, w].item(), 6) for i, w in enumerate(labels)])
        found.append({
            "from": language, "to": other, "source": line, "ids": ids["input_ids"][0].tolist(), "start": start,
            "targets": [{"ids": i, "log_probabilities": p} for i, p in zip(targets, log_p)],
            "greedy": tokenizer.decode(greedy[len(start):], skip_special_tokens=True),
            "beam": tokenizer.decode(beam.sequences[0][len(start):], skip_special_tokens=True),
            "score": round(beam.sequences_scores[0].item(), 6)})
    return found


def make(name, kind, tokenizer_of, language, other, model_of, start_of):
    folder = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pairs = list(sentences(3000, 1))
    pieces = learn_pieces(folder, [text for pair in pairs for text in pair], kind)
    tokenizer = tokenizer_of(folder, pieces)
    torch.manual_seed(1)
    model = model_of(tokenizer)
    model.generation_config.update(num_beams=4, max_length=64, forced_bos_token_id=None, decoder_start_token_id=2)
    train(model, tokenizer, [(language, other, pairs), (other, language, [(t, s) for s, t in pairs])], 2500, start_of)
    model = model.half()
    spm = (folder / SPM).read_bytes()
    model.save_pretrained(folder)
    tokenizer.src_lang = language
    tokenizer.save_pretrained(folder)
    (folder / SPM).write_bytes(spm)
    if "mbart" in name:  # the first folders lack it
        (folder / "tokenizer.json").unlink()
    model = type(model).from_pretrained(folder, dtype=torch.float32).eval()
    # The .spm file maps full-width letters, which MBartTokenizer of transformers 5 forgets.
    lines = [line for line in LINES if name != "mbart" or "Ｔ" not in line]
    found = reference(model, tokenizer, language, other, lines, start_of) + reference(model, tokenizer, other, language, BACK, start_of)
    (folder / "reference.json").write_text("[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in found) + "\n]\n")


def after_end(tokenizer, language):
    get = getattr(tokenizer, "get_lang_id", tokenizer.convert_tokens_to_ids)
    return [2, get(language)]


def language_alone(tokenizer, language):
    return [tokenizer.convert_tokens_to_ids(language)]


SIZES = dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=2,
             encoder_ffn_dim=32, decoder_ffn_dim=24, max_position_embeddings=128, scale_embedding=True, dropout=0.05,
             attention_dropout=0.0, activation_dropout=0.0, encoder_layerdrop=0.0, decoder_layerdrop=0.0)


def m2m_model(rows):
    return lambda tokenizer: M2M100ForConditionalGeneration(M2M100Config(
        vocab_size=rows(tokenizer), activation_function="relu", tie_word_embeddings=True, **SIZES))


def mbart_model(tokenizer):
    return MBartForConditionalGeneration(MBartConfig(vocab_size=len(tokenizer), activation_function="gelu", **SIZES))


if __name__ == "__main__":
    torch.set_num_threads(1)
    makers = {
        "m2m": lambda n: make(n, "bpe", m2m_tokenizer, "en", "is", m2m_model(lambda t: t.encoder_size + 8 + 8), after_end),
        "nllb": lambda n: make(n, "bpe", nllb_tokenizer, "eng_Latn", "fra_Latn", m2m_model(lambda t: len(t) + 2), after_end),
        "mbart50": lambda n: make(n, "unigram", mbart_tokenizer(MBart50Tokenizer), "en_XX", "fr_XX", mbart_model, after_end),
        "mbart": lambda n: make(n, "unigram", mbart_tokenizer(MBartTokenizer), "en_XX", "fr_XX", mbart_model, language_alone)}
    for name in sys.argv[1:] or makers:
        makers[name](name)

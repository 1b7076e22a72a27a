#!/usr/bin/env python3
"""Makes tests/golden/fixtures/huggingface/: small trained Marian models of transformers, and what they compute.

    python3 -m venv venv && venv/bin/pip install torch transformers sentencepiece sacremoses
    venv/bin/python tests/golden/make_huggingface_golden.py          # everything
    venv/bin/python tests/golden/make_huggingface_golden.py beams    # beams.json of the models that are there

Each folder is what transformers saves, and has a reference.json beside it: for each source line its ids, the
log-probabilities of given targets, the greedy output, and the best of a beam with their scores. The models are trained
for a minute on sentences of a made-up language, so that the margins between outputs are wide, and the bias of the
output layer and the rows of <pad> and <unk> are not zero. beams.json has whole beams of many lines, most of them unlike
what a model was trained on, so that hypotheses of many lengths compete.
"""
import io
import json
import pathlib
import random
import sys

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures/huggingface"
WORDS = {"the": "la", "cat": "chatte", "dog": "chienne", "bird": "poule", "sees": "voit", "likes": "aime", "hears": "entend",
         "a": "une", "black": "noire", "small": "petite", "old": "vieille", "and": "et", "house": "maison", "river": "rivière",
         "never": "jamais", "always": "toujours", "garden": "forêt", "school": "école", "today": "déjà"}
LINES = ["the cat sees a dog .", "a small bird likes the old house , and the dog hears a river .", "today the school never sees",
         "the  cat   likes a dog", "Ｔｈｅ cat ｓｅｅｓ", "the café sees ß a dog", "the 猫 sees a dog", "school", "the cat the cat the cat",
         "the old cat and the old dog and the old bird and the small house and the small river hears the black school today ."]


def sentences(count, seed):
    """Pairs of a source and its translation, word by word, an adjective behind its noun."""
    draw = random.Random(seed)
    nouns, adjectives = ["cat", "dog", "bird", "house", "river", "garden", "school"], ["black", "small", "old"]
    for _ in range(count):
        source, target = [], []
        for _ in range(draw.randint(1, 3)):
            noun, article = draw.choice(nouns), draw.choice(["the", "a"])
            adjective = draw.choice(adjectives + [None] * 3)
            source += [article] + ([adjective] if adjective else []) + [noun]
            target += [WORDS[article], WORDS[noun]] + ([WORDS[adjective]] if adjective else [])
            verb = draw.choice(["sees", "likes", "hears", "and", "never", "always", "today"])
            source.append(verb)
            target.append(WORDS[verb])
        mark = draw.choice([" .", " ,", "", ""])
        yield " ".join(source) + mark, " ".join(target) + mark


def learn_pieces(lines, folder, name, size):
    """NFKC as other models have it takes 240 KB: a few of its rules are enough."""
    rules = folder / "rules.tsv"
    rules.write_text("".join(f"{0xFEE0 + ord(c):X}\t{ord(c):X}\n" for c in "ABCTabcdefghest") + "3000\t20\n")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, model_type="unigram", hard_vocab_limit=False,
        bos_id=-1, eos_id=0, unk_id=1, normalization_rule_tsv=str(rules), minloglevel=2)
    rules.unlink()
    (folder / name).write_bytes(model.getvalue())
    return [line.split("\t")[0] for line in pieces_of(folder / name)]


def pieces_of(path):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.id_to_piece(i) for i in range(2, processor.get_piece_size())]


def numbered(tokens):
    unique = list(dict.fromkeys(["</s>", "<unk>"] + tokens))
    return {token: i for i, token in enumerate(unique + ["<pad>"])}


def make_tokenizer(folder, pairs, separate):
    source = learn_pieces([s for s, _ in pairs], folder, "source.spm", 70)
    target = learn_pieces([t for _, t in pairs], folder, "target.spm", 60)
    draw = random.Random(3)
    joint = source + target
    draw.shuffle(joint)  # by frequency elsewhere: not in the order of either file
    vocabulary = numbered(source if separate else joint[:20] + [">>fra<<", ">>xxx<<"] + joint[20:])
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False))
    files = {"source_spm": str(folder / "source.spm"), "target_spm": str(folder / "target.spm"), "vocab": str(folder / "vocab.json")}
    if separate:
        (folder / "target_vocab.json").write_text(json.dumps(numbered(target), ensure_ascii=False))
        files["target_vocab_file"] = str(folder / "target_vocab.json")
    return MarianTokenizer(**files, source_lang="eng", target_lang="fra", separate_vocabs=separate)


def train(model, tokenizer, pairs, language, updates):
    """With dropout, so that nothing becomes certain; padding is masked as transformers does it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, updates)
    model.train()
    draw = random.Random(5)
    for _ in range(updates):
        some = draw.sample(pairs, 32)
        batch = tokenizer([language + s for s, _ in some], text_target=[t for _, t in some], return_tensors="pt", padding=True)
        labels = batch["labels"].masked_fill(batch["labels"] == tokenizer.pad_token_id, -100)
        if model.config.pad_token_id != tokenizer.pad_token_id:  # the target's own
            labels = batch["labels"].masked_fill(batch["labels"] == model.config.decoder_start_token_id, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    print(f"loss {loss.item():.3f}")


def reference(model, tokenizer, lines, language):
    start, found = model.config.decoder_start_token_id, []
    for line in lines:
        ids = tokenizer([line], return_tensors="pt")
        greedy = model.generate(**ids, num_beams=1, do_sample=False, max_length=100)[0].tolist()
        beam = model.generate(**ids, num_beams=4, num_return_sequences=4, max_length=100, length_penalty=1.0,
                              output_scores=True, return_dict_in_generate=True)
        target = greedy[1:]
        # A target that the model does not expect: the greedy one backwards.
        other = target[-2::-1] + target[-1:]
        log_p = []
        for labels in (target, other):
            with torch.no_grad():
                logits = model(**ids, decoder_input_ids=torch.tensor([[start] + labels[:-1]])).logits[0]
            rows = torch.log_softmax(logits.double(), -1)
            log_p.append([round(rows[i, w].item(), 6) for i, w in enumerate(labels)])
        trained_for = line.startswith(language)  # elsewhere margins are narrow, and the details of a beam decide
        found.append({
            "source": line, "ids": ids["input_ids"][0].tolist(),
            "targets": [{"ids": i, "log_probabilities": p} for i, p in zip((target, other), log_p)],
            "greedy": tokenizer.decode(greedy[1:], skip_special_tokens=True),
            "beam": [{"text": tokenizer.decode(s[1:], skip_special_tokens=True), "score": round(v, 6)}
                     for s, v in zip(beam.sequences.tolist(), beam.sequences_scores.tolist()) if trained_for]})
    return found


def make(name, separate, half, updates, **choices):
    folder = FIXTURES / name
    folder.mkdir(parents=True, exist_ok=True)
    pairs = list(sentences(3000, 1))
    tokenizer = make_tokenizer(folder, pairs, separate)
    source, target = json.loads((folder / "vocab.json").read_text()), None
    target = json.loads((folder / "target_vocab.json").read_text()) if separate else source
    pad = target["<pad>"]
    torch.manual_seed(1)
    config = MarianConfig(
        vocab_size=len(source), decoder_vocab_size=len(target), d_model=16, encoder_layers=2, decoder_layers=2,
        pad_token_id=source["<pad>"], eos_token_id=0, decoder_start_token_id=pad,
        max_position_embeddings=256, scale_embedding=True, dropout=0.05, attention_dropout=0.0,
        share_encoder_decoder_embeddings=not separate, **choices)
    model = MarianMTModel(config)
    model.final_logits_bias.normal_(0, 0.5)
    model.generation_config.update(num_beams=4, max_length=64, bad_words_ids=[[pad]], forced_eos_token_id=0)
    language = "" if separate else ">>fra<< "
    train(model, tokenizer, pairs, language, updates)
    if half:
        model = model.half()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if half:  # as the first models of 2020 are saved
        torch.save(model.state_dict(), folder / "pytorch_model.bin", _use_new_zipfile_serialization=False)
        (folder / "model.safetensors").unlink()
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32).eval()  # what a user of the files computes
    lines = LINES if separate else [language + line for line in LINES] + LINES[:2] + [">>xxx<< the cat"]
    (folder / "reference.json").write_text(json.dumps(reference(model, tokenizer, lines, language), ensure_ascii=False, indent=1) + "\n")


def beams(name, longest=60, file="beams.json"):
    """By each rule of ending and several exponents. Of 60 tokens, a beam that reaches the maximum length is left out; of 9
    most reach it, and end with probability 1."""
    folder = FIXTURES / name
    tokenizer, model = MarianTokenizer.from_pretrained(folder), MarianMTModel.from_pretrained(folder, dtype=torch.float32).eval()
    draw, found = random.Random(9), []
    for i in range(60):
        words = draw.choices(list(WORDS) + ["café", "zz"], k=draw.randint(1, 9))
        line = draw.choice(["", ">>fra<< "]) * (name == "joint") + " ".join(words)
        early, penalty, width = i % 3 == 2, [1.0, 0.5, 0.0, 1.5][i % 4], [4, 2, 6, 12][i // 4 % 4]
        beam = model.generate(**tokenizer([line], return_tensors="pt"), num_beams=width, num_return_sequences=width,
                              max_length=longest, length_penalty=penalty, early_stopping=early, output_scores=True,
                              return_dict_in_generate=True)
        if longest == 60 and beam.sequences.shape[1] == longest:
            continue
        texts = tokenizer.batch_decode(beam.sequences[:, 1:], skip_special_tokens=True)
        found.append({"source": line, "early": early, "penalty": penalty, "texts": texts,
                      "scores": [round(score, 5) for score in beam.sequences_scores.tolist()]})
    print(f"{name}: beams of {len(found)} lines")
    lines = ",\n".join(json.dumps(line, ensure_ascii=False) for line in found)
    (folder / file).write_text(f"[{lines}]\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:] == ["beams"]:
        beams("joint")
        beams("separate")
        beams("joint", 9, "cut_beams.json")
        sys.exit()
    make("joint", separate=False, half=False, updates=1500, activation_function="swish", encoder_attention_heads=4,
         decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32)
    make("separate", separate=True, half=True, updates=1500, activation_function="relu", encoder_attention_heads=4,
         decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=40)
    beams("joint")
    beams("separate")
    beams("joint", 9, "cut_beams.json")

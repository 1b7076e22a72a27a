#!/usr/bin/env python3
"""Makes tests/golden/fixtures/marian_models/: small models that Marian trained, and what it computes with them.

    python3 -m venv venv && venv/bin/pip install pymarian sentencepiece numpy
    . venv/bin/activate && tests/golden/make_marian_golden.py [NAME ...]

Each folder is what a training run leaves (without its optimizer), and has a reference.json beside it: for each source
line its ids, the log-probabilities of given targets, the greedy output, and the best of a beam with its score. The models
are trained for half a minute on sentences of a made-up language, so that the margins between outputs are wide. The
folder bergamot holds the student of folder ssru as Bergamot and Firefox have it: in 8 bits, with a binary shortlist; its
log-probabilities are Marian's for the rounded weights.
"""
import gzip
import io
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy
import sentencepiece

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures/marian_models"
WORDS = {"the": "la", "cat": "chatte", "dog": "chienne", "bird": "poule", "sees": "voit", "likes": "aime", "hears": "entend",
         "a": "une", "black": "noire", "small": "petite", "old": "vieille", "and": "et"}
LINES = ["the cat sees a dog .", "a small bird likes the old dog , and the dog hears a bird", "the old cat", "the  cat   likes a dog",
         "the catfish sees ß a dog", "the 猫 sees a dog ."]
# Outputs of these loop, or reach their greatest length, where the two programs differ: they are scored alone.
SCORED = ["bird", "the cat the cat the cat", "the old cat and the old dog and the small bird ."]
TRAINING = {"dim-emb": 16, "enc-depth": 2, "dec-depth": 2, "transformer-heads": 4, "transformer-dim-ffn": 32, "mini-batch": 32,
            "maxi-batch": 10, "learn-rate": 0.006, "lr-warmup": 100, "lr-decay-inv-sqrt": 300, "after-batches": 1200,
            "cost-type": "ce-mean-words", "label-smoothing": 0.05, "transformer-dropout": 0.05, "save-freq": 1000000,
            "max-length": 60, "seed": 1}
MODELS = {
    "tied": dict(vocabularies="joint", options={
        "tied-embeddings-all": True, "transformer-decoder-dim-ffn": 24, "beam-size": 4, "normalize": 1}),
    "opus": dict(vocabularies="list", options={
        "enc-depth": 1, "dec-depth": 1, "tied-embeddings-all": True, "transformer-ffn-activation": "relu", "beam-size": 6,
        "normalize": 1}),
    "separate": dict(vocabularies="two", options={
        "enc-depth": 1, "transformer-preprocess": "n", "transformer-postprocess": "da", "transformer-postprocess-top": "n",
        "transformer-ffn-activation": "gelu", "tied-embeddings": True, "beam-size": 4, "normalize": 0.6}),
    "embedding_norm": dict(vocabularies="joint", options={
        "enc-depth": 1, "dec-depth": 1, "transformer-postprocess-emb": "dn", "tied-embeddings-src": True, "beam-size": 4,
        "normalize": 1}),
    "ssru": dict(vocabularies="joint", options={
        "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "tied-embeddings-all": True,
        "transformer-ffn-activation": "relu", "beam-size": 4, "normalize": 1}),
    "ssru_pre_norm": dict(vocabularies="two", options={
        "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "transformer-preprocess": "n", "transformer-postprocess": "da",
        "transformer-postprocess-top": "n", "enc-depth": 1, "dec-depth": 1, "beam-size": 2, "normalize": 1}),
}


def sentences(count, seed):
    """Pairs of a source and its translation, word by word, an adjective behind its noun."""
    draw = random.Random(seed)
    for _ in range(count):
        source, target = [], []
        for _ in range(draw.randint(1, 3)):
            noun, article = draw.choice(["cat", "dog", "bird"]), draw.choice(["the", "a"])
            adjective = draw.choice(["black", "small", "old", None, None])
            source += [article] + ([adjective] if adjective else []) + [noun]
            target += [WORDS[article], WORDS[noun]] + ([WORDS[adjective]] if adjective else [])
            verb = draw.choice(["sees", "likes", "hears", "and"])
            source.append(verb)
            target.append(WORDS[verb])
        mark = draw.choice([" .", " ,", ""])
        yield " ".join(source) + mark, " ".join(target) + mark


def learn_pieces(lines, path, size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, hard_vocab_limit=False, bos_id=-1, eos_id=0,
        unk_id=1, normalization_rule_name="identity", minloglevel=2)
    path.write_bytes(model.getvalue())


class Vocabularies:
    """How a folder's texts become tokens: by one .spm file, by two, or by two whose pieces are in one list, as OPUS-MT's are."""

    def __init__(self, kind, folder, pairs):
        self.is_list = kind == "list"
        names = ["vocab.spm"] * 2 if kind == "joint" else ["source.spm", "target.spm"]
        texts = [[s for s, _ in pairs], [t for _, t in pairs]]
        if kind == "joint":
            learn_pieces(texts[0] + texts[1], folder / "vocab.spm", 64)
        else:
            for name, lines, size in zip(names, texts, (48, 52)):
                learn_pieces(lines, folder / name, size)
        self.sides = [sentencepiece.SentencePieceProcessor(model_file=str(folder / name)) for name in names]
        self.files = ["opus.vocab.yml"] * 2 if self.is_list else names
        if self.is_list:
            text = "\n".join(self.split(line, side) for side in (0, 1) for line in texts[side])
            listed = subprocess.run(["pymarian", "vocab"], input=text + "\n \" ' : #\n", capture_output=True, text=True, check=True).stdout
            (folder / "opus.vocab.yml").write_text(listed)
            tokens = [line.rsplit(": ", 1) for line in listed.splitlines()]
            self.ids = {json.loads(token) if token[0] == '"' else token: int(number) for token, number in tokens}

    def split(self, line, side):
        """What Marian reads."""
        return " ".join(self.sides[side].encode(line, out_type=str)) if self.is_list else line

    def text(self, output):
        return output.replace(" ", "").replace("▁", " ").strip() if self.is_list else output

    def encode(self, line, side):
        if not self.is_list:
            return self.sides[side].encode(line) + [0]
        return [self.ids.get(piece, 1) for piece in self.sides[side].encode(line, out_type=str)] + [0]


def pymarian(command, folder, **options):
    arguments = ["pymarian", command, "--cpu-threads", "1", "--workspace", "64", "--quiet"]
    for name, value in options.items():
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments += [str(v) for v in (value if isinstance(value, list) else [value])]
    return subprocess.run(arguments, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines))
    return path.name


def reference(folder, vocabularies, model, beam, normalize):
    searched = dict(models=model, vocabs=vocabularies.files, max_length_factor=3, normalize=normalize)
    source = write_lines(folder / "lines.src", [vocabularies.split(line, 0) for line in LINES + SCORED])
    greedy = pymarian("decode", folder, **searched, input=source, beam_size=1)
    best = pymarian("decode", folder, **searched, input=source, beam_size=beam, n_best=True)
    best = {int(line.split(" ||| ")[0]): line.split(" ||| ") for line in reversed(best)}
    texts = [vocabularies.text(line) for line in greedy]
    # A target that the model expects, and one that it does not.
    targets = [[text or "la", " ".join(reversed(text.split())) + " ß"] for text in texts]
    scores = []
    for i in (0, 1):
        target = write_lines(folder / "lines.trg", [vocabularies.split(t[i], 1) for t in targets])
        found = pymarian("score", folder, model=model, vocabs=vocabularies.files, train_sets=[source, target], word_scores=True)
        scores.append([[float(v) for v in line.split("WordScores=")[1].split()] for line in found])
    for name in ("lines.src", "lines.trg"):
        (folder / name).unlink()
    found = [{"source": line, "ids": vocabularies.encode(line, 0),
              "targets": [{"ids": vocabularies.encode(targets[i][n], 1), "log_probabilities": scores[n][i]} for n in (0, 1)]}
             for i, line in enumerate(LINES + SCORED)]
    for i in range(len(LINES)):
        found[i] |= {"greedy": texts[i], "beam": {"text": vocabularies.text(best[i][1].strip()), "score": float(best[i][-1])}}
    return found


def save(folder, found):
    lines = ",\n".join(json.dumps(line, ensure_ascii=False) for line in found)
    (folder / "reference.json").write_text(f"[{lines}]\n")


def make(name, vocabularies, options):
    """A model that is there is not trained again."""
    folder = FIXTURES / name
    folder.mkdir(parents=True, exist_ok=True)
    pairs = list(sentences(3000, 1))
    words = Vocabularies(vocabularies, folder, pairs)
    if not (folder / "model.npz").exists():
        train(folder, words, pairs, options)
    save(folder, reference(folder, words, "model.npz", options["beam-size"], options["normalize"]))


def train(folder, words, pairs, options):
    sets = [write_lines(folder / f"train.{side}", [words.split(pair[side], side) for pair in pairs]) for side in (0, 1)]
    options = {k.replace("-", "_"): v for k, v in (TRAINING | options).items()}
    pymarian("train", folder, model="model.npz", train_sets=sets, vocabs=words.files, type="transformer", **options)
    for left in ["train.0", "train.1", "model.npz.optimizer.npz", "model.npz.progress.yml", "model.npz.yml"]:
        (folder / left).unlink()
    for left in folder.glob("*.spm.vocab*"):
        left.unlink()


# --- Bergamot ---------------------------------------------------------------------------------------

FLOAT32, INT8, INTGEMM8 = 0x404, 0x101, 0x4101  # its codes


def rounded(matrix):
    """The integers, and what they are multiplied by."""
    multiplier = numpy.float32(127) / numpy.abs(matrix).max()
    return numpy.clip(numpy.rint(matrix * multiplier), -127, 127).astype(numpy.int8), numpy.float32(multiplier)


def is_rounded(name):
    return name == "Wemb" or name.split("_")[-1][0] == "W" and len(name.split("_")[-1]) <= 2


def write_binary(path, tensors):
    """Tensors: name, type, shape, bytes."""
    pad = lambda data: data + bytes(-len(data) % 256)
    tensors = [(name.encode() + b"\0", kind, shape, pad(data)) for name, kind, shape, data in tensors]
    file = struct.pack("<QQ", 1, len(tensors))
    file += b"".join(struct.pack("<4Q", len(name), kind, len(shape), len(data)) for name, kind, shape, data in tensors)
    file += b"".join(t[0] for t in tensors) + b"".join(struct.pack(f"<{len(t[2])}i", *t[2]) for t in tensors)
    padding = -(len(file) + 8) % 256
    file += struct.pack("<Q", padding) + bytes(padding) + b"".join(t[3] for t in tensors)
    with gzip.GzipFile(path, "wb", mtime=0) as packed:
        packed.write(file)


def mixed(state, value):
    return state ^ ((value + 0x9E3779B9 + (state << 6) + (state >> 2)) & 0xFFFFFFFFFFFFFFFF)


def write_shortlist(path, first, best, words):
    """Words: those of each source id."""
    offsets = [0]
    for some in words:
        offsets.append(offsets[-1] + len(some))
    flat = [word for some in words for word in some]
    body = struct.pack("<4Q", first, best, len(offsets), len(flat)) + struct.pack(f"<{len(offsets)}Q", *offsets)
    body += struct.pack(f"<{len(flat)}I", *flat)
    checksum = 0
    for (value,) in struct.iter_unpack("<Q", body[:len(body) // 8 * 8]):
        checksum = mixed(checksum, value)
    with gzip.GzipFile(path, "wb", mtime=0) as packed:
        packed.write(struct.pack("<2Q", 0xF11A48D5013417F5, checksum) + body)


def make_bergamot():
    source, folder = FIXTURES / "ssru", FIXTURES / "bergamot"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(source / "vocab.spm", folder / "vocab.spm")
    words = Vocabularies.__new__(Vocabularies)
    words.is_list, words.files = False, ["vocab.spm"] * 2
    words.sides = [sentencepiece.SentencePieceProcessor(model_file=str(folder / "vocab.spm"))] * 2
    tensors, approximate = [], {}
    for name, value in numpy.load(source / "model.npz").items():
        if not is_rounded(name):
            kind, data = (INT8 if name.startswith("special:") else FLOAT32), value.tobytes()
            approximate[name] = value
        else:
            integers, multiplier = rounded(value)
            approximate[name] = (integers / multiplier).astype(numpy.float32)
            stored = integers if name == "Wemb" else integers.T
            kind, data = INTGEMM8, stored.tobytes() + multiplier.tobytes()
            tensors.append((name + "_QuantMultA", FLOAT32, (1, 1), struct.pack("<f", 5)))
        tensors.append((name, kind, value.shape, data))
    tensors.append(("none_QuantMultA", FLOAT32, (1, 1), struct.pack("<f", 5)))
    write_binary(folder / "model.enfr.intgemm.alphas.bin.gz", tensors)
    numpy.savez(folder / "rounded.npz", **approximate)
    found = reference(folder, words, "rounded.npz", beam=1, normalize=1)
    (folder / "rounded.npz").unlink()
    (folder / "vocab.enfr.spm.gz").write_bytes(gzip.compress((folder / "vocab.spm").read_bytes(), mtime=0))
    (folder / "vocab.spm").unlink()
    # For each source token what it occurs with most, so that some outputs are not as they would be without a list.
    together = [{} for _ in range(words.sides[0].get_piece_size())]
    for pair in sentences(1000, 2):
        for s in words.sides[0].encode(pair[0]):
            for t in words.sides[1].encode(pair[1]):
                together[s][t] = together[s].get(t, 0) + 1
    best = [sorted(sorted(some, key=some.get, reverse=True)[:6]) for some in together]
    write_shortlist(folder / "lex.50.50.enfr.s2t.bin.gz", 4, 6, best)
    for line in found:
        line["candidates"] = sorted({0, 1, 2, 3, *line["ids"], *(word for token in line["ids"] for word in best[token])})
    save(folder, found)


if __name__ == "__main__":
    names = sys.argv[1:] or [*MODELS, "bergamot"]
    for name in names:
        make_bergamot() if name == "bergamot" else make(name, **MODELS[name])

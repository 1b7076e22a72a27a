#!/usr/bin/env python3
"""Compares how imported models split thousands of odd lines with how the programs split them that they were made for.

    python3 -m venv venv && venv/bin/pip install torch transformers sentencepiece protobuf sacremoses
    venv/bin/python tests/golden/compare_segmentation.py build/release/dragoman [LINES]

The lines have white space of all kinds, full-width letters, combining, zero-width and control characters, emoji and
ligatures; none has the name of a special token, which is text here and a token there. Each family's model is the small
one in fixtures/. The reference is SentencePiece itself with the model's file, and transformers' tokenizer where it
looks pieces up in a list of its own. transformers 5 reads the files of NLLB and mBART by other code than SentencePiece,
and differs from it, and so from what these models were trained with: the last column counts its lines.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import sentencepiece
import transformers
from transformers import M2M100Tokenizer, MarianTokenizer, MBart50Tokenizer, MBartTokenizer, NllbTokenizer

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
WORDS = "the cat sees a dog . , bird small old house river school never always and likes hears today black garden".split()
SPACES = ["\t", "\u00a0", "\u2003", "\u2009", "\u3000", "\u200b", "\u200d", "\ufeff", "\u2060", "\u00ad", "\u1680", "\u202f", "  ", "   "]
ODD = list("éÉßœŒÆﬁﬂ½²①ℌ㎞Ⅷ…“”‘’«»–—•·|<>&%#@~^`\\/_-▁⁇") + [
    "e\u0301", "a\u030a", "o\u0308\u0304", "ｔ", "Ｔ", "ｅ", "１", "한글", "\u1112\u1161\u11ab", "日本", "語", "ا", "ﷺ", "ב", "हि",
    "ไทย", "👍", "👩‍👩‍👧", "🏳️‍🌈", "❤️", "\u0001", "\u0007", "\u001f", "\u007f", "\u0085", "\u2028", "\u202e", "\ufffd", "\ue000", "\U0010ffff",
    "▁▁", "<0x41>"]


def odd_lines(count):
    draw, lines = random.Random(1), []
    while len(lines) < count:
        parts = []
        for _ in range(draw.randint(1, 8)):
            parts.append(draw.choice(draw.choices([WORDS, ODD, SPACES], [5, 3, 2])[0]))
            parts.append(draw.choice(["", " ", " "]))
        line = "".join(parts).strip(" ")
        line = line.upper() if draw.random() < 0.15 else line
        if line.replace("▁", "").strip():
            lines.append(line)
    return lines


def read_by(program, source, lines, languages):
    """The pieces of each line as a model reads it."""
    with tempfile.TemporaryDirectory() as folder:
        model, text = folder + "/model", folder + "/lines"
        subprocess.run([program, "import", source, "--out", model, "--check", ""], check=True, capture_output=True)
        pathlib.Path(text).write_bytes("".join(line + "\n" for line in lines).encode())
        flags = ["--format", "json", "--alignment", "--beam", "1", "--max-length", "1", "--split-sentences", "none"]
        with open(text) as opened:
            out = subprocess.run([program, "translate", "--model", model, *flags, *languages], stdin=opened, check=True,
                                 capture_output=True).stdout
    return [[token["piece"] for token in json.loads(row)["source_tokens"]] for row in out.decode().split("\n") if row]


def by_sentencepiece(path, before=(), after=()):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return lambda line: [*before, *processor.encode(line, out_type=str), *after]


def by_transformers(tokenizer):
    return lambda line: tokenizer.convert_ids_to_tokens(tokenizer(line)["input_ids"])


def by_bytes(line):
    return [f"<0x{byte:02X}>" for byte in line.encode()] + ["</s>"]


def differences(ours, reference, lines):
    """A piece that a vocabulary lacks is unknown in one list, and itself in the other."""
    count = 0
    for line, mine in zip(lines, ours):
        theirs = reference(line)
        count += len(mine) != len(theirs) or any(a != b and a != "<unk>" for a, b in zip(mine, theirs))
    return count


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    transformers.logging.set_verbosity_error()
    m2m, spm = FIXTURES / "m2m", "sentencepiece.bpe.model"
    families = {
        "huggingface/joint": ([], by_transformers(MarianTokenizer.from_pretrained(FIXTURES / "huggingface/joint")), None),
        "m2m/m2m": (["--from", "en", "--to", "is"], by_transformers(M2M100Tokenizer.from_pretrained(m2m / "m2m", src_lang="en")), None),
        "m2m/nllb": (["--from", "eng_Latn", "--to", "fra_Latn"], by_sentencepiece(m2m / "nllb" / spm, ["eng_Latn"], ["</s>"]),
                     NllbTokenizer.from_pretrained(m2m / "nllb", src_lang="eng_Latn")),
        "m2m/mbart50": (["--from", "en_XX", "--to", "fr_XX"], by_sentencepiece(m2m / "mbart50" / spm, ["en_XX"], ["</s>"]),
                        MBart50Tokenizer.from_pretrained(m2m / "mbart50", src_lang="en_XX")),
        "m2m/mbart": (["--from", "en_XX", "--to", "fr_XX"], by_sentencepiece(m2m / "mbart" / spm, [], ["</s>", "en_XX"]),
                      MBartTokenizer.from_pretrained(m2m / "mbart", src_lang="en_XX")),
        "t5/t5": ([], by_sentencepiece(FIXTURES / "t5/t5/spiece.model", [], ["</s>"]), None),
        "t5/byt5": ([], by_bytes, None),
        "fairseq/post": ([], by_sentencepiece(FIXTURES / "fairseq/post" / spm, [], ["</s>"]), None),
        "opennmt/v3": ([], by_sentencepiece(FIXTURES / "opennmt/v3/sentencepiece.model"), None),
        "eole": ([], by_sentencepiece(FIXTURES / "eole/sentencepiece.model"), None)}
    lines = odd_lines(count)
    for name, (languages, reference, other) in families.items():
        ours = read_by(program, str(FIXTURES / name), lines, languages)
        assert len(ours) == len(lines)
        beside = f"   {differences(ours, by_transformers(other), lines)}" if other else ""
        print(f"{name:20} {differences(ours, reference, lines):6} of {count} lines differ{beside}", flush=True)


if __name__ == "__main__":
    main()

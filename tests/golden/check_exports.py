#!/usr/bin/env python3
"""Checks that CTranslate2 and transformers compute with exported models what Dragoman does.

    python3 -m venv venv && venv/bin/pip install ctranslate2 transformers torch sentencepiece sacremoses
    venv/bin/python tests/golden/check_exports.py [--program build/release/dragoman] [--lines FILE] MODEL ...

Each MODEL is a model folder in fp32. Its greedy translations of the lines are scored by dragoman score, and, after
dragoman export, by the other programs; greedy translations are compared, too. Ends with an error if the log-probability
of a sentence differs by more than 1e-4 per token. What transformers cannot express is said and skipped.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["CUDA_VISIBLE_DEVICES"] = ""
import ctranslate2
import sentencepiece
import torch
from transformers import AutoModelForSeq2SeqLM, MarianTokenizer

LINES = ["Where is the station?", "I do not know what to say.", "The cat sees a dog.", "He has been living here for ten years.", "Thank you."]
LONGEST = 60


def run(program, *arguments, text=""):
    done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout.split("\n")[:-1]


def ours(program, model, lines, folder):
    texts = run(program, "translate", "--model", model, "--beam", "1", "--max-length", str(LONGEST), text="\n".join(lines) + "\n")
    (folder / "source").write_text("\n".join(lines) + "\n")
    (folder / "target").write_text("\n".join(texts) + "\n")
    scores = run(program, "score", "--model", model, "--source", str(folder / "source"), "--target", str(folder / "target"))
    return texts, [float(score) for score in scores]


def spm_of(folder, side):
    path = folder / f"{side}.spm"
    return sentencepiece.SentencePieceProcessor(model_file=str(path if path.exists() else folder / "shared.spm"))


def pieces_of(processor, line):
    end = line.find("<<") + 2 if line.startswith(">>") else 0
    return ([line[:end]] if end else []) + processor.encode(line[end:], out_type=str)


def by_ctranslate2(folder, lines, texts):
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    source, target = spm_of(folder, "source"), spm_of(folder, "target")
    sources, targets = [pieces_of(source, line) for line in lines], [pieces_of(target, text) for text in texts]
    scores = [sum(result.log_probs) for result in translator.score_batch(sources, targets)]
    greedy = translator.translate_batch(sources, beam_size=1, max_decoding_length=LONGEST)
    return scores, [len(t) + 1 for t in targets], [target.decode(result.hypotheses[0]) for result in greedy]


def by_transformers(folder, lines, texts):
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), MarianTokenizer.from_pretrained(folder)
    scores, lengths, greedy = [], [], []
    for line, text in zip(lines, texts):
        source, target = tokenizer([line], return_tensors="pt"), tokenizer(text_target=[text], return_tensors="pt")["input_ids"]
        start = torch.tensor([[model.config.decoder_start_token_id]])
        with torch.no_grad():
            logits = model(**source, decoder_input_ids=torch.cat([start, target[:, :-1]], 1)).logits
            found = model.generate(**source, num_beams=1, do_sample=False, max_length=LONGEST + 2)[0][1:]
        scores.append(torch.log_softmax(logits[0].double(), -1).gather(1, target[0][:, None]).sum().item())
        lengths.append(target.shape[1])
        target_pieces = tokenizer.spm_target
        greedy.append(target_pieces.decode([tokenizer.decoder[i] for i in found.tolist() if i not in tokenizer.all_special_ids]))
    return scores, lengths, greedy


def check(program, model, lines):
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        texts, scores = ours(program, model, lines, folder)
        for name, theirs in (("ctranslate2", by_ctranslate2), ("huggingface", by_transformers)):
            try:
                run(program, "export", "--model", model, "--format", name, "--out", str(folder / name))
            except RuntimeError as error:
                print(f"{model}, {name}: {error}")
                continue
            their_scores, lengths, their_texts = theirs(folder / name, lines, texts)
            worst = max(abs(a - b) / n for a, b, n in zip(scores, their_scores, lengths))
            same = sum(a == b for a, b in zip(texts, their_texts))
            print(f"{model}, {name}: log-probabilities differ by {worst:.1e} per token; {same} of {len(lines)} greedy texts are the same")
            good &= worst <= 1e-4
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/dragoman")
    parser.add_argument("--lines", type=argparse.FileType(), help="source lines, instead of a few English ones")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    options = parser.parse_args()
    torch.set_num_threads(1)
    source_lines = options.lines.read().splitlines() if options.lines else LINES
    sys.exit(0 if all([check(options.program, model, source_lines) for model in options.models]) else 1)

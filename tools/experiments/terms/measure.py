#!/usr/bin/env python3
"""How often given terms are used, and at what cost: with constraints in the beam, annotated sources, or neither.

    tools/experiments/terms/make_terms.py --out data/terms
    tools/experiments/terms/measure.py --out models/terms-experiment --minutes 30

trains recipes/terms.toml with and without its terms, and translates the validation set with the held-out glossary.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from experiment import PROGRAM, ROOT, dragoman  # noqa: E402

CORPUS = ROOT / "data/tatoeba-en-fr"
GLOSSARY = ROOT / "data/terms/held_out.tsv"


def lines_of(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout.decode().splitlines()
    return path.read_text(encoding="utf-8").splitlines()


def words(text):
    return re.findall(r"[^\W\d_]+", text.lower())


def bleu(hypotheses, references, folder):
    for name, lines in [("hypothesis", hypotheses), ("reference", references)]:
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    command = [PROGRAM, "metrics", "--hypothesis", folder / "hypothesis", "--reference", folder / "reference"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(re.search(r"BLEU[^=]*= *([\d.]+)", result.stdout)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the models")
    parser.add_argument("--minutes", type=float, default=30, help="of training, for each model")
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    for name, options in [("plain", ["--data.terms", ""]), ("annotated", [])]:
        if not (out / name / "model.safetensors").exists():
            dragoman("train", ROOT / "recipes/terms.toml", "--out", out / name, "--training.max_minutes",
                     arguments.minutes, *options)

    source, reference = lines_of(CORPUS / "valid.en.zst"), lines_of(CORPUS / "valid.fr.zst")
    (out / "source").write_text("".join(line + "\n" for line in source), encoding="utf-8")
    terms = dict(line.split("\t") for line in lines_of(GLOSSARY))
    expected = [[terms[w] for w in set(words(s)) if w in terms and terms[w] in words(r)]
                for s, r in zip(source, reference)]
    wanted = sum(map(len, expected))
    rest = [i for i, s in enumerate(source) if not any(w in terms for w in words(s))]
    print(f"{len(terms)} terms, {wanted} in the references; {len(rest)} sentences without any")
    print("| model | terms | used exactly | BLEU | BLEU without terms | seconds |\n|---|---|---|---|---|---|")
    for model, glossary in [("plain", False), ("plain", True), ("annotated", False), ("annotated", True)]:
        command = [PROGRAM, "translate", "--model", out / model, out / "source"]
        start = time.monotonic()
        result = subprocess.run(command + (["--glossary", GLOSSARY] if glossary else []), check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        outputs = result.stdout.decode().splitlines()
        used = sum(target in words(line) for line, targets in zip(outputs, expected) for target in targets)
        of_rest = bleu([outputs[i] for i in rest], [reference[i] for i in rest], out)
        print(f"| {model} | {'given' if glossary else 'no'} | {used / wanted:.1%} "
              f"| {bleu(outputs, reference, out):.1f} | {of_rest:.1f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()

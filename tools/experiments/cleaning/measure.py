#!/usr/bin/env python3
"""How many of the errors that it plants into a clean parallel text `dragoman clean` finds, and how many good pairs it drops.

  tools/experiments/cleaning/measure.py --source train.en --target train.fr --from en --to fr --other train.de
      [--detector lid.176.ftz] [--program build/release/dragoman] [--each 1000]

Each kind of error is planted into pairs of its own, by a fixed seed. The text itself counts as good, and --other is text in a
third language. Prints a table in Markdown: a line for each kind, with the share that is found.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"\d\d+")


def other_number(text, draw):
    """The text with one digit of a number changed."""
    place = draw.choice([i for found in NUMBER.finditer(text) for i in range(*found.span())])
    return text[:place] + draw.choice([d for d in "123456789" if d != text[place]]) + text[place + 1:]


def plants(others, draw):
    """By kind: which pairs it fits, and what it makes of a pair and of the target of another one."""
    def always(source, target):
        return True
    address = "https://example.org/"
    return {
        "empty side": (always, lambda s, t, o: (s, " ")),
        "UTF-8 read as Windows-1252": (lambda s, t: re.search("[à-ÿ]", t),
                                       lambda s, t, o: (s, t.encode().decode("cp1252", errors="replace"))),
        "address or markup only": (always, lambda s, t, o: (s, draw.choice([address, "<br/>", "&nbsp; 12:30", "-----"]))),
        "symbols in place of letters": (always, lambda s, t, o: (s, re.sub(r"\w", lambda c: draw.choice("=*#_|~" + c[0]), t))),
        "another script": (always, lambda s, t, o: (s, "".join(chr(0x430 + draw.randrange(32)) if c.isalpha() else c for c in t))),
        "several sentences on one side": (always, lambda s, t, o: (s, t + " " + " ".join(draw.sample(others["own"], 3)))),
        "copied source, three words or more": (lambda s, t: len(s.split()) > 2, lambda s, t, o: (s, s)),
        "another number": (lambda s, t: NUMBER.search(s) and NUMBER.search(t), lambda s, t, o: (s, other_number(t, draw))),
        "target in a third language": (lambda s, t: True, lambda s, t, o: (s, draw.choice(others["third"]))),
        "same, 40 characters or more": (lambda s, t: True, lambda s, t, o: (s, draw.choice(others["third, long"]))),
        "duplicate": (always, lambda s, t, o: (s, t)),
        "target of another pair": (always, lambda s, t, o: (s, o)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "target", "from", "to", "other"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--detector")
    parser.add_argument("--program", default="build/release/dragoman")
    parser.add_argument("--each", type=int, default=1000)
    o = vars(parser.parse_args())
    lines = {side: pathlib.Path(o[side]).read_text().split("\n")[:-1] for side in ("source", "target", "other")}
    pairs = list(zip(lines["source"], lines["target"]))
    draw = random.Random(1)
    others = {"own": lines["target"], "third": lines["other"], "third, long": [t for t in lines["other"] if len(t) >= 40]}
    rows, kinds = [(s, t) for s, t in pairs], ["good"] * len(pairs)
    for kind, (fits, change) in plants(others, draw).items():
        chosen = [pair for pair in pairs if fits(*pair)]
        for source, target in draw.sample(chosen, min(o["each"], len(chosen))):
            rows.append(change(source, target, draw.choice(lines["target"])))
            kinds.append(kind)
    with tempfile.TemporaryDirectory() as folder:
        files = {name: pathlib.Path(folder) / name for name in ("source", "target", "report")}
        files["source"].write_text("".join(s + "\n" for s, _ in rows))
        files["target"].write_text("".join(t + "\n" for _, t in rows))
        detector = ["--detector", o["detector"]] if o["detector"] else []
        command = [o["program"], "clean", "--source", files["source"], "--target", files["target"], "--from", o["from"], "--to",
                   o["to"], "--show-dropped", "10000", "--report", files["report"], *detector]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        report = json.loads(files["report"].read_text())
    found = {kind: 0 for kind in kinds}
    for rule, examples in report["examples"].items():
        if len(examples) < report["dropped"][rule]:
            sys.exit(f"measure.py: {rule} leaves out more pairs than dragoman clean shows: make --each or the text smaller")
        for example in examples:
            found[kinds[example["pair"] - 1]] += 1
    print("| planted | pairs | left out |\n|---|---|---|")
    for kind in found:
        share = 100 * found[kind] / kinds.count(kind)
        print(f"| {kind} | {kinds.count(kind):,} | {share:.2f} % |" if kind == "good" else
              f"| {kind} | {kinds.count(kind):,} | {share:.1f} % |")


if __name__ == "__main__":
    main()

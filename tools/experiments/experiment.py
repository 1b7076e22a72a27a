"""What the experiments share: they train the variants of one recipe and compare their curves."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("DRAGOMAN", str(ROOT / "build/release/dragoman"))


def dragoman(*arguments, stdout=None):
    """Runs the program; where it fails, it has said why."""
    code = subprocess.run([PROGRAM, *map(str, arguments)], stdout=stdout, check=False).returncode
    if code != 0:
        sys.exit(code)


def progress(text):
    print(f"--- {text}", file=sys.stderr, flush=True)


def events(folder, name):
    with open(folder / "metrics.jsonl", encoding="utf-8") as lines:
        return [event for event in map(json.loads, lines) if event["event"] == name]


def seconds_of_an_epoch(folder):
    """The mean of the complete epochs; none: None."""
    updates = events(folder, "train")
    ends = [one for one, following in zip(updates, updates[1:]) if following["epoch"] > one["epoch"]]
    last = events(folder, "end")[-1]
    if updates and last["epoch"] == updates[-1]["epoch"]:
        ends.append(updates[-1])
    return ends[-1]["seconds"] / ends[-1]["epoch"] if ends else None


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def spread(values, digits):
    """Mean, and the smallest and the largest."""
    if not values:
        return "–"
    mean = number(statistics.fmean(values), digits)
    if len(values) == 1:
        return mean
    return f"{mean} ({number(min(values), digits)}–{number(max(values), digits)})"


def print_table(folders, columns):
    titles = ["", *columns, "updates", "seconds an epoch", "loss", "BLEU"]
    rows = [titles]
    for folder in folders:
        last = (events(folder, "validation") or [{}])[-1]
        rows.append([folder.name, *(column(folder) for column in columns.values()),
                     str(events(folder, "end")[-1]["step"]), number(seconds_of_an_epoch(folder), 1),
                     number(last.get("loss"), 3), number(last.get("bleu"), 1)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.rjust(width) if i > 0 else cell.ljust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def run(description, variants, prepare=lambda recipe, out: [], columns=None):
    """Trains each variant: a name, and the options that make it. `prepare` returns options for all of them; `columns`
    are more of the table, each a function of a run's folder."""
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="models/experiments/NAME-RECIPE by default")
    arguments, options = parser.parse_known_args()
    name = f"{pathlib.Path(sys.argv[0]).name}-{arguments.recipe.stem}"
    out = arguments.out or pathlib.Path("models/experiments") / name
    out.mkdir(parents=True, exist_ok=True)
    options = prepare(arguments.recipe, out) + options
    folders = [out / variant for variant in variants]
    for folder in folders:
        progress(folder.name)
        dragoman("train", arguments.recipe, "--out", folder, *options, *variants[folder.name])
    dragoman("report", *folders, "--out", out / "report.html")
    print_table(folders, columns or {})

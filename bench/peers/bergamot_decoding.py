#!/usr/bin/env python3
"""Measures how fast Bergamot, the translator in Firefox, translates with an exported student, beside Dragoman with the
student itself: both in int8, greedily, with their shortlists.

    python3.10 -m venv bergamot && bergamot/bin/pip install bergamot        # at most Python 3.10
    dragoman export --model models/tiny-en-fr/student --format bergamot --out exported --calibrate LINES
    bergamot/bin/python bench/peers/bergamot_decoding.py --config exported/config.yml --model models/tiny-en-fr/int8 LINES

The two take turns. Loading a model is not counted: Bergamot keeps its model, and Dragoman's time is that of all lines less
that of a tenth of them. Prints one JSON object: lines a second, medians and ranges, and the share of lines
whose two translations are equal.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

# The package itself asks a server for its models when it is imported.
sys.path.insert(0, importlib.util.find_spec("bergamot").submodule_search_locations[0])
import _bergamot  # noqa: E402

TENTH = 10


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=pathlib.Path, help="one sentence a line, each another one")
    parser.add_argument("--config", required=True, type=pathlib.Path, help="config.yml of the exported model")
    parser.add_argument("--model", required=True, help="folder of the student in int8")
    parser.add_argument("--program", default="build/release/dragoman")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


class Bergamot:
    def __init__(self, o):
        self.service = _bergamot.Service(_bergamot.ServiceConfig(numWorkers=o.threads, logLevel="off"))
        greedy = o.config.with_name("greedy.yml")
        greedy.write_text(re.sub(r"beam-size: .*", "beam-size: 1", o.config.read_text()))
        self.model = self.service.modelFromConfigPath(str(greedy))
        self.options = _bergamot.ResponseOptions(alignment=False, qualityScores=False, HTML=False)

    def translate(self, lines):
        """Seconds, and the texts."""
        text = _bergamot.VectorString(lines)
        begin = time.perf_counter()
        responses = self.service.translate(self.model, text, self.options)
        return time.perf_counter() - begin, [response.target.text.strip() for response in responses]


class Dragoman:
    def __init__(self, o):
        self.command = [o.program, "translate", "--model", o.model, "--beam", "1", "--shortlist", "--threads",
                        str(o.threads)]

    def run(self, lines):
        begin = time.perf_counter()
        done = subprocess.run(self.command, input="".join(line + "\n" for line in lines), text=True, check=True,
                              capture_output=True)
        return time.perf_counter() - begin, done.stdout.splitlines()

    def translate(self, lines):
        few = lines[::TENTH]
        seconds_of_few = self.run(few)[0]
        seconds, texts = self.run(lines)
        return (seconds - seconds_of_few) * len(lines) / (len(lines) - len(few)), texts


def main():
    o = options()
    lines = o.lines.read_text(encoding="utf-8").splitlines()
    programs = {"bergamot": Bergamot(o), "dragoman": Dragoman(o)}
    texts = {name: program.translate(lines)[1] for name, program in programs.items()}
    speeds = {name: [] for name in programs}
    for _ in range(o.rounds):
        for name, program in programs.items():
            speeds[name].append(len(lines) / program.translate(lines)[0])
    result = {name: {"lines_per_second": round(statistics.median(of)), "least": round(min(of)), "most": round(max(of))}
              for name, of in speeds.items()}
    equal = sum(one == other for one, other in zip(texts["bergamot"], texts["dragoman"]))
    print(json.dumps({**result, "equal": equal / len(lines)}))


if __name__ == "__main__":
    main()

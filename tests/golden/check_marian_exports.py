#!/usr/bin/env python3
"""Checks that Marian and Bergamot translate with exported models as Dragoman does.

    python3 -m venv marian && marian/bin/pip install pymarian
    python3.10 -m venv bergamot && bergamot/bin/pip install bergamot        # at most Python 3.10
    tests/golden/check_marian_exports.py --lines source.txt [--marian marian/bin/python] [--bergamot bergamot/bin/python]
        [--program build/release/dragoman] MODEL ...

Each MODEL is a model folder in fp32. It is exported for both programs, all translate the lines greedily and without a
shortlist, and their texts are compared with Dragoman's in fp32: Marian's; Bergamot's in floats, from Marian's file; and
Bergamot's in 8 bits, with activations measured as they come (int8) and calibrated by the lines (alphas), beside Dragoman's
own int8. Ends with an error if more than 2 % of the texts in floats differ. In 8 bits texts may differ, the more, the less
sure a model is; an error is what is left of fewer than half of them.
"""
import argparse
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LEAST = {"floats": 0.98, "integers": 0.5}


# --- In the interpreters that have the programs --------------------------------------------------------

def by_marian(folder, lines):
    from pymarian import Translator
    translator = Translator(f"-c {folder}/decoder.yml --beam-size 1 --quiet --cpu-threads 1")
    return translator.translate("\n".join(lines)).split("\n")


def by_bergamot(folder, lines):
    # The package itself asks a server for its models when it is imported.
    sys.path.insert(0, importlib.util.find_spec("bergamot").submodule_search_locations[0])
    import _bergamot
    service = _bergamot.Service(_bergamot.ServiceConfig(numWorkers=1, logLevel="off"))
    model = service.modelFromConfigPath(f"{folder}/config.yml")
    options = _bergamot.ResponseOptions(alignment=False, qualityScores=False, HTML=False)
    return [response.target.text.strip() for response in service.translate(model, _bergamot.VectorString(lines), options)]


PROGRAMS = {"marian": by_marian, "bergamot": by_bergamot}


def serve(name, folder, source, out):
    """What the other interpreter does: this file is its program."""
    texts = PROGRAMS[name](folder, pathlib.Path(source).read_text().splitlines())
    pathlib.Path(out).write_text("".join(text + "\n" for text in texts))


# --- In this one ------------------------------------------------------------------------------------

def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"{command[0]} ended with {done.returncode}"])[-1])
    return done.stdout


def translated(interpreter, name, folder, source):
    out = source.with_name("translated")
    run(interpreter, __file__, "--serve", name, folder, source, out)
    return out.read_text().splitlines()


def change_settings(path, changes):
    """Greedy, and with all words: Bergamot's shortlist is that of all sentences of a batch."""
    text = re.sub(r"shortlist:\n(  - .*\n)+", "", path.read_text())
    for pattern, replacement in {r"beam-size: .*": "beam-size: 1", **changes}.items():
        text = re.sub(pattern, replacement, text)
    path.write_text(text)


def exported(program, model, folder, kind, *options):
    out = folder / (kind + "".join(str(option) for option in options[:1]))
    run(program, "export", "--model", model, "--format", kind, "--out", out, *options)
    change_settings(out / ("decoder.yml" if kind == "marian" else "config.yml"), {})
    return out


def in_floats(bergamot, marian, out):
    """Bergamot's folder with Marian's weights."""
    shutil.copytree(bergamot, out)
    shutil.copy(marian / "model.npz", out)
    change_settings(out / "config.yml", {r"- model\..*\.bin": "- model.npz", r"gemm-precision: .*": "gemm-precision: float32"})
    return out


def greedy(program, model, source, *options):
    return run(program, "translate", "--model", model, "--beam", "1", "--shortlist", "false", *options, source).splitlines()


def check(o, model, folder):
    source = folder / "source"
    source.write_text("".join(line + "\n" for line in o.lines))
    ours = greedy(o.program, model, source)
    good = True

    def compare(name, texts, least):
        nonlocal good
        same = sum(a == b for a, b in zip(ours, texts))
        good &= len(texts) == len(ours) and same >= least * len(ours)
        print(f"{model}, {name}: {same} of {len(ours)} greedy texts are the same", flush=True)

    marian = exported(o.program, model, folder, "marian")
    if o.marian:
        compare("Marian in floats", translated(o.marian, "marian", marian, source), LEAST["floats"])
    if o.bergamot:
        integers = exported(o.program, model, folder, "bergamot")
        alphas = exported(o.program, model, folder, "bergamot", "--calibrate", source)
        floats = in_floats(integers, marian, folder / "floats")
        for name, where, least in (("in floats", floats, "floats"), ("int8", integers, "integers"), ("int8, alphas", alphas, "integers")):
            compare("Bergamot " + name, translated(o.bergamot, "bergamot", where, source), LEAST[least])
    compare("Dragoman int8", greedy(o.program, model, source, "--precision", "int8"), LEAST["integers"])
    return good


def check_all(o):
    good = True
    for model in o.models:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                good &= check(o, model, pathlib.Path(temporary))
            except RuntimeError as error:
                print(f"{model}: {error}")
                good = False
    return good


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/dragoman")
    parser.add_argument("--marian", help="the Python that has pymarian")
    parser.add_argument("--bergamot", help="the Python that has bergamot")
    parser.add_argument("--lines", type=lambda path: pathlib.Path(path).read_text().splitlines(), required=True, help="source lines")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    sys.exit(0 if check_all(parser.parse_args()) else 1)

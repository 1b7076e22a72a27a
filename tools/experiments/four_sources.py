"""One corpus as four sources, for experiments with several."""
import gzip
import itertools
import pathlib
import subprocess
import sys
import tomllib


def as_list(value):
    return value if isinstance(value, list) else [value] if value else []


def lines(path):
    path = pathlib.Path(path)
    if not path.exists():
        sys.exit(f"{path} not found: dragoman prepare RECIPE says how to get the corpus")
    if path.suffix == ".zst":
        with subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE) as file:
            yield from file.stdout
        if file.returncode != 0:
            sys.exit(file.returncode)
    else:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            yield from file


def pairs(data):
    """Lines of TSV."""
    if tsv := as_list(data.get("tsv")):
        all_pairs = lines(tsv[0])
    else:
        both = zip(*(lines(as_list(data[side])[0]) for side in ("source", "target")))
        all_pairs = (source.rstrip(b"\r\n").replace(b"\t", b" ") + b"\t" + target for source, target in both)
    return itertools.islice(all_pairs, data.get("limit") or None)


def split(data, folder):
    lengths = sorted(map(len, pairs(data)))
    short = lengths[len(lengths) // 4]
    rest = sum(length >= short for length in lengths)
    with open(folder / "1.tsv", "wb") as shortest:
        files = [open(folder / f"{i}.tsv", "wb") for i in (2, 3, 4)]
        place = itertools.count()
        for pair in pairs(data):
            (shortest if len(pair) < short else files[next(place) * 3 // rest]).write(pair)
        for file in files:
            file.close()


def options_for(recipe, out, limit=None):
    """Splits the corpus of a recipe with a single source: the first of four has the shortest quarter of its pairs, the
    others a third each of the rest, in their order. Returns the options that train on them."""
    data = tomllib.loads(recipe.read_text(encoding="utf-8")).get("data", {})
    data["limit"] = limit or data.get("limit")
    sources = len(as_list(data.get("tsv"))) + len(as_list(data.get("source")))
    if sources > 1:
        return []
    if sources == 0:
        sys.exit(f"{recipe} has neither data.tsv nor data.source: the experiment needs a corpus")
    folder = out / "sources"
    if not folder.exists():
        unfinished = out / "sources.unfinished"
        unfinished.mkdir(exist_ok=True)
        split(data, unfinished)
        unfinished.rename(folder)
    files = ",".join(str(folder / f"{i}.tsv") for i in (1, 2, 3, 4))
    return ["--data.source", "", "--data.target", "", "--data.weights", "", "--data.limit", "0", "--data.tsv", files]

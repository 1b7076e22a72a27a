#!/usr/bin/env python3
"""LibreTranslate's own server with an exported model, without a network, to compare `dragoman serve` with.

    pip install libretranslate
    dragoman export --model DIR --out FOLDER
    python3 libretranslate_server.py FOLDER --port 5002

Wraps the model as packages of Argos Translate in a temporary folder. LibreTranslate would download a model that splits
texts into sentences: here each text counts as one sentence, which spares it that work.
"""
import argparse
import json
import logging
import os
import pathlib
import shutil
import sys
import tempfile


def write_package(folder, place, source, target):
    place.mkdir(parents=True)
    shutil.copytree(folder, place / "model", ignore=shutil.ignore_patterns("*.spm"))
    shared = folder / "shared.spm"
    if not shared.exists():
        sys.exit("libretranslate_server.py: Argos Translate has one SentencePiece model, not two")
    shutil.copy(shared, place / "sentencepiece.model")
    (place / "metadata.json").write_text(json.dumps({
        "package_version": "1.0", "argos_version": "1.9", "from_code": source, "from_name": source, "to_code": target,
        "to_name": target, "type": "translate"}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", default="5002")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--workers", default="2", help="CTranslate2's")
    parser.add_argument("--threads", default="1", help="threads of each worker")
    parser.add_argument("--requests", default="4", help="requests at once: threads of its server")
    parser.add_argument("--beam", default="4")
    o = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="libretranslate-") as temporary:
        home = pathlib.Path(temporary)
        # Both directions: with fewer than two packages it would download others.
        write_package(o.folder, home / "packages" / "en_fr", "en", "fr")
        write_package(o.folder, home / "packages" / "fr_en", "fr", "en")
        os.environ.update({
            "HOME": temporary, "XDG_DATA_HOME": temporary, "XDG_CONFIG_HOME": temporary, "XDG_CACHE_HOME": temporary,
            "ARGOS_PACKAGES_DIR": str(home / "packages"), "ARGOS_INTER_THREADS": o.workers,
            "ARGOS_INTRA_THREADS": o.threads, "ARGOS_COMPUTE_TYPE": o.precision, "ARGOS_BEAM_SIZE": o.beam})
        os.chdir(temporary)  # where it keeps a data base
        from argostranslate import sbd
        logging.getLogger("argostranslate.utils").setLevel(logging.WARNING)  # else several lines a request
        sbd.MiniSBDSentencizer.split_sentences = lambda self, text: [text]
        from libretranslate import main as serve
        sys.argv = ["libretranslate", "--host", "127.0.0.1", "--port", o.port, "--threads", o.requests,
                    "--disable-web-ui"]
        serve()


main()

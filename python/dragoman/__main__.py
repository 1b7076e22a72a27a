"""``dragoman`` and ``python -m dragoman``: the program that is part of the package."""
from __future__ import annotations

import os
import pathlib
import signal
import sys

PROGRAM = pathlib.Path(__file__).parent / "bin/dragoman"


def main() -> None:
    # Python ignores these, and so would the program, which this process becomes.
    for one in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(one, signal.SIG_DFL)
    try:
        os.execv(PROGRAM, ["dragoman", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"dragoman: {PROGRAM} cannot be started: {error.strerror}: install the package with pip, which builds it")


if __name__ == "__main__":
    main()

"""What the last day's commits and the working tree change, and whose turn it is among the rest: for checks that are too
slow to take everything every time."""
import datetime
import re
import subprocess


def changed_paths():
    """Those of the last day's commits and of the working tree. A shallow clone's oldest commit changes every file."""
    commands = ["git log --since=24.hours --first-parent -m --root --name-only --format=",
                "git diff --name-only HEAD", "git ls-files --others --exclude-standard"]
    paths = set()
    for command in commands:
        out = subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout
        paths.update(filter(None, out.splitlines()))
    return paths


def changed_headers(paths):
    """As they are included."""
    return {re.sub("^(src|tests|include)/", "", path) for path in paths if path.endswith(".h")}


def included(text):
    """The project's own headers that a file includes."""
    return set(re.findall(r'^#include "([^"]+)"', text, re.M))


def todays(items, days):
    """Every so many days each of them is one of these."""
    day = datetime.date.today().toordinal()
    return {item for i, item in enumerate(items) if (i + day) % days == 0}
